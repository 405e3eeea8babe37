"""Policies that go by what electricity emits."""

"""Policies that were learned: numbers in a file, which compiled code weighs."""

LEARNED = "learned"
"""What stands before the colon in the names of such schedulers, and after it their files."""

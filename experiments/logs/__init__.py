"""Logs and platforms as files: what they are like, and from one format to another."""

"""Experiments of papers, done again: one module a paper, named by its key."""

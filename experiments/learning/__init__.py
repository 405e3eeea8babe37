"""Policies that are learned: from some runs, and judged by others that are held out."""

"""Solvers of the ordering and allocation problem: exact ones, heuristics, and bounds."""

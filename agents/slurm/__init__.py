"""Slurm's way of scheduling, as its documentation tells it, read from its own configuration."""

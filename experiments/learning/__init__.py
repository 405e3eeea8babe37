"""Environments in which agents learn to schedule: Gymnasium's interface to a run."""

"""Logs of real systems and tables of jobs: read, cleaned, written, replayed."""

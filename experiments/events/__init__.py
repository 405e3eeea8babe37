"""The event log of a run, and the stories of jobs that are told from it."""

"""Real clusters: the agents of a simulation decide, sites carry out, one file knows all jobs."""

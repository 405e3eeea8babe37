"""Pictures of runs, and pages on them that a browser opens."""

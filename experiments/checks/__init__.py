"""Whether a result is right, and whether a scheduler of a user's is."""

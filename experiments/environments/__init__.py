"""A run as an environment, in which agents of somebody's take the decisions."""

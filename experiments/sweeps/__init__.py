"""Many runs: on all cores, kept as they end, and the statistics of their results."""

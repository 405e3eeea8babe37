"""What policies would have done with the jobs of clusters that are only watched."""

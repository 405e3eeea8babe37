"""What a run came to: metrics of jobs, clusters, users and rounds."""

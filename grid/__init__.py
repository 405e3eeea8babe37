"""The world of a multicluster: jobs, workloads, clusters, links and the event kernel."""

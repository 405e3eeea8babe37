"""What the global broker of a plain multicluster knows of its clusters, and when it is told."""

from __future__ import annotations

import math

from grid.platform import topology

ADVERTISEMENT = 4
"""Kind of event: of one instant it comes after what happens to processors."""


class PlainBroker:
    """A global broker that is told of every change, after the latency of each cluster.

    Whoever is one says `now`, how many processors are `free` on a cluster, which jobs are `waiting`
    there, has things happen `at` a time, and counts `messages`.
    """

    def __init__(self, platform, latency):
        self.size = platform.sizes.tolist()
        self.clusters = range(len(self.size))
        self.hops = [len(chain) + 1 for chain in platform.chains]
        ways = topology.latencies(platform.graph).tolist()
        self.latency = [n * latency + way for n, way in zip(self.hops, ways, strict=True)]
        self.work = [0.0 for _ in self.clusters]
        self.unfinished = [0 for _ in self.clusters]
        self.untold = [[] for _ in self.clusters]
        self.known = [(size, 0, 0.0) for size in self.size]
        self.returned = [(-math.inf, 0) for _ in self.size]  # of each: when, and the smallest job

    def believed(self, cluster):
        """Return how many processors of a cluster the global scheduler takes to be free."""
        return self.known[cluster][0] if self.latency[cluster] else self.free(cluster)

    def told_at(self, cluster):
        """Return as of when the global scheduler knows a cluster."""
        return self.known[cluster][2] if self.latency[cluster] else self.now

    def news_of(self, cluster, size):
        """Return as of when a cluster is known that a job of a size is sent to."""
        at, smallest = self.returned[cluster]
        return max(self.told_at(cluster), at if size >= smallest else -math.inf)

    def learn_returned(self, cluster, at, size):
        latest, smallest = self.returned[cluster]
        if at >= latest:
            self.returned[cluster] = at, min(size, smallest) if at == latest else size

    def refuses(self, take):
        """Tell whether what was told of free processors is no longer true."""
        return any(count > self.free(cluster) for cluster, count in enumerate(take))

    def advertise(self, cluster):
        self.messages["advertisement"] += self.hops[cluster]
        truth = (self.free(cluster), len(self.waiting[cluster]), self.now)
        told, self.untold[cluster] = self.untold[cluster], []
        if self.latency[cluster]:
            self.at(self.now + self.latency[cluster], ADVERTISEMENT, cluster, told, truth)
        else:
            self.learn(cluster, told, truth)

    def learn(self, cluster, works, truth):
        self.tell(cluster, works)
        self.known[cluster] = truth

    def tell(self, cluster, works):
        self.work[cluster] -= sum(works)
        self.unfinished[cluster] -= len(works)

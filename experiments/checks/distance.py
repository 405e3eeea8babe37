"""What distance costs the jobs of a result, worked out a second time (`grid.platform.distance`)."""

from __future__ import annotations

import math
from functools import cache
from itertools import combinations, pairwise
from typing import Any

import networkx as nx

from grid.platform.distance import DistanceCosts
from grid.platform.multicluster import Platform


class Distances:
    """What a platform's paths cost jobs when distance costs this much."""

    def __init__(self, platform: Platform, costs: DistanceCosts) -> None:
        self._graph = platform.graph
        self._costs = costs
        self._links = cache(self._of_path)

    def _of_path(self, a: str, b: str) -> list[dict[str, Any]]:
        return [self._graph.edges[link] for link in pairwise(nx.shortest_path(self._graph, a, b))]

    def staging(self, origin: str | None, placement: dict[str, int]) -> float:
        """Return how long a job waits for its data, s."""
        times = [0.0]
        for cluster in placement:
            if origin not in (None, cluster) and cluster in self._graph:
                narrowest = min(link["capacity"] for link in self._links(origin, cluster))
                data = 8 * self._costs.staging_data / narrowest
                times.append(self._costs.staging_time + data)
        return max(times)

    def lag(self, placement: dict[str, int]) -> float:
        """Return what latency adds to a second of communication of a job, s."""
        known = [cluster for cluster in placement if cluster in self._graph]
        paths = [self._links(a, b) for a, b in combinations(known, 2)]
        latencies = (math.fsum(link["latency"] for link in path) for path in paths)
        return self._costs.message_rate * max(latencies, default=0.0)

"""Module A1 of `beosim` with an objective: the solution that needs least bandwidth of all links."""

from __future__ import annotations

from typing import Any

import numpy as np

from agents.coallocation.narrow import bound
from agents.coallocation.primitives import LSLT, all_free, allocated_locally, migrated
from grid.kernel.compile import compiled
from grid.kernel.state import NONE, START, WAIT

IMPOSSIBLE = 1e300


@compiled(allocates=True)  # it needs tables as large as the job
def place_least_demand(known: Any, job: Any, memory: Any) -> int:
    """Start the job at home or elsewhere or on several clusters, or let it wait.

    Dynamic programming over the tree, from its leaves to the centre: what is the least demand of
    the links below a node with s nodes of the job there? Of equally good solutions it takes the
    one with the fewest nodes on the clusters that the tree lists last.
    """
    if allocated_locally(known, job) or migrated(known, job):
        return START
    if all_free(known) < job.size:
        return WAIT
    size, centre = job.size, known.links
    cost = np.full((known.links + 1, size + 1), IMPOSSIBLE)
    share = np.zeros((known.links, size + 1), np.int64)
    for node in range(known.links + 1):
        free = known.free[node] if node < known.clusters else 0
        cost[node, : min(free, size) + 1] = 0.0
    for index in range(known.links):
        link = known.deep_first[index]
        parent = known.parent[link] if known.parent[link] != NONE else centre
        most = bound(known, job.size, job.ppbw, link, memory[LSLT])
        for below in range(size + 1):
            if most < below < size - most:
                cost[link, below] = IMPOSSIBLE
            else:
                cost[link, below] += below * (size - below)
        for total in range(size, -1, -1):
            least = IMPOSSIBLE
            for below in range(total + 1):
                demand = cost[link, below] + cost[parent, total - below]
                if demand < least:
                    least = demand
                    share[link, total] = below
            cost[parent, total] = least
    if cost[centre, size] >= IMPOSSIBLE:
        return WAIT
    left = np.zeros(known.links + 1, np.int64)
    left[centre] = size
    for index in range(known.links - 1, -1, -1):
        link = known.deep_first[index]
        parent = known.parent[link] if known.parent[link] != NONE else centre
        left[link] = share[link, left[parent]]
        left[parent] -= left[link]
    for cluster in range(known.clusters):
        known.take[cluster] = left[cluster]
    return START

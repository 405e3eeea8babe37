"""Co-allocation as evenly as possible: B4 (`beosim`, section 5)."""

from __future__ import annotations

from typing import Any

from agents.coallocation.primitives import (
    LSLT,
    CoallocatingScheduler,
    allocated_locally,
    enough,
    largest_split,
    migrated,
    usable,
)
from grid.kernel.compile import compiled
from grid.kernel.state import START, WAIT


class LoadBalancingScheduler(CoallocatingScheduler):
    """B4: split node by node among all clusters in turn, but where links are over LSLT."""

    label = "B4"
    larger_wait = True
    largest = largest_split

    @compiled()
    def place(known: Any, job: Any, memory: Any) -> int:  # noqa: N805
        """Start the job at home or elsewhere or on several clusters, or let it wait."""
        if allocated_locally(known, job) or migrated(known, job):
            return START
        lslt = memory[LSLT]
        if not enough(known, job, lslt):
            return WAIT
        left = job.size
        while left > 0:
            # Turns that all clusters with nodes left can take part in are taken at once.
            having = 0
            for cluster in range(known.clusters):
                having += known.take[cluster] < usable(known, cluster, lslt)
            turns = max(left // having, 1)
            for cluster in range(known.clusters):
                more = usable(known, cluster, lslt) - known.take[cluster]
                more = min(more, turns, left)
                known.take[cluster] += more
                left -= more
        return START

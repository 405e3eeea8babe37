"""Co-allocation as evenly as possible: B4 (`beosim`, section 5)."""

from __future__ import annotations

from typing import Any

from agents.coallocation.modules import (
    LSLT,
    MetaScheduler,
    allocated_locally,
    enough,
    largest_split,
    migrated,
    usable,
)
from grid.kernel.compile import compiled
from grid.kernel.state import START, WAIT


class LoadBalancingScheduler(MetaScheduler):
    """B4: split node by node among all clusters in turn, but where links are over LSLT."""

    label = "B4"
    spans = True
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
            for cluster in range(known.clusters):
                if left > 0 and known.take[cluster] < usable(known, cluster, lslt):
                    known.take[cluster] += 1
                    left -= 1
        return START

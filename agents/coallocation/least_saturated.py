"""Co-allocation from the cluster of least saturated links on: B2 (`beosim`, section 5)."""

from __future__ import annotations

from typing import Any

import numpy as np

from agents.coallocation.primitives import (
    LSLT,
    CoallocatingScheduler,
    allocated_locally,
    enough,
    largest_split,
    migrated,
    usable,
)
from grid.kernel.compile import compiled, inlined
from grid.kernel.state import NONE, START, WAIT
from grid.kernel.statistics import TOLERANCE


@inlined
def _saturation(known: Any, cluster: int) -> float:
    """Return demand over capacity of the most saturated link from a cluster to the centre."""
    most, link = 0.0, cluster
    while link != NONE:
        most = max(most, known.demand[link] / known.capacity[link])
        link = known.parent[link]
    return most


class LeastSaturatedFirstScheduler(CoallocatingScheduler):
    """B2: split from the cluster of least saturated links on, but where they are over LSLT."""

    label = "B2"
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
            best, least = NONE, np.inf
            for cluster in range(known.clusters):
                if known.take[cluster] == 0 and usable(known, cluster, lslt) > 0:
                    saturation = _saturation(known, cluster)
                    if saturation < least - TOLERANCE:
                        best, least = cluster, saturation
            known.take[best] = min(left, known.free[best])
            left -= known.take[best]
        return START

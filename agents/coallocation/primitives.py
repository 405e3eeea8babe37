"""What the meta-schedulers of `beosim` share: modules LA and MIG, and the threshold of links."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from agents.coallocation.settings import CoallocationSettings
from agents.schedulers import GlobalScheduler
from grid.jobs import ANYWHERE
from grid.kernel.compile import compiled, inlined
from grid.kernel.state import NONE
from grid.kernel.statistics import TOLERANCE

LSLT, CHUNK = 0, 1
"""Where a policy's memory holds the threshold of links (1 is their capacity) and B3's (percent)."""


class MetaScheduler(GlobalScheduler):
    """A meta-scheduler: tries to start each job of the global queue, the oldest first, at once.

    Local allocation comes first, then migration, then, if the policy has one, co-allocation. A job
    that was submitted through no cluster has no home where it could be allocated locally.
    """

    starts_jobs = True
    paper = "beosim"
    reads_components = reads_predictions = False


class CoallocatingScheduler(MetaScheduler):
    """A meta-scheduler that looks at links before it splits a job."""

    spans = True
    settings_type: ClassVar[type | None] = CoallocationSettings

    def memory(self) -> npt.NDArray[np.float64]:
        """Return the thresholds: LSLT as a share, the chunk size in percent."""
        return np.array([self.settings.lslt / 100.0, 0.0])


@inlined
def allocated_locally(known: Any, job: Any) -> bool:
    """Put a job on the cluster that it was submitted through, if it fits (module LA)."""
    home = job.origin
    if home == ANYWHERE or job.size > known.free[home]:
        return False
    known.take[home] = job.size
    return True


@inlined
def migrated(known: Any, job: Any) -> bool:
    """Put a job on the cluster of fewest free nodes that it fits on, if any (module MIG)."""
    best = NONE
    for cluster in range(known.clusters):
        free = known.free[cluster]
        if job.size <= free and (best == NONE or free < known.free[best]):
            best = cluster
    if best == NONE:
        return False
    known.take[best] = job.size
    return True


@inlined
def limit(known: Any, link: int, lslt: float) -> float:
    """Return the demand (Mbit/s) up to which a link is not saturated; just at LSLT it is not."""
    return lslt * known.capacity[link] * (1.0 + TOLERANCE)


@inlined
def usable(known: Any, cluster: int, lslt: float) -> int:
    """Return the free nodes of a cluster; 0 if a link from it to the centre is oversaturated."""
    link = cluster
    while link != NONE:
        if known.demand[link] > limit(known, link, lslt):
            return 0
        link = known.parent[link]
    return int(known.free[cluster])


@inlined
def most_free(known: Any) -> int:
    """Return the free nodes of the cluster that has most of them."""
    most = 0
    for cluster in range(known.clusters):
        most = max(most, known.free[cluster])
    return most


@inlined
def all_free(known: Any) -> int:
    """Return the free nodes of all clusters."""
    total = 0
    for cluster in range(known.clusters):
        total += known.free[cluster]
    return total


@inlined
def all_usable(known: Any, lslt: float) -> int:
    """Return the free nodes of all clusters whose links are not oversaturated."""
    total = 0
    for cluster in range(known.clusters):
        total += usable(known, cluster, lslt)
    return total


@compiled()
def largest_whole(known: Any, memory: Any) -> int:
    """Return the size of the largest job that need not be split."""
    return most_free(known)


@compiled()
def largest_split(known: Any, memory: Any) -> int:
    """Return the size of the largest job that fits whole or where links are within LSLT."""
    most, total = 0, 0
    for cluster in range(known.clusters):
        most = max(most, known.free[cluster])
        total += usable(known, cluster, memory[LSLT])
    return max(most, total)


@compiled()
def largest_anyhow(known: Any, memory: Any) -> int:
    """Return the size of the largest job that fits, whatever the links."""
    return all_free(known)


@inlined
def enough(known: Any, job: Any, lslt: float) -> bool:
    """Tell whether the clusters whose links are not oversaturated can hold a job together."""
    return all_usable(known, lslt) >= job.size

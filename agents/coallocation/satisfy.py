"""Co-allocation that keeps links below their threshold: A1 (`beosim`, section 5).

A link may carry what s nodes of a job on one side of it and n - s on the other tell each other if
that, by eq. 1, leaves it within LSLT. Of s (n - s), which grows up to the middle, that makes a
bound b: one side may hold at most b nodes, the other the rest (the two regions of Figure 12). With
b below n / 2 exactly one side of such a *narrow* link is the heavy one. Heavy sides overlap, so
all of them share one part of the network that narrow links surround: the heart of the job. Once it
is chosen, what is left to satisfy is that beyond each narrow link there are at most b nodes. Such
nested bounds a greedy choice satisfies, if anything does. That makes a few steps for each possible
heart and cluster, where the paper tries p^m mappings.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba.core.dispatcher import Dispatcher

from agents.coallocation.least_demand import place_least_demand
from agents.coallocation.narrow import bound, most_within
from agents.coallocation.primitives import (
    LSLT,
    CoallocatingScheduler,
    all_free,
    allocated_locally,
    largest_anyhow,
    limit,
    migrated,
)
from agents.coallocation.settings import SatisfySettings
from grid.kernel.compile import compiled, inlined, part
from grid.kernel.state import NONE, REJECT, START, WAIT

SCRATCH = 1
"""Where the memory's four columns over links begin: bounds, room, way of the heart, first take."""


@inlined
def _at_most(known: Any, cluster: int, heart: int, room: Any, on_way: Any, most: int) -> int:
    """Return how many of `most` nodes the links between a cluster and the heart leave room for."""
    least, link = most, cluster
    while link != NONE and on_way[link] == 0.0:
        least = min(least, int(room[link]))
        link = known.parent[link]
    meeting, link = link, heart
    while link != meeting:
        least = min(least, int(room[link]))
        link = known.parent[link]
    return least


@inlined
def _use(known: Any, cluster: int, heart: int, room: Any, on_way: Any, count: int) -> None:
    """Take room on the links between a cluster and the heart."""
    link = cluster
    while link != NONE and on_way[link] == 0.0:
        room[link] -= count
        link = known.parent[link]
    meeting, link = link, heart
    while link != meeting:
        room[link] -= count
        link = known.parent[link]


@inlined
def _fits_around(
    known: Any, free: Any, size: int, heart: int, bounds: Any, room: Any, on_way: Any
) -> bool:
    """Map a job around a heart, with as few nodes on the first clusters as possible, if it fits.

    It may have up to `free` nodes of each cluster. The heart is the part of the network below a
    narrow link, or around the centre (NONE).
    """
    for link in range(known.links):
        room[link] = bounds[link] if bounds[link] < size // 2 else size
        on_way[link] = 0.0
    link = heart
    while link != NONE:
        on_way[link] = 1.0
        link = known.parent[link]
    left = size
    for cluster in range(known.clusters - 1, -1, -1):
        count = min(left, free[cluster])
        if count > 0:
            count = _at_most(known, cluster, heart, room, on_way, count)
            _use(known, cluster, heart, room, on_way, count)
        known.take[cluster] = count
        left -= count
    return left == 0


@inlined
def _free_below(known: Any, link: int) -> int:
    """Return the free nodes of the part of the network below a link."""
    free = 0
    for cluster in range(known.clusters):
        node = cluster
        while node != NONE and node != link:
            node = known.parent[node]
        if node == link:
            free += known.free[cluster]
    return free


@inlined
def _before(known: Any, best: Any) -> bool:
    """Tell whether a mapping has fewer nodes on the first cluster where two mappings differ."""
    for cluster in range(known.clusters):
        if known.take[cluster] != best[cluster]:
            return known.take[cluster] < best[cluster]
    return False


@part
def _can_ever_start(known: Any, job: Any, memory: Any) -> bool:
    """Tell whether a job could be mapped if the whole grid were idle."""
    for cluster in range(known.clusters):
        if job.size <= known.size[cluster]:
            return True
    links = known.links
    bounds = memory[SCRATCH : SCRATCH + links]
    room = memory[SCRATCH + links : SCRATCH + 2 * links]
    on_way = memory[SCRATCH + 2 * links : SCRATCH + 3 * links]
    for link in range(links):
        bounds[link] = most_within(job.size, job.ppbw, limit(known, link, memory[LSLT]))
    fits = False
    for heart in range(-1, links):
        if not fits and (heart == NONE or bounds[heart] < job.size // 2):
            fits = _fits_around(known, known.size, job.size, heart, bounds, room, on_way)
    for cluster in range(known.clusters):
        known.take[cluster] = 0
    return fits


@inlined
def _refusal(known: Any, job: Any, memory: Any) -> int:
    """Return what to answer about a job that cannot start now."""
    return WAIT if _can_ever_start(known, job, memory) else REJECT


@compiled()
def place_first(known: Any, job: Any, memory: Any) -> int:
    """Start the job at home or elsewhere or on several clusters, let it wait, or reject it.

    Of all solutions it takes the first: the fewest nodes on the first cluster, of these the
    fewest on the second, and so on.
    """
    if allocated_locally(known, job) or migrated(known, job):
        return START
    if all_free(known) < job.size:
        return _refusal(known, job, memory)
    links = known.links
    bounds = memory[SCRATCH : SCRATCH + links]
    room = memory[SCRATCH + links : SCRATCH + 2 * links]
    on_way = memory[SCRATCH + 2 * links : SCRATCH + 3 * links]
    best = memory[SCRATCH + 3 * links : SCRATCH + 4 * links]
    for link in range(links):
        bounds[link] = bound(known, job.size, job.ppbw, link, memory[LSLT])
    found = False
    for heart in range(-1, links):
        if heart != NONE and bounds[heart] >= job.size // 2:
            continue
        if heart != NONE and _free_below(known, heart) + bounds[heart] < job.size:
            continue
        fits = _fits_around(known, known.free, job.size, heart, bounds, room, on_way)
        if fits and (not found or _before(known, best)):
            found = True
            for cluster in range(known.clusters):
                best[cluster] = known.take[cluster]
    for cluster in range(known.clusters):
        known.take[cluster] = best[cluster] if found else 0
    return START if found else _refusal(known, job, memory)


@compiled(allocates=True)
def place_best(known: Any, job: Any, memory: Any) -> int:
    """Start the job by the solution of least demand, let it wait, or reject it."""
    answer = place_least_demand(known, job, memory)
    return _refusal(known, job, memory) if answer == WAIT else answer


class SatisfyScheduler(CoallocatingScheduler):
    """A1: split so that no link gets beyond LSLT, from what the job will need of each (eq. 1)."""

    label = "A1"
    settings_type = SatisfySettings

    largest = largest_anyhow
    place = place_first

    def memory(self) -> npt.NDArray[np.float64]:
        """Return the threshold, and room for a few numbers a link."""
        memory = np.zeros(SCRATCH + 4 * self.model.world.links)
        memory[LSLT] = self.settings.lslt / 100.0
        return memory

    def compiled(self, method: str) -> Dispatcher | None:
        """Return the function that finds the solution wanted."""
        if method == "place" and self.settings.solution == "least-demand":
            return place_best
        return super().compiled(method)

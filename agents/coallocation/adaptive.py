"""Co-allocation by what jobs were seen to need of links: a policy of class B that learns.

As A1 of `beosim` it splits a job so that no link gets beyond LSLT, but by the bandwidth that jobs
of like size were seen to need, since it does not know the job's own. Of the ways to split a job
around a large chunk on one cluster it takes the one that needs least bandwidth of all links
together. What is left goes into the smallest hole that holds it, so that large holes stay for jobs
that need not be split. While no job has been seen, it splits wherever links are not saturated, as
B1 does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from agents.coallocation.bandwidth_estimator import LENGTH, expected_bandwidth, learn, look_out
from agents.coallocation.narrow import bound
from agents.coallocation.primitives import (
    LSLT,
    CoallocatingScheduler,
    allocated_locally,
    enough,
    migrated,
)
from grid.kernel.compile import compiled, inlined
from grid.kernel.state import NONE, START, WAIT

SCRATCH = LENGTH
"""Where the memory's three columns over links begin: bounds, spare nodes, nodes below."""


@inlined
def _bandwidth(known: Any, memory: Any, size: int) -> float:
    """Return the bisection bandwidth to reckon with, Mbit/s.

    A job that no cluster can hold whole has to be split: it counts as no more than any link can
    bear while idle, else it might wait for ever.
    """
    bandwidth = expected_bandwidth(memory, size)
    for cluster in range(known.clusters):
        if size <= known.up[cluster]:
            return bandwidth
    for link in range(known.links):
        bandwidth = min(bandwidth, memory[LSLT] * known.capacity[link])
    return bandwidth


@inlined
def _is_narrow(size: int, bounds: Any, link: int) -> bool:
    """Tell whether a link cannot bear every way to split a job (`agents.coallocation.satisfy`)."""
    return bool(bounds[link] < size // 2)


@inlined
def _spare_nodes(known: Any, size: int, bounds: Any, cluster: int) -> int:
    """Return how many nodes a cluster can give to a job whose large chunk is elsewhere."""
    nodes, link = known.free[cluster], cluster
    while link != NONE:
        if _is_narrow(size, bounds, link):
            nodes = min(nodes, int(bounds[link]))
        link = known.parent[link]
    return int(nodes)


@inlined
def _chunk(known: Any, size: int, bounds: Any, spare: Any, cluster: int) -> int:
    """Return how large a chunk a cluster can take: all that is free, if its links can bear that."""
    link = cluster
    while link != NONE:
        if _is_narrow(size, bounds, link) and size - known.free[cluster] > bounds[link]:
            return int(spare[cluster])
        link = known.parent[link]
    return int(known.free[cluster])


@inlined
def _suits(known: Any, spare: Any, left: int, cluster: int, other: int) -> bool:
    """Tell whether a cluster suits what is left of a job better than another."""
    if (spare[cluster] >= left) != (spare[other] >= left):
        return bool(spare[cluster] >= left)
    if spare[cluster] >= left:
        return bool(known.free[cluster] < known.free[other])
    return bool(spare[cluster] > spare[other])


@inlined
def _split(known: Any, size: int, bounds: Any, spare: Any, main: int) -> bool:
    """Split a job around a large chunk on a cluster, if the others can give what is left."""
    for cluster in range(known.clusters):
        known.take[cluster] = 0
    known.take[main] = _chunk(known, size, bounds, spare, main)
    left = size - known.take[main]
    while left > 0:
        best = NONE
        for cluster in range(known.clusters):
            usable = known.take[cluster] == 0 and spare[cluster] > 0
            if usable and (best == NONE or _suits(known, spare, left, cluster, best)):
                best = cluster
        if best == NONE:
            return False
        known.take[best] = min(left, int(spare[best]))
        left -= known.take[best]
    return True


@inlined
def _pairs_across(known: Any, size: int, bounds: Any, below: Any) -> int:
    """Return the pairs of nodes on two sides of a link, over all links; NONE if one bears less."""
    for link in range(known.links):
        below[link] = 0.0
    for cluster in range(known.clusters):
        link = cluster
        while link != NONE:
            below[link] += known.take[cluster]
            link = known.parent[link]
    pairs = 0
    for link in range(known.links):
        side = int(below[link])
        if _is_narrow(size, bounds, link) and min(side, size - side) > bounds[link]:
            return NONE
        pairs += side * (size - side)
    return pairs


class AdaptiveScheduler(CoallocatingScheduler):
    """Splits jobs as A1, but by what earlier jobs were seen to need, not by their bandwidth."""

    label = "ADAPTIVE"
    paper = ""

    @compiled()
    def place(known: Any, job: Any, memory: Any) -> int:  # noqa: N805
        """Start the job at home or elsewhere or on several clusters, or let it wait."""
        learn(known, memory)
        if allocated_locally(known, job) or migrated(known, job):
            return START
        if not enough(known, job, memory[LSLT]):
            return WAIT
        size, links = job.size, known.links
        bounds = memory[SCRATCH : SCRATCH + links]
        spare = memory[SCRATCH + links : SCRATCH + 2 * links]
        below = memory[SCRATCH + 2 * links : SCRATCH + 3 * links]
        ppbw = _bandwidth(known, memory, size) * 4.0 * (size - 1) / (float(size) * size)  # eq. 8
        for link in range(links):
            bounds[link] = bound(known, size, ppbw, link, memory[LSLT])
        for cluster in range(known.clusters):
            spare[cluster] = _spare_nodes(known, size, bounds, cluster)
        best, fewest = NONE, NONE
        for main in range(known.clusters):
            if _split(known, size, bounds, spare, main):
                pairs = _pairs_across(known, size, bounds, below)
                if pairs != NONE and (best == NONE or pairs < fewest):
                    best, fewest = main, pairs
        if best == NONE:
            for cluster in range(known.clusters):
                known.take[cluster] = 0
            return WAIT
        _split(known, size, bounds, spare, best)
        look_out(known, memory, size, fewest)
        return START

    def memory(self) -> npt.NDArray[np.float64]:
        """Return what is known at first: the threshold; and room for a few numbers a link."""
        memory = np.zeros(SCRATCH + 3 * self.model.world.links)
        memory[LSLT] = self.settings.lslt / 100.0
        return memory

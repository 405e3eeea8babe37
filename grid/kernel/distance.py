"""What distance costs a job in the kernel: data to be staged, and messages that take their time.

`grid.platform.distance` says what that means.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from grid.jobs import ANYWHERE
from grid.kernel.compile import inlined, part
from grid.kernel.state import NONE, State


@inlined
def _depth(state: State, node: int) -> int:
    """Return how many links are between a node and the central switch."""
    links = 0
    while node != NONE:
        links += 1
        node = state.parent[node]
    return links


@part
def _path(state: State, a: int, b: int) -> tuple[float, float]:
    """Return the capacity (Mbit/s) and the latency (s) of the path between two clusters."""
    narrowest, latency = np.inf, 0.0
    while a != b:
        if _depth(state, a) < _depth(state, b):
            a, b = b, a
        narrowest = min(narrowest, state.capacity[a])
        latency += state.link_latency[a]
        a = state.parent[a]
    return narrowest, latency


@part
def stage(state: State, slot: Any, cluster: int) -> None:
    """Have a job wait, on its processors, for its data to come to a cluster, if they must.

    They go to all its clusters at once: the one that gets them last counts.
    """
    if slot.origin == ANYWHERE or slot.origin == cluster:
        return
    capacity, _ = _path(state, slot.origin, cluster)
    more = state.staging_time + state.staging_data / capacity - slot.staging
    if more > 0.0:
        slot.staging += more
        slot.execution_time += more
        slot.predicted_time += more


@inlined
def _farthest(state: State, cluster: int) -> tuple[int, float]:
    """Return the cluster that is farthest from one, of those with a part of a job, and how far."""
    farthest, most = cluster, 0.0
    for other in range(state.clusters):
        if state.known.take[other] > 0:
            _, latency = _path(state, cluster, other)
            if latency > most:
                farthest, most = other, latency
    return farthest, most


@part
def lag(state: State) -> float:
    """Return what latency adds to a second of communication of the job being started, s.

    In a tree, whatever is farthest from any cluster is one end of the longest path.
    """
    first = 0
    while state.known.take[first] == 0:
        first += 1
    end, _ = _farthest(state, first)
    _, longest = _farthest(state, end)
    return state.message_rate * longest

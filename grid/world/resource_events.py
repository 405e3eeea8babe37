"""What a world has to expect of its resources: planned changes, and a failure model."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from grid.kernel import access
from grid.kernel import state as k
from grid.kernel.dtypes import EVENT
from grid.platform.changes import FAIL, JOIN, Failures
from grid.streams import stream
from grid.world.storage import Tables


def plan_changes(world: Tables, schedule: Callable[[int, int, int, float], None]) -> None:
    """Have the changes of the platform happen when they are due.

    Parameters
    ----------
    world : Tables
    schedule : callable
        `grid.world.World.schedule`.
    """
    for change in world.platform.changes:
        cluster = world.platform.index(change.cluster)
        size = world.platform.clusters[cluster].size
        for processor in range(size - (change.processors or size), size):
            if change.what == JOIN:
                _leave_out(world, cluster, processor)
                schedule(k.REPAIR, cluster, processor, change.at)
            else:
                kind = k.FAIL if change.what == FAIL else k.RETIRE
                schedule(kind, cluster, processor, change.at)
                schedule(k.REPAIR, cluster, processor, change.until)


def _leave_out(world: Tables, cluster: int, processor: int) -> None:
    """Begin without a processor, which nobody has heard of yet."""
    index = int(world.columns["first_processor"][cluster]) + processor
    world._processors["causes"][index] += 1
    world.columns["remaining"][cluster] -= 1
    if world._processors["holder"][index] == k.FREE:
        world._processors["holder"][index] = k.DOWN
        below = world.beliefs["cluster"] == cluster
        for name in ("free", "up"):
            world.columns[name][cluster] -= 1
            world.known[name][cluster] -= 1
            world.beliefs[name][below] -= 1
        if world.known["up"][cluster] == 0:
            world.known["load"][cluster] = np.inf


def plan_failures(world: Tables, failures: Failures, seed: int) -> npt.NDArray[np.void]:
    """Have every processor fail by the model; return the table of events, with room for it."""
    box, wanted = world._box, 2 * (len(world._events) + len(world._processors))
    more = np.zeros(wanted - len(world._events), EVENT)
    events = np.concatenate([world._events, more])
    box["mean_up"], box["mean_down"] = failures.mean_up_time, failures.mean_down_time
    box["failure_stream"] = stream(seed, "failures")
    access.plan_failures(box, events, world._processors)
    return events

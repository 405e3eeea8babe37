"""Queues that a global scheduler visits: one of each cluster, and a global one (`queues`, 2.5).

Whoever visits queues is told what has happened (``known.event``) and says whose head it tries next,
until it tries none: one visit after each departure, and after each arrival.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from grid.jobs import ANYWHERE, MAX_COMPONENTS
from grid.kernel.compile import inlined, part
from grid.kernel.state import (
    ARRIVED,
    DEPARTED,
    NONE,
    NOTHING,
    ONE_QUEUE,
    OWN_QUEUES,
    REFUSED,
    STARTED,
    State,
)
from grid.kernel.statistics import is_whole


@inlined
def queue_of(state: State, slot: Any) -> int:
    """Return the queue that a job waits in: that of its origin, or the global one."""
    alone = is_whole(slot)
    if slot.origin == ANYWHERE or state.queues == ONE_QUEUE:
        return int(state.clusters)
    return int(slot.origin if alone or state.queues == OWN_QUEUES else state.clusters)


@inlined
def tell_arrival(state: State, queue: int) -> None:
    """Tell the scheduler that a job has come into a queue."""
    known = state.known
    if known.event == NOTHING:
        known.event = ARRIVED
        known.queue = queue
    else:  # of several at once it could not be told one by one
        known.event = DEPARTED
    state.offering_all = 1


@inlined
def tell_departure(state: State) -> None:
    """Tell the scheduler that processors have become free, of whomever."""
    state.known.event = DEPARTED
    state.offering_all = 1


@inlined
def tell_outcome(state: State, queue: int, refused: bool) -> None:
    """Tell the scheduler what came of the head of the queue that it visited."""
    state.known.event = REFUSED if refused else STARTED
    state.known.queue = queue


@inlined
def nothing_happened(state: State) -> None:
    """Note that the scheduler has visited whatever it wanted to."""
    state.known.event = NOTHING
    state.known.released[0] = NONE


@part
def note_placement(state: State, slot: Any) -> None:
    """Note where a job starts: by part, the largest first, of equals where more was free."""
    take, free = state.known.take, state.free
    count = 0
    for cluster in range(state.clusters):
        if take[cluster] == 0 or count == MAX_COMPONENTS:
            continue
        at = count
        while at > 0:
            other = slot.placed_on[at - 1]
            if take[other] > take[cluster] or (
                take[other] == take[cluster] and free[other] >= free[cluster]
            ):
                break
            slot.placed_on[at] = other
            at -= 1
        slot.placed_on[at] = np.int16(cluster)
        count += 1
    if count < MAX_COMPONENTS:
        slot.placed_on[count] = np.int16(NONE)


@inlined
def note_release(state: State, slot: Any) -> None:
    """Note for the scheduler which clusters a job leaves."""
    for index in range(MAX_COMPONENTS):
        state.known.released[index] = slot.placed_on[index]
        if slot.placed_on[index] == NONE:
            break

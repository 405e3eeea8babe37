"""Conservative backfilling: every waiting job has a reservation, which nobody may push back.

A job that joins the queue gets the earliest time at which it fits beside what runs and all that is
reserved. When a job ends, or processors change, each job in order of service gets the earliest time
at which it fits beside all others' reservations, which is never later than its own. Only when what
is reserved no longer fits, for jobs run longer than predicted or processors are lost, are all
reservations made anew, in order of service.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from grid.kernel.compile import inlined, part, unchecked
from grid.kernel.lifecycle.execution import start
from grid.kernel.queueing.queues import leave, walk, walk_from, walk_on
from grid.kernel.queueing.releases import expected_end, freed_by, parts_freed
from grid.kernel.state import NONE, State
from grid.kernel.tables import Tables


@part
def _expect_running(state: State, tables: Tables, cluster: int) -> None:
    """Write how many processors are free from each time on, if no other job starts."""
    slots, profile = tables.slots, tables.profile
    length = 1
    profile[0].time = state.now
    profile[0].free = state.free[cluster]
    job = state.running[cluster]
    at, freed = parts_freed(state, tables, tables.sliding, cluster, -np.inf)
    while job != NONE or at < np.inf:
        end = np.inf if job == NONE else expected_end(state, slots[job])
        if at <= end:
            end, count = at, freed
            at, freed = parts_freed(state, tables, tables.sliding, cluster, at)
        else:
            count = freed_by(state, tables, cluster, job, slots[job].size)
            job = slots[job].next
        if end > profile[length - 1].time:
            profile[length].time = end
            profile[length].free = profile[length - 1].free
            length += 1
        profile[length - 1].free += count
    state.profile_length = length


@unchecked
def _row_at(state: State, profile: Any, time: float, begin: int) -> int:
    """Return the row that begins at a time (s), not before row `begin`; it is made if need be."""
    row, end = begin, state.profile_length
    while row < end:
        middle = (row + end) // 2
        if profile[middle].time < time:
            row = middle + 1
        else:
            end = middle
    if row == state.profile_length or profile[row].time > time:
        for below in range(state.profile_length, row, -1):
            profile[below] = profile[below - 1]
        profile[row].time = time
        profile[row].free = profile[row - 1].free
        state.profile_length += 1
    return row


@part
def _reserve(state: State, profile: Any, slot: Any, count: int) -> bool:
    """Take `count` processors away for a job's reservation; tell whether there were as many."""
    begin = _row_at(state, profile, slot.reserved, 0)
    end = _row_at(state, profile, slot.reserved + slot.predicted_time, begin)
    fits = True
    for row in range(begin, end):
        profile[row].free -= count
        fits &= profile[row].free >= 0
    return fits


@part
def _earliest(state: State, profile: Any, slot: Any) -> float:
    """Return the earliest time (s) from which on a job fits for as long as it shall take."""
    row = 0
    while row < state.profile_length:
        begin = profile[row].time
        end = begin + slot.predicted_time
        while row < state.profile_length and profile[row].free >= slot.size:
            row += 1
            if row == state.profile_length or profile[row].time >= end:
                return float(begin)
        row += 1
    return np.inf


@inlined
def _reserve_known(state: State, slots: Any, profile: Any, cluster: int) -> bool:
    """Take away what is reserved, from now on at the earliest; tell whether all of it fits."""
    fits = True
    job = walk(state, slots, cluster)
    while job != NONE:
        slot = slots[job]
        if slot.reserved < np.inf:
            slot.reserved = max(slot.reserved, state.now)
            fits &= _reserve(state, profile, slot, slot.size)
        job = walk_on(state, slots, job)
    return fits


@inlined
def _forget_reservations(state: State, slots: Any, cluster: int) -> None:
    job = walk(state, slots, cluster)
    while job != NONE:
        slots[job].reserved = np.inf
        job = walk_on(state, slots, job)


@part
def serve_by_reservations(
    state: State,
    tables: Tables,
    cluster: int,
) -> None:
    """Bring the reservations up to now, and start the jobs whose time has come and that fit.

    One whose time has come waits all the same for a job that runs longer than predicted.
    """
    slots, profile = tables.slots, tables.profile
    _expect_running(state, tables, cluster)
    if not _reserve_known(state, slots, profile, cluster):
        _forget_reservations(state, slots, cluster)
        _expect_running(state, tables, cluster)
    moves = state.disturbed[cluster] == 1
    job = walk(state, slots, cluster)
    while job != NONE:
        slot = slots[job]
        reserved = slot.reserved < np.inf
        if moves and reserved:
            _reserve(state, profile, slot, -slot.size)
        if moves or not reserved:
            # A job that shall take no time claims nothing, so that its time may be another's.
            slot.reserved = min(slot.reserved, _earliest(state, profile, slot))
            if slot.reserved < np.inf:
                _reserve(state, profile, slot, slot.size)
        if slot.reserved <= state.now and slot.size <= state.free[cluster]:
            leave(state, slots, tables.subtrees, cluster, job)
            start(state, tables, job)
            job = walk_from(state, slots, cluster, job)
        else:
            job = walk_on(state, slots, job)

"""Conservative backfilling: every waiting job has a reservation, which nobody may push back.

A job that joins the queue gets the earliest time at which it fits beside what runs and all that is
reserved. When a job ends, or processors change, or a job runs longer than predicted, each job in
order of service gets the earliest time at which it fits beside all others' reservations, which is
never later than its own. Only when what is reserved no longer fits are all reservations made anew,
in order of service.

The profile of free processors is made from what runs and what is reserved. As long as all goes as
it foretells, it is kept from one time to the next, by the cluster that was served last.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from grid.kernel.compile import inlined, part
from grid.kernel.lifecycle.execution import start
from grid.kernel.queueing.cluster_profile import (
    append_change,
    begin_profile,
    earliest,
    end_profile,
    let_pass,
    make_row,
    take,
)
from grid.kernel.queueing.queues import leave, walk, walk_from, walk_on
from grid.kernel.queueing.releases import (
    drop_first,
    expected_end,
    freed_by,
    is_overdue,
    order,
    parts_freed,
)
from grid.kernel.state import NONE, State
from grid.kernel.tables import Tables


@inlined
def _push(state: State, changes: Any, time: float, change: int) -> None:
    changes[state.profile_changes].time = time
    changes[state.profile_changes].what = change
    state.profile_changes += 1


@part
def _gather_changes(state: State, tables: Tables, cluster: int, reserved: bool) -> None:
    """Write when processors become free or, with those `reserved`, are taken; in no order.

    What is reserved is so from now on at the earliest.
    """
    slots, changes = tables.slots, tables.changes
    state.profile_changes = 0
    job = state.running[cluster]
    while job != NONE:
        freed = freed_by(state, tables, cluster, job, slots[job].size)
        _push(state, changes, expected_end(state, slots[job]), freed)
        job = slots[job].next
    at, freed = parts_freed(state, tables, cluster, -np.inf)
    while at < np.inf:
        _push(state, changes, at, freed)
        at, freed = parts_freed(state, tables, cluster, at)
    job = walk(state, slots, cluster)
    while job != NONE:
        slot = slots[job]
        if not reserved:
            slot.reserved = np.inf
        elif slot.reserved < np.inf:
            slot.reserved = max(slot.reserved, state.now)
            _push(state, changes, slot.reserved, -slot.size)
            _push(state, changes, slot.reserved + slot.predicted_time, slot.size)
        job = walk_on(state, slots, job)


@part
def _foresee(state: State, tables: Tables, cluster: int, reserved: bool) -> bool:
    """Write how many processors are free from each time on; tell whether that is ever below none.

    If not `reserved`, all reservations are forgotten, and no other job starts.
    """
    _gather_changes(state, tables, cluster, reserved)
    rows, blocks, changes = tables.profile, tables.blocks, tables.changes
    count = state.profile_changes
    order(changes, count)
    begin_profile(state, rows, blocks, state.free[cluster])
    while count > 0:
        append_change(state, rows, blocks, changes[0].time, changes[0].what)
        count = drop_first(changes, count)
    return end_profile(state, rows, blocks)


@part
def _is_kept(state: State, tables: Tables, cluster: int) -> bool:
    """Tell whether the profile is still true of a cluster; if it is, have it begin now."""
    if state.profile_of != cluster or state.next_due < state.now or state.sliding > 0:
        return False
    # Each job's reservation may be moved, which leaves rows behind: see `make_room_to_backfill`.
    rows = state.profile_length + 2 * state.waiting[cluster] + 2
    if rows > len(tables.profile) // 8 * 3 or is_overdue(state, tables.slots, cluster):
        return False
    let_pass(state, tables.profile, tables.blocks)
    return True


@inlined
def _reserve(state: State, rows: Any, blocks: Any, slot: Any) -> None:
    end = slot.reserved + slot.predicted_time
    make_row(state, rows, blocks, end)
    take(state, rows, blocks, slot.reserved, end, slot.size)


@inlined
def _release(state: State, rows: Any, blocks: Any, slot: Any) -> None:
    take(state, rows, blocks, slot.reserved, slot.reserved + slot.predicted_time, -slot.size)


@part
def _reserve_for_newcomer(state: State, tables: Tables, cluster: int) -> None:
    """Serve the job that has joined the queue, where no other can start or find an earlier time."""
    job, rows, blocks = state.newcomer[cluster], tables.profile, tables.blocks
    slot = tables.slots[job]
    slot.reserved = earliest(state, rows, blocks, slot, np.inf, np.inf)
    if slot.reserved < np.inf:
        _reserve(state, rows, blocks, slot)
    if slot.reserved <= state.now and slot.size <= state.free[cluster]:
        leave(state, tables.slots, tables.by_size, cluster, job)
        start(state, tables, job)
    else:
        state.next_due = min(state.next_due, slot.reserved)


# Service ----------------------------------------------------------------------------------------


@part
def serve_by_reservations(
    state: State,
    tables: Tables,
    cluster: int,
) -> None:
    """Bring the reservations up to now, and start the jobs whose time has come and that fit.

    One whose time has come waits all the same for a job that runs longer than predicted.
    """
    slots, rows, blocks = tables.slots, tables.profile, tables.blocks
    kept = _is_kept(state, tables, cluster)
    if not kept and not _foresee(state, tables, cluster, True):
        _foresee(state, tables, cluster, False)
    # A job has the earliest time that there was. It finds another only where more is free since.
    until, freed = state.freed_until[cluster], 0.0
    if state.sliding > 0 or state.shrunk_any == 1:
        until = np.inf
    searches = state.disturbed[cluster] == 1 or is_overdue(state, slots, cluster)
    moves = searches and until > state.now
    if searches:
        state.freed_until[cluster] = 0.0
    if kept and state.next_due > state.now and state.newcomers[cluster] <= 1 and not moves:
        if state.newcomers[cluster] == 1:
            _reserve_for_newcomer(state, tables, cluster)
        return
    state.next_due = np.inf
    job = walk(state, slots, cluster)
    while job != NONE:
        slot = slots[job]
        before = np.inf if slot.reserved == np.inf else max(until, freed)
        if before > state.now and (moves or slot.reserved == np.inf):
            # A job that shall take no time claims nothing, so that its time may be another's.
            begin = earliest(state, rows, blocks, slot, slot.reserved, before)
            if begin < slot.reserved:
                if slot.reserved < np.inf:
                    _release(state, rows, blocks, slot)
                    freed = max(freed, slot.reserved + slot.predicted_time)
                slot.reserved = begin
                _reserve(state, rows, blocks, slot)
        if slot.reserved <= state.now and slot.size <= state.free[cluster]:
            leave(state, slots, tables.by_size, cluster, job)
            start(state, tables, job)
            job = walk_from(state, slots, cluster, job)
        else:
            state.next_due = min(state.next_due, slot.reserved)
            job = walk_on(state, slots, job)
    if moves:
        state.freed_until[cluster] = freed
    # One that is late is expected at another time each time.
    kept = state.next_due > state.now and state.sliding == 0
    state.profile_of = cluster if kept else NONE

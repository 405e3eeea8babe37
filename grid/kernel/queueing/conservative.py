"""Conservative backfilling: every waiting job has a reservation, which nobody may push back.

A job that joins the queue gets the earliest time at which it fits beside what runs and all that is
reserved. When a job ends, or processors change, each job in order of service gets the earliest time
at which it fits beside all others' reservations, which is never later than its own. Only when what
is reserved no longer fits, for jobs run longer than predicted or processors are lost, are all
reservations made anew, in order of service.

The profile of free processors is made from what runs and what is reserved. As long as all goes as
it foretells, it is kept from one time to the next, by the cluster that was served last.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from grid.kernel.compile import inlined, part, unchecked
from grid.kernel.lifecycle.execution import start
from grid.kernel.queueing.queues import leave, walk, walk_from, walk_on
from grid.kernel.queueing.releases import expected_end, freed_by, is_overdue, parts_freed
from grid.kernel.state import NONE, State
from grid.kernel.tables import Tables

BLOCK = 64
"""Rows of the profile whose most free processors are known together, and such blocks."""

_WIDE = BLOCK * BLOCK


# The profile ------------------------------------------------------------------------------------


@inlined
def _first_change(profile: Any) -> int:
    """Return the first row of the heap of changes: of the last third of the table."""
    return len(profile) // 3 * 2


@unchecked
def _sink(heap: Any, at: int, count: int) -> None:
    """Restore the order of a heap, the soonest first, of which one row is out of it."""
    time, change = heap[at].time, heap[at].free
    child = 2 * at + 1
    while child < count:
        if child + 1 < count and heap[child + 1].time < heap[child].time:
            child += 1
        if heap[child].time >= time:
            break
        heap[at].time, heap[at].free = heap[child].time, heap[child].free
        at, child = child, 2 * child + 1
    heap[at].time, heap[at].free = time, change


@inlined
def _push(state: State, heap: Any, time: float, change: int) -> None:
    heap[state.profile_changes].time = time
    heap[state.profile_changes].free = change
    state.profile_changes += 1


@part
def _gather_changes(state: State, tables: Tables, cluster: int, reserved: bool) -> None:
    """Write when processors become free or, with those `reserved`, are taken; in no order.

    What is reserved is so from now on at the earliest.
    """
    slots, heap = tables.slots, tables.profile[_first_change(tables.profile) :]
    state.profile_changes = 0
    job = state.running[cluster]
    while job != NONE:
        freed = freed_by(state, tables, cluster, job, slots[job].size)
        _push(state, heap, expected_end(state, slots[job]), freed)
        job = slots[job].next
    at, freed = parts_freed(state, tables, cluster, -np.inf)
    while at < np.inf:
        _push(state, heap, at, freed)
        at, freed = parts_freed(state, tables, cluster, at)
    job = walk(state, slots, cluster)
    while job != NONE:
        slot = slots[job]
        if not reserved:
            slot.reserved = np.inf
        elif slot.reserved < np.inf:
            slot.reserved = max(slot.reserved, state.now)
            _push(state, heap, slot.reserved, -slot.size)
            _push(state, heap, slot.reserved + slot.predicted_time, slot.size)
        job = walk_on(state, slots, job)


@part
def _foresee(state: State, tables: Tables, cluster: int, reserved: bool) -> bool:
    """Write how many processors are free from each time on; tell whether that is ever below none.

    If not `reserved`, all reservations are forgotten, and no other job starts.
    """
    _gather_changes(state, tables, cluster, reserved)
    profile, heap = tables.profile, tables.profile[_first_change(tables.profile) :]
    count = state.profile_changes
    for at in range(count // 2 - 1, -1, -1):
        _sink(heap, at, count)
    length, fits = 1, True
    profile[0].time = state.now
    profile[0].free = state.free[cluster]
    while count > 0:
        time, change = heap[0].time, heap[0].free
        count -= 1
        heap[0].time, heap[0].free = heap[count].time, heap[count].free
        _sink(heap, 0, count)
        if time > profile[length - 1].time:
            fits &= profile[length - 1].free >= 0
            profile[length].time = time
            profile[length].free = profile[length - 1].free
            length += 1
        profile[length - 1].free += change
    state.profile_length = length
    _note_most(state, profile, 0, length)
    return bool(fits and profile[length - 1].free >= 0)


@part
def _note_most(state: State, profile: Any, begin: int, end: int) -> None:
    """Bring up to date what is known of the blocks that rows from `begin` to `end` are in."""
    for block in range(begin // BLOCK * BLOCK, end, BLOCK):
        most = profile[block].free
        for row in range(block + 1, min(block + BLOCK, state.profile_length)):
            most = max(most, profile[row].free)
        profile[block].most = most
    for wide in range(begin // _WIDE * _WIDE, end, _WIDE):
        most = profile[wide].most
        for block in range(wide + BLOCK, min(wide + _WIDE, state.profile_length), BLOCK):
            most = max(most, profile[block].most)
        profile[wide].most_widely = most


@unchecked
def _row_at(state: State, profile: Any, time: float, begin: int) -> int:
    """Return the first row that begins at a time (s) or later, not before row `begin`."""
    row, end = begin, state.profile_length
    while row < end:
        middle = (row + end) // 2
        if profile[middle].time < time:
            row = middle + 1
        else:
            end = middle
    return row


@part
def _row_made_at(state: State, profile: Any, time: float, begin: int) -> int:
    """Return the row that begins at a time (s), not before row `begin`; it is made if need be."""
    row = _row_at(state, profile, time, begin)
    if row == state.profile_length or profile[row].time > time:
        for below in range(state.profile_length, row, -1):
            profile[below].time = profile[below - 1].time
            profile[below].free = profile[below - 1].free
        profile[row].time = time
        profile[row].free = profile[row - 1].free
        state.profile_length += 1
        _note_most(state, profile, row, state.profile_length)
    return row


@part
def _take(state: State, profile: Any, slot: Any, count: int) -> None:
    """Take `count` processors away for a job's reservation."""
    begin = _row_made_at(state, profile, slot.reserved, 0)
    end = _row_made_at(state, profile, slot.reserved + slot.predicted_time, begin)
    for row in range(begin, end):
        profile[row].free -= count
    _note_most(state, profile, begin, end)


@unchecked
def _next_with(profile: Any, row: int, end: int, size: int) -> int:
    """Return the first row from one on, but before `end`, with so many processors free; or `end`.

    Blocks without are passed over.
    """
    while row < end and profile[row].free < size:
        if row % _WIDE == 0 and profile[row].most_widely < size:
            row += _WIDE
        elif row % BLOCK == 0 and profile[row].most < size:
            row += BLOCK
        else:
            row += 1
    return min(row, end)


@part
def _earliest(state: State, profile: Any, slot: Any, latest: float, before: float) -> float:
    """Return the earliest time (s) from which on a job fits for as long as it shall take.

    That is `latest`, from which on it fits, if there is none before a time (s) that is earlier.
    """
    last = state.profile_length if latest == np.inf else _row_at(state, profile, latest, 0)
    end_of_search = last if before >= latest else _row_at(state, profile, before, 0)
    row = _next_with(profile, 0, end_of_search, slot.size)
    while row < end_of_search:
        begin = profile[row].time
        end = begin + slot.predicted_time
        while row < last and profile[row].free >= slot.size:
            row += 1
            if row == last or profile[row].time >= end:
                return float(begin)
        row = _next_with(profile, row, end_of_search, slot.size)
    return float(latest)


@unchecked
def _drop(state: State, profile: Any, rows: int) -> None:
    """Have a profile begin now, `rows` further on."""
    state.profile_length -= rows
    for row in range(state.profile_length if rows > 0 else 0):
        profile[row].time = profile[row + rows].time
        profile[row].free = profile[row + rows].free
    profile[0].time = state.now


@part
def _is_kept(state: State, tables: Tables, cluster: int) -> bool:
    """Tell whether the profile is still true of a cluster; if it is, have it begin now."""
    profile = tables.profile
    if state.profile_of != cluster or state.next_due < state.now or state.sliding > 0:
        return False
    # Each job's reservation may be moved, which leaves rows behind.
    room = state.profile_length + 2 * state.waiting[cluster] + 2 <= _first_change(profile)
    if not room or is_overdue(state, tables.slots, cluster):
        return False
    row = _row_at(state, profile, state.now, 0)
    if row == state.profile_length or profile[row].time > state.now:
        row -= 1
    _drop(state, profile, row)
    if row > 0:
        _note_most(state, profile, 0, state.profile_length)
    return True


@part
def _reserve_for_newcomer(state: State, tables: Tables, cluster: int) -> None:
    """Serve the job that has joined the queue, where no other can start or find an earlier time."""
    job, profile = state.newcomer[cluster], tables.profile
    slot = tables.slots[job]
    slot.reserved = _earliest(state, profile, slot, np.inf, np.inf)
    if slot.reserved < np.inf:
        _take(state, profile, slot, slot.size)
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
    slots, profile = tables.slots, tables.profile
    kept = _is_kept(state, tables, cluster)
    if not kept and not _foresee(state, tables, cluster, True):
        _foresee(state, tables, cluster, False)
    # A job has the earliest time that there was. It finds another only where more is free since.
    until, freed = state.freed_until[cluster], 0.0
    if state.sliding > 0 or state.shrunk_any == 1:
        until = np.inf
    moves = state.disturbed[cluster] == 1 and until > state.now
    if state.disturbed[cluster] == 1:
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
            begin = _earliest(state, profile, slot, slot.reserved, before)
            if begin < slot.reserved:
                if slot.reserved < np.inf:
                    _take(state, profile, slot, -slot.size)
                    freed = max(freed, slot.reserved + slot.predicted_time)
                slot.reserved = begin
                _take(state, profile, slot, slot.size)
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

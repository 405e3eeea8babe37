"""How a cluster serves its queue when it does not serve it from its head: FPFS, EASY, by times.

`grid.kernel.queueing.conservative` is the third way. All work with any order of the queue. What
they expect of a job's time is its prediction.

Nobody who was refused before can start because a job has joined the queue behind them. So long as
nothing else changes, only the newcomer is tried.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from grid.kernel.compile import inlined, part
from grid.kernel.lifecycle.execution import start
from grid.kernel.queueing.by_size import next_that_may_go
from grid.kernel.queueing.conservative import serve_by_reservations
from grid.kernel.queueing.queues import (
    first,
    leave,
    walk,
    walk_from,
    walk_on,
)
from grid.kernel.queueing.releases import expected_end, freed_by, is_overdue, parts_freed
from grid.kernel.state import EASY, FPFS, NOBODY, NONE, TIMED, State
from grid.kernel.tables import Tables


@inlined
def note_newcomer(state: State, slots: Any, job: int) -> None:
    """Note a job that has joined the queue of its cluster."""
    slot = slots[job]
    slot.jumps = 0
    slot.reserved = np.inf
    state.newcomers[slot.cluster] += 1
    state.newcomer[slot.cluster] = job


@part
def _leave_and_start(state: State, tables: Tables, cluster: int, job: int) -> None:
    leave(state, tables.slots, tables.by_size, cluster, job)
    start(state, tables, job)


@inlined
def _only_newcomer(state: State, cluster: int) -> bool:
    """Tell whether nothing has happened but that one job has joined the queue."""
    return bool(state.disturbed[cluster] == 0 and state.newcomers[cluster] == 1)


@inlined
def _may_go_before(state: State, cluster: int, slot: Any) -> bool:
    """Tell whether a job that starts now would not delay the head of the queue."""
    if slot.size > state.free[cluster]:
        return False
    ends_in_time = state.now + slot.predicted_time <= state.shadow[cluster]
    return bool(ends_in_time or slot.size <= state.extra[cluster])


@inlined
def _go_before(state: State, tables: Tables, cluster: int, job: int) -> None:
    slot = tables.slots[job]
    if state.now + slot.predicted_time > state.shadow[cluster]:
        state.extra[cluster] -= slot.size
    _leave_and_start(state, tables, cluster, job)


@inlined
def _try_newcomer(state: State, tables: Tables, cluster: int) -> None:
    job = state.newcomer[cluster]
    if _may_go_before(state, cluster, tables.slots[job]):
        _go_before(state, tables, cluster, job)


@part
def _serve_behind(state: State, tables: Tables, cluster: int, job: int) -> None:
    """Start each job behind one (NONE: all of them), in order, that may go before others."""
    slots, by_size = tables.slots, tables.by_size
    while state.free[cluster] > 0:
        job = next_that_may_go(state, slots, by_size, cluster, job)
        if job == NONE:
            return
        _go_before(state, tables, cluster, job)


@part
def _serve_all_that_fit(state: State, tables: Tables, cluster: int) -> None:
    """FPFS: start each job that fits, in order, unless one was overtaken too often before it."""
    slots, most = tables.slots, state.may_be_overtaken[cluster]
    if most == NOBODY:
        state.shadow[cluster] = np.inf  # as there is no job that others could delay
        if _only_newcomer(state, cluster):
            _try_newcomer(state, tables, cluster)
        else:
            _serve_behind(state, tables, cluster, NONE)
        return
    job = walk(state, slots, cluster)
    # `jumps` counts from what has started by now, until the walk is over.
    started, allowed, last = 0, NOBODY, NONE
    while job != NONE and state.free[cluster] > 0 and started < allowed:
        if slots[job].size <= state.free[cluster]:
            _leave_and_start(state, tables, cluster, job)
            started += last != NONE
            job = walk_from(state, slots, cluster, job)
        else:
            slots[job].jumps -= started
            allowed = min(allowed, most - slots[job].jumps)
            last = job
            job = walk_on(state, slots, job)
    if started > 0:
        job = walk(state, slots, cluster)
        slots[last].jumps += started
        while job != last:
            slots[job].jumps += started
            job = walk_on(state, slots, job)


@part
def _find_shadow(state: State, tables: Tables, cluster: int, head: int) -> None:
    """Find when the head of the queue is expected to start, and what it leaves free then.

    All releases of that instant included. A head larger than what remains has no such time.
    """
    slots, free = tables.slots, state.free[cluster]
    need = slots[head].size
    state.shadow[cluster], state.extra[cluster] = np.inf, free
    job = state.running[cluster]
    at, freed = parts_freed(state, tables, cluster, -np.inf)
    while job != NONE or at < np.inf:
        end = np.inf if job == NONE else expected_end(state, slots[job])
        if free >= need and min(end, at) > state.shadow[cluster]:
            break
        if at <= end:
            end = at
            free += freed
            at, freed = parts_freed(state, tables, cluster, at)
        else:
            free += freed_by(state, tables, cluster, job, slots[job].size)
            job = slots[job].next
        if free >= need:
            state.shadow[cluster] = end
            state.extra[cluster] = free - need


@part
def _serve_easily(state: State, tables: Tables, cluster: int) -> None:
    """EASY: start jobs from the head while they fit, then others that do not delay the head."""
    slots = tables.slots
    head = first(state, slots, cluster)
    behind = _only_newcomer(state, cluster) and state.newcomer[cluster] != head
    if behind and state.sliding == 0 and not is_overdue(state, slots, cluster):
        _try_newcomer(state, tables, cluster)
        return
    while head != NONE and slots[head].size <= state.free[cluster]:
        _leave_and_start(state, tables, cluster, head)
        head = first(state, slots, cluster)
    if head == NONE or state.free[cluster] == 0:
        return
    _find_shadow(state, tables, cluster, head)
    _serve_behind(state, tables, cluster, head)


@part
def _serve_when_due(state: State, tables: Tables, cluster: int) -> None:
    """Start jobs from the head whose rank, a time (s), has come, while they fit."""
    slots = tables.slots
    while state.root[cluster] != NONE:
        head = first(state, slots, cluster)
        if slots[head].key > state.now or slots[head].size > state.free[cluster]:
            return
        _leave_and_start(state, tables, cluster, head)


@inlined
def serve(
    state: State,
    tables: Tables,
    cluster: int,
) -> None:
    """Start what can start of a cluster's queue, in the cluster's own way."""
    if state.waiting[cluster] > 0:
        if state.service[cluster] == FPFS:
            _serve_all_that_fit(state, tables, cluster)
        elif state.service[cluster] == EASY:
            _serve_easily(state, tables, cluster)
        elif state.service[cluster] == TIMED:
            _serve_when_due(state, tables, cluster)
        else:
            serve_by_reservations(state, tables, cluster)
    state.disturbed[cluster] = 0
    state.newcomers[cluster] = 0

"""Processors that fail, go, or come back, as planned or by chance; jobs that are thrown back."""

from __future__ import annotations

from typing import Any

import numpy as np

from grid.kernel.compile import inlined, part
from grid.kernel.events import plan_failure
from grid.kernel.lifecycle.arrival import announce, land
from grid.kernel.lifecycle.execution import known_at_once, take_off
from grid.kernel.lifecycle.termination import count_in_vain
from grid.kernel.processors import ask_for_report, bring_up, doom, spare, take_down
from grid.kernel.queueing.queues import join
from grid.kernel.state import (
    BREAK,
    DOWN,
    FAIL,
    FREE,
    LOCAL,
    MEND,
    NONE,
    REPAIR,
    RETIRE,
    RUNNING,
    State,
)
from grid.kernel.tables import Tables


@inlined
def _lose(state: State, slot: Any, sliding: Any) -> None:
    """Count a running job that is thrown back, and what it has done in vain."""
    state.restarted += 1
    lasted = state.now - slot.start
    if slot.status == RUNNING:
        state.restarts[slot.cluster] += 1
        state.lost_work[slot.cluster] += lasted * slot.size
    else:
        take = sliding[slot.sliding].take
        for cluster in range(state.clusters):
            if take[cluster] > 0:
                state.restarts[cluster] += 1
                state.lost_work[cluster] += lasted * take[cluster]


@inlined
def _throw_back(state: State, tables: Tables, job: int, preempted_by: int) -> None:
    """Take a running job off its processors, which will run from its beginning again."""
    slot = tables.slots[job]
    _lose(state, slot, tables.sliding)
    take_off(state, tables, job, slot.placed == 0)
    slot.end_event = NONE
    slot.restarts += 1
    slot.preempted_by = preempted_by


@inlined
def preempt(state: State, tables: Tables, job: int, by: int) -> None:
    """Have a running job go back to the queue of its cluster, to wait there for a plan with it."""
    slot = tables.slots[job]
    _throw_back(state, tables, job, by)
    state.preemptions[slot.cluster] += 1
    slot.key = np.inf
    slot.status = LOCAL
    join(state, tables.slots, None, slot.cluster, job)


@part
def fail(state: State, tables: Tables, processor: int) -> None:
    """Fail a processor; the job on it goes back to the queue that it was started from."""
    slots, row = tables.slots, tables.processors[processor]
    doom(state, tables.processors, processor)
    job = row.holder
    if job == DOWN:
        return
    if job != FREE:
        slot = slots[job]
        if slot.status == RUNNING:
            ask_for_report(state, slot.cluster)
        _throw_back(state, tables, job, NONE)
        if slot.placed == 1:
            slot.cluster = NONE
            announce(state, tables, job, row.cluster)
        else:
            land(state, slots, job)
    if row.holder != DOWN:  # as one that was drained is by now
        take_down(state, tables, processor)
    known_at_once(state, row.cluster)


@part
def retire(state: State, tables: Tables, processor: int) -> None:
    """Have a processor go down as soon as it is free; of one that goes anyhow, nothing changes."""
    row = tables.processors[processor]
    doom(state, tables.processors, processor)
    if row.holder == FREE:
        take_down(state, tables, processor)
    if row.causes == 1:
        known_at_once(state, row.cluster)


@part
def repair(state: State, tables: Tables, processor: int) -> None:
    """Bring a processor back, unless it is down for another cause too."""
    row = tables.processors[processor]
    spare(state, tables.processors, processor)
    if row.causes == 0:
        if row.holder == DOWN:
            bring_up(state, tables, processor)
        known_at_once(state, row.cluster)


@inlined
def change(state: State, tables: Tables, kind: int, processor: int) -> None:
    """Have a processor fail, go, or come back."""
    if kind in (BREAK, MEND):
        state.background -= 1
        count_in_vain(state)
    else:
        state.changes -= 1
    if kind == REPAIR:
        repair(state, tables, processor)
    elif kind == FAIL:
        fail(state, tables, processor)
    elif kind == RETIRE:
        retire(state, tables, processor)
    elif kind == BREAK:
        state.broken += 1
        fail(state, tables, processor)
        plan_failure(state, tables.events, MEND, state.mean_down, processor)
    else:
        state.broken -= 1
        repair(state, tables, processor)
        plan_failure(state, tables.events, BREAK, state.mean_up, processor)

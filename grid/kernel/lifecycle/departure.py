"""How a job leaves the grid: its row in the table of finished jobs."""

from __future__ import annotations

from typing import Any

import numpy as np

from grid.kernel.advertisements import learn_done
from grid.kernel.compile import inlined
from grid.kernel.processors import ask_for_plan, ask_for_report, forget_plan, note_change
from grid.kernel.queueing.fair_share import fold, unfold
from grid.kernel.queueing.global_queue import leave_line, offer_again
from grid.kernel.queueing.queues import leave
from grid.kernel.state import GLOBAL, NONE, VACANT, State
from grid.kernel.statistics import let_time_pass
from grid.kernel.tables import Tables


@inlined
def record(state: State, tables: Tables, job: int, split: int, start: float, finish: float) -> None:
    """Write the row of a job that leaves, if anybody wants it."""
    if state.recording == 0:
        return
    slot, row = tables.slots[job], tables.finished[state.finished]
    state.finished += 1
    row.number = slot.number
    row.submission = slot.submission
    row.arrival = slot.arrival
    row.size = slot.size
    row.runtime = slot.runtime
    row.deadline = slot.deadline
    row.start = start
    row.finish = finish
    row.execution_time = slot.execution_time
    row.predicted_time = slot.predicted_time
    row.staging = slot.staging
    row.origin = slot.origin
    row.user = slot.user
    row.application = slot.application
    row.times_row = slot.times_row
    row.restarts = slot.restarts
    row.requested_time = slot.requested_time
    row.cluster = slot.cluster
    row.split = split


@inlined
def vacate(state: State, slots: Any, job: int) -> None:
    """Give a job's slot back."""
    slots[job].status = VACANT
    slots[job].next = state.vacant
    state.vacant = job
    state.live -= 1


@inlined
def reject(state: State, tables: Tables, job: int) -> None:
    """Have a job leave that can never start."""
    let_time_pass(state)
    state.rejected += 1
    record(state, tables, job, NONE, np.nan, np.nan)
    vacate(state, tables.slots, job)


@inlined
def leave_unrun(state: State, tables: Tables, job: int) -> None:
    """Have a cluster be without a job that has waited there, as with work that is done."""
    slot = tables.slots[job]
    cluster, work = slot.cluster, slot.predicted_time * slot.size
    if slot.landed == 1:
        state.left[cluster] -= work
    slot.landed = 0
    learn_done(state, cluster, work)
    ask_for_report(state, cluster)


@inlined
def withdraw(state: State, tables: Tables, job: int) -> None:
    """Have a job leave that waits, globally or at a cluster, and is not to start any more."""
    slots, cluster = tables.slots, tables.slots[job].cluster
    if slots[job].status == GLOBAL:
        leave_line(state, slots, job)
        state.reservations = 0  # all are made anew
        offer_again(state)
    else:
        unfold(state, slots, tables.by_size, cluster)
        if state.planned[cluster] > 0:
            forget_plan(state, tables, cluster)
        leave(state, slots, tables.by_size, cluster, job)
        fold(state, slots, tables.by_size, cluster)
        leave_unrun(state, tables, job)
        note_change(state, cluster, np.inf)  # what the job has held back
        ask_for_plan(state, cluster)
    slots[job].cluster = NONE
    let_time_pass(state)
    state.withdrawn += 1
    record(state, tables, job, NONE, np.nan, state.now)
    vacate(state, slots, job)

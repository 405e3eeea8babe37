"""How a job leaves the grid: its row in the table of finished jobs."""

from __future__ import annotations

from typing import Any

import numpy as np

from grid.kernel.compile import inlined
from grid.kernel.state import NONE, VACANT, State
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

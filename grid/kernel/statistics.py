"""What is summed up while a run goes on, so that nobody has to keep its jobs.

Sums are over jobs, as they complete. Beside them stand snapshots of what adds up over time, each
after so many arrivals: when their table is full, every second one is dropped and the arrivals from
one to the next double, so that a run of any length has a few dozen.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from grid.jobs import MAX_COMPONENTS, ORDERED, TOTAL
from grid.kernel.compile import inlined, part
from grid.kernel.record import Column, Number, Record

SNAPSHOTS = 64
TOLERANCE = 1e-9
"""Relative difference below which a link counts as just full, and two links as equally full."""
TRACE = 1e-12
"""Relative difference that rounding may leave between two times: a job is not late by that."""
SLOWDOWN_BOUND = 10.0
"""Shorter jobs count as this long in the bounded slowdown, s."""


class Sums(Record):
    """Sums over the jobs that count, and over time."""

    warmup = Number(int)  # jobs that arrive before any counts
    counted_from = Number(float)  # s, arrival of the first that counts
    last_finish = Number(float)  # s, of any job
    # over completed jobs that count
    jobs = Number(int)
    wait = Number(float)  # s
    turnaround = Number(float)  # s
    bounded_slowdown = Number(float)
    coallocated = Number(int)  # jobs on several clusters
    penalised = Number(int)  # of those, jobs that take time
    penalty = Number(float)  # of those, actual over dedicated execution time, staging apart
    # over time
    waiting_area = Number(float)  # job-seconds waited until `since`
    since = Number(float)  # s
    links_since = Number(float)  # s, when demand on links changed last, or was added up
    snapshots = Number(int)
    interval = Number(int)  # arrivals from one snapshot to the next
    due = Number(int)  # arrivals at the next
    snapshot_at = Column(np.float64, SNAPSHOTS)  # s
    snapshot_waiting = Column(np.float64, SNAPSHOTS)  # job-seconds waited until then


JOB_SUMS = [
    field.column({})[:2]
    for field in (
        *(Sums.jobs, Sums.wait, Sums.turnaround, Sums.bounded_slowdown),
        *(Sums.coallocated, Sums.penalised, Sums.penalty),
    )
]
"""Sums over completed jobs, of which `grid.world.statistics.means` tells the means."""


@inlined
def let_time_pass(state: Any) -> None:
    """Add up what jobs have waited until now, before their number changes.

    An instant of the kernel calls it as it begins. What starts or is rejected between two of them,
    as by a plan that came as a message, calls it too.
    """
    sums = state.statistics
    waiting = state.live - (state.started - state.completed - state.restarted)
    sums.waiting_area += waiting * (state.now - sums.since)
    sums.since = state.now


@inlined
def let_links_pass(state: Any) -> None:
    """Add up what links carried since their demand changed last; it changes now."""
    passed = state.now - state.statistics.links_since
    state.statistics.links_since = state.now
    for link in range(state.links):
        state.carried[link] += passed * state.demand[link]
        full = state.demand[link] > state.capacity[link] * (1.0 + TOLERANCE)
        state.saturated[link] += passed if full else 0.0


@inlined
def count_arrival(state: Any) -> None:
    """Note that a job arrived, of which `submitted` knows already."""
    if state.submitted == state.statistics.warmup + 1:
        _begin(state)
    if state.submitted == state.statistics.due:
        _take_snapshot(state)


@part
def _begin(state: Any) -> None:
    """Count from this job on."""
    state.statistics.counted_from = state.now
    let_links_pass(state)
    for link in range(state.links):
        state.carried_before[link] = state.carried[link]
        state.saturated_before[link] = state.saturated[link]


@part
def _take_snapshot(state: Any) -> None:
    sums = state.statistics
    let_links_pass(state)
    if sums.snapshots == SNAPSHOTS:
        sums.snapshots = SNAPSHOTS // 2
        sums.interval *= 2
        for index in range(sums.snapshots):
            sums.snapshot_at[index] = sums.snapshot_at[2 * index + 1]
            sums.snapshot_waiting[index] = sums.snapshot_waiting[2 * index + 1]
            for link in range(state.links):
                state.snapshot_carried[index, link] = state.snapshot_carried[2 * index + 1, link]
                state.snapshot_saturated[index, link] = state.snapshot_saturated[
                    2 * index + 1, link
                ]
    else:
        sums.snapshot_at[sums.snapshots] = state.now
        sums.snapshot_waiting[sums.snapshots] = sums.waiting_area
        for link in range(state.links):
            state.snapshot_carried[sums.snapshots, link] = state.carried[link]
            state.snapshot_saturated[sums.snapshots, link] = state.saturated[link]
        sums.snapshots += 1
    sums.due = (sums.snapshots + 1) * sums.interval


@inlined
def count_completion(state: Any, slot: Any, split: bool) -> None:
    """Add a job that completes now to the sums."""
    state.statistics.last_finish = state.now
    if slot.arrival >= state.statistics.counted_from:
        add_job(state.statistics, slot, slot.start, state.now, split)
        if state.visits == 1:
            _count_response(state, slot, state.now - slot.arrival)


@inlined
def is_whole(job: Any) -> bool:
    """Tell whether a job has a single component: only a sum counts as one."""
    if job.request != ORDERED:
        return bool(job.request == TOTAL or job.components[1] == 0)
    holds_all = 0
    for index in range(MAX_COMPONENTS):
        holds_all += int(job.components[index] == job.size)
    return holds_all > 0


@inlined
def _count_response(state: Any, slot: Any, response: float) -> None:
    """Add the response time of a job to those of its queue, and of its kind."""
    kind = int(not is_whole(slot))
    state.responses[kind] += response
    state.responded[kind] += 1
    state.queue_responses[slot.queue] += response
    state.queue_responded[slot.queue] += 1


@inlined
def slowdown(job: Any, finish: float) -> float:
    """Return the bounded slowdown of a job: turnaround over dedicated execution time, from 1 on.

    Staging is no part of that time, or slow links would pass for little slowdown.
    """
    dedicated = job.execution_time - job.staging
    return max(1.0, (finish - job.arrival) / max(dedicated, SLOWDOWN_BOUND))


@inlined
def late_by(finish: float, deadline: float) -> float:
    """Return how long after its deadline a job ended, s; 0 if it did not."""
    late = finish - deadline
    return late if late > TRACE * finish else 0.0


@inlined
def add_job(sums: Any, job: Any, start: float, finish: float, split: bool) -> None:
    """Add a completed job, a slot or the row of one that left, to `JOB_SUMS`."""
    sums.jobs += 1
    sums.wait += start - job.arrival
    sums.turnaround += finish - job.arrival
    sums.bounded_slowdown += slowdown(job, finish)
    if split:
        sums.coallocated += 1
        dedicated = job.execution_time - job.staging
        if dedicated > 0.0:
            sums.penalised += 1
            # late in a long run the difference of two times is rounded, and may be a trace short
            sums.penalty += max(1.0, (finish - start - job.staging) / dedicated)

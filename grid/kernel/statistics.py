"""What is summed up while a run goes on, so that nobody has to keep its jobs.

Sums are over jobs, as they complete. Beside them stand snapshots of what adds up over time, each
after so many arrivals: when their table is full, every second one is dropped and the arrivals from
one to the next double, so that a run of any length has a few dozen.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from grid.kernel.compile import inlined, part

SNAPSHOTS = 64
SLOWDOWN_BOUND = 10.0
"""Shorter jobs count as this long in the bounded slowdown, s."""

STATISTICS = np.dtype(
    [
        ("warm_up", np.int64),  # jobs that arrive before any counts
        ("counted_from", np.float64),  # s, arrival of the first that counts
        ("area_before", np.float64),  # processor-seconds held by then
        # of jobs that count and completed
        ("jobs", np.int64),
        ("wait", np.float64),  # s
        ("turnaround", np.float64),  # s
        ("bounded_slowdown", np.float64),
        ("coallocated", np.int64),
        ("penalty", np.float64),  # of those, actual over dedicated execution time
        # over time
        ("waiting_area", np.float64),  # job-seconds waited until `since`
        ("since", np.float64),  # s
        ("snapshots", np.int64),
        ("interval", np.int64),  # arrivals from one snapshot to the next
        ("due", np.int64),  # arrivals at the next
        ("snapshot_at", np.float64, (SNAPSHOTS,)),  # s
        ("snapshot_waiting", np.float64, (SNAPSHOTS,)),  # job-seconds waited until then
    ],
    align=True,
)


@inlined
def let_time_pass(state: Any, time: float) -> None:
    """Add up what jobs wait from the last instant to the next, at `time` (s)."""
    sums = state.statistics
    waiting = state.live - (state.started - state.completed - state.restarted)
    sums.waiting_area += waiting * (time - sums.since)
    sums.since = time


@inlined
def count_arrival(state: Any) -> None:
    """Note that a job arrived, of which `submitted` knows already."""
    if state.submitted == state.statistics.warm_up + 1:
        _begin(state)
    if state.submitted == state.statistics.due:
        _take_snapshot(state)


@part
def _begin(state: Any) -> None:
    """Count from this job on."""
    sums = state.statistics
    sums.counted_from = state.now
    for cluster in range(state.clusters):
        busy = state.up[cluster] - state.free[cluster]
        sums.area_before += state.area[cluster] + busy * (state.now - state.changed[cluster])


@part
def _take_snapshot(state: Any) -> None:
    sums = state.statistics
    if sums.snapshots == SNAPSHOTS:
        sums.snapshots = SNAPSHOTS // 2
        sums.interval *= 2
        for index in range(sums.snapshots):
            sums.snapshot_at[index] = sums.snapshot_at[2 * index + 1]
            sums.snapshot_waiting[index] = sums.snapshot_waiting[2 * index + 1]
    else:
        sums.snapshot_at[sums.snapshots] = state.now
        sums.snapshot_waiting[sums.snapshots] = sums.waiting_area
        sums.snapshots += 1
    sums.due = (sums.snapshots + 1) * sums.interval


@inlined
def count_completion(state: Any, slot: Any, split: bool) -> None:
    """Add a job that completes now to the sums."""
    sums = state.statistics
    if slot.arrival >= sums.counted_from:
        turnaround = state.now - slot.arrival
        sums.jobs += 1
        sums.wait += slot.start - slot.arrival
        sums.turnaround += turnaround
        sums.bounded_slowdown += max(1.0, turnaround / max(slot.execution_time, SLOWDOWN_BOUND))
        if split:
            sums.coallocated += 1
            time = state.now - slot.start - slot.staging
            dedicated = slot.execution_time - slot.staging
            sums.penalty += time / dedicated if dedicated > 0.0 else 1.0

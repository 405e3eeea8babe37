"""Jobs that start in the order of a list, on what is free when they start; compiled."""

from __future__ import annotations

from typing import Any

from agents.oas.solvers.packing import Tables, copy, duration, fit, hold
from grid.kernel.compile import compiled


@compiled()
def list_jobs(
    t: Tables,
    pinned: int,
    overtaking: bool,
    waiting: Any,
    running: Any,
    now: Any,
    begins: Any,
    ends: Any,
    nodes: Any,
) -> None:
    """Start jobs in order as soon as they fit, on the fastest nodes that they fit on then.

    Parameters
    ----------
    t : Tables
    pinned : int
        So many jobs, the first ones, run from 0 on, as `ends` and `nodes` say.
    overtaking : bool
        A job that fits starts before those ahead of it that do not.
    waiting : array, shape (jobs - pinned,)
        The order; overwritten.
    running : array, shape (jobs,)
        Scratch.
    now : array, shape (3, clusters)
        Scratch: what is free.
    begins, ends : array, shape (jobs,)
        When each job starts and ends; written but for pinned ones.
    nodes : array, shape (jobs, clusters)
        Where; likewise.
    """
    free, spare, few = now[0], now[1], now[2]
    copy(t.nodes, free)
    copy(t.capacities, spare)
    slowest = t.durations.shape[1]
    left, active, time = len(waiting), pinned, 0
    for job in range(pinned):
        hold(t, job, 1, nodes[job], free, spare)
        running[job] = job
    while left > 0:
        kept, blocked = 0, False
        for i in range(left):
            job = waiting[i]
            level = slowest if blocked else 0
            while level < slowest and not fit(t, job, level, free, spare, few, nodes[job]):
                level += 1
            if level < slowest:
                hold(t, job, 1, nodes[job], free, spare)
                begins[job] = time
                ends[job] = time + duration(t, job, nodes[job])
                running[active] = job
                active += 1
            else:
                blocked = not overtaking
                waiting[kept] = job
                kept += 1
        left = kept
        time = ends[running[0]]
        for i in range(1, active):
            time = min(time, ends[running[i]])
        kept = 0
        for i in range(active):
            job = running[i]
            if ends[job] > time:
                running[kept] = job
                kept += 1
            else:
                hold(t, job, -1, nodes[job], free, spare)
        active = kept

"""Schedules that are found at once: the six queues that `oas` compares with, and an insertion.

`oas` names the queues only. Here all of them start a job as soon as it fits, on the fastest level
of nodes that it fits on then, split so that no link is saturated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from agents.oas.instance import Instance, Job
from agents.oas.scaled import Scaled
from agents.oas.schedule import Decision
from agents.oas.solvers.insertion import ANY, Plan, Profile, search
from agents.oas.solvers.list_scheduling import list_jobs
from agents.oas.solvers.packing import Tables, fastest_levels
from grid.streams import Stream, stream

QUEUES: dict[str, tuple[str, Callable[[Job], Any], bool]] = {
    "fcfs": ("First Come First Served", lambda job: 0, False),
    "sjf": ("Short Jobs First: of fewest tasks", lambda job: job.tasks, False),
    "bjf": ("Big Jobs First: of most tasks", lambda job: -job.tasks, False),
    "fpfs": ("Fit Processors First Served: the first that fits", lambda job: 0, True),
    "spt": ("Short Processing Time: of least base time", lambda job: job.base_time, False),
    "lpt": ("Long Processing Time: of most base time", lambda job: -job.base_time, False),
}
"""What each queue is called in full, what orders it (then the arrival), and whether the first that
fits overtakes those that do not fit; else nobody starts before the jobs ahead."""

HEURISTICS = (*QUEUES, "insertion")

FIRST: tuple[Callable[[Job], Any], ...] = (
    lambda job: -job.tasks * job.base_time,
    lambda job: (-job.tasks, -job.base_time),
    lambda job: (-job.base_time, -job.tasks),
)
"""Orders from which the search for one begins: of most work, most tasks, most base time first."""

EFFORT = 4_000_000
"""Insertions times jobs that the searches for an order may take, as if jobs were at least `FEW`."""

FEW = 12


def heuristic(
    name: str,
    instance: Instance,
    slot: Fraction | None = None,
    pinned: Sequence[Decision] = (),
    effort: int = EFFORT,
) -> list[Decision]:
    """Return what a heuristic decides of each job of a feasible instance.

    Parameters
    ----------
    name : str
        One of `HEURISTICS`.
    instance : Instance
    slot : Fraction, optional
        Seconds.
    pinned : sequence of Decision
        What is decided already of the first jobs: they run from 0 on, and end when they do in the
        units of `Scaled.of`, rounded up.
    effort : int
        Insertions times jobs that the search for an order may take.
    """
    tables = Tables.of(instance, Scaled.of(instance, slot, up=True))
    if name in QUEUES:
        plan = _queued(name, instance, tables, pinned)
    else:
        plan = _inserted(instance, tables, pinned, effort)
    return _decided(plan)


def _decided(plan: Plan) -> list[Decision]:
    return [
        Decision(int(begin), int(end), tuple(nodes.tolist()))
        for begin, end, nodes in zip(plan.begins, plan.ends, plan.nodes, strict=True)
    ]


def _sorted(instance: Instance, key: Callable[[Job], Any], pinned: int) -> Any:
    jobs = instance.jobs
    return np.array(sorted(range(pinned, len(jobs)), key=lambda index: key(jobs[index])), np.int64)


def _queued(name: str, instance: Instance, tables: Tables, pinned: Sequence[Decision]) -> Plan:
    _, key, overtaking = QUEUES[name]
    jobs, clusters = len(instance.jobs), len(instance.clusters)
    plan = Plan.empty(jobs, clusters, pinned)
    now = np.zeros((3, clusters), np.int64)
    waiting, running = _sorted(instance, key, len(pinned)), np.zeros(jobs, np.int64)
    times = plan.begins, plan.ends
    list_jobs(tables, len(pinned), overtaking, waiting, running, now, *times, plan.nodes)
    return plan


def _inserted(instance: Instance, tables: Tables, pinned: Sequence[Decision], effort: int) -> Plan:
    """Return the best plan of three searches that begin with different orders."""
    numbers = stream(0, "oas insertion")
    tries = effort // (len(FIRST) * max(len(instance.jobs), FEW) ** 2)
    found = [
        _searched(tables, pinned, _sorted(instance, key, len(pinned)), tries, numbers)
        for key in FIRST
    ]
    return min(found, key=lambda plan: plan.ends[plan.order].max())


def _searched(
    tables: Tables,
    pinned: Sequence[Decision],
    order: Sequence[int],
    tries: int,
    numbers: Stream,
) -> Plan:
    """Return the best plan of so many tries, the first of which has the jobs in an order."""
    jobs, clusters = len(tables.tasks), len(tables.nodes)
    plan, current, former = (Plan.empty(jobs, clusters, pinned) for _ in range(3))
    plan.order[:] = order
    plan.levels[:] = ANY
    profile, fastest = Profile.empty(jobs, clusters), np.zeros(jobs, np.int64)
    fastest_levels(tables, profile.low, fastest)
    search(tables, plan, current, former, fastest, tries, profile, numbers)
    return plan

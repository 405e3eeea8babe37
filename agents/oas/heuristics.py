"""Schedules that are found at once: the six queues that `oas` compares with, and an insertion.

`oas` names the queues only. Here all of them start a job as soon as it fits, on the fastest level
of nodes that it fits on then, split so that no link is saturated.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from agents.oas.insertion import ANY, Plan, Profile, search
from agents.oas.instance import Instance, Job
from agents.oas.listing import list_jobs
from agents.oas.packing import Tables, fastest_levels
from agents.oas.scaled import Scaled
from agents.oas.schedule import Decision
from grid.streams import stream

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


def heuristic(name: str, instance: Instance, slot: Fraction | None = None) -> list[Decision]:
    """Return what a heuristic decides of each job of a feasible instance.

    Parameters
    ----------
    name : str
        One of `HEURISTICS`.
    instance : Instance
    slot : Fraction, optional
        Seconds.
    """
    tables = Tables.of(instance, Scaled.of(instance, slot, up=True))
    plan = _queued(name, instance, tables) if name in QUEUES else _inserted(instance, tables)
    return [
        Decision(int(begin), int(end), tuple(nodes.tolist()))
        for begin, end, nodes in zip(plan.begins, plan.ends, plan.nodes, strict=True)
    ]


def _sorted(instance: Instance, key: Callable[[Job], Any]) -> Any:
    jobs = instance.jobs
    return np.array(sorted(range(len(jobs)), key=lambda index: key(jobs[index])), np.int64)


def _queued(name: str, instance: Instance, tables: Tables) -> Plan:
    _, key, overtaking = QUEUES[name]
    jobs, clusters = len(instance.jobs), len(instance.clusters)
    plan = Plan.empty(jobs, clusters)
    now = np.zeros((3, clusters), np.int64)
    waiting = _sorted(instance, key)
    list_jobs(tables, overtaking, waiting, plan.order, now, plan.begins, plan.ends, plan.nodes)
    return plan


def _inserted(instance: Instance, tables: Tables) -> Plan:
    """Return the best plan of three searches that begin with different orders."""
    jobs, clusters = len(instance.jobs), len(instance.clusters)
    profile = Profile.empty(jobs, clusters)
    current, former = (Plan.empty(jobs, clusters) for _ in range(2))
    fastest = np.zeros(jobs, np.int64)
    fastest_levels(tables, profile.low, fastest)
    numbers = stream(0, "oas insertion")
    tries = EFFORT // (len(FIRST) * max(jobs, FEW) ** 2)
    found = []
    for key in FIRST:
        plan = Plan.empty(jobs, clusters)
        plan.order[:] = _sorted(instance, key)
        plan.levels[:] = ANY
        found.append(plan)
        search(tables, plan, current, former, fastest, tries, profile, numbers)
    return min(found, key=lambda plan: plan.ends.max())

"""Jobs that are inserted one after the other where each ends earliest, and a search for an order.

The low-complexity heuristic that `oas` announces as future work: an insertion looks at each moment
when something becomes free, and for each level of slowness at each cluster, once. Compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from agents.oas.schedule import Decision
from agents.oas.solvers.packing import Tables, copy, duration, fit, hold
from agents.titan.orders import insert, swap
from grid.kernel.compile import compiled, part
from grid.streams import below

SHAKEN = 3
"""Moves that take a schedule that nothing improves to where the search goes on."""

ANY = -1
"""The level of a job that shall end as early as possible, on whatever nodes."""


class Plan(NamedTuple):
    """An order of jobs, and what becomes of it.

    Attributes
    ----------
    order : array, shape (jobs - pinned,)
        The first jobs may be pinned: they run from 0 on, where and until when they do.
    levels : array, shape (jobs,)
        The slowness of the nodes that each job is to wait for, or `ANY`.
    begins, ends : array, shape (jobs,)
    nodes : array, shape (jobs, clusters)
    """

    order: Any
    levels: Any
    begins: Any
    ends: Any
    nodes: Any

    @classmethod
    def empty(cls, jobs: int, clusters: int, pinned: Sequence[Decision] = ()) -> Plan:
        """Return room for a plan."""
        order, levels, begins, ends = np.zeros((4, jobs), np.int64)
        nodes = np.zeros((jobs, clusters), np.int64)
        for job, (_, end, held) in enumerate(pinned):
            ends[job], nodes[job] = end, held
        return cls(order[len(pinned) :], levels, begins, ends, nodes)


class Profile(NamedTuple):
    """What is free from some moments on, each up to the `later` one, and scratch.

    Attributes
    ----------
    time, total, later : array, shape (moments,)
        When it is, nodes that are free, and the moment after it, or -1.
    free, spare : array, shape (moments, clusters)
        Nodes and bandwidth.
    low : array, shape (4, clusters)
        Scratch: the least that is free while a job runs, and how it is distributed.
    """

    time: Any
    total: Any
    later: Any
    free: Any
    spare: Any
    low: Any

    @classmethod
    def empty(cls, jobs: int, clusters: int) -> Profile:
        """Return room for the profile of so many jobs."""
        moments = 2 * jobs + 1
        time, total, later = np.zeros((3, moments), np.int64)
        free, spare = np.zeros((2, moments, clusters), np.int64)
        return cls(time, total, later, free, spare, np.zeros((4, clusters), np.int64))


@part
def insert_jobs(t: Tables, plan: Plan, p: Profile) -> int:
    """Insert jobs in the order of a plan, write when and where they run, return the makespan."""
    p.time[0], p.later[0], p.total[0] = 0, -1, t.nodes.sum()
    copy(t.nodes, p.free[0])
    copy(t.capacities, p.spare[0])
    moments, last = 1, 0
    first = 0  # all nodes are held before it
    for job in range(len(plan.ends) - len(plan.order)):
        moments = _reserve(t, p, job, first, moments, plan)
    for job in plan.order:
        while p.total[first] == 0:
            first = p.later[first]
        _place(t, p, job, plan.levels[job], first, plan)
        moments = _reserve(t, p, job, first, moments, plan)
        last = max(last, plan.ends[job])
    return last


@part
def _reserve(t: Tables, p: Profile, job: int, first: int, moments: int, plan: Plan) -> int:
    """Have a job hold what it does from its begin to its end; return how many moments there are."""
    end = plan.ends[job]
    moment = first
    while p.time[moment] != plan.begins[job]:
        moment = p.later[moment]
    while p.time[moment] < end:
        following = p.later[moment]
        if following < 0 or p.time[following] > end:
            p.time[moments], p.total[moments] = end, p.total[moment]
            p.later[moments], p.later[moment] = following, moments
            copy(p.free[moment], p.free[moments])
            copy(p.spare[moment], p.spare[moments])
            following = moments
            moments += 1
        hold(t, job, 1, plan.nodes[job], p.free[moment], p.spare[moment])
        p.total[moment] -= t.tasks[job]
        moment = following
    return moments


@part
def _place(t: Tables, p: Profile, job: int, chosen: int, first: int, plan: Plan) -> None:
    """Find the moment and the nodes that let a job end earliest."""
    free, spare, few, nodes = p.low[0], p.low[1], p.low[2], p.low[3]
    fastest, slowest = (0, t.durations.shape[1] - 1) if chosen == ANY else (chosen, chosen)
    earliest = -1
    moment = first
    while moment >= 0:
        begin = p.time[moment]
        if earliest >= 0 and begin + t.durations[job, fastest] >= earliest:
            break
        if p.total[moment] >= t.tasks[job]:
            copy(p.free[moment], free)
            copy(p.spare[moment], spare)
            until = p.later[moment]
            room = p.total[moment]
            for level in range(fastest, slowest + 1):
                end = begin + t.durations[job, level]
                if earliest >= 0 and end >= earliest:
                    break
                while until >= 0 and p.time[until] < end and room >= t.tasks[job]:
                    room = 0
                    for k in range(len(free)):
                        free[k] = min(free[k], p.free[until, k])
                        spare[k] = min(spare[k], p.spare[until, k])
                        room += free[k]
                    until = p.later[until]
                if room < t.tasks[job]:
                    break
                if fit(t, job, level, free, spare, few, nodes):
                    earliest = begin + duration(t, job, nodes)
                    plan.begins[job], plan.ends[job] = begin, earliest
                    copy(nodes, plan.nodes[job])
                    break
        moment = p.later[moment]


@part
def _restore(source: Plan, target: Plan) -> None:
    """Copy the order and the levels of a plan."""
    copy(source.order, target.order)
    copy(source.levels, target.levels)


@part
def _keep(source: Plan, target: Plan) -> None:
    """Copy a plan."""
    _restore(source, target)
    copy(source.begins, target.begins)
    copy(source.ends, target.ends)
    for job in range(len(source.ends)):
        copy(source.nodes[job], target.nodes[job])


@part
def _move(plan: Plan, fastest: Any, levels: int, stream: Any) -> None:
    """Change something: the place of a job, those of two, or the level of one."""
    jobs = len(plan.order)
    kind, one, other = below(stream, 3), below(stream, jobs), below(stream, jobs)
    if kind == 0:
        insert(plan.order, one, other)
    elif kind == 1:
        swap(plan.order, one, other)
    else:
        job = len(plan.ends) - jobs + one
        level = fastest[job] - 1 + below(stream, levels - fastest[job] + 1)
        plan.levels[job] = ANY if level < fastest[job] else level


@compiled()
def search(
    t: Tables,
    best: Plan,
    current: Plan,
    former: Plan,
    fastest: Any,
    tries: int,
    p: Profile,
    stream: Any,
) -> int:
    """Insert the jobs of `best`, improve its order and levels, and return its makespan.

    Parameters
    ----------
    t : Tables
    best : Plan
    current, former : Plan
        Scratch.
    fastest : array, shape (jobs,)
        The fastest level that can hold each job alone.
    tries : int
        How many other orders are tried.
    p : Profile
    stream : array
        Random numbers.
    """
    lowest = insert_jobs(t, best, p)
    _restore(best, current)
    makespan = lowest
    jobs, levels = len(best.order), t.durations.shape[1]
    in_vain, patience = 0, 4 * jobs * jobs
    for _ in range(tries):
        _restore(current, former)
        _move(current, fastest, levels, stream)
        found = insert_jobs(t, current, p)
        in_vain = 0 if found < makespan else in_vain + 1
        if found <= makespan:
            makespan = found
        else:
            _restore(former, current)
        if found < lowest:
            lowest = found
            _keep(current, best)
        if in_vain > patience:
            _restore(best, current)
            for _ in range(SHAKEN):
                _move(current, fastest, levels, stream)
            makespan = insert_jobs(t, current, p)
            in_vain = 0
    return lowest

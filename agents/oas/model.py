"""The arithmetic of the ordering and allocation model (`oas`, section 3), in exact rationals.

The processing slowdown of a job is that of its slowest node (eq. 3). There is no communication
slowdown, since no link is ever loaded beyond its bandwidth (eqs. 21 and 22). Nodes of a cluster are
identical, so where a job runs is said by how many of its tasks each cluster gets.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from functools import partial

from agents.oas.instance import Instance, Job


def execution_time(job: Job, slowest: Fraction) -> Fraction:
    """Return the seconds that a job runs for (eqs. 1 and 2).

    Parameters
    ----------
    job : Job
    slowest : Fraction
        Effective power of the slowest node that it holds.

    Examples
    --------
    >>> execution_time(Job(2, 600, 0, 0.5), Fraction(3, 4))
    Fraction(700, 1)
    """
    return job.base_time * (job.sigma / slowest + 1 - job.sigma)


def run_time(instance: Instance, job: int, nodes: Sequence[int]) -> Fraction:
    """Return the seconds that a job runs for on so many nodes of each cluster."""
    used = (cluster for cluster, count in zip(instance.clusters, nodes, strict=True) if count)
    return execution_time(instance.jobs[job], min(cluster.effective_power for cluster in used))


def pair_demand(job: Job) -> Fraction:
    """Return the Mbit/s that a job needs between any two of its tasks."""
    return job.bandwidth / (job.tasks - 1) if job.tasks > 1 else Fraction(0)


def link_demand(job: Job, tasks: int) -> Fraction:
    """Return what a job puts on the link of a cluster that has so many of its tasks (eq. 4).

    In Mbit/s; a job of one task has none.

    Examples
    --------
    >>> [int(link_demand(Job(4, 600, 30, 0.5), tasks)) for tasks in range(5)]
    [0, 30, 40, 30, 0]
    """
    return pair_demand(job) * tasks * (job.tasks - tasks)


def slots(seconds: Fraction, slot: Fraction) -> int:
    """Return how many slots of so many seconds a job holds its nodes and bandwidth for."""
    return math.ceil(seconds / slot)


def powers(instance: Instance) -> list[Fraction]:
    """Return the effective powers that there are, from the highest on: the levels of slowness."""
    return sorted({cluster.effective_power for cluster in instance.clusters}, reverse=True)


def obstacles(instance: Instance) -> list[str]:
    """Return why jobs can run nowhere, even alone: a line for each such job.

    A job that can run alone can run after all others, so nothing else makes an instance infeasible.
    """
    return [line for index in range(len(instance.jobs)) if (line := _obstacle(instance, index))]


def _obstacle(instance: Instance, index: int) -> str:
    job = instance.jobs[index]
    few, most = [], []  # tasks that the link carries: of the smaller part of the job, and of any
    for cluster in instance.clusters:
        half = range(min(cluster.nodes, job.tasks // 2) + 1)  # demand rises up to half of the job
        few.append(bisect_right(half, cluster.link_mbps, key=partial(link_demand, job)) - 1)
        room = min(cluster.nodes, job.tasks)
        most.append(room if link_demand(job, room) <= cluster.link_mbps else few[-1])
    # At most one cluster has more than half of the tasks, and then as many as it can.
    if sum(few) + max(all_ - part for all_, part in zip(most, few, strict=True)) >= job.tasks:
        return ""
    tight = ", ".join(
        f"clusters[{k}] ({float(cluster.link_mbps):g} Mbit/s) at most {large}"
        for k, (cluster, large) in enumerate(zip(instance.clusters, most, strict=True))
        if large < min(cluster.nodes, job.tasks)
    )
    return (
        f"jobs[{index}]: {job.tasks} tasks of {float(job.bandwidth):g} Mbit/s saturate a link "
        f"however they are split; links carry of it: {tight}"
    )

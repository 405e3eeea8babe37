"""Which nodes a job gets of those that are free, such that no link is saturated; compiled.

Demand on a link (eq. 4) rises up to half of the job's tasks and falls beyond. So a cluster can have
few of its tasks, up to some number, or many, and only one can have more than half of them. To look
at each cluster as that one finds a way if there is any, without trying all distributions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from agents.oas.instance import Instance
from agents.oas.scaled import Scaled
from grid.kernel.compile import compiled, inlined, part


class Tables(NamedTuple):
    """An instance in whole numbers, as compiled code reads it; see `Scaled`.

    The load of n tasks of job j is ``loads[row[j] + n]``.
    """

    tasks: Any
    durations: Any
    loads: Any
    row: Any
    nodes: Any
    levels: Any
    capacities: Any
    slow_first: Any

    @classmethod
    def of(cls, instance: Instance, scaled: Scaled) -> Tables:
        """Return the tables of an instance."""
        lengths = [len(loads) for loads in scaled.loads]
        return cls(
            _array([job.tasks for job in instance.jobs]),
            _array(scaled.durations),
            _array([load for loads in scaled.loads for load in loads]),
            _array(np.cumsum([0, *lengths[:-1]])),
            _array([cluster.nodes for cluster in instance.clusters]),
            _array(scaled.levels),
            _array(scaled.capacities),
            _array(sorted(range(len(scaled.levels)), key=lambda k: -scaled.levels[k])),
        )


def _array(numbers: Sequence[Any] | Any) -> Any:
    return np.array(numbers, np.int64)


@inlined
def copy(source: Any, target: Any) -> None:
    """Copy an array, which numpy's assignment would allocate memory for."""
    for index in range(len(source)):
        target[index] = source[index]


@part
def fit(t: Tables, job: int, level: int, free: Any, spare: Any, few: Any, nodes: Any) -> bool:
    """Distribute a job over free nodes of a level and all faster ones; return whether it can be.

    The whole job goes to the slowest such cluster that holds it and, of several, to the fullest.
    Else as many tasks as possible go to one cluster, and the others to the slowest first: the job
    waits for its slowest task anyway.

    Parameters
    ----------
    t : Tables
    job, level : int
    free, spare : array, shape (clusters,)
        Nodes, and bandwidth of links.
    few : array, shape (clusters,)
        Scratch.
    nodes : array, shape (clusters,)
        What the job gets of each cluster, if it can be distributed.
    """
    clusters, tasks, row = len(t.nodes), t.tasks[job], t.row[job]
    nodes[:] = 0
    whole = -1
    sum_few = 0
    for k in t.slow_first:
        few[k] = 0
        if t.levels[k] > level:
            continue
        if free[k] >= tasks and (
            whole < 0 or (t.levels[k] == t.levels[whole] and free[k] < free[whole])
        ):
            whole = k
        few[k] = _few(t.loads, row, min(free[k], tasks // 2), spare[k])
        sum_few += few[k]
    if whole >= 0:
        nodes[whole] = tasks
        return True
    main, largest = -1, 0
    for k in t.slow_first:
        if t.levels[k] > level or free[k] <= largest:
            continue
        many = few[k]
        if 2 * free[k] > tasks and t.loads[row + free[k]] <= spare[k]:
            many = free[k]
        if many > largest and many + sum_few - few[k] >= tasks:
            main, largest = k, many
    if main < 0:
        return False
    nodes[main] = largest
    left = tasks - largest
    for i in range(clusters):
        k = t.slow_first[i]
        if k != main:
            nodes[k] = min(left, few[k])
            left -= nodes[k]
    return True


@part
def _few(loads: Any, row: int, most: int, spare: int) -> int:
    """Return the largest number of tasks, up to half of the job, that load a link that little."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if loads[row + middle] <= spare:
            low = middle
        else:
            high = middle - 1
    return low


@part
def hold(t: Tables, job: int, sign: int, nodes: Any, free: Any, spare: Any) -> None:
    """Take the nodes and the bandwidth of a job, or give them back (`sign` -1)."""
    for k in range(len(nodes)):
        free[k] -= sign * nodes[k]
        spare[k] -= sign * t.loads[t.row[job] + nodes[k]]


@part
def duration(t: Tables, job: int, nodes: Any) -> int:
    """Return how long a job takes on so many nodes of each cluster."""
    level = 0
    for k in range(len(nodes)):
        if nodes[k] > 0:
            level = max(level, t.levels[k])
    return t.durations[job, level]


@compiled()
def fastest_levels(t: Tables, scratch: Any, fastest: Any) -> None:
    """Write the fastest level that holds each job alone; all levels are one more if none does.

    Parameters
    ----------
    t : Tables
    scratch : array, shape (4, clusters)
    fastest : array, shape (jobs,)
    """
    free, spare, few, nodes = scratch[0], scratch[1], scratch[2], scratch[3]
    copy(t.nodes, free)
    copy(t.capacities, spare)
    for job in range(len(fastest)):
        level = 0
        while level < t.durations.shape[1] and not fit(t, job, level, free, spare, few, nodes):
            level += 1
        fastest[job] = level

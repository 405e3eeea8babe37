"""The two examples that the text of `maxutil` makes: sections 3 and 4.2."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from agents.model import GridModel
from agents.registry import global_scheduler, local_scheduler
from grid.capacity import ordered_capacity
from grid.jobs import MAX_COMPONENTS, UNORDERED, job_table
from grid.platform.multicluster import Platform
from grid.workloads.table import Table

ORDERS = (((2, 1), (3, 1), (2, 1)), ((2, 1), (2, 1), (3, 1)))
"""Three jobs in two orders of arrival, on two clusters of five (the paper's numbers are lost)."""
PAIR = (5, 5)


def extreme_loss(clusters: int, size: int) -> float:
    """Return the loss if all jobs need just over half of one cluster, and one of each other.

    Section 3: no two of them run together, so that it tends to (C - 1/2) / C from below.

    Examples
    --------
    >>> round(extreme_loss(2, 2), 3)
    0.25
    """
    large = np.zeros(size + 1)
    large[size // 2 + 1] = 1.0
    laws = [large] + [np.array([0.0, 1.0])] * (clusters - 1)
    return ordered_capacity(laws, [size] * clusters).capacity_loss


def started_at_once(jobs: Sequence[Sequence[int]], clusters: Sequence[int]) -> int:
    """Return how many jobs run at once if they arrive together in this order (Worst Fit, FCFS).

    Examples
    --------
    >>> [started_at_once(order, PAIR) for order in ORDERS]
    [3, 2]
    """
    table = job_table(len(jobs))
    table["components"] = [[*job, *[0] * (MAX_COMPONENTS - len(job))] for job in jobs]
    table["size"] = table["components"].sum(axis=1)
    table["request"], table["runtime"] = UNORDERED, 1.0
    model = GridModel(
        Platform.star(list(clusters)),
        Table(table),
        global_scheduler("wf"),
        local_scheduler("fcfs"),
        interval=0.5,
    )
    model.step()
    return len(jobs) - model.queued

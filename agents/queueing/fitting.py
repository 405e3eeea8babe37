"""One global queue, FCFS or FPFS, and three ways to place the components of a job (`maxutil`)."""

from __future__ import annotations

import inspect
from typing import Any

from numba.core.dispatcher import Dispatcher

from agents.queueing.placement import component, first_fit, in_order, refusal, worst_fit
from agents.schedulers import GlobalScheduler
from grid.jobs import MAX_COMPONENTS
from grid.kernel.compile import compiled
from grid.kernel.state import REJECT, START, WAIT


class WorstFitScheduler(GlobalScheduler):
    """Worst Fit: components, the largest first, on distinct clusters where most is free."""

    label = "WF"
    paper = "maxutil"
    spans = True
    penalty = 1.0

    @compiled()
    def place(known: Any, job: Any, memory: Any) -> int:  # noqa: N805
        """Start the job, let it wait, or reject it."""
        return START if worst_fit(known, job) else refusal(known, job)


class FirstFitComponentsScheduler(WorstFitScheduler):
    """First Fit: components, the largest first, each on the first other cluster that it fits."""

    label = "FF"

    @compiled()
    def place(known: Any, job: Any, memory: Any) -> int:  # noqa: N805
        """Start the job, let it wait, or reject it."""
        return START if first_fit(known, job) else refusal(known, job)


class OrderedRequestsScheduler(WorstFitScheduler):
    """Ordered requests: the first component on the first cluster, the second on the second ..."""

    label = "ORDERED"

    @compiled()
    def place(known: Any, job: Any, memory: Any) -> int:  # noqa: N805
        """Start the job, let it wait, or reject it."""
        for index in range(MAX_COMPONENTS):
            size = component(job, index)
            if size > 0 and (index >= known.clusters or size > known.size[index]):
                return REJECT
        return START if in_order(known, job) else WAIT


def reads_of_components(policy: type[GlobalScheduler]) -> tuple[bool, bool]:
    """Return whether a policy may read the components of jobs, and on which clusters they are.

    A compiled policy of a user's own may; one in plain Python cannot.

    Examples
    --------
    >>> from agents.registry import global_scheduler
    >>> [reads_of_components(global_scheduler(name)) for name in ("dll", "gs", "ordered")]
    [(False, False), (True, False), (True, True)]
    """
    place = inspect.getattr_static(policy, "place")
    if not isinstance(place, Dispatcher):
        return bool(policy.queues), False
    home = place.py_func.__module__
    if not home.startswith("agents."):
        return True, True
    in_order = inspect.getattr_static(OrderedRequestsScheduler, "place")
    return home.startswith("agents.queueing."), place is in_order

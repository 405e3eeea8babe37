"""One global queue, FCFS or FPFS, and three ways to place the components of a job (`maxutil`)."""

from __future__ import annotations

from typing import Any

from agents.queueing.placement import component, first_fit, in_order, refusal, worst_fit
from agents.schedulers import GlobalScheduler
from grid.jobs import MAX_COMPONENTS
from grid.kernel.compile import compiled
from grid.kernel.state import REJECT, START, WAIT


class WorstFitScheduler(GlobalScheduler):
    """Worst Fit: components, the largest first, on distinct clusters where most is free."""

    starts_jobs = True
    label = "WF"
    paper = "maxutil"
    spans = True
    penalty = 1.0
    reads_components, orders_components = True, False
    reads_predictions = False

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
    orders_components = True

    @compiled()
    def place(known: Any, job: Any, memory: Any) -> int:  # noqa: N805
        """Start the job, let it wait, or reject it."""
        for index in range(MAX_COMPONENTS):
            size = component(job, index)
            if size > 0 and (index >= known.clusters or size > known.size[index]):
                return REJECT
        return START if in_order(known, job) else WAIT

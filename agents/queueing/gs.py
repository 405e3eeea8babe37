"""One global queue for all jobs (`queues`, GS)."""

from __future__ import annotations

from typing import Any

from agents.queueing.notes import noted
from agents.queueing.placement import refusal, worst_fit
from agents.queueing.visiting import (
    OPENS,
    UNDER_WAY,
    QueuePolicy,
    enable,
    go_on,
    next_enabled,
    opening,
)
from grid.kernel.compile import compiled
from grid.kernel.state import START


class GlobalQueuePolicy(QueuePolicy):
    """GS: one global queue, served in order; every job on whatever clusters it fits."""

    label = "GS"
    queues = "global"

    @compiled()
    def place(known: Any, job: Any, memory: Any) -> int:  # noqa: N805
        """Start the head of the queue, let it wait, or reject it."""
        return START if worst_fit(known, job) else refusal(known, job)

    @compiled()
    def visit(known: Any, memory: Any) -> int:  # noqa: N805
        """Visit the queue while its head fits."""
        notes = noted(memory)
        stage = opening(known, notes)
        if stage == OPENS:
            enable(known, notes, known.clusters)
        elif stage == UNDER_WAY:
            go_on(known, notes, True)
        return next_enabled(notes)

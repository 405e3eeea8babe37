"""Global and local queues, the global one first (`queues`, GP)."""

from __future__ import annotations

from typing import Any

from agents.queueing.visiting import (
    JOINING,
    OPENS,
    UNDER_WAY,
    QueuePolicy,
    enable,
    enable_local,
    go_on,
    next_enabled,
    opening,
)
from grid.kernel.compile import compiled


class GlobalPriorityPolicy(QueuePolicy):
    """GP: local queues are visited only while the global one is empty."""

    label = "GP"
    queues = "by-components"

    @compiled()
    def visit(known: Any, memory: Any) -> int:  # noqa: N805
        """Visit the global queue until its head does not fit; if it empties, the local ones."""
        everywhere = known.clusters
        stage = opening(known, memory)
        if stage == OPENS:
            enable(known, memory, everywhere)
            memory[JOINING] = 1.0
        elif stage == UNDER_WAY:
            go_on(known, memory, known.queue == everywhere or known.queued[everywhere] == 0)
        if memory[JOINING] == 1.0 and known.queued[everywhere] == 0:
            memory[JOINING] = 0.0
            enable_local(known, memory, 0)
        return next_enabled(memory)

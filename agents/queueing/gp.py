"""Global and local queues, the global one first (`queues`, GP)."""

from __future__ import annotations

from typing import Any

from agents.queueing.notes import noted
from agents.queueing.visiting import (
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
        notes = noted(memory)
        everywhere = known.clusters
        stage = opening(known, notes)
        if stage == OPENS:
            enable(known, notes, everywhere)
            notes.joining = 1
        elif stage == UNDER_WAY:
            go_on(known, notes, known.queue == everywhere or known.queued[everywhere] == 0)
        if notes.joining == 1 and known.queued[everywhere] == 0:
            notes.joining = 0
            enable_local(known, notes, 0)
        return next_enabled(notes)

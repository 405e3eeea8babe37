"""Global and local queues of equal rights (`queues`, EQ)."""

from __future__ import annotations

from typing import Any

from agents.queueing.notes import noted
from agents.queueing.visiting import (
    GLOBAL_FIRST,
    LOCAL_FIRST,
    OPENS,
    RANDOM_FIRST,
    UNDER_WAY,
    QueuePolicy,
    enable_all,
    go_on,
    next_enabled,
    opening,
)
from grid.kernel.compile import compiled


class EqualLocalFirst(QueuePolicy):
    """EQ-LF: all queues are visited at each departure, the local ones first."""

    label = "EQ-LF"
    queues = "by-components"
    version = LOCAL_FIRST

    @compiled()
    def visit(known: Any, memory: Any) -> int:  # noqa: N805
        """Visit the queues in rounds."""
        notes = noted(memory)
        stage = opening(known, notes)
        if stage == OPENS:
            enable_all(known, notes)
        elif stage == UNDER_WAY:
            go_on(known, notes, True)
        return next_enabled(notes)


class EqualGlobalFirst(EqualLocalFirst):
    """EQ-GF: all queues are visited at each departure, the global one first."""

    label = "EQ-GF"
    version = GLOBAL_FIRST


class EqualAtRandom(EqualLocalFirst):
    """EQ-RD: all queues are visited at each departure, the global one first or last at random."""

    label = "EQ-RD"
    version = RANDOM_FIRST

"""Global and local queues, the local ones first (`queues`, LP)."""

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
    enable,
    enable_all,
    enable_local,
    go_on,
    next_enabled,
    opening,
)
from grid.kernel.compile import compiled, inlined


@inlined
def _some_local_is_empty(known: Any) -> bool:
    least = known.queued[0]
    for queue in range(1, known.clusters):
        least = min(least, known.queued[queue])
    return bool(least == 0)


class LocalPriorityLocalFirst(QueuePolicy):
    """LP-LF: the global queue is visited only if a local one is empty, and behind them."""

    label = "LP-LF"
    queues = "by-components"
    version = LOCAL_FIRST

    @compiled()
    def visit(known: Any, memory: Any) -> int:  # noqa: N805
        """Visit the queues in rounds; the global one joins them once a local one is empty."""
        notes = noted(memory)
        everywhere = known.clusters
        stage = opening(known, notes)
        if stage == OPENS:
            if _some_local_is_empty(known):
                enable_all(known, notes)
            else:
                enable_local(known, notes, 0)
                notes.joining = 1
        elif stage == UNDER_WAY:
            go_on(known, notes, known.queue < everywhere or _some_local_is_empty(known))
        if notes.joining == 1 and _some_local_is_empty(known):
            notes.joining = 0
            enable(known, notes, everywhere)
        return next_enabled(notes)


class LocalPriorityGlobalFirst(LocalPriorityLocalFirst):
    """LP-GF: the global queue is visited only if a local one is empty, but before them."""

    label = "LP-GF"
    version = GLOBAL_FIRST


class LocalPriorityAtRandom(LocalPriorityLocalFirst):
    """LP-RD: the global queue is visited only if a local one is empty, before or behind them."""

    label = "LP-RD"
    version = RANDOM_FIRST

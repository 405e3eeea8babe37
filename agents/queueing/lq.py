"""The longest queue schedules (`queues`, LQ)."""

from __future__ import annotations

from typing import Any

from agents.queueing.notes import noted
from agents.queueing.visiting import (
    AGED_FIRST,
    OPENS,
    QueuePolicy,
    is_aged,
    next_enabled,
    opening,
)
from grid.kernel.compile import compiled, inlined
from grid.kernel.state import ARRIVED, NONE, STARTED


@inlined
def _global_is_longest(known: Any) -> bool:
    longest = 0
    for queue in range(known.clusters):
        longest = max(longest, known.queued[queue])
    return bool(known.queued[known.clusters] > longest)


@inlined
def _next_local(known: Any, notes: Any) -> int:
    """Return the next local queue in turn that has jobs, or NONE once each was visited in vain."""
    while notes.in_vain < known.clusters:
        queue = notes.turn + notes.in_vain
        if queue >= known.clusters:
            queue -= known.clusters
        if known.queued[queue] > 0:
            return int(queue)
        notes.in_vain += 1
    return NONE


class LongestQueuePolicy(QueuePolicy):
    """LQ: the global queue schedules while it is longer than every local one, else those do."""

    label = "LQ"
    queues = "by-components"

    @compiled()
    def visit(known: Any, memory: Any) -> int:  # noqa: N805
        """Visit the global queue if it is the longest, else local ones in turn; compare again."""
        notes = noted(memory)
        stage = opening(known, notes)
        if stage == AGED_FIRST:
            return next_enabled(notes)
        if stage == OPENS or known.event == ARRIVED:
            if is_aged(known, notes):
                return NONE
            notes.only_aged = notes.turn = notes.in_vain = 0
        elif notes.only_aged == 1:
            return NONE
        elif known.event == STARTED:
            notes.in_vain = 0
            if known.queue < known.clusters:
                following = known.queue + 1
                notes.turn = following if following < known.clusters else 0
        elif known.queue == known.clusters:
            return NONE
        else:
            notes.in_vain += 1
        return known.clusters if _global_is_longest(known) else _next_local(known, notes)

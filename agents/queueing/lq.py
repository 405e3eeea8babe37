"""The longest queue schedules (`queues`, LQ)."""

from __future__ import annotations

from typing import Any

from agents.queueing.visiting import (
    AGED,
    AGED_FIRST,
    LIST,
    OPENS,
    QueuePolicy,
    is_aged,
    next_enabled,
    opening,
)
from grid.kernel.compile import compiled, inlined
from grid.kernel.state import ARRIVED, NONE, STARTED


@inlined
def _turn(known: Any) -> int:
    """Return where the memory holds the local queue whose turn it is.

    Behind it stands how many from that one on were visited in vain.
    """
    return int(LIST + known.clusters + 1)


@inlined
def _global_is_longest(known: Any) -> bool:
    longest = 0
    for queue in range(known.clusters):
        longest = max(longest, known.queued[queue])
    return bool(known.queued[known.clusters] > longest)


@inlined
def _next_local(known: Any, memory: Any) -> int:
    """Return the next local queue in turn that has jobs, or NONE once each was visited in vain."""
    turn = _turn(known)
    while memory[turn + 1] < known.clusters:
        queue = int(memory[turn] + memory[turn + 1])
        if queue >= known.clusters:
            queue -= known.clusters
        if known.queued[queue] > 0:
            return queue
        memory[turn + 1] += 1.0
    return NONE


class LongestQueuePolicy(QueuePolicy):
    """LQ: the global queue schedules while it is longer than every local one, else those do."""

    label = "LQ"
    queues = "by-components"

    @compiled()
    def visit(known: Any, memory: Any) -> int:  # noqa: N805
        """Visit the global queue if it is the longest, else local ones in turn; compare again."""
        turn = _turn(known)
        stage = opening(known, memory)
        if stage == AGED_FIRST:
            return next_enabled(memory)
        if stage == OPENS or known.event == ARRIVED:
            if is_aged(known, memory):
                return NONE
            memory[AGED] = memory[turn] = memory[turn + 1] = 0.0
        elif memory[AGED] == 1.0:
            return NONE
        elif known.event == STARTED:
            memory[turn + 1] = 0.0
            if known.queue < known.clusters:
                following = known.queue + 1
                memory[turn] = following if following < known.clusters else 0
        elif known.queue == known.clusters:
            return NONE
        else:
            memory[turn + 1] += 1.0
        return known.clusters if _global_is_longest(known) else _next_local(known, memory)

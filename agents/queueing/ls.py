"""Local queues only, for jobs of any number of components (`queues`, LS)."""

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
    listed,
    next_enabled,
    opening,
)
from grid.jobs import MAX_COMPONENTS
from grid.kernel.compile import compiled, inlined
from grid.kernel.state import NONE, REFUSED
from grid.streams import below


class LocalQueuesInOrder(QueuePolicy):
    """LS-OR: local queues only, visited in the order of the clusters."""

    label = "LS-OR"
    queues = "local"

    @compiled()
    def visit(known: Any, memory: Any) -> int:  # noqa: N805
        """Visit the queues in rounds."""
        notes = noted(memory)
        stage = opening(known, notes)
        if stage == OPENS:
            enable_local(known, notes, 0)
            enable(known, notes, known.clusters)  # of jobs that were submitted through no cluster
        elif stage == UNDER_WAY:
            go_on(known, notes, True)
        return next_enabled(notes)


class LocalQueuesAtRandom(QueuePolicy):
    """LS-RD: local queues only, visited in the order of the clusters from a random one on."""

    label = "LS-RD"
    queues = "local"

    @compiled()
    def visit(known: Any, memory: Any) -> int:  # noqa: N805
        """Visit the queues in rounds."""
        notes = noted(memory)
        stage = opening(known, notes)
        if stage == OPENS:
            enable_local(known, notes, below(known.stream, known.clusters))
            enable(known, notes, known.clusters)
        elif stage == UNDER_WAY:
            go_on(known, notes, True)
        return next_enabled(notes)


@inlined
def _enable_remaining(known: Any, notes: Any) -> None:
    """Enable all queues that are not marked, by index, and take the marks away."""
    count = notes.count
    for queue in range(known.clusters + 1):
        notes.listed[count] = queue
        count += (known.queued[queue] > 0) & (notes.marked[queue] == 0)
        notes.marked[queue] = 0
    notes.count = count


class LocalQueuesAsReleased(QueuePolicy):
    """LS-RO: local queues only; first those of the clusters that the departed job held.

    They come in the order in which it was given their processors, its largest component first.
    """

    label = "LS-RO"
    queues = "local"

    @compiled()
    def visit(known: Any, memory: Any) -> int:  # noqa: N805
        """Visit the queues in rounds."""
        notes = noted(memory)
        stage = opening(known, notes)
        if stage == OPENS:
            for index in range(MAX_COMPONENTS):
                if known.released[index] == NONE:
                    break
                enable(known, notes, known.released[index])
                notes.marked[known.released[index]] = 1
            _enable_remaining(known, notes)
        elif stage == UNDER_WAY:
            go_on(known, notes, True)
        return next_enabled(notes)


@inlined
def _enable_blocked(known: Any, notes: Any) -> None:
    """Enable the queues that are disabled, which are marked, in that order."""
    count = 0
    for index in range(notes.blocked):
        count = listed(known, notes, count, notes.disabled[index])
    notes.count = count
    notes.blocked = 0


@inlined
def _note_blocked(known: Any, notes: Any) -> None:
    """Put the queue just visited behind all others that are disabled, and mark it."""
    count = notes.blocked
    if notes.marked[known.queue] == 1:
        kept = 0
        for index in range(count):
            queue = notes.disabled[index]
            if queue != known.queue:
                notes.disabled[kept] = queue
                kept += 1
        count = kept
    notes.marked[known.queue] = 1
    notes.disabled[count] = known.queue
    notes.blocked = count + 1


class LocalQueuesAsDisabled(QueuePolicy):
    """LS-DO: local queues only, visited in the order in which they were disabled."""

    label = "LS-DO"
    queues = "local"

    @compiled()
    def visit(known: Any, memory: Any) -> int:  # noqa: N805
        """Visit the queues in rounds."""
        notes = noted(memory)
        if known.event == REFUSED:
            _note_blocked(known, notes)
        stage = opening(known, notes)
        if stage == OPENS:
            _enable_blocked(known, notes)
            _enable_remaining(known, notes)
        elif stage == UNDER_WAY:
            go_on(known, notes, True)
        return next_enabled(notes)

"""Local queues only, for jobs of any number of components (`queues`, LS)."""

from __future__ import annotations

from typing import Any

from agents.queueing.visiting import (
    COUNT,
    LIST,
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
        stage = opening(known, memory)
        if stage == OPENS:
            enable_local(known, memory, 0)
            enable(known, memory, known.clusters)  # of jobs that were submitted through no cluster
        elif stage == UNDER_WAY:
            go_on(known, memory, True)
        return next_enabled(memory)


class LocalQueuesAtRandom(QueuePolicy):
    """LS-RD: local queues only, visited in the order of the clusters from a random one on."""

    label = "LS-RD"
    queues = "local"

    @compiled()
    def visit(known: Any, memory: Any) -> int:  # noqa: N805
        """Visit the queues in rounds."""
        stage = opening(known, memory)
        if stage == OPENS:
            enable_local(known, memory, below(known.stream, known.clusters))
            enable(known, memory, known.clusters)
        elif stage == UNDER_WAY:
            go_on(known, memory, True)
        return next_enabled(memory)


@inlined
def _blocked(known: Any) -> int:
    """Return where a policy's memory holds the number of queues whose heads did not fit.

    Behind it they stand in the order in which they were disabled.
    """
    return int(LIST + known.clusters + 2)


@inlined
def _marks(known: Any) -> int:
    """Return where a policy's memory marks, by queue, those that are told apart from the others."""
    return int(_blocked(known) + 1 + known.clusters + 1)


@inlined
def _enable_remaining(known: Any, memory: Any) -> None:
    """Enable all queues that are not marked, by index, and take the marks away."""
    marks, count = _marks(known), int(memory[COUNT])
    for queue in range(known.clusters + 1):
        memory[LIST + count] = queue
        count += int((known.queued[queue] > 0) & (memory[marks + queue] == 0.0))
        memory[marks + queue] = 0.0
    memory[COUNT] = count


class LocalQueuesAsReleased(QueuePolicy):
    """LS-RO: local queues only; first those of the clusters that the departed job held.

    They come in the order in which it was given their processors, its largest component first.
    """

    label = "LS-RO"
    queues = "local"

    @compiled()
    def visit(known: Any, memory: Any) -> int:  # noqa: N805
        """Visit the queues in rounds."""
        stage = opening(known, memory)
        if stage == OPENS:
            for index in range(MAX_COMPONENTS):
                if known.released[index] == NONE:
                    break
                enable(known, memory, known.released[index])
                memory[_marks(known) + known.released[index]] = 1.0
            _enable_remaining(known, memory)
        elif stage == UNDER_WAY:
            go_on(known, memory, True)
        return next_enabled(memory)


@inlined
def _enable_blocked(known: Any, memory: Any) -> None:
    """Enable the queues that are disabled, which are marked, in that order."""
    blocked, count = _blocked(known), 0
    for index in range(int(memory[blocked])):
        count = listed(known, memory, count, int(memory[blocked + 1 + index]))
    memory[COUNT] = count
    memory[blocked] = 0.0


@inlined
def _note_blocked(known: Any, memory: Any) -> None:
    """Put the queue just visited behind all others that are disabled, and mark it."""
    blocked, mark = _blocked(known), _marks(known) + known.queue
    count = int(memory[blocked])
    if memory[mark] == 1.0:
        kept = 0
        for index in range(count):
            queue = memory[blocked + 1 + index]
            if queue != known.queue:
                memory[blocked + 1 + kept] = queue
                kept += 1
        count = kept
    memory[mark] = 1.0
    memory[blocked + 1 + count] = known.queue
    memory[blocked] = count + 1


class LocalQueuesAsDisabled(QueuePolicy):
    """LS-DO: local queues only, visited in the order in which they were disabled."""

    label = "LS-DO"
    queues = "local"

    @compiled()
    def visit(known: Any, memory: Any) -> int:  # noqa: N805
        """Visit the queues in rounds."""
        if known.event == REFUSED:
            _note_blocked(known, memory)
        stage = opening(known, memory)
        if stage == OPENS:
            _enable_blocked(known, memory)
            _enable_remaining(known, memory)
        elif stage == UNDER_WAY:
            go_on(known, memory, True)
        return next_enabled(memory)

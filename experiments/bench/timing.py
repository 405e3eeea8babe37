"""How long a model takes, on the clock of the process; of several runs the fastest counts."""

from __future__ import annotations

import time
from collections.abc import Callable

from agents.model import GridModel

ROUNDS = 3
"""Runs of which the fastest counts."""

Ended = Callable[[], object]
"""Is told that a run has ended."""


def unwatched() -> None:
    """Be told that a run has ended, and tell nobody."""


def fastest(seconds: Callable[[], float], ended: Ended) -> float:
    """Return the least that `ROUNDS` runs take."""
    taken = []
    for _ in range(ROUNDS):
        taken.append(seconds())
        ended()
    return min(taken)


def cpu_seconds(model: GridModel) -> float:
    """Run a model to its end without keeping its jobs; return the CPU seconds that took."""
    model.world.log.stream(None)
    begin = time.process_time()
    model.run()
    seconds = time.process_time() - begin
    return seconds

"""Parallel templates: how the processors of a subtask work together, and how long that takes.

Each has a closed form of what one processor computes, w (s), of the time of a message, t (s), and
of the processors, p. One processor alone sends nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple


class Step(NamedTuple):
    """What one processor does in a subtask.

    Attributes
    ----------
    computation : float
        s
    message : float
        Time of one message, s.
    processors : int
    stages : float
        Parts in which a pipeline works, from 1.
    """

    computation: float
    message: float
    processors: int
    stages: float = 1.0


def _async(step: Step) -> float:
    """Nobody waits for anybody: w."""
    return step.computation


def _pipeline(step: Step) -> float:
    """Each stage goes from processor to processor: (k + p - 1) w / k + (p - 1) t.

    A processor begins a stage when it has ended the one before, and has what the processor before
    it sent when that had ended this one. Sending takes no processor's time.
    """
    block, others = step.computation / step.stages, step.processors - 1
    return (step.stages + others) * block + others * step.message


def _all_to_all(step: Step) -> float:
    """Each sends a message to each other, one after the other: w + (p - 1) t."""
    return step.computation + (step.processors - 1) * step.message


def _tree(step: Step) -> float:
    """From all to one, or from one to all, by twos: w + ceil(log2 p) t."""
    return step.computation + math.ceil(math.log2(step.processors)) * step.message


def _neighbours(step: Step) -> float:
    """Each of a ring or row sends to the one on either side: w + min(p - 1, 2) t."""
    return step.computation + min(step.processors - 1, 2) * step.message


TEMPLATES: dict[str, Callable[[Step], float]] = {
    "async": _async,
    "pipeline": _pipeline,
    "all-to-all": _all_to_all,
    "reduction": _tree,
    "broadcast": _tree,
    "neighbours": _neighbours,
}
"""By their names."""

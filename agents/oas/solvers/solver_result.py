"""What a solver came to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agents.oas.schedule import Decision


@dataclass(frozen=True)
class Found:
    """A schedule in the whole numbers of `Scaled`.

    Attributes
    ----------
    decisions : sequence of Decision
        The best one that was found.
    bound : int
        No makespan is lower.
    """

    decisions: Sequence[Decision]
    bound: int

"""What can be chosen about the policies of `queues`."""

from __future__ import annotations

from dataclasses import dataclass

from grid.errors import GridError
from grid.jobs import LONGEST


@dataclass(frozen=True)
class QueueSettings:
    """Parameters of policies that visit queues.

    Parameters
    ----------
    aging : float
        Time after which the head of a queue goes before all others, s; 0: never.

    Raises
    ------
    GridError
        For a value outside its range.
    """

    aging: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.aging <= LONGEST:
            raise GridError(f"aging: found {self.aging!r}; accepted: seconds, from 0")

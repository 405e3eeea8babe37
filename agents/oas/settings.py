"""What can be chosen about the global scheduler that optimises its queue."""

from __future__ import annotations

import math
from dataclasses import dataclass

from grid.errors import GridError

CLOCKS = ("deterministic", "wall")


@dataclass(frozen=True)
class OasSettings:
    """Parameters of the rounds of `OasScheduler`.

    Parameters
    ----------
    round_jobs : int
        Most waiting jobs of a round, the oldest ones; at least 1.
    round_time : float
        What CP-SAT may take for a round, s; 0: the best heuristic schedule is taken.
    round_clock : {"deterministic", "wall"}
        Whether that counts what CP-SAT computes, so that a run can be repeated, or time that passes
        on this machine, so that it cannot.

    Raises
    ------
    GridError
        For a value outside its range.
    """

    round_jobs: int = 40
    round_time: float = 0.1
    round_clock: str = "deterministic"

    def __post_init__(self) -> None:
        for name, accepted, valid in (
            ("round_jobs", "a whole number from 1", self.round_jobs >= 1),
            ("round_time", "seconds, from 0", 0 <= self.round_time < math.inf),
            ("round_clock", f"one of {', '.join(CLOCKS)}", self.round_clock in CLOCKS),
        ):
            if not valid:
                raise GridError(f"{name}: found {getattr(self, name)!r}; accepted: {accepted}")

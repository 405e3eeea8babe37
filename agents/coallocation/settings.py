"""What can be chosen about the meta-schedulers of `beosim`."""

from __future__ import annotations

import math
from dataclasses import dataclass

from grid.errors import GridError

SOLUTIONS = ("first", "least-demand")


@dataclass(frozen=True)
class CoallocationSettings:
    """Parameters of co-allocation.

    Parameters
    ----------
    lslt : float
        Link saturation level threshold (LSLT), percent of a link's capacity, above 0.
    chunk : int
        Chunk size threshold of B3: percent of a job that has to fit on one cluster, 0 to 100.
    penalty : float
        What the fixed-penalty model makes of the execution time of a job that is split, from 1.
    solution : {"first", "least-demand"}
        Which of its solutions A1 takes.
    coallocate : bool
        Policies that work in rounds split jobs larger than any cluster, which are rejected
        otherwise; those of `beosim` are what they are.

    Raises
    ------
    GridError
        For a value outside its range.
    """

    lslt: float = 100.0
    chunk: int = 85
    penalty: float = 1.2
    solution: str = "first"
    coallocate: bool = False

    def __post_init__(self) -> None:
        for name, accepted, valid in (
            ("lslt", "percent, above 0", self.lslt > 0),
            ("chunk", "a whole percentage from 0 to 100", self.chunk in range(101)),
            ("penalty", "a number from 1", 1 <= self.penalty < math.inf),
            ("solution", f"one of {', '.join(SOLUTIONS)}", self.solution in SOLUTIONS),
        ):
            if not valid:
                raise GridError(f"{name}: found {getattr(self, name)!r}; accepted: {accepted}")

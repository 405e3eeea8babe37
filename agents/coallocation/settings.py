"""What can be chosen about the meta-schedulers of `beosim`."""

from __future__ import annotations

import math
from dataclasses import dataclass

from grid.errors import GridError

SELECTIONS = ("fpfs", "fcfs")
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
    selection : {"fpfs", "fcfs"}
        Job selection: the first job that fits, or the head of the queue alone.
    max_jumps : float
        How often a waiting job may be overtaken under FPFS, from 0 (`maxutil`, section 2.4).
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
    selection: str = "fpfs"
    max_jumps: float = math.inf
    coallocate: bool = False

    def __post_init__(self) -> None:
        for name, accepted, valid in (
            ("lslt", "percent, above 0", self.lslt > 0),
            ("chunk", "a whole percentage from 0 to 100", self.chunk in range(101)),
            ("penalty", "a number from 1", 1 <= self.penalty < math.inf),
            ("solution", f"one of {', '.join(SOLUTIONS)}", self.solution in SOLUTIONS),
            ("max_jumps", "a number from 0", self.max_jumps >= 0),
            ("selection", f"one of {', '.join(SELECTIONS)}", self.selection in SELECTIONS),
        ):
            if not valid:
                raise GridError(f"{name}: found {getattr(self, name)!r}; accepted: {accepted}")

    @property
    def jumps(self) -> float:
        """How often a waiting job may be overtaken under either job selection."""
        return 0 if self.selection == "fcfs" else self.max_jumps

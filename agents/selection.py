"""Which job of the global queue is tried: job selection of `beosim` and `maxutil`."""

from __future__ import annotations

import math
from dataclasses import dataclass

from grid.errors import GridError

RESERVATIONS = {"easy": 1, "conservative": 100}
"""How many of the first jobs have reservations (`grid.kernel.queueing.global_backfilling`)."""
SELECTIONS = ("fpfs", "fcfs", *RESERVATIONS)


@dataclass(frozen=True)
class JobSelection:
    """Parameters of policies that are offered the waiting jobs one by one.

    Parameters
    ----------
    selection : {"fpfs", "fcfs", "easy", "conservative"}
        The first job that fits; the head of the queue alone; or each job that leaves what is
        reserved for the first that must wait, or for the first hundred, as it is.
    max_jumps : float
        How often a waiting job may be overtaken under FPFS, from 0 (`maxutil`, section 2.4).

    Raises
    ------
    GridError
        For a value outside its range.
    """

    selection: str = "fpfs"
    max_jumps: float = math.inf

    def __post_init__(self) -> None:
        for name, accepted, valid in (
            ("selection", f"one of {', '.join(SELECTIONS)}", self.selection in SELECTIONS),
            ("max_jumps", "a number from 0", self.max_jumps >= 0),
        ):
            if not valid:
                raise GridError(f"{name}: found {getattr(self, name)!r}; accepted: {accepted}")

    @property
    def jumps(self) -> float:
        """How often a waiting job may be overtaken, whatever is reserved."""
        return {"fcfs": 0, "fpfs": self.max_jumps}.get(self.selection, math.inf)

    @property
    def reservations(self) -> int:
        """How many of the first waiting jobs have reservations."""
        return RESERVATIONS.get(self.selection, 0)

"""Which job of the global queue is tried: job selection of `beosim` and `maxutil`."""

from __future__ import annotations

import math
from dataclasses import dataclass

from grid.errors import GridError

SELECTIONS = ("fpfs", "fcfs")


@dataclass(frozen=True)
class JobSelection:
    """Parameters of policies that are offered the waiting jobs one by one.

    Parameters
    ----------
    selection : {"fpfs", "fcfs"}
        The first job that fits, or the head of the queue alone.
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
        """How often a waiting job may be overtaken under either selection."""
        return 0 if self.selection == "fcfs" else self.max_jumps

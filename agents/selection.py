"""Which job of the global queue is tried: job selection of `beosim` and `maxutil`."""

from __future__ import annotations

import math
from dataclasses import dataclass

from grid.settings import Checked, setting

RESERVATIONS = {"easy": 1, "conservative": 100}
"""How many of the first jobs have reservations (`grid.kernel.queueing.global_backfilling`)."""

MOST_JUMPS = 1_000_000_000
"""Largest number of jumps that is accepted."""


@dataclass(frozen=True)
class JobSelection(Checked):
    """Of policies that are offered the waiting jobs one by one."""

    group = "order of jobs"

    selection: str = setting(
        "fpfs",
        "Policies that are offered jobs one by one: the first in the queue that fits goes first; "
        "the oldest blocks all; or jobs go before others beside what the oldest (easy) or the "
        "first hundred (conservative) have reserved.",
        choices=("fpfs", "fcfs", *RESERVATIONS),
    )
    max_jumps: int | str = setting(
        "any",
        "How often the others may overtake a waiting job under fpfs.",
        least=0,
        most=MOST_JUMPS,
        choices=("any",),
    )

    @property
    def jumps(self) -> float:
        """How often a waiting job may be overtaken, whatever is reserved."""
        return {"fcfs": 0, "fpfs": as_number(self.max_jumps)}.get(self.selection, math.inf)

    @property
    def reservations(self) -> int:
        """How many of the first waiting jobs have reservations."""
        return RESERVATIONS.get(self.selection, 0)


@dataclass(frozen=True)
class FpfsSettings(Checked):
    """Of local schedulers whose `service` is "fpfs"."""

    group = JobSelection.group

    local_max_jumps: int | str = setting(
        "any",
        "How often others of its cluster may overtake a job that waits there, under fpfs.",
        least=0,
        most=MOST_JUMPS,
        choices=("any",),
    )


def as_number(jumps: int | str) -> float:
    """Return how often jobs may be overtaken: infinity for any number."""
    return math.inf if isinstance(jumps, str) else jumps

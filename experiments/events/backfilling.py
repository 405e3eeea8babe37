"""Why a job waits while enough processors are free, and why it starts when none become free."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Sequence
from itertools import islice

from agents.messages import name_jobs
from experiments.events.grid_state import Surroundings
from experiments.events.identity import Identity

_BACKFILLING = {"easy": "the first in line", "conservative": "one with a reservation"}
"""Rules of backfilling, and whom a job that starts must not delay, by what is expected."""
_LOCAL = (
    {name: f"that is expected to delay {spared}" for name, spared in _BACKFILLING.items()}
    | dict.fromkeys(("fcfs", "sjf", "ljf", "fair-share"), "before the first in line")
    | {"fpfs": "before one that was overtaken local_max_jumps times"}
)
"""Which jobs do not start though enough processors are free, by rule of a local scheduler."""
_BY_PLAN = {
    "slurm": (
        "slurm starts jobs in its loops alone, beside reservations and jobs planned before them, "
        "and within limits of their partition and QOS"
    ),
    "titan": "titan starts jobs by its plan alone, each on the processors that this names",
}
"""When jobs start by what their scheduler plans, whatever is free."""
_FIRST = {
    "sjf": "the shortest, as expected",
    "ljf": "the longest, as expected",
    "fair-share": "that of the user who has used least",
    "slurm": "that of the highest priority, and backfills",
}
"""Which job is served first, by rule of a local scheduler, if it is not the one that came first."""
_GLOBAL = {name: _LOCAL[name] for name in (*_BACKFILLING, "fcfs")}
"""The same of the global queue, where the first in line is known."""


class Backfilling:
    """Hears, at the end of each instant, whether a waiting job would find enough processors free.

    Parameters
    ----------
    job : Identity
    around : Surroundings
    local, selection : str
        By which rule local schedulers start jobs, and the global one those that it places itself.

    Attributes
    ----------
    had_room : bool
        Whether it waited at a cluster where enough were free as the last instant ended.
    """

    def __init__(
        self, job: Identity, around: Surroundings, local: str = "", selection: str = ""
    ) -> None:
        self._job = job
        self._around = around
        self._local, self._selection = local, selection
        self._told = ""
        self._landed, self._there = -math.inf, set[Identity]()  # when, and who waited there then
        self.had_room = False

    def settle(self, size: int, where: str, landed: float | None) -> None:
        """Take note of an instant at whose end the job waits at a cluster, or for a broker.

        Parameters
        ----------
        size : int
            Processors that it needs.
        where : str
            The cluster where it waits since it `landed`, s.
        """
        around = self._around
        self.had_room = landed is not None and around.free[where] >= size
        if landed is not None and landed > self._landed:
            self._landed, self._there = landed, {*around.waiting[where]}
        if self._told:
            return
        if landed is not None:
            others = len(around.waiting[where]) > 1
            if not self.had_room:
                return
            if self._local == "recorded":
                self._told = (
                    "enough were free meanwhile, but recorded starts it when it did in truth"
                )
            elif self._local in _BY_PLAN:
                self._told = f"enough were free meanwhile, but {_BY_PLAN[self._local]}"
            elif others and self._local in _LOCAL:
                why = f"{self._local} starts no job {_LOCAL[self._local]}"
                self._told = f"enough were free meanwhile, but {why}"
        elif self._selection in _GLOBAL and self._job in islice(around.asking, 1, None):
            enough = around.with_room(self._job, size)
            if seen := next(filter(around.is_seen, enough), None):
                why = f"selection={self._selection} starts no job {_GLOBAL[self._selection]}"
                self._told = f"{seen} had enough free meanwhile, but {why}"

    def take(self) -> list[str]:
        """Return why it waited while enough processors were free, if they were, and forget that."""
        told, self._told = self._told, ""
        return [told] if told else []

    def overtaken(self, passed: Sequence[tuple[float, Identity]]) -> Iterator[str]:
        """Tell who started there before it, and why if some of them came later.

        Parameters
        ----------
        passed : sequence of (float, Identity)
            Who started there since it landed, and when, s.
        """
        if passed:
            yield f"{name_jobs(tuple(job for _, job in passed))} started there before it"
        later = any(at > self._landed and job not in self._there for at, job in passed)
        if later and self._local in _FIRST:
            yield f"{self._local} serves first {_FIRST[self._local]}"

    def unprompted(self, where: str, time: float, started: Container[Identity]) -> Iterator[str]:
        """Tell why jobs start on a cluster at an instant (s) at which none ends or comes there.

        Its queue is served then because a job that runs on should have ended; or, where a part of
        a split job runs, because links move its end: nothing is told there.
        """
        around = self._around
        if (
            self._local not in _BACKFILLING
            or around.touched(where, time)
            or around.has_parts(where)
        ):
            return
        if over := [job for job in around.holders(where) if job not in started]:
            who = f"{'one or more of ' if len(over) > 1 else ''}{name_jobs(tuple(over))}"
            yield f"{who} should have ended just then"

"""Why a job waits while enough processors are free, and why it starts when none become free."""

from __future__ import annotations

from collections.abc import Container, Iterator

from agents.messages import name_jobs
from experiments.events.grid_state import Surroundings
from experiments.events.identity import Identity

_SPARED = {"easy": "the first in line", "conservative": "one with a reservation"}
"""Rules of backfilling, and whom a job that starts must not delay, by what is expected."""


class Backfilling:
    """Hears, at the end of each instant, whether a waiting job would find enough processors free.

    Parameters
    ----------
    job : Identity
    around : Surroundings
    local, selection : str
        By which rule local schedulers start jobs, and the global one those that it places itself.
    """

    def __init__(
        self, job: Identity, around: Surroundings, local: str = "", selection: str = ""
    ) -> None:
        self._job = job
        self._around = around
        self._local = local if local in _SPARED else ""
        self._selection = selection if selection in _SPARED else ""
        self._told = ""

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
        if self._told:
            return
        if landed is not None:
            if self._local and around.free[where] >= size:
                waiting = around.waiting[where].items()
                if any(at <= landed for job, at in waiting if job != self._job):
                    self._told = f"enough were free meanwhile, but {self._rule(self._local)}"
        elif self._selection and self._job in around.asking and len(around.asking) > 1:
            enough = (name for name, free in around.free.items() if free >= size)
            if seen := next(filter(around.is_seen, enough), None):
                rule = self._rule(self._selection, "selection=")
                self._told = f"{seen} had enough free meanwhile, but {rule}"

    def _rule(self, name: str, of: str = "") -> str:
        return f"{of}{name} starts no job that is expected to delay {_SPARED[name]}"

    def take(self) -> list[str]:
        """Return why it waited while enough processors were free, if they were, and forget that."""
        told, self._told = self._told, ""
        return [told] if told else []

    def unprompted(self, where: str, time: float, started: Container[Identity]) -> Iterator[str]:
        """Tell why jobs start on a cluster at an instant (s) at which none ends or comes there.

        Its queue is served then because a job that runs on should have ended; or, where a part of
        a split job runs, because links move its end: nothing is told there.
        """
        around = self._around
        if not self._local or around.touched(where, time) or around.has_parts(where):
            return
        if over := [job for job in around.holders(where) if job not in started]:
            who = f"{'one or more of ' if len(over) > 1 else ''}{name_jobs(tuple(over))}"
            yield f"{who} should have ended just then"

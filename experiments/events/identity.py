"""Which job an event is of: sites, and logs that count anew, use the same numbers again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from experiments.events.words import ordinal
from grid.workloads.table import Table


class Identity(NamedTuple):
    """What tells a job of a run from all others.

    Attributes
    ----------
    number : int
    which : int
        Its place, from 1, among the jobs of this number in the workload; 0 if it is the only one.

    Examples
    --------
    >>> str(Identity(5)), str(Identity(5, 2))
    ('5', '5 (2nd)')
    """

    number: int
    which: int = 0

    def __str__(self) -> str:
        return f"{self.number} ({ordinal(self.which)})" if self.which else str(self.number)

    def facts(self) -> dict[str, int]:
        """Return what an event says of the job."""
        return {"job": self.number} | ({"which": self.which} if self.which else {})


class Identities:
    """Tells the jobs of a workload from each other.

    Parameters
    ----------
    workload : Workload or BatchWorkload
    """

    def __init__(self, workload: object) -> None:
        self._which: npt.NDArray[np.int64] | None = None  # of each job, in order of submission
        self._count = Counter[int]()
        if not isinstance(workload, Table):  # all others count their jobs
            return
        number = workload.jobs["number"]
        order = np.argsort(number, kind="stable")
        same = number[order][1:] == number[order][:-1]
        shared = np.concatenate([same, [False]]) | np.concatenate([[False], same])
        if not shared.any():
            return
        self._which = np.zeros(len(number), np.int64)
        for job in order[shared].tolist():
            self._count[of := int(number[job])] += 1
            self._which[job] = self._count[of]

    def first(self, number: int) -> Identity:
        """Return the first job of a number."""
        return Identity(number, int(number in self._count))

    def named(self, job: Identity) -> str:
        """Return a job in words, with how many share its number if some do."""
        of = f"{ordinal(job.which)} of {self._count[job.number]:,}"
        return f"job {job.number} ({of})" if job.which else f"job {job.number}"

    def of(self, row: np.void) -> Identity:
        """Return whose row it is, of the world's slots or of the jobs that left."""
        which = 0 if self._which is None else int(self._which[row["submission"] - 1])
        return Identity(int(row["number"]), which)

    def facts(self, table: npt.NDArray[np.void], rows: Iterable[int]) -> dict[str, list[int]]:
        """Return what an event says of several jobs, rows of a table, beside their numbers."""
        which = [] if self._which is None else [self.of(table[row]).which for row in rows]
        return {"which": which} if any(which) else {}


def identity(event: dict[str, Any]) -> Identity:
    """Return whose event it is."""
    return Identity(event["job"], event.get("which", 0))


def preemptor(event: dict[str, Any]) -> Identity | None:
    """Return the job that the one of an event is preempted by, if it is."""
    return Identity(event["by"], event.get("by_which", 0)) if "by" in event else None


def setback(event: dict[str, Any]) -> str:
    """Return what happens to a job that is thrown back, in words: by another one, or a failure."""
    by = preemptor(event)
    return "one or more of its processors fail" if by is None else f"job {by} preempts it"


def is_of(event: dict[str, Any], job: Identity) -> bool:
    """Return whether an event is one job's, or the loss of a message that sends it on or back."""
    if "job" in event:
        return identity(event) == job
    sent = event["event"] == "lost" and event.get("kind") in ("TransferOrder", "JobsReturned")
    return sent and job in identities(event)


def identities(event: dict[str, Any]) -> list[Identity]:
    """Return the jobs of an event, or of a space of a seed schedule."""
    which = event.get("which", [0] * len(event["jobs"]))
    return [Identity(*each) for each in zip(event["jobs"], which, strict=True)]

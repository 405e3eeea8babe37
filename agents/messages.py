"""What agents tell each other: typed, immutable messages, each of which can say itself in words."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from agents.schedule import Placement

Floats = npt.NDArray[np.float64]

_NAMED = 4
"""Jobs that a message names in words before it only counts them."""


def name_jobs(numbers: tuple[object, ...]) -> str:
    """Return a few job numbers in words.

    Examples
    --------
    >>> name_jobs((3,)), name_jobs((3, 5)), name_jobs(tuple(range(1200)))
    ('job 3', 'jobs 3, 5', '1,200 jobs (0, 1, 2, 3, ...)')
    """
    if len(numbers) == 1:
        return f"job {numbers[0]}"
    named = ", ".join(map(str, numbers[:_NAMED]))
    if len(numbers) <= _NAMED:
        return f"jobs {named}"
    return f"{len(numbers):,} jobs ({named}, ...)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What every message has.

    Attributes
    ----------
    sender, receiver : str
        Names of the agents between which brokers carry it.
    sent, due : float
        When it leaves and when it arrives, s.
    """

    sender: str
    receiver: str
    sent: float
    due: float

    def __str__(self) -> str:
        return f"{self.sender} -> {self.receiver}: {self.words()}"

    def words(self) -> str:
        """Return what the message says, for people."""
        return type(self).__name__

    def facts(self) -> dict[str, Any]:
        """Return all of the message for programs: its kind, whose it is, when, and what it says."""
        kind = type(self).__name__
        carried = {name: getattr(self, name) for name in Message.__slots__}
        return {"kind": kind, **carried, **self.content()}

    def content(self) -> dict[str, Any]:
        """Return what the message says, for programs: only what JSON can hold."""
        return {
            each.name: getattr(self, each.name)
            for each in fields(self)
            if each.repr and each.name not in Message.__slots__
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSubmitted(Message):
    """A user submits jobs to a scheduler."""

    jobs: tuple[int, ...]

    def words(self) -> str:
        """Return what the message says, for people."""
        return f"submits {name_jobs(self.jobs)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobMetadata(Message):
    """A broker tells the global scheduler of jobs submitted through its cluster."""

    jobs: tuple[int, ...]

    def words(self) -> str:
        """Return what the message says, for people."""
        return f"metadata of {name_jobs(self.jobs)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTransfer(Message):
    """A broker sends jobs themselves to the cluster that shall run them."""

    jobs: tuple[int, ...]

    def words(self) -> str:
        """Return what the message says, for people."""
        return f"transfers {name_jobs(self.jobs)}"


class Space(NamedTuple):
    """A resource space of a cluster that MUSCLE filled with jobs (`muscle`, Algorithms 2 to 4).

    Attributes
    ----------
    start : float
        When it is free, s after the dispatch.
    first, processors : int
        Its first processor, and how many there are from there on.
    level : float
        The cluster's workload level e (eq. 3) at that moment, the least of all.
    jobs : tuple of int
        Numbers of the jobs of the composition that was chosen for it, in order of processors.
    slots : tuple of int
        Where the world keeps them.
    tied, drawn : int
        How many clusters had that level, and how many of these, as large, chance chose from.
    """

    start: float
    first: int
    processors: int
    level: float
    jobs: tuple[int, ...]
    slots: tuple[int, ...] = ()
    tied: int = 1
    drawn: int = 1

    def content(self) -> dict[str, Any]:
        """Return the space for programs: only what JSON can hold."""
        found = {
            "start": self.start,
            "first": self.first,
            "processors": self.processors,
            "level": self.level if self.level < math.inf else None,
            "jobs": self.jobs,
        }
        return found | ({"tied": self.tied, "drawn": self.drawn} if self.tied > 1 else {})


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedSchedule(Message):
    """A global scheduler's schedule for the jobs that it allocated to one cluster.

    Attributes
    ----------
    round : int
        Allocation that it is part of, from 1: in mode `open` a round of the run, in mode `batch`
        all of a round or those of its jobs that were known. To a domain: of its sender's own.
    jobs : tuple of int
        Job numbers, in order of start.
    schedule : tuple of Placement
        Of each of them: where the world keeps it (its slot), start (s after the dispatch) and the
        adjacent processors on which MUSCLE packed it.
    finishes : tuple of float
        Seconds after the dispatch.
    spaces : tuple of Space
        How it came about, in order of allocation.
    """

    round: int
    jobs: tuple[int, ...]
    schedule: tuple[Placement, ...]
    finishes: tuple[float, ...]
    spaces: tuple[Space, ...] = field(default=(), repr=False)

    @property
    def slots(self) -> tuple[int, ...]:
        """Where the world keeps the jobs."""
        return tuple(placement.job for placement in self.schedule)

    def content(self) -> dict[str, Any]:
        """Return what the message says, for programs: only what JSON can hold."""
        return {
            "round": self.round,
            "jobs": self.jobs,
            "starts": [placement.start for placement in self.schedule],
            "finishes": self.finishes,
            "resources": [placement.resources for placement in self.schedule],
            "spaces": [space.content() for space in self.spaces],
        }

    def words(self) -> str:
        """Return what the message says, for people."""
        return f"seed schedule of allocation {self.round}, {name_jobs(self.jobs)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleReport(Message):
    """A local scheduler tells the global one how far its cluster is booked.

    Attributes
    ----------
    cluster : int
        Index of the cluster; of a domain, of its first one.
    round : int
        Latest round whose jobs it has scheduled.
    makespan : float
        Expected makespan of what is left, s after `sent`; of a domain, on the cluster below it
        where that is least.
    cp : float or None
        Comprehensive performance of the new schedule; None unless it is a new round's.
    release : array, shape (processors,)
        When each processor that remains is expected to be free for more, s, absolute, in increasing
        order.
    unfinished : array, shape (jobs, 4)
        Of each unfinished job: expected finish (s, absolute), execution time (s), processors,
        slack (s).
    """

    cluster: int
    round: int
    makespan: float
    cp: float | None
    release: Floats = field(repr=False)
    unfinished: Floats = field(repr=False)

    def content(self) -> dict[str, Any]:
        """Return what the message says, for programs: only what JSON can hold."""
        return {
            "round": self.round,
            "makespan": self.makespan,
            "cp": self.cp,
            "unfinished": len(self.unfinished),
        }

    def words(self, time: Callable[[float], str] = "{:.1f} s".format) -> str:
        """Return what the message says, for people, to whom times (s) are told so."""
        count = len(self.unfinished)
        jobs = "1 job" if count == 1 else f"{count:,} jobs"
        left = f"makespan left {time(self.makespan)}, {jobs} unfinished"
        return left if self.cp is None else f"{left}, CP {time(self.cp)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class OfJobs(Message):
    """A message by which jobs go on or back.

    Attributes
    ----------
    jobs : tuple of int
        Their numbers.
    slots : tuple of int
        Where the world keeps them.
    """

    jobs: tuple[int, ...]
    slots: tuple[int, ...] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferOrder(OfJobs):
    """A broker below the global one has this one see to it that jobs go to clusters."""

    def words(self) -> str:
        """Return what the message says, for people."""
        return f"orders the transfer of {name_jobs(self.jobs)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsReturned(OfJobs):
    """A domain gives back jobs that none of its clusters can hold any longer.

    Attributes
    ----------
    known : dict of int to (int, float)
        How many processors each of its clusters (index) has, and of when (s) that is known.
    """

    known: dict[int, tuple[int, float]] = field(repr=False)

    def words(self) -> str:
        """Return what the message says, for people."""
        return f"gives back {name_jobs(self.jobs)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery(Message):
    """Brokers next to each other talk of resources (`agents.a4.discovery`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reminder(Message):
    """A scheduler's note to itself, which no broker carries.

    Attributes
    ----------
    booking : int
        The booking that it is about.
    """

    booking: int

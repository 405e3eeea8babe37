"""A workload whose jobs are all at hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from grid.errors import WorkloadError
from grid.jobs import (
    ANYWHERE,
    JOB,
    LONGEST,
    ORDERED,
    SHORTEST_RUN,
    TOTAL,
    UNKNOWN,
    WIDEST,
    JobArray,
)
from grid.logs.calendar import written
from grid.logs.cleaning import Applied
from grid.workloads.execution_times import ExecutionTimes
from grid.workloads.source import CHUNK, Cleaning


class Stated(NamedTuple):
    """What the jobs of a table say that not every policy reads.

    Attributes
    ----------
    components, ordered : int
        Jobs that name components, and those of them that name the cluster of each.
    silent : bool
        No job communicates.
    unrequested : int
        Jobs without a requested time, where others have one.
    requested : int
        Jobs with a requested time that is not their run time.
    homeless : int
        Jobs submitted through no cluster.
    origins_drawn : int
        Jobs whose origin was drawn, since no job came with one.
    users : int
        Jobs that name a user.
    size_note : str
        In words, how many processors the machine is taken to have, where its log leaves that open.
    partial : bool
        Some job cannot run on some cluster.
    rigid : bool
        No job names several sizes.
    timed : bool
        Some job has an execution time of its own on each cluster.
    unread : tuple of str
        Parameters that these jobs give no occasion for.
    raised : mapping of str to (int, int, int)
        As of `Table`.
    start : str
        What the site's clock showed at time 0 (`grid.logs.calendar.written`), "" if not known.
    """

    components: int = 0
    ordered: int = 0
    silent: bool = False
    unrequested: int = 0
    requested: int = 0
    homeless: int = 0
    origins_drawn: int = 0
    users: int = 0
    size_note: str = ""
    partial: bool = False
    rigid: bool = False
    timed: bool = False
    unread: tuple[str, ...] = ()
    raised: Mapping[str, tuple[int, int, int]] = MappingProxyType({})
    start: str = ""


NOTHING = Stated()
"""What is known of jobs that have not been read."""


@dataclass(frozen=True, eq=False)
class Table:
    """Jobs of a log, or any others held in one array.

    Parameters
    ----------
    jobs : JobArray
        At least one job, in order of arrival.
    cleaning : Cleaning
        What was done to the records they come from.
    processors : int or None
        Of the machine that the jobs come from, if their source says that.
    start : datetime or None
        What the clock of that machine showed at time 0, in its own time zone, likewise.
    sites : tuple of str
        Names of the clusters that origins are indices of, where the source names them.
    communication : tuple of str
        Columns of what jobs communicate (`grid.workloads.communication`) that the source has.
    applied : Applied or None
        What the counts of `cleaning` are made of, where they are of a whole log.
    drawn : int
        Jobs whose deadlines were drawn, since they came without one.
    origins_drawn : int
        Jobs whose origin was.
    size_note : str
        In words, what `processors` is, where the source leaves that open.
    largest : int
        Processors of the largest usable job of the source, though it may not be among these.
    machines : mapping of str to int
        Processors of each machine by its cluster, where the jobs come from several logs.
    times : ExecutionTimes or None
        How long jobs with a ``times_row`` run on each cluster.
    applications : mapping of int to str
        Names of applications by number, where they have names.
    filed : mapping of str to tuple of str
        Of columns of `grid.jobs.FILED`, the names that their numbers are places of.
    unread : tuple of str
        Parameters that its jobs give no occasion for.
    raised : mapping of str to (int, int, int)
        Of clusters by name that are given more processors than they have, for that many were in use
        at once in truth: jobs that began while too many were, processors they have, and are given.

    Raises
    ------
    WorkloadError
        If there is no job, or one that no world could hold: named by its number.

    Examples
    --------
    >>> from grid.jobs import job_table
    >>> jobs = job_table(2)
    >>> jobs["size"], jobs["runtime"], jobs["arrival"] = 4, 60.0, [0.0, 5.0]
    >>> Table(jobs).count
    2
    """

    jobs: JobArray
    cleaning: Cleaning = field(default_factory=Cleaning)
    processors: int | None = None
    start: datetime | None = None
    sites: tuple[str, ...] = ()
    communication: tuple[str, ...] = ()
    applied: Applied | None = None
    drawn: int = 0
    origins_drawn: int = 0
    size_note: str = ""
    largest: int = 0
    machines: Mapping[str, int] = field(default_factory=dict)
    times: ExecutionTimes | None = None
    applications: Mapping[int, str] = field(default_factory=dict)
    filed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unread: tuple[str, ...] = ()
    raised: Mapping[str, tuple[int, int, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        jobs = self.jobs
        if jobs.dtype != JOB or jobs.ndim != 1:
            raise WorkloadError(f"jobs: found {jobs.dtype}; accepted: rows of grid.jobs.JOB")
        if not len(jobs):
            raise WorkloadError("empty workload: found no job; accepted: at least one")
        arrival, before = jobs["arrival"], np.concatenate(([0.0], jobs["arrival"][:-1]))
        for column, good, accepted in (
            (
                "arrival",
                (arrival >= before) & (arrival <= LONGEST),
                f"seconds in increasing order up to {LONGEST:g}",
            ),
            ("size", jobs["size"] >= 1, "at least 1"),
            (
                "runtime",
                (jobs["runtime"] >= SHORTEST_RUN) & (jobs["runtime"] <= LONGEST),
                f"seconds from {SHORTEST_RUN:g} to {LONGEST:g}",
            ),
            (
                "computation_fraction",
                (jobs["computation_fraction"] >= 0) & (jobs["computation_fraction"] <= 1),
                "a number from 0 to 1",
            ),
            (
                "ppbw",
                (jobs["ppbw"] >= 0) & (jobs["ppbw"] <= WIDEST),
                f"Mbit/s, from 0 to {WIDEST:g}",
            ),
        ):
            if not good.all():
                bad = jobs[np.argmin(good)]
                raise WorkloadError(
                    f"job {bad['number']}: {column} is {bad[column]}; accepted: {accepted}"
                )

    @property
    def count(self) -> int:
        """Jobs in the table."""
        return len(self.jobs)

    @property
    def machine(self) -> int:
        """Processors of the machine, as the source says, else those of its largest job."""
        largest = max(self.largest, int(self.jobs["size"].max()))
        return largest if self.processors is None else self.processors

    @property
    def drawn_deadlines(self) -> float | None:
        """Share of the deadlines that were drawn; None if no job has a deadline."""
        due = int((self.jobs["deadline"] < np.inf).sum())
        return self.drawn / due if due else None

    @property
    def stated(self) -> Stated:
        """What its jobs say that not every policy reads."""
        asking = self.jobs[self.jobs["request"] != TOTAL]
        asking = asking[asking["components"].any(axis=1)]
        silent = bool((self.jobs["computation_fraction"] == 1).all())
        requests = self.jobs["requested_time"]
        without = int((requests == np.inf).sum()) % len(self.jobs)
        others = (requests < np.inf) & (requests != self.jobs["runtime"])
        ordered = int((asking["request"] == ORDERED).sum())
        homeless = int((self.jobs["origin"] == ANYWHERE).sum())
        partial = self.times is not None and bool(np.isinf(self.times.seconds).any())
        return Stated(
            len(asking),
            ordered,
            silent,
            without,
            int(others.sum()),
            homeless,
            self.origins_drawn,
            int((self.jobs["user"] != UNKNOWN).sum()),
            self.size_note,
            partial,
            rigid=self.times is None or not len(self.times.sizes),
            timed=self.times is not None,
            unread=self.unread,
            raised=self.raised,
            start="" if self.start is None else written(self.start),
        )

    def chunks(self) -> Iterator[JobArray]:
        """Yield the jobs in order of arrival, at most `CHUNK` rows at once."""
        for first in range(0, len(self.jobs), CHUNK):
            yield self.jobs[first : first + CHUNK]


def stated_by(workload: Any) -> Stated:
    """Return `Table.stated` of a workload, of a synthetic one, which parameters tell, nothing."""
    return workload.stated if isinstance(workload, Table) else NOTHING

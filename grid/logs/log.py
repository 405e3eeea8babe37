"""A log as it was read, before cleaning."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

import numpy as np
import numpy.typing as npt

from grid.errors import WorkloadError
from grid.jobs import FILED, JOB, JobArray
from grid.logs.calendar import clock_at
from grid.logs.cleaning import CUT_OFF, NO_ROW, Applied, Rows, clean, needed
from grid.logs.time_columns import Evaluate, Work
from grid.workloads.execution_times import ExecutionTimes
from grid.workloads.table import Table

SAID = (
    "number",
    "arrival",
    "size",
    "runtime",
    "requested_time",
    "user",
    "application",
    "recorded_wait",
    *FILED,
)
RECORD = np.dtype([(name, JOB[name]) for name in SAID])
"""The columns of `JOB` that a log speaks of."""

LATEST = 2.5e11
"""The last time that a calendar is asked for, s after 1970: the year 9892."""


@dataclass(frozen=True, eq=False)
class Log:
    """Records of a workload file, and what the file says of the machine they come from.

    Parameters
    ----------
    path : Path
        The file.
    format : str
        Name of its format, one of `grid.logs.formats.FORMATS`.
    records : JobArray
        One row a record, with columns and what is unknown as in `grid.logs.cleaning.clean`.
    requested_size : int array, optional
        Processors that each record asked for, likewise.
    processors : int, optional
        Of the machine.
    start : datetime, optional
        What its clock showed at time 0, with a time zone, which may be
        `grid.logs.calendar.SITES_CLOCK`.
    sites : tuple of str
        Names of the clusters that origins are indices of.
    rules : mapping of str to sequence of int
        What reading did, in words, and the indices of the records it did that to, or
        `grid.logs.cleaning.NO_ROW`.
    cut_off : int
        Records that the file does not hold in full; they have no row.
    from_first : bool
        Jobs are to arrive from 0 on, whenever the first of them came.
    communication : tuple of str
        Columns of what jobs communicate (`grid.workloads.communication`) that the file has.
    partition : int array, optional
        Of each record its place among the partitions, or `UNKNOWN`.
    partitions : tuple of str
        Names of the partitions, or sites, of the machine.
    filed : mapping of str to tuple of str
        Of columns of `grid.jobs.FILED`, the names that their numbers are places of.
    header : mapping of str to str
        What its head says that is used here, by its own keys.
    remarks : int
        Other lines of the head.
    notes : tuple of str
        In words, what its head says that cannot be used.
    size_note : str
        In words, how many processors the machine is taken to have, where its head leaves that open.
    numbered : tuple of str
        Columns of the records that stand for names, in the order in which these first come.
    unused : tuple of str
        What its records say that has no meaning here, in words.
    times : ExecutionTimes or None
        How long its records ran on each cluster, where they have a ``times_row``.
    work : Work or None
        What its records compute, until `evaluated` says how long that takes.
    applications : mapping of int to str
        Names of applications by number, where they have names.
    """

    path: Path
    format: str
    records: JobArray
    requested_size: npt.NDArray[np.int64] | None = None
    processors: int | None = None
    start: datetime | None = None
    sites: tuple[str, ...] = ()
    rules: Mapping[str, Sequence[int] | Rows] = field(default_factory=dict)
    cut_off: int = 0
    from_first: bool = True
    communication: tuple[str, ...] = ()
    partition: npt.NDArray[np.int64] | None = None
    partitions: tuple[str, ...] = ()
    filed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    header: Mapping[str, str] = field(default_factory=dict)
    remarks: int = 0
    notes: tuple[str, ...] = ()
    size_note: str = ""
    numbered: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    times: ExecutionTimes | None = None
    work: Work | None = None
    applications: Mapping[int, str] = field(default_factory=dict)

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """Size of each record, that which it asked for where its own is unknown."""
        size: npt.NDArray[np.int64] = self.records["size"]
        return (
            size if self.requested_size is None else np.where(size > 0, size, self.requested_size)
        )

    @property
    def usable(self) -> npt.NDArray[np.bool_]:
        """Which records cleaning makes jobs of."""
        usable: npt.NDArray[np.bool_] = np.logical_and.reduce(
            [*needed(self.records, self.sizes).values()]
        )
        return usable

    def evaluated(self, clusters: Sequence[str], evaluate: Evaluate) -> Log:
        """Return a log of how long what its records compute takes on each cluster.

        Raises
        ------
        WorkloadError
            If a model, or what it is asked for, cannot be used.
        """
        if self.work is None:
            return self
        records, times = self.work.evaluated(self.records, clusters, evaluate)
        return replace(self, records=records, times=times, work=None)

    def cleaned(self, kills: bool = False, only_recorded: bool = False) -> Table:
        """Return the usable records as jobs.

        Parameters
        ----------
        kills : bool
            Jobs are killed at the requested time.
        only_recorded : bool
            Those whose wait is not recorded are left out.

        Raises
        ------
        WorkloadError
            If there is none.
        """
        if self.work is not None:
            raise WorkloadError(
                f"{self.path}: found problem sizes, which take as long as the hardware of clusters "
                "says; accepted: in runs, on platforms whose clusters name it"
            )
        jobs, rules = clean(self.records, self.requested_size, kills, only_recorded)
        read = len(self.records) + self.cut_off
        if not len(jobs):
            raise WorkloadError(
                f"{self.path}: empty workload: found {read} record{'s' * (read != 1)}, none "
                "usable; accepted: at least one with a submit time, a size"
                + (", a run time and a recorded wait" if only_recorded else " and a run time")
            )
        zero = float(jobs["arrival"][0])
        submit = self.records["arrival"]
        since = np.concatenate((np.where(submit >= 0, submit, math.nan), [math.nan] * self.cut_off))
        read_so = {CUT_OFF: [NO_ROW] * self.cut_off, **self.rules}
        rules = {name: np.array(rows, np.int64) for name, rows in read_so.items()} | rules
        applied = Applied(since - zero, rules, zero)
        start = self.start
        if start is not None and start.timestamp() + jobs["arrival"][-1] > LATEST:
            start = None  # it is no clock of ours
        if self.from_first:
            jobs["arrival"] -= zero
            jobs["deadline"] -= zero
            start = None if start is None else clock_at(start, zero)
        return Table(
            jobs,
            applied.cleaning(jobs),
            self.processors,
            start,
            self.sites,
            self.communication,
            applied,
            size_note=self.size_note,
            largest=int(self.sizes[self.usable].max()),
            times=self.times and self.times.cut(jobs, self.records),
            applications=self.applications,
            filed=self.filed,
        )

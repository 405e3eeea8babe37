"""A log as it was read, before cleaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import numpy.typing as npt

from grid.errors import WorkloadError
from grid.jobs import JOB, JobArray
from grid.workloads.cleaning import CUT_OFF, clean
from grid.workloads.table import Table

SAID = ("number", "arrival", "size", "runtime", "requested_time", "user", "application")
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
        Name of its format, one of `grid.workloads.formats.FORMATS`.
    records : JobArray
        One row a record, with columns and what is unknown as in `grid.workloads.cleaning.clean`.
    requested_size : int array, optional
        Processors that each record asked for, likewise.
    processors : int, optional
        Of the machine.
    start : datetime, optional
        What its clock showed at time 0, with a time zone.
    sites : tuple of str
        Names of the clusters that origins are indices of.
    rules : mapping of str to int
        What reading did, in words, and to how many records.
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
    """

    path: Path
    format: str
    records: JobArray
    requested_size: npt.NDArray[np.int64] | None = None
    processors: int | None = None
    start: datetime | None = None
    sites: tuple[str, ...] = ()
    rules: Mapping[str, int] = field(default_factory=dict)
    cut_off: int = 0
    from_first: bool = True
    communication: tuple[str, ...] = ()
    partition: npt.NDArray[np.int64] | None = None
    partitions: tuple[str, ...] = ()

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """Size of each record, that which it asked for where its own is unknown."""
        size: npt.NDArray[np.int64] = self.records["size"]
        return (
            size if self.requested_size is None else np.where(size > 0, size, self.requested_size)
        )

    def cleaned(self, kills: bool = False) -> Table:
        """Return the usable records as jobs.

        Parameters
        ----------
        kills : bool
            Jobs are killed at the requested time.

        Raises
        ------
        WorkloadError
            If there is none.
        """
        jobs, cleaning = clean(self.records, self.requested_size, kills)
        read = len(self.records) + self.cut_off
        if not len(jobs):
            raise WorkloadError(
                f"{self.path}: empty workload: found {read} records, none usable; accepted: at "
                "least one with a submit time, a size and a run time"
            )
        first = {CUT_OFF: self.cut_off} if self.cut_off else {}
        rules = {**first, **self.rules, **cleaning.rules}
        cleaning = replace(
            cleaning, records=read, rules=rules, dropped=cleaning.dropped + self.cut_off
        )
        start = self.start
        if start is not None and start.timestamp() + jobs["arrival"][-1] > LATEST:
            start = None  # it is no clock of ours
        if self.from_first:
            zero = float(jobs["arrival"][0])
            jobs["arrival"] -= zero
            start = None if start is None else start + timedelta(seconds=zero)
        return Table(jobs, cleaning, self.processors, start, self.sites, self.communication)

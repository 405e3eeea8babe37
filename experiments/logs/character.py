"""What a log is like: sizes, run times, estimates, arrivals and offered load."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from grid.jobs import SHORTEST_RUN, UNKNOWN
from grid.logs.calendar import clock_at, written
from grid.logs.cleaning import requested_times
from grid.logs.log import Log
from grid.logs.partitions import partitions_of
from grid.workloads.table import Table

if TYPE_CHECKING:
    import pandas as pd

DAY, WEEK = 86_400.0, 604_800.0


class Distribution(NamedTuple):
    """Known values of something.

    Attributes
    ----------
    known : int
        How many there are.
    mean, cv : float or None
        Mean, and coefficient of variation: the sample standard deviation over the mean.
    least, median, high, most : float or None
        The smallest, the middle, the 95th percentile and the largest.
    """

    known: int
    mean: float | None = None
    cv: float | None = None
    least: float | None = None
    median: float | None = None
    high: float | None = None
    most: float | None = None

    @classmethod
    def of(cls, values: npt.NDArray[Any]) -> Distribution:
        """Return that of some values.

        Examples
        --------
        >>> Distribution.of(np.array([1.0, 3.0]))[:3]
        (2, 2.0, 0.7071067811865476)
        """
        if not len(values):
            return cls(0)
        mean = float(values.mean(dtype=float))
        spread = float(values.std(dtype=float, ddof=1)) if len(values) > 1 else math.nan
        cv = spread / mean if mean > 0 and math.isfinite(spread) else None
        ends = np.percentile(values, [0, 50, 95, 100]).tolist()
        return cls(len(values), mean, cv, *ends)


class Week(NamedTuple):
    """Seven days, counted from the first arrival, in which jobs arrived.

    Attributes
    ----------
    week : int
        From 1.
    begin : str or None
        The date on which it begins, if the log says when it began.
    jobs : int
        Usable jobs that arrived.
    load : float or None
        Their work over what all processors could do until the week ended, or the last job of the
        log arrived; None where that came within a day.
    """

    week: int
    begin: str | None
    jobs: int
    load: float | None


@dataclass(frozen=True, eq=False)
class Character:
    """A log, and what it is like.

    Sizes, run times and estimates are those of all records that say them; what needs whole jobs is
    of the usable ones, after cleaning.
    """

    log: Log
    table: Table

    @classmethod
    def of(cls, log: Log) -> Character:
        """Return that of a log; as `Log.cleaned` raises."""
        return cls(log, log.cleaned())

    @cached_property
    def sizes(self) -> npt.NDArray[np.int64]:
        """Known sizes, processors."""
        sizes = self.log.sizes
        return sizes[sizes > 0]

    @cached_property
    def runtimes(self) -> npt.NDArray[np.float64]:
        """Known run times, s."""
        runtimes: npt.NDArray[np.float64] = self.log.records["runtime"]
        return runtimes[runtimes >= 0]

    @cached_property
    def estimates(self) -> npt.NDArray[np.float64]:
        """Requested times, s, where there are any."""
        requested = requested_times(self.log.records)
        return requested[np.isfinite(requested)]

    @cached_property
    def overestimates(self) -> npt.NDArray[np.float64]:
        """Requested over run time of the records that say both; below 1 where jobs ran longer.

        Run times that are cleaned as 0 do not count.
        """
        requested, runtime = requested_times(self.log.records), self.log.records["runtime"]
        both = np.isfinite(requested) & (runtime >= SHORTEST_RUN)
        return requested[both] / runtime[both]

    @cached_property
    def waits(self) -> npt.NDArray[np.float64]:
        """Waits that were recorded, s."""
        waits: npt.NDArray[np.float64] = self.log.records["recorded_wait"]
        return waits[waits >= 0]

    @cached_property
    def missing(self) -> dict[str, int]:
        """Records that do not say something that a log may say; only what some do not."""
        records = self.log.records
        said = {
            "submit time": records["arrival"] >= 0,
            "size": self.log.sizes > 0,
            "run time": records["runtime"] >= 0,
            "estimate": np.isfinite(requested_times(records)),
            "wait": records["recorded_wait"] >= 0,
            "user": records["user"] != UNKNOWN,
            "application": records["application"] != UNKNOWN,
        }
        counts = {name: int((~each).sum()) for name, each in said.items()}
        return {name: count for name, count in counts.items() if count}

    @property
    def users(self) -> int:
        """How many users there are."""
        users = self.table.jobs["user"]
        return len(np.unique(users[users != UNKNOWN]))

    @property
    def deadlines(self) -> int:
        """How many usable jobs bring a deadline."""
        return int((self.table.jobs["deadline"] < math.inf).sum())

    @cached_property
    def hours(self) -> list[int]:
        """Usable jobs that arrived in each hour of the day, of 24 (`hours_of`)."""
        return np.bincount(hours_of(self.table), minlength=24).tolist()

    @cached_property
    def weeks(self) -> list[Week]:
        """Weeks in which usable jobs arrived."""
        jobs = self.table.jobs
        first, last = float(jobs["arrival"][0]), float(jobs["arrival"][-1])
        number = ((jobs["arrival"] - first) // WEEK).astype(np.int64)
        indices, place = np.unique(number, return_inverse=True)
        counts = np.bincount(place)
        work = np.bincount(place, jobs["size"] * jobs["runtime"])
        start = self.table.start
        found = []
        for index, count, done in zip(
            indices.tolist(), counts.tolist(), work.tolist(), strict=True
        ):
            length = min(WEEK, last - first - index * WEEK)
            load = done / (self.table.machine * length) if length >= DAY else None
            begin = None
            if start is not None:
                begin = clock_at(start, first + index * WEEK).date().isoformat()
            found.append(Week(index + 1, begin, count, load))
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return all that, ready for JSON.

        ``jobs`` are all records, ``usable`` those left after cleaning, ``dropped`` how many went by
        which rule; means and coefficients of variation (`Distribution.cv`) are over all records
        with a known value.
        """
        table, log = self.table, self.log
        size, runtime = Distribution.of(self.sizes), Distribution.of(self.runtimes)
        return {
            "file": str(log.path),
            "format": log.format,
            "jobs": table.cleaning.records,
            "usable": table.count,
            "missing": self.missing,
            "dropped": table.cleaning.drops,
            "rules": table.cleaning.rules,
            "max_processors": self.table.machine,
            "processors_said": table.processors is not None,
            "mean_size": size.mean,
            "cv_size": size.cv,
            "mean_runtime": runtime.mean,
            "cv_runtime": runtime.cv,
            "size": size._asdict(),
            "runtime": runtime._asdict(),
            "estimate": Distribution.of(self.estimates)._asdict(),
            "overestimate": Distribution.of(self.overestimates)._asdict(),
            "wait": Distribution.of(self.waits)._asdict(),
            "users": self.users,
            "deadlines": self.deadlines,
            "partitions": [each._asdict() for each in partitions_of(self.log)],
            "header": dict(log.header),
            "remarks": log.remarks,
            "notes": list(log.notes),
            "first_submit": table.applied.zero if table.applied is not None else 0.0,
            "start": None if table.start is None else written(table.start),
            "duration": float(table.jobs["arrival"][-1] - table.jobs["arrival"][0]),
            "hours": self.hours,
            "weeks": [week._asdict() for week in self.weeks],
        }


def hours_of(table: Table) -> npt.NDArray[np.int64]:
    """Return the hour of the day in which each job arrived, from 0 to 23.

    By the log's clock, summer time included; if it names no time from time 0 on, which is the
    first arrival where a log's times are counted from there.
    """
    arrival: npt.NDArray[Any] = table.jobs["arrival"]
    clock = clock_of(table)
    hours = (arrival // 3600) % 24 if clock is None else clock.hour.to_numpy()
    return hours.astype(np.int64)


def clock_of(table: Table) -> pd.DatetimeIndex | None:
    """Return what the log's clock showed at each arrival, None if that is not known."""
    if table.start is None:
        return None
    import pandas as pd

    seconds = np.floor(table.jobs["arrival"] + table.start.timestamp()).astype(np.int64)
    clock = pd.DatetimeIndex(seconds.astype("datetime64[s]"), tz="UTC")
    return clock.tz_convert(table.start.tzinfo)

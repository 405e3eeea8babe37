"""Soft deadlines for jobs that came without one (`muscle`, eq. 5 and section 2)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from grid.errors import require, require_numbers
from grid.jobs import BY_RATES, JobArray
from grid.kernel.compile import compiled, inlined
from grid.streams import Stream, stream, uniform
from grid.workloads.execution_times import ExecutionTimes
from grid.workloads.source import CHUNK


@dataclass(frozen=True)
class ServiceClass:
    """A class of service, such as gold or silver, with its range of deadlines.

    Parameters
    ----------
    name : str
    share : float
        Probability that a job falls into the class, above 0; those of all classes sum to 1. A
        single class of share 1 is plain eq. 5.
    min_ratio, max_ratio : float
        MIN_DR and MAX_DR, the range of the deadline ratio dr: 0 <= min_ratio <= max_ratio.
    """

    name: str
    share: float
    min_ratio: float
    max_ratio: float

    def __post_init__(self) -> None:
        require_numbers(self)
        where = f"service class {self.name}"
        require(0 < self.share <= 1, f"{where}, share", self.share, "a number above 0, at most 1")
        require(
            0 <= self.min_ratio < math.inf, f"{where}, min_ratio", self.min_ratio, "a number from 0"
        )
        require(
            self.min_ratio <= self.max_ratio < math.inf,
            f"{where}, max_ratio",
            self.max_ratio,
            f"a number from min_ratio, {self.min_ratio}",
        )


def assign_deadlines(
    jobs: JobArray,
    slowest_rate: float,
    classes: Sequence[ServiceClass],
    seed: int,
    times: ExecutionTimes | None = None,
) -> JobArray:
    """Return the jobs with a deadline for each that had none.

    The deadline is eq. 5 of `muscle` made absolute by adding the arrival time: arrival + the
    execution time on the slowest cluster x (1 + dr), with dr uniform on the range of the class
    into which the job falls. Every job draws, so that the deadlines some bring change no other.

    Parameters
    ----------
    jobs : JobArray
    slowest_rate : float
        Rate of the slowest cluster, above 0.
    classes : sequence of ServiceClass
        At least one.
    seed : int
        Seed of the run; the streams are ``"classes"`` and ``"deadlines"``.
    times : ExecutionTimes, optional
        Of jobs that have some of their own: the longest is that on the slowest cluster.

    Raises
    ------
    WorkloadError
        If the rate or the classes cannot be used.
    """
    require(0 < slowest_rate < math.inf, "slowest rate", slowest_rate, "a number above 0")
    table = class_table(classes)
    jobs = jobs.copy()
    runtimes = jobs["runtime"].copy()
    if times is not None:
        told = jobs["times_row"] != BY_RATES
        jobs["runtime"][told] = times.longest[jobs["times_row"][told]] * slowest_rate
    fill_deadlines(jobs, slowest_rate, table, stream(seed, "classes"), stream(seed, "deadlines"))
    jobs["runtime"] = runtimes
    return jobs


def class_table(classes: Sequence[ServiceClass]) -> npt.NDArray[np.float64]:
    """Return for each class the sum of shares so far, min_ratio and max_ratio: shape (n, 3)."""
    names = [one.name for one in classes]
    require(len(set(names)) == len(names), "service classes", names, "different names")
    total = math.fsum(one.share for one in classes)
    require(abs(total - 1) <= 1e-9, "sum of the shares of service classes", total, "1")
    shares = np.cumsum([one.share for one in classes])
    shares[-1] = 1.0  # whatever rounding says, every job falls into a class
    ratios = [(one.min_ratio, one.max_ratio) for one in classes]
    return np.column_stack([shares, ratios])


class ClassDraws:
    """The service classes of jobs whose deadlines were drawn: drawn again, as they were.

    Parameters
    ----------
    classes : sequence of ServiceClass
    seed : int
        As for `assign_deadlines`.

    Attributes
    ----------
    names : tuple of str
        Of the classes.

    Examples
    --------
    >>> classes = ServiceClass("gold", 0.3, 0, 1), ServiceClass("silver", 0.7, 2, 5)
    >>> ClassDraws(classes, 0).of(np.array([1, 2, 3, 1000])).shape
    (4,)
    """

    def __init__(self, classes: Sequence[ServiceClass], seed: int) -> None:
        self.names = tuple(one.name for one in classes)
        self._shares = class_table(classes)[:, 0].copy()
        self._draws = stream(seed, "classes")
        self._drawn = np.zeros(0, np.int64)

    def of(self, submissions: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the class, by its index, of the first job that was submitted (1), the second..."""
        last, there = int(submissions.max(initial=0)), len(self._drawn)
        if last > there:
            more = np.empty(max(last - there, there, CHUNK), np.int64)
            _draw_classes(more, self._shares, self._draws)
            self._drawn = np.concatenate([self._drawn, more])
        return self._drawn[submissions - 1]


@compiled()
def _draw_classes(drawn: npt.NDArray[np.int64], shares: Any, draws: Stream) -> None:
    """Draw the class of one job after the other."""
    for job in range(len(drawn)):
        drawn[job] = _class_at(uniform(draws), shares)


@inlined
def _class_at(level: float, shares: Any) -> int:
    """Return the class into whose part of the shares a level falls."""
    drawn = 0
    while level >= shares[drawn]:
        drawn += 1
    return drawn


@compiled()
def fill_deadlines(
    jobs: JobArray,
    slowest_rate: float,
    classes: npt.NDArray[np.float64],
    class_draws: Stream,
    ratio_draws: Stream,
) -> None:
    """Draw a deadline for each job in turn and keep it where there is none (compiled)."""
    for row in range(len(jobs)):
        job = jobs[row]
        drawn = _class_at(uniform(class_draws), classes[:, 0])
        least, most = classes[drawn, 1], classes[drawn, 2]
        ratio = least + (most - least) * uniform(ratio_draws)
        if job.deadline == np.inf:
            job.deadline = job.arrival + job.runtime / slowest_rate * (1.0 + ratio)

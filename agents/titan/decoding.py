"""From an order of jobs to a schedule on one cluster, and its score (`muscle`, section 3).

Decoding gives each job in turn the processors that are free first, so that every order is a
left-shifted schedule, and an order by start never starts a job later than the schedule did. In the
two-dimensional coding (`columns`) each job has processors of its own and starts when the
jobs before it have left them.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from agents.schedule import Placement
from agents.titan.columns import Resources, columns_of, decode_columns
from grid.errors import GridError
from grid.kernel.compile import compiled, inlined, part
from grid.metrics.performance import (
    combine,
    comprehensive_performance,
    idle_time,
    over_deadline,
)

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Problem:
    """Jobs to be ordered on one cluster; times in seconds after the dispatch.

    Attributes
    ----------
    sizes : array, shape (jobs,)
        Processors of each job.
    execution_times : array, shape (jobs,)
        On this cluster.
    deadlines : array, shape (jobs,)
        Soft; may lie in the past; inf without one.
    release : array, shape (processors,)
        When each processor is free, 0 or later.

    Raises
    ------
    GridError
        For arrays of different lengths, a size that the cluster cannot hold, a time that is
        negative or not finite, a deadline that is not a number.
    """

    sizes: Integers
    execution_times: Floats
    deadlines: Floats
    release: Floats

    def __post_init__(self) -> None:
        given = {name: numbers(name, getattr(self, name)) for name in self.__annotations__}
        for name, values in given.items():
            if values.ndim != 1 or (name != "release" and len(values) != len(given["sizes"])):
                raise GridError(
                    f"{name}: found shape {values.shape}; accepted is one number a "
                    + ("processor" if name == "release" else "job, as many as sizes")
                )
        sizes, times, deadlines, release = given.values()
        whole = (sizes >= 1) & (sizes <= len(release)) & (sizes == np.floor(sizes))
        _refuse("sizes", sizes, whole, f"an integer from 1 to {len(release)}, the processors")
        _refuse("execution_times", times, (times >= 0) & (times < math.inf), "a number >= 0")
        _refuse("deadlines", deadlines, deadlines > -math.inf, "a number, or inf for none")
        _refuse("release", release, (release >= 0) & (release < math.inf), "a number >= 0")
        given["sizes"] = sizes.astype(np.int64)
        for name, values in given.items():
            object.__setattr__(self, name, values)

    def __len__(self) -> int:
        return len(self.sizes)


def numbers(name: str, given: Any) -> Any:
    """Return what was given as `name` as an array of numbers; may raise `GridError`."""
    try:
        return np.array(given, np.float64)
    except (OverflowError, TypeError, ValueError):
        where, found, accepted = name, given, "a sequence of numbers"
        for index, value in enumerate(given if isinstance(given, Iterable) else ()):
            try:
                float(value)
            except (OverflowError, TypeError, ValueError):
                where, found, accepted = f"{name}[{index}]", value, "a number"
                break
        told = " ".join(reprlib.repr(found).split())
        raise GridError(f"{where}: found {told}; accepted is {accepted}") from None


def _refuse(name: str, values: Floats, valid: npt.NDArray[np.bool_], accepted: str) -> None:
    if not valid.all():
        index = int(valid.argmin())
        raise GridError(f"{name}[{index}]: found {values[index]:g}; accepted is {accepted}")


def schedule(problem: Problem, order: Sequence[int], resources: Resources = ()) -> list[Placement]:
    """Decode `order`: each job in turn gets its `resources`, or the processors that are free first.

    The latter are for jobs without resources too. Of processors that are free at the same time the
    lowest are taken.

    Examples
    --------
    >>> import numpy as np
    >>> two = Problem([2, 1, 1], [4.0, 3.0, 1.0], [9.0, 9.0, 9.0], [0.0, 0.0])
    >>> for placement in schedule(two, [1, 2, 0]):
    ...     print(placement)
    Placement(job=1, start=0.0, resources=(0,))
    Placement(job=2, start=0.0, resources=(1,))
    Placement(job=0, start=3.0, resources=(0, 1))
    """
    free = problem.release.copy()
    placements = []
    for job in order:
        if resources and len(resources[job]):
            taken = np.array(resources[job], np.int64)
        else:
            taken = np.argsort(free, kind="stable")[: problem.sizes[job]]
        start = float(free[taken].max())
        free[taken] = start + problem.execution_times[job]
        placements.append(Placement(int(job), start, tuple(sorted(taken.tolist()))))
    return placements


class Scoring(NamedTuple):
    """What compiled code needs to score a row (`agents.titan.columns`), and room to do it in."""

    sizes: Integers  # (jobs,)
    times: Floats  # (jobs,)
    deadlines: Floats  # (jobs,)
    weights: Floats  # (3,): Wo, Wm, Wi
    work: float  # processor-seconds of all jobs
    processors: int
    idle_divisor: float  # processors for the mean idle-time, else 1
    columns: Integers  # (jobs + 1,): where in a row the processors of each job begin
    release: Floats  # (processors,)
    release_times: Floats  # (blocks,), increasing: processors that become free together
    release_counts: Integers  # (blocks,)
    free_times: Floats  # (jobs + blocks,), scratch
    free_counts: Integers  # (jobs + blocks,), scratch
    free: Floats  # (processors,), scratch


def scoring(
    problem: Problem, weights: Sequence[float], idle: str, coding: str = "order"
) -> Scoring:
    """Return `problem`, judged by `weights` and `idle`, in the form of compiled code."""
    times, counts = np.unique(problem.release, return_counts=True)
    room = len(problem) + len(times)
    sets = [range(size) for size in problem.sizes] if coding == "two-dimensional" else []
    return Scoring(
        problem.sizes,
        problem.execution_times,
        problem.deadlines,
        np.array(weights, np.float64),
        math.fsum((problem.sizes * problem.execution_times).tolist()),
        len(problem.release),
        float(len(problem.release)) if idle == "mean" else 1.0,
        columns_of(sets, len(problem)),
        problem.release,
        times,
        counts.astype(np.int64),
        np.empty(room),
        np.empty(room, np.int64),
        np.empty(len(problem.release)),
    )


_combine = inlined(combine)


@part
def _decode_order(order: Any, s: Any) -> Any:
    # The free processors are blocks (time, count) in order of time, so that placing a job moves
    # at most as many blocks as there are processors. A job takes blocks from the front and puts
    # one back: it needs at most one more, hence as much room before the first block as jobs.
    jobs = len(order)
    times, counts = s.free_times, s.free_counts
    front, end = jobs, jobs + len(s.release_times)
    for block in range(len(s.release_times)):
        times[front + block] = s.release_times[block]
        counts[front + block] = s.release_counts[block]
    makespan = 0.0
    over = 0.0
    for position in range(jobs):
        job = order[position]
        needed = s.sizes[job]
        while counts[front] < needed:
            needed -= counts[front]
            front += 1
        finish = times[front] + s.times[job]
        counts[front] -= needed
        if counts[front] == 0:
            front += 1
        block = front
        while block < end and times[block] < finish:
            times[block - 1] = times[block]
            counts[block - 1] = counts[block]
            block += 1
        times[block - 1] = finish
        counts[block - 1] = s.sizes[job]
        front -= 1
        makespan = max(makespan, finish)
        over += max(0.0, finish - s.deadlines[job])
    return over, makespan


@compiled()
def metrics(row: Any, s: Any) -> Any:
    """Return over-deadline, makespan and idle-time of the schedule that a row codes."""
    if len(row) > len(s.sizes):
        over, makespan = decode_columns(row, s)
    else:
        over, makespan = _decode_order(row, s)
    held = 0.0
    for block in range(len(s.release_times)):
        held += min(s.release_times[block], makespan) * s.release_counts[block]
    idle = max(0.0, s.processors * makespan - held - s.work) / s.idle_divisor
    return over, makespan, idle


@compiled()
def score(row: Any, s: Any) -> Any:
    """Return the CP of the schedule that a row codes; `s` is a `Scoring`."""
    over, makespan, idle = metrics(row, s)
    return _combine(over, makespan, idle, s.weights)


def lower_bound(problem: Problem, weights: Sequence[float], idle: str) -> float:
    """Return a CP that no schedule betters: every job as if it were alone on the cluster."""
    work = problem.sizes * problem.execution_times
    finishes = np.sort(problem.release)[problem.sizes - 1] + problem.execution_times
    makespan = float(finishes.max(initial=0.0))
    late = over_deadline(finishes, problem.deadlines)
    unused = idle_time(problem.release, makespan, float(work.sum()), idle)
    return comprehensive_performance(late, makespan, unused, weights)

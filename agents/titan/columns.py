"""The two-dimensional coding of schedules (`muscle`, section 3 and Fig. 2), compiled.

A schedule is a row of columns, each a job with the processors that run it; the order of the columns
is that in which the jobs are executed. In memory a row is the order of the jobs and then the
processors of job after job: those of `job` are ``row[columns[job] : columns[job + 1]]``. So a job
that changes its place keeps its processors. A row that codes the order alone ends there.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, chain, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from grid.errors import GridError
from grid.kernel.compile import inlined, part
from grid.streams import below

Integers = npt.NDArray[np.int64]
Resources = Sequence[Sequence[int]]
"""Processors of each job, by number of the job; empty if the order alone is coded."""


def columns_of(resources: Resources, jobs: int) -> Integers:
    """Return where in a row the processors of each job begin, and where the last end.

    Examples
    --------
    >>> columns_of([(4, 2), (0,)], 2).tolist(), columns_of([], 2).tolist()
    ([2, 4, 5], [2, 2, 2])
    """
    counts = map(len, resources) if resources else [0] * jobs
    return np.array([*accumulate(counts, initial=jobs)], np.int64)


def row_of(order: Sequence[int], resources: Resources) -> Integers:
    """Return a schedule as a row."""
    return np.array([*order, *chain.from_iterable(resources)], np.int64)


def schedule_of(row: Sequence[int], columns: Integers) -> tuple[list[int], list[tuple[int, ...]]]:
    """Return the order and the processors of each job that a row codes.

    Examples
    --------
    >>> schedule_of([1, 0, 4, 2, 0], columns_of([(4, 2), (0,)], 2))
    ([1, 0], [(4, 2), (0,)])
    """
    order = list(row[: columns[0]])
    if columns[-1] == columns[0]:
        return order, []
    return order, [tuple(row[begin:end]) for begin, end in pairwise(columns.tolist())]


def check_resources(
    name: str, resources: Resources, sizes: Sequence[int] | Integers, processors: int
) -> None:
    """Raise `GridError` unless each job has as many different processors as its size."""
    for job, size in enumerate(sizes):
        found = tuple(resources[job]) if len(resources) == len(sizes) else None
        if (
            found is None
            or not len(found) == len(set(found).intersection(range(processors))) == size
        ):
            raise GridError(
                f"{name} of job {job}: found {found}; accepted are {size} different processors "
                f"from 0 to {processors - 1}"
            )


@part
def decode_columns(row: Any, s: Any) -> Any:
    """Return over-deadline and makespan; `s` is a `Scoring`.

    Each job in turn starts as soon as all of its processors are free.
    """
    free = s.free
    for processor in range(s.processors):
        free[processor] = s.release[processor]
    over = 0.0
    makespan = 0.0
    for position in range(len(s.sizes)):
        job = row[position]
        start = 0.0
        for place in range(s.columns[job], s.columns[job + 1]):
            start = max(start, free[row[place]])
        finish = start + s.times[job]
        for place in range(s.columns[job], s.columns[job + 1]):
            free[row[place]] = finish
        makespan = max(makespan, finish)
        over += max(0.0, finish - s.deadlines[job])
    return over, makespan


@inlined
def _holds(row: Any, begin: int, end: int, processor: int) -> bool:
    found = False
    for place in range(begin, end):
        found = found or row[place] == processor
    return found


@part
def draw_columns(row: Any, columns: Any, processors: int, stream: Any) -> None:
    """Give every job random processors, each set of its size as likely as any other."""
    for job in range(len(columns) - 1):
        begin, end = columns[job], columns[job + 1]
        for place in range(begin, end):
            # Robert Floyd's way: one draw a processor, whatever the size of the set.
            last = processors - (end - place)
            drawn = below(stream, last + 1)
            row[place] = last if _holds(row, begin, place, drawn) else drawn


@part
def inherit_columns(one: Any, other: Any, child: Any, columns: Any, used: Any) -> None:
    """Give a child the processors of each job: of `one` where `used` is set, else of `other`."""
    for job in range(len(columns) - 1):
        for place in range(columns[job], columns[job + 1]):
            child[place] = one[place] if used[job] == 1 else other[place]


@part
def change_column(row: Any, columns: Any, processors: int, stream: Any) -> None:
    """Put another processor in the place of one of a job's; the job keeps its size."""
    job = below(stream, len(columns) - 1)
    begin, end = columns[job], columns[job + 1]
    place = begin + below(stream, end - begin)
    processor = below(stream, processors)
    if end - begin < processors:
        while _holds(row, begin, end, processor):
            processor = processor + 1 if processor + 1 < processors else 0
        row[place] = processor

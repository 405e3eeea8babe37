"""The jobs that a run was given, and those of them that the rows of its result are of."""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, repeat
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from experiments.run.result_files import ResultFiles, Row
from experiments.run.whose import Whose
from experiments.scenario.jobs import build_workload, deadline_classes
from grid.errors import GridError
from grid.jobs import ANYWHERE, BY_RATES, UNKNOWN
from grid.workloads.deadlines import ClassDraws
from grid.workloads.execution_times import ExecutionTimes
from grid.workloads.source import Workload
from grid.workloads.synthetic import BatchWorkload
from grid.workloads.table import Table

RELATIVE = 1e-9
"""Difference that rounding makes, of the numbers that are subtracted or summed."""


class Given(NamedTuple):
    """A job of the workload."""

    job: int
    arrival: float  # s, after the dispatch in mode `batch`, as the deadline; absolute else
    size: int
    runtime: float  # s, on a cluster of rate 1
    deadline: float  # s; inf without one
    origin: str | None  # cluster that it was submitted through
    communication: float  # share of its execution time
    batch: int | None  # round, from 0, that it belongs to in mode `batch`
    times: Mapping[str, float] | None = None  # s, on each cluster, where it brings them
    user: int | None = None
    whose: Mapping[str, str] = MappingProxyType({})  # columns of `experiments.run.whose`
    service_class: str | None = None  # from which its deadline was drawn
    moulded: Mapping[int, Mapping[str, float]] = MappingProxyType({})  # `times` by size, if it may

    def as_in(self, row: Row) -> Given:
        """Return the job with the size that it has in a row, if it may be moulded to that."""
        if row.size not in self.moulded:
            return self
        return self._replace(size=row.size, times=self.moulded[row.size])

    def dedicated(self, row: Row, rates: Mapping[str, float]) -> float:
        """Return how long it runs where a row says, links not shared: as its slowest part, s."""
        if self.times is not None:
            return max(self.times.get(name, math.nan) for name in row.placement)
        return self.runtime / min(rates.get(name, math.nan) for name in row.placement)


class Pair(NamedTuple):
    """A row of the result and the job of the workload that it is of, None if it is of none."""

    row: Row
    given: Given | None
    sure: bool = True  # what is in the row tells the job from all others of its number


def jobs_given(result: ResultFiles, elsewhere: str | Sequence[str] | None) -> list[Given]:
    """Return the jobs that a run was given, read or drawn again.

    Parameters
    ----------
    result : ResultFiles
    elsewhere : path, or sequence of ``name=path``, optional
        Where the logs are now.

    Raises
    ------
    GridError
        If the workload cannot be read.
    """
    source = result.summary["workload"] if elsewhere is None else elsewhere
    if elsewhere is not None and result.summary["workload"] is None:
        found = elsewhere if isinstance(elsewhere, str) else " ".join(elsewhere)
        raise GridError(f"--workload: found {found}; accepted: none, for the jobs were synthetic")
    try:
        workload, _ = build_workload(
            source, result.parameters, result.platform, result.summary["seed"]
        )
    except GridError as error:
        if elsewhere is not None or source is None:
            raise
        raise GridError(f"{error}; --workload says where the workload is now") from None
    names = result.platform.names
    mouldable = bool(result.parameters.given().get("mouldable"))
    given = [*_all_given(workload, names, mouldable)]
    if not result.parameters.service_classes or workload.drawn_deadlines != 1:
        return given
    classes = ClassDraws(deadline_classes(result.parameters), result.summary["seed"])
    of_jobs = classes.of(np.arange(1, len(given) + 1)).tolist()
    return [
        job._replace(service_class=classes.names[which])
        for job, which in zip(given, of_jobs, strict=True)
    ]


def class_names(jobs: Sequence[Given], result: ResultFiles) -> list[str]:
    """Return the names of the service classes that deadlines of jobs were drawn from."""
    drawn = any(job.service_class is not None for job in jobs)
    return [each.name for each in deadline_classes(result.parameters)] if drawn else []


def _all_given(
    workload: Workload | BatchWorkload, names: Sequence[str], mouldable: bool
) -> Iterator[Given]:
    """Yield the jobs of a workload, in the order in which they are submitted."""
    if not isinstance(workload, BatchWorkload):
        times = workload.times if isinstance(workload, Table) else None
        whose = Whose(workload)
        texts: Iterable[tuple[str, ...]] = repeat(())
        if whose.columns:
            texts = zip(*whose.of(np.arange(workload.count)), strict=True)
        for job, told in zip(chain.from_iterable(workload.chunks()), texts, strict=False):
            given = _given(job, names, None)
            given = given._replace(whose=dict(zip(whose.columns, told, strict=True)))
            if times is not None and (row := int(job["times_row"])) != BY_RATES:
                given = given._replace(times=_on_each(times, row))
                if mouldable and len(times.sizes):
                    given = given._replace(moulded=_by_size(times, row))
            yield given
        return
    batch = 0
    while len(drawn := workload.next_batch(0.0)):
        yield from (_given(job, names, batch) for job in drawn)
        batch += 1


def _on_each(times: ExecutionTimes, row: int) -> dict[str, float]:
    return dict(zip(times.clusters, times.seconds[row].tolist(), strict=True))


def _by_size(times: ExecutionTimes, row: int) -> dict[int, dict[str, float]]:
    """Return the times of a job with each of its sizes."""
    rows = np.flatnonzero(times.sizes[:, 1] == times.sizes[row, 1]).tolist()
    return {times.sizes.item(each, 0): _on_each(times, each) for each in rows}


def _given(job: Any, names: Sequence[str], batch: int | None) -> Given:
    return Given(
        int(job["number"]),
        float(job["arrival"]),
        int(job["size"]),
        float(job["runtime"]),
        float(job["deadline"]),
        None if job["origin"] == ANYWHERE else names[job["origin"]],
        1.0 - float(job["computation_fraction"]),
        batch,
        user=None if job["user"] == UNKNOWN else int(job["user"]),
    )


def matched(result: ResultFiles, jobs: Sequence[Given]) -> list[Pair]:
    """Find the job of each row: those of one number are in the order of the workload.

    Where that cannot be, as in a run that was interrupted, it is the one most like it.
    """
    rates = {each.name: each.rate for each in result.platform.clusters}
    of_number: defaultdict[int, list[Given]] = defaultdict(list)
    rows_of: defaultdict[int, list[Row]] = defaultdict(list)
    for job in jobs:
        of_number[job.job].append(job)
    for row in result.rows:
        rows_of[row.job].append(row)
    found = {
        number: deque(_pairs(rows, of_number[number], rates)) for number, rows in rows_of.items()
    }
    return [found[row.job].popleft() for row in result.rows]


def _pairs(
    rows: Sequence[Row], jobs: Sequence[Given], rates: Mapping[str, float]
) -> Iterator[Pair]:
    """Yield the pairs of the rows and the jobs of one number."""
    if len(rows) == len(jobs) and all(
        _may_be(row, job, rates) for row, job in zip(rows, jobs, strict=True)
    ):
        yield from (Pair(row, job.as_in(row)) for row, job in zip(rows, jobs, strict=True))
        return
    left = [*jobs]
    for row in rows:
        like = min(left, key=partial(_distance, row, rates), default=None)
        twins = [job for job in jobs if like is not None and job[1:3] == like[1:3]]
        sure = len(rows) >= len(jobs) or all(job == like for job in twins)
        yield Pair(row, like and like.as_in(row), sure)
        if like is not None:
            left.remove(like)


def _may_be(row: Row, job: Given, rates: Mapping[str, float]) -> bool:
    """Return whether a row may be of a job: it is as large, and ran for no less than it needs."""
    job = job.as_in(row)
    arrives = job.batch is not None or job.arrival == row.arrival
    return arrives and job.size == row.size and _longer(row, job, rates) >= -_rounding(row)


def _rounding(row: Row) -> float:
    return 0.0 if row.finish is None else RELATIVE * max(row.finish, 1.0)


def _distance(row: Row, rates: Mapping[str, float], job: Given) -> tuple[bool, bool, float]:
    """Return how much a row differs from a job."""
    job = job.as_in(row)
    return job.arrival != row.arrival, job.size != row.size, abs(_longer(row, job, rates))


def _longer(row: Row, job: Given, rates: Mapping[str, float]) -> float:
    """Return for how much longer a row ran than the job needs there, s; 0 if it never ran."""
    if row.start is None or row.finish is None or not row.placement:
        return 0.0
    needs = job.dedicated(row, rates)
    return 0.0 if math.isnan(needs) else row.finish - row.start - needs


def counted_from(pairs: Sequence[Pair], jobs: Sequence[Given], warmup: int) -> float:
    """Return the arrival of the first job that counts, s: minus infinity if all of them do."""
    if warmup == 0:
        return -math.inf
    if warmup >= len(jobs):
        return math.inf
    first = jobs[warmup]
    if first.batch is None:
        return first.arrival
    arrivals = [
        row.arrival for row, job, _ in pairs if job is not None and job.batch == first.batch
    ]
    return min(arrivals, default=math.inf)

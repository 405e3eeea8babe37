"""Columns that say how long jobs run on each cluster, or what they compute there.

Either ``runtime@C1`` and so on, one for each cluster: seconds, nothing where a job cannot run. Or
`application` and `problem_size`: the name of a model of PACE, and how much it is given; then the
hardware of clusters says how long that takes or, of jobs with run times, is predicted to take. A
column `sizes` beside these has the sizes that a job may be moulded to, such as ``4|8|16``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from grid.errors import GridError, WorkloadError
from grid.foreign import plain, quoted
from grid.jobs import LONGEST, SHORTEST_RUN, UNKNOWN, JobArray
from grid.logs.files import number, whole
from grid.names import meant
from grid.workloads.execution_times import NO_SIZES, ExecutionTimes

ON_CLUSTER = "runtime@"
"""How the names of columns of execution times begin, before that of the cluster."""

PROBLEM_SIZE = "problem_size"
SIZES = "sizes"

Evaluate = Callable[[str, int, float], Sequence[float]]
"""Takes an application, processors and a problem size; returns its time on each cluster, s."""


@dataclass(frozen=True, eq=False)
class Work:
    """What jobs compute.

    Attributes
    ----------
    applications : tuple of str
        Names of models.
    application : array of int64, shape (rows,)
        Index among these, or `UNKNOWN`.
    problem_size : array of float64, shape (rows,)
        0 without an application.
    places : tuple of str
        Where each row comes from: what begins a message.
    sizes : tuple of tuple of int
        Of each row the processors that it may be moulded to, in increasing order, its own size
        among them; none where it may not. Empty: no row may.
    """

    applications: tuple[str, ...]
    application: npt.NDArray[np.int64]
    problem_size: npt.NDArray[np.float64]
    places: tuple[str, ...]
    sizes: tuple[tuple[int, ...], ...] = ()

    def evaluated(
        self, jobs: JobArray, clusters: Sequence[str], evaluate: Evaluate
    ) -> tuple[JobArray, ExecutionTimes]:
        """Return the jobs with how long what they compute takes on each cluster.

        The run time of a job is the shortest of these, with the processors that it was given.

        Raises
        ------
        WorkloadError
            If a model, or what it is asked for, cannot be used: named by the row.
        """
        jobs = jobs.copy()
        known: dict[tuple[int, int, float], Sequence[float]] = {}
        seconds: list[Sequence[float]] = []
        sizes: list[tuple[int, int]] = []
        own = jobs["size"].tolist()
        of_jobs = self.sizes or ((),) * len(own)
        work = zip(self.places, self.application.tolist(), self.problem_size.tolist(), strict=True)
        for job, (place, application, n) in enumerate(work):
            first = len(seconds)
            for size in of_jobs[job] or (own[job],):
                question = application, size, n
                if size == own[job]:
                    jobs["times_row"][job] = len(seconds)
                if question not in known:
                    try:
                        known[question] = evaluate(self.applications[application], size, n)
                    except GridError as error:
                        raise WorkloadError(f"{place}: {error}") from None
                seconds.append(known[question])
                sizes.append((size, first))
        times = ExecutionTimes(
            tuple(clusters), np.array(seconds), np.array(sizes) if any(self.sizes) else NO_SIZES
        )
        jobs["runtime"] = times.shortest[jobs["times_row"]]
        return jobs, times


def tells_times(name: str) -> bool:
    """Tell whether a column makes one of run times needless."""
    return name.startswith(ON_CLUSTER) or name == PROBLEM_SIZE


def is_of_times(name: str, columns: Mapping[str, Sequence[str]]) -> bool:
    """Tell whether a column is one of those that are read here."""
    of_work = name == SIZES or (name == "application" and PROBLEM_SIZE in columns)
    return of_work or tells_times(name)


def execution_times(
    columns: Mapping[str, Sequence[str]],
    where: str,
    place: Callable[[int], str],
    clusters: Sequence[str] | None,
) -> ExecutionTimes | None:
    """Return the execution times on each cluster that columns of text tell, if they do.

    Parameters
    ----------
    columns, place
        As for `parsed`.
    where : str
        Where the names of the columns are: what begins a message on these.
    clusters : sequence of str or None
        Names of the clusters, of which each is to have a column; None: those that have one.

    Raises
    ------
    WorkloadError
        If a cluster is unknown or has no column, or a cell cannot be used.
    """
    named = [name.removeprefix(ON_CLUSTER) for name in columns if name.startswith(ON_CLUSTER)]
    if not named:
        return None
    names = tuple(named if clusters is None else clusters)
    for name in named:
        if name not in names:
            known = meant(name, names)
            raise WorkloadError(f"{where}: column {quoted(ON_CLUSTER + name)}: no cluster; {known}")
    for name in names:
        if name not in named:
            raise WorkloadError(
                f"{where}: no column {quoted(ON_CLUSTER + name)}; accepted: one for each cluster"
            )
    accepted = f"seconds, from {SHORTEST_RUN:g} to {LONGEST:g}, or nothing where it cannot run"
    seconds = np.empty((len(columns[ON_CLUSTER + names[0]]), len(names)))
    for index, name in enumerate(names):
        for row, cell in enumerate(columns[ON_CLUSTER + name]):
            try:
                seconds[row, index] = _time(cell)
            except ValueError:
                raise WorkloadError(
                    f"{place(row)}: {plain(ON_CLUSTER + name, 100)} is {quoted(cell)}; accepted: "
                    f"{accepted}"
                ) from None
    nowhere = np.flatnonzero(np.isinf(seconds).all(axis=1))
    if len(nowhere):
        raise WorkloadError(
            f"{place(int(nowhere[0]))}: found no execution time on any cluster; accepted: one at "
            "least, where the job can run"
        )
    return ExecutionTimes(names, seconds)


def _time(cell: str) -> float:
    """Return an execution time, s; infinity for an empty cell."""
    if not cell:
        return np.inf
    if not SHORTEST_RUN <= (time := number(cell)) <= LONGEST:
        raise ValueError(cell)
    return time


def work_of(
    columns: Mapping[str, Sequence[str]],
    own: Sequence[int],
    where: str,
    place: Callable[[int], str],
) -> Work | None:
    """Return what columns say that jobs compute, if they do.

    Parameters
    ----------
    own : sequence of int
        Processors that each job was given.
    columns, where, place
        As for `execution_times`.

    Raises
    ------
    WorkloadError
        If a column is missing or a cell cannot be used.
    """
    if SIZES in columns and (PROBLEM_SIZE not in columns or "runtime" in columns):
        found = "beside runtime" if PROBLEM_SIZE in columns else f"without {PROBLEM_SIZE}"
        raise WorkloadError(
            f"{where}: column {SIZES} {found}; accepted: with application and {PROBLEM_SIZE}, for "
            "models say how long jobs of each size run, and no runtime"
        )
    if PROBLEM_SIZE not in columns:
        return None
    if any(name.startswith(ON_CLUSTER) for name in columns):
        raise WorkloadError(
            f"{where}: columns {PROBLEM_SIZE} and {ON_CLUSTER}... found; accepted: one of the two"
        )
    if "application" not in columns:
        raise WorkloadError(f"{where}: no column application; accepted: one beside {PROBLEM_SIZE}")
    names = columns["application"]
    index = {name: i for i, name in enumerate(dict.fromkeys(filter(None, names)))}
    which = np.array([index.get(name, UNKNOWN) for name in names], np.int64)
    sizes = np.zeros(len(names))
    for row, cell in enumerate(columns[PROBLEM_SIZE]):
        if bool(cell) != bool(names[row]):
            lacks, has = ("application", PROBLEM_SIZE) if cell else (PROBLEM_SIZE, "application")
            raise WorkloadError(f"{place(row)}: {lacks} is empty; accepted: both, or no {has}")
        if not cell and "runtime" not in columns:
            raise WorkloadError(
                f"{place(row)}: {PROBLEM_SIZE} is empty; accepted: a number above 0, or a run time"
            )
        with suppress(ValueError):
            sizes[row] = number(cell) if cell else 0.0
        if cell and not 0 < sizes[row] < np.inf:
            raise WorkloadError(
                f"{place(row)}: {PROBLEM_SIZE} is {quoted(cell)}; accepted: a number above 0"
            )
    mouldable = (
        tuple(_sizes(cell, own[row], place(row)) for row, cell in enumerate(columns[SIZES]))
        if SIZES in columns
        else ()
    )
    return Work(tuple(index), which, sizes, tuple(map(place, range(len(names)))), mouldable)


def _sizes(cell: str, own: int, place: str) -> tuple[int, ...]:
    """Return the sizes that a job of a size may be moulded to, in increasing order."""
    try:
        found = {whole(part) for part in cell.split("|")} if cell else set()
    except ValueError:
        found = {0}
    if min(found, default=1) < 1 or (found and own not in found):
        raise WorkloadError(
            f"{place}: {SIZES} is {quoted(cell)}; accepted: whole numbers from 1 such as 4|8|16, "
            f"the size, {own}, among them; or nothing"
        )
    return tuple(sorted(int(size) for size in found))

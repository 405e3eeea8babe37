"""Columns that say how long jobs run on each cluster, or what they compute there.

Either ``runtime@C1`` and so on, one for each cluster: seconds, nothing where a job cannot run. Or
`application` and `problem_size`: the name of a model of PACE, and how much it is given; then the
hardware of clusters says how long that takes or, of jobs with run times, is predicted to take.
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
from grid.logs.files import number
from grid.names import meant
from grid.workloads.execution_times import ExecutionTimes

ON_CLUSTER = "runtime@"
"""How the names of columns of execution times begin, before that of the cluster."""

PROBLEM_SIZE = "problem_size"

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
    """

    applications: tuple[str, ...]
    application: npt.NDArray[np.int64]
    problem_size: npt.NDArray[np.float64]
    places: tuple[str, ...]

    def evaluated(
        self, jobs: JobArray, clusters: Sequence[str], evaluate: Evaluate
    ) -> tuple[JobArray, ExecutionTimes]:
        """Return the jobs with how long what they compute takes on each cluster.

        The run time of a job is the shortest of these.

        Raises
        ------
        WorkloadError
            If a model, or what it is asked for, cannot be used: named by the row.
        """
        jobs = jobs.copy()
        rows: dict[tuple[int, int, float], int] = {}
        seconds: list[Sequence[float]] = []
        questions = self.application.tolist(), jobs["size"].tolist(), self.problem_size.tolist()
        for place, question in zip(self.places, zip(*questions, strict=True), strict=True):
            if question in rows:
                continue
            try:
                seconds.append(evaluate(self.applications[question[0]], *question[1:]))
            except GridError as error:
                raise WorkloadError(f"{place}: {error}") from None
            rows[question] = len(rows)
        which = [rows[question] for question in zip(*questions, strict=True)]
        times = ExecutionTimes(tuple(clusters), np.array(seconds)[which])  # a row for each job
        jobs["times_row"] = np.arange(len(jobs))
        jobs["runtime"] = times.shortest
        return jobs, times


def tells_times(name: str) -> bool:
    """Tell whether a column makes one of run times needless."""
    return name.startswith(ON_CLUSTER) or name == PROBLEM_SIZE


def is_of_times(name: str, columns: Mapping[str, Sequence[str]]) -> bool:
    """Tell whether a column is one of those that are read here."""
    return tells_times(name) or (name == "application" and PROBLEM_SIZE in columns)


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
    columns: Mapping[str, Sequence[str]], where: str, place: Callable[[int], str]
) -> Work | None:
    """Return what columns say that jobs compute, if they do.

    Raises
    ------
    WorkloadError
        If a column is missing or a cell cannot be used.
    """
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
    return Work(tuple(index), which, sizes, tuple(map(place, range(len(names)))))

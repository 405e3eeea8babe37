"""Execution times that jobs bring with them, one for each cluster: e_ij of `muscle`, section 2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from grid.errors import WorkloadError
from grid.foreign import plain, quoted
from grid.jobs import BY_RATES, JobArray
from grid.names import meant

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

NO_SIZES = np.zeros((0, 2), np.int64)
"""Of tables none of whose jobs may be moulded."""


@dataclass(frozen=True, eq=False)
class ExecutionTimes:
    """How long jobs run on each cluster, instead of their run times over its rate.

    Attributes
    ----------
    clusters : tuple of str
        Names of the clusters.
    seconds : array, shape (rows, clusters)
        Row ``times_row`` is that of a job; infinity where it cannot run.
    sizes : int array, shape (rows, 2)
        Where jobs may be moulded: with how many processors a row's times are reached, and the first
        row of the same job, whose rows come together. Else without rows.
    """

    clusters: tuple[str, ...]
    seconds: Floats
    sizes: Ints = field(default_factory=NO_SIZES.copy)

    @property
    def shortest(self) -> Floats:
        """The shortest of each row, s."""
        shortest: Floats = self.seconds.min(axis=1)
        return shortest

    @property
    def longest(self) -> Floats:
        """The longest of each row where the job can run, s."""
        longest: Floats = np.where(np.isinf(self.seconds), 0.0, self.seconds).max(axis=1)
        return longest

    def on(self, clusters: Sequence[str]) -> Floats:
        """Return the seconds.

        Raises
        ------
        WorkloadError
            If the clusters, by their names in order, are others.
        """
        if self.clusters != tuple(clusters):
            raise WorkloadError(
                f"execution times: found clusters {', '.join(self.clusters)}; accepted: those of "
                f"the platform, {', '.join(clusters)}"
            )
        return self.seconds

    def cut(self, jobs: JobArray, before: JobArray) -> ExecutionTimes:
        """Return them where jobs are killed, all of a job as much shorter as its run time.

        Parameters
        ----------
        jobs : JobArray
            With the run times that are left.
        before : JobArray
            These jobs and others, with the run times that they had.
        """
        jobs, before = (each[each["times_row"] != BY_RATES] for each in (jobs, before))
        first = self.sizes[:, 1] if len(self.sizes) else np.arange(len(self.seconds))
        rows, (runtimes, left) = jobs["times_row"], np.ones((2, len(first)))
        runtimes[before["times_row"]] = before["runtime"]
        left[first[rows]] = np.minimum(jobs["runtime"] / runtimes[rows], 1.0)
        return replace(self, seconds=self.seconds * left[first, None])


def at_speeds(
    jobs: JobArray,
    speeds: Mapping[str, Mapping[str, float]],
    clusters: Sequence[str],
    rates: Floats,
) -> tuple[JobArray, ExecutionTimes | None]:
    """Return jobs whose execution times follow speeds that depend on where they are submitted.

    Parameters
    ----------
    jobs : JobArray
        None with execution times of its own, if there are speeds.
    speeds : mapping of str to mapping of str to float
        For jobs submitted at a cluster, the rates of clusters; 0: such jobs cannot run there.
        Where nothing is said, rates are those of the platform.
    clusters : sequence of str
        Names that origins are indices of.
    rates : array, shape (clusters,)

    Raises
    ------
    WorkloadError
        If a name is unknown, or jobs of a site can run nowhere or have execution times already.

    Examples
    --------
    >>> from grid.jobs import job_table
    >>> jobs = job_table(2)
    >>> jobs["runtime"], jobs["origin"] = 60.0, [0, 1]
    >>> jobs, times = at_speeds(jobs, {"A": {"B": 2.0}, "B": {"A": 0}}, "AB", np.ones(2))
    >>> times.seconds.tolist()
    [[60.0, 30.0], [inf, 60.0]]
    """
    by_site = {}
    for site, of_site in speeds.items():
        for name in (site, *of_site):
            if name not in clusters:
                raise WorkloadError(f"speeds: cluster {quoted(name)}: {meant(name, clusters)}")
        found = np.array([of_site.get(name, rates[at]) for at, name in enumerate(clusters)])
        if not found.any():
            raise WorkloadError(f"speeds: {plain(site)}: 0 everywhere; accepted: above 0 somewhere")
        by_site[clusters.index(site)] = found
    moved = np.flatnonzero(np.isin(jobs["origin"], [*by_site]))
    if not len(moved):
        return jobs, None
    if (jobs["times_row"] != BY_RATES).any():
        raise WorkloadError(
            "speeds: found jobs with an execution time on each cluster; accepted: run times"
        )
    jobs = jobs.copy()
    jobs["times_row"][moved] = np.arange(len(moved))
    of_jobs = np.array([by_site[origin] for origin in jobs["origin"][moved].tolist()])
    with np.errstate(divide="ignore"):
        seconds = jobs["runtime"][moved, None] / of_jobs
    return jobs, ExecutionTimes(tuple(clusters), seconds)


def stacked(
    jobs: Sequence[JobArray], times: Sequence[ExecutionTimes | None]
) -> tuple[list[JobArray], ExecutionTimes | None]:
    """Return jobs of several workloads with one table of execution times, if any has some.

    Parameters
    ----------
    jobs : sequence of JobArray
    times : sequence of ExecutionTimes or None
        Of each, for the same clusters.
    """
    told = [each for each in times if each is not None]
    if not told:
        return [*jobs], None
    moved, sizes, first = [], [NO_SIZES], 0
    for part, each in zip(jobs, times, strict=True):
        part = part.copy()
        part["times_row"][part["times_row"] != BY_RATES] += first
        moved.append(part)
        if each is not None:
            own = each.sizes if len(each.sizes) else _rigid(part, each, first)
            sizes.append(own + np.array([0, first]))
            first += len(each.seconds)
    mouldable = any(len(each.sizes) for each in told)
    together = ExecutionTimes(
        told[0].clusters,
        np.concatenate([each.seconds for each in told]),
        np.concatenate(sizes) if mouldable else NO_SIZES,
    )
    return moved, together


def _rigid(jobs: JobArray, times: ExecutionTimes, above: int) -> Ints:
    """Return `sizes` of a table none of whose jobs may be moulded; theirs are rows from `above`."""
    sizes = np.stack([np.zeros(len(times.seconds), np.int64), np.arange(len(times.seconds))], 1)
    told = jobs[jobs["times_row"] != BY_RATES]
    sizes[told["times_row"] - above, 0] = told["size"]
    return sizes

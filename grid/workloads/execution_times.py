"""Execution times that jobs bring with them, one for each cluster: e_ij of `muscle`, section 2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from grid.errors import WorkloadError
from grid.jobs import BY_RATES, JobArray

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ExecutionTimes:
    """How long jobs run on each cluster, instead of their run times over its rate.

    Attributes
    ----------
    clusters : tuple of str
        Names of the clusters.
    seconds : array, shape (rows, clusters)
        Row ``times_row`` is that of a job; infinity where it cannot run.
    """

    clusters: tuple[str, ...]
    seconds: Floats

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

    def cut(self, jobs: JobArray, runtimes: Floats) -> ExecutionTimes:
        """Return them where jobs are killed, all of a job as much shorter as its run time.

        Parameters
        ----------
        jobs : JobArray
            With the run times that are left.
        runtimes : array, shape (rows,)
            What they were, by row.
        """
        told = jobs[jobs["times_row"] != BY_RATES]
        rows, seconds = told["times_row"], self.seconds.copy()
        shorter = told["runtime"] < runtimes[rows]
        factors = told["runtime"][shorter] / runtimes[rows[shorter]]
        seconds[rows[shorter]] *= factors[:, None]
        return ExecutionTimes(self.clusters, seconds)


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
    moved, first = [], 0
    for part, each in zip(jobs, times, strict=True):
        part = part.copy()
        part["times_row"][part["times_row"] != BY_RATES] += first
        moved.append(part)
        first += 0 if each is None else len(each.seconds)
    return moved, ExecutionTimes(told[0].clusters, np.concatenate([each.seconds for each in told]))

"""Where jobs are submitted: to the global scheduler, or through a cluster."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from grid.errors import require
from grid.jobs import ANYWHERE, JobArray
from grid.kernel.compile import compiled
from grid.streams import Stream, stream, uniform


def assign_origins(jobs: JobArray, shares: Sequence[float], seed: int) -> JobArray:
    """Return the jobs with origins drawn anew, one independent draw a job.

    Parameters
    ----------
    jobs : JobArray
    shares : sequence of float
        Probability that a job is submitted through each cluster, by index; the rest goes to the
        global scheduler.
    seed : int
        Seed of the run; the stream is ``"origins"``.

    Raises
    ------
    WorkloadError
        If a share lies outside [0, 1] or they sum to more than 1.
    """
    table = cumulative_shares(shares)
    jobs = jobs.copy()
    fill_origins(jobs, table, stream(seed, "origins"))
    return jobs


def cumulative_shares(shares: Sequence[float]) -> npt.NDArray[np.float64]:
    """Return the sums of the first shares, one for each cluster, after checking them."""
    for share in shares:
        require(0 <= share <= 1, "share of origins", share, "a number from 0 to 1")
    table = np.cumsum(np.asarray(shares, float))
    total = math.fsum(shares)
    require(total <= 1 + 1e-9, "sum of the shares of origins", total, "at most 1")
    if total >= 1 - 1e-9:
        table[table == table[-1]] = 1.0  # rounding leaves no job to the global scheduler
    return table


@compiled()
def fill_origins(jobs: JobArray, cumulative: npt.NDArray[np.float64], draws: Stream) -> None:
    """Draw the origin of each job in turn (compiled)."""
    for row in range(len(jobs)):
        u = uniform(draws)
        origin = 0
        while origin < len(cumulative) and u >= cumulative[origin]:
            origin += 1
        jobs[row].origin = origin if origin < len(cumulative) else ANYWHERE

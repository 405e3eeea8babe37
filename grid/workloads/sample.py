"""Jobs of a log to draw from: their sizes and run times, together or each by itself."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from grid.errors import WorkloadError
from grid.jobs import JobArray
from grid.kernel.compile import compiled
from grid.logs.swf import read_swf
from grid.streams import Stream, below


@dataclass(frozen=True, eq=False)
class JobSample:
    """What jobs of a log were like, each equally likely to be drawn.

    Attributes
    ----------
    sizes : int array, shape (jobs,)
        Processors of each.
    runtimes : float array, shape (jobs,)
        Run time of each, s.
    left_out : int
        Jobs of the log that were too large to count.
    """

    sizes: npt.NDArray[np.int64]
    runtimes: npt.NDArray[np.float64]
    left_out: int = 0

    @classmethod
    def of_log(cls, path: str | os.PathLike[str], largest: int) -> JobSample:
        """Return the jobs of a log that have at most so many processors.

        Parameters
        ----------
        path : path
            The log, read and cleaned by `grid.logs.swf.read_swf`.
        largest : int
            Larger jobs are left out.

        Raises
        ------
        WorkloadError
            If the file cannot be read, or all jobs are larger.
        """
        jobs = read_swf(path).jobs
        kept = jobs[jobs["size"] <= largest]
        if not len(kept):
            raise WorkloadError(
                f"{path}: the smallest job has size {jobs['size'].min()}; accepted: at least one "
                f"of at most {largest}"
            )
        sizes, runtimes = (np.ascontiguousarray(kept[name]) for name in ("size", "runtime"))
        return cls(sizes, runtimes, len(jobs) - len(kept))

    def fill(self, jobs: JobArray, draws: Stream) -> None:
        """Draw the size and the run time of jobs."""
        _fill(jobs, self.sizes, self.runtimes, draws)


@compiled()
def _fill(
    jobs: JobArray,
    sizes: npt.NDArray[np.int64],
    runtimes: npt.NDArray[np.float64],
    draws: Stream,
) -> None:
    for row in range(len(jobs)):
        drawn = below(draws, len(sizes))
        jobs[row].size = sizes[drawn]
        jobs[row].runtime = runtimes[drawn]

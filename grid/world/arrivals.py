"""Where the jobs of a world come from."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from grid.jobs import JobArray
from grid.kernel.state import TRUTH
from grid.world.storage import Storage
from grid.world.validation import check_jobs, check_times


class Arrivals:
    """Sources of jobs, one after the other."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._sources: deque[Iterator[JobArray]] = deque()

    def feed(self, source: Iterator[JobArray]) -> None:
        """Let jobs come chunk by chunk, in order of arrival, after all earlier ones."""
        self._sources.append(source)
        self._storage.state.exhausted = 0

    def take_times(
        self, times: npt.NDArray[np.float64], sizes: npt.NDArray[np.int64] | None = None
    ) -> None:
        """Take the execution times of jobs that have some of their own on each cluster.

        To be called before any comes, and before anybody is said to decide about them.

        Parameters
        ----------
        times : array, shape (rows, clusters)
            Seconds, above 0, infinity where a job cannot run. The job's field ``times_row`` is its
            row.
        sizes : array, shape (rows, 2), optional
            Where jobs may be moulded: with how many processors a row's times are reached, and the
            first row of the same job.

        Raises
        ------
        WorkloadError
            If there is not one for each cluster, one is none, or a job can run nowhere.
        """
        check_times(times, self._storage.state.clusters)
        self._storage.take_times(times)
        if sizes is not None:
            self._storage.sizes = sizes

    def take_limits(self, limits: npt.NDArray[np.float64]) -> None:
        """Take how long jobs may run on each cluster at most: there they end, whatever is left.

        To be called instead of `take_times`, whose errors it raises. What is expected of jobs
        stays as it is.

        Parameters
        ----------
        limits : array, shape (rows, clusters)
            Seconds, above 0, infinity where a job cannot run. The job's field ``times_row`` is its
            row.
        """
        check_times(limits, self._storage.state.clusters)
        self._storage.take_times(limits, limits=True)

    def keep_waiting(self, jobs: int) -> None:
        """Let jobs come when fewer than so many wait globally, whatever their arrivals.

        To be called before any comes; 0: each at its arrival.
        """
        self._storage.state.backlog = jobs

    def take_chunk(self) -> None:
        """Hand the next chunk to the kernel, if there is one."""
        state = self._storage.state
        while self._sources:
            chunk = next(self._sources[0], None)
            if chunk is not None:
                chunk = np.ascontiguousarray(chunk)
                # else the longest run times would be what is expected of them, too
                endless = self._storage.tracked and state.predicting != TRUTH
                check_jobs(chunk, state.clusters, len(self._storage.times), endless)
                self._storage.replace(chunk=chunk)
                state.fed, state.chunk_length = 0, len(chunk)
                return
            self._sources.popleft()
        state.exhausted = 1

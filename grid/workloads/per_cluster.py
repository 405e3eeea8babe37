"""Synthetic jobs that arrive at each cluster by a Poisson process of its own (`beosim`, 3.8)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from grid.distributions import exponential_at, guide, runtime_at, size_at
from grid.errors import require
from grid.jobs import JobArray
from grid.kernel.compile import compiled
from grid.streams import stream, uniform
from grid.workloads.source import CHUNK
from grid.workloads.synthetic import JobDraws, JobMix

Streams = npt.NDArray[np.uint64]
"""One stream for each cluster: shape (clusters, 4)."""


@dataclass(frozen=True, kw_only=True)
class PerClusterWorkload(JobMix):
    """Jobs that users submit through the clusters, each at its own rate, equally many at each.

    The draws of a cluster depend on no other: what arrives there is the same whatever the number of
    clusters. Chunk by chunk, so that memory stays constant.

    Parameters
    ----------
    clusters : int
        Clusters, of which `count` is a multiple.
    interarrival : float
        Mean time between two jobs of a cluster, s, above 0.

    Examples
    --------
    >>> from grid.distributions import Exponential, UniformSizes
    >>> workload = PerClusterWorkload(
    ...     count=6, clusters=2, interarrival=150, sizes=UniformSizes(10, 50),
    ...     runtimes=Exponential(450), computation_fraction=0.7, bisection_bandwidth=500,
    ... )
    >>> (jobs,) = workload.chunks()
    >>> sorted(jobs["origin"].tolist())
    [0, 0, 0, 1, 1, 1]
    """

    clusters: int
    interarrival: float

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            self.clusters >= 1 and self.count % self.clusters == 0,
            "count of jobs",
            self.count,
            f"a multiple of the number of clusters, {self.clusters}",
        )
        require(
            0 < self.interarrival < math.inf, "interarrival time", self.interarrival, "s, above 0"
        )

    def chunks(self) -> Iterator[JobArray]:
        """Yield the jobs in order of arrival, at most `CHUNK` rows at once."""
        draws = JobDraws(self)
        minimum, sizes, law = int(self.sizes.minimum), self.sizes.cumulative(), self.runtimes.law()
        first = guide(sizes)
        arrivals, of_sizes, of_runtimes = (
            np.array([stream(self.seed, purpose, cluster) for cluster in range(self.clusters)])
            for purpose in ("arrivals", "sizes", "runtimes")
        )
        left = np.full(self.clusters, self.count // self.clusters)
        following, gaps = np.empty((2, self.clusters))
        _draw_gaps(following, float(self.interarrival), arrivals)
        _draw_gaps(gaps, float(self.interarrival), arrivals)
        while draws.given < self.count:
            jobs = draws.following(min(CHUNK, self.count - draws.given))
            _fill_arrivals(jobs, following, gaps, left, float(self.interarrival), arrivals)
            _fill_sizes(jobs, minimum, sizes, first, of_sizes)
            _fill_runtimes(jobs, law, of_runtimes)
            draws.finish(jobs)
            yield jobs


@compiled()
def _draw_gaps(gaps: npt.NDArray[np.float64], interarrival: float, arrivals: Streams) -> None:
    for cluster in range(len(gaps)):
        gaps[cluster] = exponential_at(uniform(arrivals[cluster])) * interarrival


@compiled()
def _fill_arrivals(
    jobs: JobArray,
    following: npt.NDArray[np.float64],
    gaps: npt.NDArray[np.float64],
    left: npt.NDArray[np.int64],
    interarrival: float,
    arrivals: Streams,
) -> None:
    """Take each job from the cluster where one arrives first; of equals the first cluster.

    The gap behind the following job of a cluster is there already: nobody waits for a draw.
    """
    for row in range(len(jobs)):
        cluster, time = 0, following[0]
        for other in range(1, len(following)):
            sooner = following[other] < time
            cluster = other if sooner else cluster
            time = following[other] if sooner else time
        jobs[row].arrival = time
        jobs[row].origin = cluster
        left[cluster] -= 1
        following[cluster] = time + gaps[cluster] if left[cluster] > 0 else np.inf
        gaps[cluster] = exponential_at(uniform(arrivals[cluster])) * interarrival


@compiled()
def _fill_sizes(
    jobs: JobArray,
    minimum: int,
    cumulative: npt.NDArray[np.float64],
    first: npt.NDArray[np.int64],
    draws: Streams,
) -> None:
    for row in range(len(jobs)):
        level = uniform(draws[jobs[row].origin])
        jobs[row].size = size_at(cumulative, first, minimum, level)


@compiled()
def _fill_runtimes(jobs: JobArray, law: npt.NDArray[np.float64], draws: Streams) -> None:
    for row in range(len(jobs)):
        jobs[row].runtime = runtime_at(law, uniform(draws[jobs[row].origin]))

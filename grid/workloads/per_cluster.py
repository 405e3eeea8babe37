"""Synthetic jobs that arrive at each cluster by a Poisson process of its own (`beosim`, 3.8)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from grid.distributions import (
    RuntimeDistribution,
    SizeDistribution,
    exponential_at,
    guide,
    runtime_at,
    size_at,
)
from grid.errors import require
from grid.jobs import JobArray
from grid.kernel.compile import compiled
from grid.streams import stream, uniform
from grid.workloads.source import CHUNK
from grid.workloads.synthetic import JobDraws, JobMix

Streams = npt.NDArray[np.uint64]
"""One stream for each cluster: shape (clusters, 4)."""


@dataclass(frozen=True)
class OwnJobs:
    """What the jobs of one cluster are like, where they are not like those of the others.

    Attributes
    ----------
    interarrival : float
        Mean time between two of them, s, above 0.
    sizes : SizeDistribution
    runtimes : RuntimeDistribution
    """

    interarrival: float
    sizes: SizeDistribution
    runtimes: RuntimeDistribution


@dataclass(frozen=True, kw_only=True)
class PerClusterWorkload(JobMix):
    """Jobs that users submit through the clusters, as many at each as its rate says.

    The draws of a cluster depend on no other: what arrives there is the same whatever the number of
    clusters, and what they have of their own. Chunk by chunk, so that memory stays constant.

    Parameters
    ----------
    clusters : int
        Clusters, of which `count` is a multiple.
    interarrival : float
        Mean time between two jobs of a cluster, s, above 0.
    own : mapping of int to OwnJobs
        Of clusters by index, what their jobs differ in.

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
    own: Mapping[int, OwnJobs] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("composition", "origins"):
            found = getattr(self, name)
            require(not found, name, found, "none, of jobs of clusters' own streams")
        require(
            self.clusters >= 1 and self.count % self.clusters == 0,
            "count of jobs",
            self.count,
            f"a multiple of the number of clusters, {self.clusters}",
        )
        require(
            all(0 <= cluster < self.clusters for cluster in self.own),
            "clusters with jobs of their own",
            [*self.own],
            f"from 0 to {self.clusters - 1}",
        )
        for interarrival in self._interarrivals.tolist():
            require(0 < interarrival < math.inf, "interarrival time", interarrival, "s, above 0")

    @property
    def _interarrivals(self) -> npt.NDArray[np.float64]:
        """Of each cluster, s."""
        found = np.full(self.clusters, float(self.interarrival))
        for cluster, own in self.own.items():
            found[cluster] = own.interarrival
        return found

    @property
    def duration(self) -> float:
        """Rough time in which the jobs arrive, s: the same at each cluster."""
        return float(self.count / (1.0 / self._interarrivals).sum())

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """Jobs of each cluster, in proportion to its rate; of equal remainders the first."""
        exact = self.duration / self._interarrivals
        found = np.floor(exact + 1e-9).astype(np.int64)
        found[np.argsort(found - exact, kind="stable")[: self.count - found.sum()]] += 1
        return found

    def _laws(self) -> list[tuple[SizeDistribution, RuntimeDistribution, list[int]]]:
        """Return the laws of sizes and run times, and the clusters whose jobs have them."""
        common = [cluster for cluster in range(self.clusters) if cluster not in self.own]
        of_own = [(own.sizes, own.runtimes, [cluster]) for cluster, own in self.own.items()]
        return [*([(self.sizes, self.runtimes, common)] if common else []), *of_own]

    def chunks(self) -> Iterator[JobArray]:
        """Yield the jobs in order of arrival, at most `CHUNK` rows at once."""
        draws = JobDraws(self)
        laws = []
        for sizes, runtimes, clusters in self._laws():
            table = sizes.cumulative()
            laws.append(((int(sizes.minimum), table, guide(table)), runtimes.law(), clusters))
        arrivals, of_sizes, of_runtimes = (
            np.array([stream(self.seed, purpose, cluster) for cluster in range(self.clusters)])
            for purpose in ("arrivals", "sizes", "runtimes")
        )
        left, interarrivals = self.counts, self._interarrivals
        following, gaps = np.empty((2, self.clusters))
        _draw_gaps(following, interarrivals, arrivals)
        _draw_gaps(gaps, interarrivals, arrivals)
        following[left == 0] = np.inf
        while draws.given < self.count:
            jobs = draws.following(min(CHUNK, self.count - draws.given))
            _fill_arrivals(jobs, following, gaps, left, interarrivals, arrivals)
            for of_size, law, clusters in laws:
                there = np.isin(jobs["origin"], clusters) if len(laws) > 1 else slice(None)
                some = jobs[there]  # a copy, if there are others
                _fill_sizes(some, *of_size, of_sizes)
                _fill_runtimes(some, law, of_runtimes)
                if len(laws) > 1:
                    jobs[there] = some
            draws.finish(jobs)
            yield jobs


@compiled()
def _draw_gaps(
    gaps: npt.NDArray[np.float64], interarrivals: npt.NDArray[np.float64], arrivals: Streams
) -> None:
    for cluster in range(len(gaps)):
        gaps[cluster] = exponential_at(uniform(arrivals[cluster])) * interarrivals[cluster]


@compiled()
def _fill_arrivals(
    jobs: JobArray,
    following: npt.NDArray[np.float64],
    gaps: npt.NDArray[np.float64],
    left: npt.NDArray[np.int64],
    interarrivals: npt.NDArray[np.float64],
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
        gaps[cluster] = exponential_at(uniform(arrivals[cluster])) * interarrivals[cluster]


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

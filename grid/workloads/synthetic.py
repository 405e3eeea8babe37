"""Synthetic jobs: Poisson arrivals, or batches, with sizes and run times drawn from laws.

Each purpose has its own stream of random numbers, drawn in order of arrival, so that a workload
depends on its parameters alone: not on the size of chunks, and on no scheduler.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
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
from grid.errors import require, require_numbers, require_whole
from grid.jobs import MAX_COMPONENTS, REQUEST_KINDS, JobArray, job_table
from grid.kernel.compile import compiled
from grid.streams import Stream, stream, uniform
from grid.workloads.communication import check_communication, fill_communication
from grid.workloads.components import check_composition, fill_components, scatter, split
from grid.workloads.deadlines import ServiceClass, class_table, fill_deadlines
from grid.workloads.origins import cumulative_shares, fill_origins
from grid.workloads.sample import JobSample
from grid.workloads.source import CHUNK, Cleaning

_BLANK = job_table(1)


@dataclass(frozen=True, kw_only=True)
class JobMix:
    """What synthetic jobs look like, whenever they arrive.

    Parameters
    ----------
    count : int
        Jobs in all, at least 1.
    sizes : SizeDistribution
        Law of the number of processors.
    runtimes : RuntimeDistribution
        Law of the run time on a cluster of rate 1, s; independent of the size.
    classes : sequence of ServiceClass
        Classes of service for deadlines (`muscle`, eq. 5); none leaves jobs without deadlines.
    origins : sequence of float
        Share of jobs submitted through each cluster, by index, at most 1 in all; the rest goes
        to the global scheduler.
    slowest_rate : float
        Rate of the slowest cluster, above 0: its execution times set the deadlines.
    seed : int
        Seed of the run, from 0.
    computation_fraction : float
        Share of the run time that is computation where links are not shared (K of `beosim`).
    bisection_bandwidth : float
        What each half of a job tells the other, Mbit/s, whatever the job's size (BSBW of
        `beosim`); the bandwidth of a processor follows by `grid.workloads.communication.ppbw_at`.
    composition : sequence of float
        Percent of jobs with 1, 2, ... components, 100 in all (job-stream composition of `queues`,
        section 3); `sizes` is then the law of each component. None: jobs that name no components.
    request : {"unordered", "ordered", "total"}
        How jobs name them.
    largest_component : int
        Without a composition: `sizes` is the law of whole jobs, and each is split into as few
        components of at most so many processors as there can be, of equal size plus or minus one
        (dependent components of `maxutil`, section 2.5). 0: jobs are not split.
    scattered_over : int
        Clusters of which ordered components take as many as they are, each set of them equally
        likely; 0: the first ones.
    sample : JobSample, optional
        Jobs of a log, of which each is drawn with its size and its run time, whatever the two laws
        say, which should be theirs. Not with a composition.

    Raises
    ------
    WorkloadError
        Naming the parameter that cannot be used.
    """

    count: int
    sizes: SizeDistribution
    runtimes: RuntimeDistribution
    classes: Sequence[ServiceClass] = ()
    origins: Sequence[float] = ()
    slowest_rate: float = 1.0
    seed: int = 0
    computation_fraction: float = 1.0
    bisection_bandwidth: float = 0.0
    composition: Sequence[float] = ()
    request: str = "unordered"
    largest_component: int = 0
    scattered_over: int = 0
    sample: JobSample | None = None

    def __post_init__(self) -> None:
        require_numbers(self)
        for name, law in (("sizes", SizeDistribution), ("runtimes", RuntimeDistribution)):
            given = getattr(self, name)
            require(isinstance(given, law), name, given, "a law of grid.distributions")
        require_whole("count of jobs", self.count, 1)
        require(
            0 < self.slowest_rate < math.inf, "slowest rate", self.slowest_rate, "a number above 0"
        )
        require_whole("seed", self.seed, 0)
        check_communication(self.computation_fraction, self.bisection_bandwidth)
        cumulative_shares(self.origins)
        check_composition(self.composition)
        require(
            self.largest_component == 0
            or (
                self.largest_component > 0
                and -(-self.sizes.maximum // self.largest_component) <= MAX_COMPONENTS
            ),
            "largest component",
            self.largest_component,
            f"0, or enough for the largest job to have {MAX_COMPONENTS} components at most",
        )
        require(
            0 <= self.scattered_over <= MAX_COMPONENTS,
            "clusters to scatter over",
            self.scattered_over,
            f"a whole number from 0 to {MAX_COMPONENTS}",
        )
        require(
            self.sample is None or not self.composition,
            "composition",
            self.composition,
            "none, if jobs are those of a log",
        )
        if self.classes:
            class_table(self.classes)

    @property
    def cleaning(self) -> Cleaning:
        """Nothing: jobs are made to measure."""
        return Cleaning()

    @property
    def drawn_deadlines(self) -> float | None:
        """All of the deadlines, if there are some."""
        return 1.0 if self.classes else None


class JobDraws:
    """Where the draws of a mix have got to; arrivals are the caller's."""

    def __init__(self, mix: JobMix) -> None:
        self.mix = mix
        self.given = 0
        self._minimum = int(mix.sizes.minimum)
        self._sizes = mix.sizes.cumulative()
        self._guide = guide(self._sizes)
        self._runtimes = mix.runtimes.law()
        self._classes = class_table(mix.classes) if mix.classes else None
        self._origins = cumulative_shares(mix.origins)
        self._composition = np.cumsum(mix.composition) / 100.0
        purposes = ("components", "sizes", "runtimes", "classes", "deadlines", "origins", "places")
        self._streams = {purpose: stream(mix.seed, purpose) for purpose in purposes}

    def following(self, count: int) -> JobArray:
        """Return the next `count` jobs, numbered from where the last ended, but not drawn yet."""
        jobs = np.repeat(_BLANK, count)
        jobs["number"] = np.arange(self.given + 1, self.given + count + 1)
        self.given += count
        return jobs

    def fill(self, jobs: JobArray) -> None:
        """Draw everything but the arrivals, which deadlines count from, of the following jobs."""
        streams, sample = self._streams, self.mix.sample
        law = self._minimum, self._sizes, self._guide, streams["sizes"]
        if len(self._composition):
            fill_components(jobs, self._composition, streams["components"], *law)
            jobs["request"] = REQUEST_KINDS.index(self.mix.request)
        else:
            if sample is None:
                _fill_sizes(jobs, *law)
            else:
                sample.fill(jobs, streams["sizes"])
            if self.mix.largest_component:
                split(jobs, self.mix.largest_component)
                jobs["request"] = REQUEST_KINDS.index(self.mix.request)
        if self.mix.scattered_over:
            scatter(jobs, self.mix.scattered_over, streams["places"])
        if sample is None:
            _fill_runtimes(jobs, self._runtimes, streams["runtimes"])
        self.finish(jobs)

    def finish(self, jobs: JobArray) -> None:
        """Give the following jobs all that depends on their arrivals, sizes and run times."""
        streams, mix = self._streams, self.mix
        if mix.computation_fraction < 1 or mix.bisection_bandwidth > 0:
            fill_communication(
                jobs, float(mix.computation_fraction), float(mix.bisection_bandwidth)
            )
        if self._classes is not None:
            fill_deadlines(
                jobs,
                float(self.mix.slowest_rate),
                self._classes,
                streams["classes"],
                streams["deadlines"],
            )
        if len(self._origins):
            fill_origins(jobs, self._origins, streams["origins"])


@dataclass(frozen=True, kw_only=True)
class SyntheticWorkload(JobMix):
    """Jobs that arrive by a Poisson process; chunk by chunk, so that memory stays constant.

    Parameters
    ----------
    rate : float
        Mean arrivals per second, above 0; the first job arrives after one exponential gap.
    at_once : int
        Jobs before these that are there from the beginning, from 0.

    Examples
    --------
    >>> from grid.distributions import Exponential, UniformSizes
    >>> workload = SyntheticWorkload(
    ...     count=3, rate=0.1, sizes=UniformSizes(1, 8), runtimes=Exponential(60)
    ... )
    >>> [len(jobs) for jobs in workload.chunks()]
    [3]
    """

    rate: float
    at_once: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        require(0 < self.rate < math.inf, "arrival rate", self.rate, "jobs per second, above 0")
        require_whole("jobs at once", self.at_once, 0)

    def chunks(self) -> Iterator[JobArray]:
        """Yield the jobs in order of arrival, at most `CHUNK` rows at once."""
        draws = JobDraws(self)
        arrivals = stream(self.seed, "arrivals")
        now = 0.0
        while draws.given < self.count:
            there = max(0, self.at_once - draws.given)
            jobs = draws.following(min(CHUNK, self.count - draws.given))
            now = _fill_arrivals(jobs[there:], now, float(self.rate), arrivals)
            draws.fill(jobs)
            yield jobs


@dataclass(frozen=True, kw_only=True)
class BatchWorkload(JobMix):
    """Jobs dispatched in rounds, all of a round at the instant its caller names.

    This is the mode `batch` of the experiments of `muscle`. A round without jobs would be no
    round, so the number of jobs is Poisson on the condition that it is not 0; the last round has
    what is left of `count`.

    Parameters
    ----------
    mean_batch : float
        N, the mean of the Poisson law before the condition, above 0. The mean number of jobs is
        N / (1 - exp(-N)): N for all purposes from 10 up.
    """

    mean_batch: float
    _draws: JobDraws = field(init=False, repr=False, compare=False)
    _batches: Stream = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        require(0 < self.mean_batch < math.inf, "mean batch", self.mean_batch, "jobs, above 0")
        object.__setattr__(self, "_draws", JobDraws(self))
        object.__setattr__(self, "_batches", stream(self.seed, "batches"))

    @property
    def left(self) -> int:
        """Jobs that are still to be given."""
        return self.count - self._draws.given

    def next_batch(self, now: float) -> JobArray:
        """Return the jobs of the next round; none once `count` have been given.

        Parameters
        ----------
        now : float
            The instant of dispatch, s, which is their arrival and from which deadlines count.
        """
        left = self.left
        size = _batch_size(float(self.mean_batch), left, self._batches) if left else 0
        jobs = self._draws.following(size)
        jobs["arrival"] = now
        self._draws.fill(jobs)
        return jobs


def arrival_rate(
    load: float,
    sizes: SizeDistribution,
    runtimes: RuntimeDistribution,
    processors: Sequence[int],
    rates: Sequence[float],
    composition: Sequence[float] = (),
) -> float:
    """Return the arrival rate at which jobs offer the clusters a load, jobs/s.

    The load is arrival rate x mean size x mean run time / sum of processors x rate: sizes and
    run times are independent.

    Parameters
    ----------
    load : float
        Above 0; 1 is as much work as all clusters can do.
    sizes, runtimes
        Laws of the jobs.
    processors, rates : sequence
        Of each cluster.
    composition : sequence of float
        Percent of jobs with 1, 2, ... components, whose sizes then have that law.

    Examples
    --------
    >>> from grid.distributions import Exponential, UniformSizes
    >>> arrival_rate(0.5, UniformSizes(1, 9), Exponential(10), [40, 60], [1.0, 1.0])
    1.0
    """
    require(0 < load < math.inf, "offered load", load, "a number above 0")
    speed = math.fsum(m * rate for m, rate in zip(processors, rates, strict=True))
    require(0 < speed < math.inf, "sum of processors x rate", speed, "a number above 0")
    counts = enumerate(composition, start=1)
    components = math.fsum(n * percent for n, percent in counts) / 100.0 if composition else 1.0
    return load * speed / (components * sizes.mean * runtimes.mean)


@compiled()
def _fill_sizes(
    jobs: JobArray,
    minimum: int,
    cumulative: npt.NDArray[np.float64],
    first: npt.NDArray[np.int64],
    draws: Stream,
) -> None:
    for row in range(len(jobs)):
        jobs[row].size = size_at(cumulative, first, minimum, uniform(draws))


@compiled()
def _fill_runtimes(jobs: JobArray, law: npt.NDArray[np.float64], draws: Stream) -> None:
    for row in range(len(jobs)):
        jobs[row].runtime = runtime_at(law, uniform(draws))


@compiled()
def _fill_arrivals(jobs: JobArray, now: float, rate: float, draws: Stream) -> float:
    for row in range(len(jobs)):
        now += exponential_at(uniform(draws)) / rate
        jobs[row].arrival = now
    return now


@compiled()
def _batch_size(mean: float, most: int, draws: Stream) -> int:
    """Count the arrivals of a Poisson process of rate 1 by time `mean`, the first one given."""
    elapsed = exponential_at(-math.expm1(-mean) * uniform(draws))
    count = 1
    elapsed += exponential_at(uniform(draws))
    while elapsed <= mean and count < most:
        count += 1
        elapsed += exponential_at(uniform(draws))
    return count

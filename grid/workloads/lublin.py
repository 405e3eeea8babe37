"""The workload model of Lublin and Feitelson: rigid jobs of a parallel machine and their days.

U. Lublin, D. G. Feitelson: The workload on parallel supercomputers: modeling the characteristics of
rigid jobs. J. Parallel Distrib. Comput. 63(11), 2003, 1105-1122; with the parameters, limits and
half-hour intervals of the program that its authors published with it (lublin99).

There are batch and interactive jobs, which arrive independently. A job is serial with some
probability; else the logarithm (base 2) of its size is two-stage uniform, and rounded for those
whose size is a power of two. The natural logarithm of the run time is hyper-gamma: of the first
gamma law with a probability that falls linearly with the size. Gaps between arrivals have a
logarithm of a gamma law, in a time that passes faster when more jobs come: the share of each half
hour of the day is that of another gamma law, which begins in the morning.
"""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from grid.errors import require
from grid.jobs import JobArray, job_table

Floats = npt.NDArray[np.float64]

LONGEST_RUNTIME, LONGEST_GAP = 12.0, 13.0
"""Natural logarithms of the longest run time and of the longest gap, s: longer ones are not drawn.
"""
DAY, HALF_HOUR = 86_400.0, 1800.0
INTERVALS = 48
MORNING = 11
"""Argument of the law of arrivals over the day in the interval before which its cycle begins."""
LEAST_LARGEST = 32
"""Below this size of the machine, the middle of interactive sizes would be under their lowest."""


@dataclass(frozen=True)
class JobType:
    """Parameters of batch or of interactive jobs.

    Attributes
    ----------
    serial, powers : float
        Probabilities of size 1, and of another power of two by rounding.
    low : float
        Logarithm (base 2) of the least size of parallel jobs.
    below, between : float
        By how much that of the largest size is below the machine's, and that at which the stages
        meet below that of the largest.
    first_stage : float
        Probability of the lower stage.
    short, long : tuple of float
        Shape and scale of the gamma laws of the logarithm of run times.
    slope, intercept : float
        Probability of the first of them: intercept + slope x size, from 0 to 1.
    gap, day : tuple of float
        Shape and scale of the laws of the logarithm of gaps, and of arrivals over the day.
    """

    serial: float
    powers: float
    low: float
    below: float
    between: float
    first_stage: float
    short: tuple[float, float]
    long: tuple[float, float]
    slope: float
    intercept: float
    gap: tuple[float, float]
    day: tuple[float, float]


INTERACTIVE = JobType(
    *(0.1541, 0.625, 1.0, 1.5, 2.5, 0.705),
    *((3.8351, 0.6605), (7.073, 0.6856), -0.0118, 0.9156),
    *((6.5510 * 0.9797, 0.6621), (8.9186, 3.6680)),
)
BATCH = JobType(
    *(0.2927, 0.6686, 1.2, 0.0, 2.0, 0.875),
    *((6.57, 0.823), (639.1, 0.0156), -0.003, 0.6986),
    *((6.0415 * 1.0519, 0.8531), (6.1271, 5.2740)),
)
"""As published, for a machine of 128 processors: sizes follow the machine."""


def lublin_jobs(count: int, largest: int, seed: int) -> JobArray:
    """Return jobs of the model, which begins at midnight.

    Parameters
    ----------
    count : int
        Jobs, at least 1.
    largest : int
        Size of the machine, which the largest batch jobs take, from `LEAST_LARGEST`.
    seed : int
        Seed of the run.

    Raises
    ------
    WorkloadError
        If the machine is too small for the model.

    Examples
    --------
    >>> jobs = lublin_jobs(1000, 128, seed=1)
    >>> bool(jobs["size"].max() <= 128), len(jobs)
    (True, 1000)
    """
    require(
        largest >= LEAST_LARGEST, "max_size", largest, f"from {LEAST_LARGEST}, as the model has it"
    )
    parts = []
    for index, kind in enumerate((INTERACTIVE, BATCH)):
        jobs = job_table(count)
        jobs["arrival"] = arrivals(kind, _uniform(seed, "arrivals", index, count))
        jobs["size"] = sizes(
            kind, largest, *_uniform(seed, "sizes", index, 3 * count).reshape(3, -1)
        )
        draws = _uniform(seed, "runtimes", index, 2 * count).reshape(2, -1)
        jobs["runtime"] = runtimes(kind, jobs["size"], *draws)
        parts.append(jobs)
    jobs = np.concatenate(parts)
    jobs = jobs[np.argsort(jobs["arrival"], kind="stable")][:count]
    jobs["number"] = np.arange(1, count + 1)
    return jobs


def sizes(
    kind: JobType, largest: int, which: Floats, stage: Floats, place: Floats
) -> npt.NDArray[np.int64]:
    """Return sizes for draws of whether they are serial or powers of two, the stage, and where."""
    machine = math.log2(largest)
    high = machine - kind.below
    middle = high - kind.between
    lower = stage < kind.first_stage
    begin, end = np.where(lower, kind.low, middle), np.where(lower, middle, high)
    exponent = begin + (end - begin) * place
    rounded = np.minimum(np.floor(exponent + 0.5), np.floor(machine))
    exponent = np.where(which < kind.serial + kind.powers, rounded, exponent)
    parallel = np.floor(2.0**exponent + 0.5)
    return np.where(which < kind.serial, 1, parallel).astype(np.int64)


def runtimes(kind: JobType, size: npt.NDArray[np.int64], which: Floats, place: Floats) -> Floats:
    """Return run times (s) of jobs for draws of the law, and where in it."""
    from scipy.special import gammainc

    # A value that is too long is drawn anew, of either law: each counts by what it has below.
    share = np.clip(kind.intercept + kind.slope * size, 0.0, 1.0)
    short, long = (gammainc(a, LONGEST_RUNTIME / b) for a, b in (kind.short, kind.long))
    first = which * (share * short + (1.0 - share) * long) < share * short
    logarithm = np.where(
        first,
        _gamma(kind.short, place, LONGEST_RUNTIME),
        _gamma(kind.long, place, LONGEST_RUNTIME),
    )
    times: Floats = np.exp(logarithm)
    return times


def day_shares(kind: JobType) -> Floats:
    """Return how many jobs come in each half hour of the day, from midnight on; 1 on average."""
    from scipy.special import gammainc

    shape, scale = kind.day
    intervals = np.arange(MORNING, MORNING + INTERVALS)
    parts = gammainc(shape, (intervals + 0.5) / scale) - gammainc(shape, (intervals - 0.5) / scale)
    shares = np.empty(INTERVALS)
    shares[(intervals - 1) % INTERVALS] = parts
    return shares / shares.mean()


def arrivals(kind: JobType, place: Floats) -> Floats:
    """Return arrivals (s from midnight) for draws of the gaps between them."""
    gaps = np.exp(_gamma(kind.gap, place, LONGEST_GAP))
    passed = np.cumsum(gaps)  # in the time that passes as jobs come; a day of it is a day
    by_then = np.concatenate(([0.0], np.cumsum(day_shares(kind)))) * HALF_HOUR
    clock = np.arange(INTERVALS + 1) * HALF_HOUR
    return DAY * np.floor(passed / DAY) + np.interp(passed % DAY, by_then, clock)


def _gamma(law: tuple[float, float], place: Floats, most: float) -> Floats:
    """Return values of a gamma law, on the condition that they are at most `most`."""
    from scipy.special import gammainc, gammaincinv

    shape, scale = law
    values: Floats = scale * gammaincinv(shape, place * gammainc(shape, most / scale))
    return values


def _uniform(seed: int, purpose: str, index: int, count: int) -> Floats:
    """Return numbers from 0 to 1, of raw bits, as `grid.streams` does."""
    key = (zlib.crc32(f"lublin {purpose}".encode()), index)
    raw = np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)).random_raw(count)
    return np.asarray((raw >> np.uint64(11)) / 9007199254740992.0, np.float64)

"""Laws of sizes and run times, drawn by inverse transform: one random number a draw.

A law of sizes is sampled from the table of its cumulative probabilities, so that any law over
whole numbers needs nothing but its `cdf`. A law of run times is a row of numbers that one
compiled function inverts.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from grid.errors import WorkloadError
from grid.kernel.compile import compiled, inlined
from grid.streams import Stream, uniform

LARGEST_SIZE = 2**20
"""Most processors a law of sizes may name; its table has a row for each size."""

PARETO, EXPONENTIAL, DETERMINISTIC, HYPEREXPONENTIAL, EMPIRICAL = range(5)


def require(accepted: bool, parameter: str, found: Any, what: str) -> None:
    """Refuse a parameter unless `accepted`.

    Raises
    ------
    WorkloadError
        Naming the parameter, what was found and what is accepted.
    """
    if not accepted:
        raise WorkloadError(f"{parameter}: found {found!r}; accepted: {what}")


@dataclass(frozen=True)
class SizeDistribution(ABC):
    """A law of whole numbers of processors; a subclass gives its `cdf`.

    Parameters
    ----------
    minimum, maximum : int
        Smallest and largest size, both included: 1 <= minimum <= maximum <= `LARGEST_SIZE`.
    """

    minimum: int
    maximum: int

    def __post_init__(self) -> None:
        require(
            self.minimum == int(self.minimum) and self.minimum >= 1,
            "minimum size",
            self.minimum,
            "a whole number from 1",
        )
        require(
            self.maximum == int(self.maximum) and self.minimum <= self.maximum <= LARGEST_SIZE,
            "maximum size",
            self.maximum,
            f"a whole number from the minimum, {self.minimum}, to {LARGEST_SIZE}",
        )

    @abstractmethod
    def cdf(self, n: int) -> float:
        """Return P(size <= n) for minimum <= n <= maximum."""

    def cumulative(self) -> npt.NDArray[np.float64]:
        """Return P(size <= n) of each size from the smallest: shape (maximum - minimum + 1,)."""
        table = np.array([self.cdf(n) for n in range(int(self.minimum), int(self.maximum) + 1)])
        table[-1] = 1.0  # whatever rounding says, some size is drawn
        return table

    def density(self) -> npt.NDArray[np.float64]:
        """Return P(size = n) of each n from 0: shape (maximum + 1,)."""
        return np.concatenate((np.zeros(self.minimum), np.diff(self.cumulative(), prepend=0.0)))

    @property
    def mean(self) -> float:
        """Mean size: the smallest plus the sum of P(size > n) over n below the largest."""
        return self.minimum + math.fsum(1.0 - self.cumulative()[:-1])

    @property
    def cv(self) -> float:
        """Coefficient of variation: the standard deviation over the mean."""
        density = self.density()
        variance = float(density @ (np.arange(len(density)) - self.mean) ** 2)
        return math.sqrt(variance) / self.mean


@dataclass(frozen=True)
class UniformSizes(SizeDistribution):
    """Every size from `minimum` to `maximum`, both included, equally likely.

    Examples
    --------
    >>> UniformSizes(10, 50).mean
    30.0
    """

    def cdf(self, n: int) -> float:
        """Return (n - minimum + 1) / (maximum - minimum + 1)."""
        return (n - self.minimum + 1) / (self.maximum - self.minimum + 1)

    @property
    def mean(self) -> float:
        """Mean size: the middle of the range."""
        return (self.minimum + self.maximum) / 2


@dataclass(frozen=True)
class NormalSizes(SizeDistribution):
    """A normal variable on [minimum - 1/2, maximum + 1/2), rounded to the nearest whole number.

    Parameters
    ----------
    minimum, maximum : int
        Smallest and largest size, both included.
    mu : float, optional
        Mean of the normal variable before it is truncated, from `minimum` to `maximum`; the
        middle of the range by default.
    sigma : float, optional
        Its standard deviation, above 0; a sixth of the range by default (1 if the range is 0).

    Notes
    -----
    `mean` is the mean of the sizes drawn, which is `mu` only if `mu` is the middle.
    """

    mu: float | None = None
    sigma: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        mu, sigma = self._normal
        require(
            self.minimum <= mu <= self.maximum,
            "mu of normal sizes",
            mu,
            f"a number from {self.minimum} to {self.maximum}",
        )
        require(0 < sigma < math.inf, "sigma of normal sizes", sigma, "a number above 0")

    @property
    def _normal(self) -> tuple[float, float]:
        mu = (self.minimum + self.maximum) / 2 if self.mu is None else self.mu
        sigma = (self.maximum - self.minimum) / 6 or 1.0 if self.sigma is None else self.sigma
        return mu, sigma

    def cdf(self, n: int) -> float:
        """Return P(size <= n), a ratio of differences of the normal cdf."""
        mu, sigma = self._normal
        low, here, high = (
            math.erf((bound + 0.5 - mu) / (sigma * math.sqrt(2)))
            for bound in (self.minimum - 1, n, self.maximum)
        )
        return (here - low) / (high - low)


@dataclass(frozen=True)
class LogUniformSizes(SizeDistribution):
    """Sizes with P(size < n) proportional to log n (`muscle`, section 5).

    Over whole numbers from 1 to M that is P(size < n) = log(n) / log(M + 1) for n = 1 ... M + 1:
    nothing lies below 1 and everything below M + 1. From another minimum it is the same law of
    n / minimum: P(size <= n) = log((n + 1) / minimum) / log((maximum + 1) / minimum).

    Examples
    --------
    >>> LogUniformSizes(1, 15).cdf(3)  # below 4: log 4 of log 16
    0.5
    """

    def cdf(self, n: int) -> float:
        """Return log((n + 1) / minimum) / log((maximum + 1) / minimum)."""
        return math.log((n + 1) / self.minimum) / math.log((self.maximum + 1) / self.minimum)


def guide(cumulative: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Return where in a table of cumulative probabilities to look first, for equal steps of levels.

    The steps are as many as the first power of two that is enough, so that the step of a level is
    found without rounding; of a short table so many that hardly ever is a second look needed.
    """
    steps = max(1024, 1 << (len(cumulative) - 1).bit_length())
    return np.searchsorted(cumulative, np.arange(steps) / steps, side="right")


@inlined
def size_at(
    cumulative: npt.NDArray[np.float64], first: npt.NDArray[np.int64], minimum: int, u: float
) -> int:
    """Return the size at level `u` in [0, 1) of the law with that table and guide (compiled)."""
    index = first[int(u * len(first))]
    while u >= cumulative[index]:
        index += 1
    return minimum + int(index)


class RuntimeDistribution(Protocol):
    """A law of run times in seconds."""

    @property
    def mean(self) -> float:
        """Mean run time, s."""

    def cdf(self, x: float) -> float:
        """Return P(run time <= x)."""

    def law(self) -> npt.NDArray[np.float64]:
        """Return the row that `runtime_at` inverts: the kind, and numbers that it needs."""


@dataclass(frozen=True)
class BoundedPareto:
    """The bounded Pareto law (`muscle`, eq. 4).

    Parameters
    ----------
    lower, upper : float
        e_l and e_u, s: 0 < lower < upper.
    exponent : float
        alpha, above 0. The paper does not print its value.

    Examples
    --------
    >>> round(BoundedPareto(5, 100).mean, 3)
    15.767
    """

    lower: float
    upper: float
    exponent: float = 1.0

    def __post_init__(self) -> None:
        require(0 < self.lower < math.inf, "lower run time", self.lower, "seconds above 0")
        require(
            self.lower < self.upper < math.inf,
            "upper run time",
            self.upper,
            f"seconds above the lower run time, {self.lower}",
        )
        require(0 < self.exponent < math.inf, "Pareto exponent", self.exponent, "a number above 0")

    @property
    def _mass(self) -> float:
        """What the unbounded law gives to [lower, upper]: 1 - (lower / upper)^exponent."""
        return -math.expm1(-self.exponent * math.log(self.upper / self.lower))

    @property
    def mean(self) -> float:
        """Mean run time, s."""
        span = math.log(self.upper / self.lower)
        a = self.exponent
        moment = span if a == 1 else math.expm1((1 - a) * span) / (1 - a)
        return self.lower * a * moment / self._mass

    def cdf(self, x: float) -> float:
        """Return P(run time <= x)."""
        x = min(max(x, self.lower), self.upper)
        return -math.expm1(-self.exponent * math.log(x / self.lower)) / self._mass

    def law(self) -> npt.NDArray[np.float64]:
        """Return the row that `runtime_at` inverts."""
        return np.array([PARETO, self.lower, self._mass, self.exponent])


@dataclass(frozen=True)
class Exponential:
    """The exponential law.

    Parameters
    ----------
    mean : float
        Seconds, above 0.
    """

    mean: float

    def __post_init__(self) -> None:
        require(0 < self.mean < math.inf, "mean run time", self.mean, "seconds above 0")

    def cdf(self, x: float) -> float:
        """Return P(run time <= x)."""
        return -math.expm1(-max(x, 0.0) / self.mean)

    def law(self) -> npt.NDArray[np.float64]:
        """Return the row that `runtime_at` inverts."""
        return np.array([EXPONENTIAL, self.mean, 0.0, 0.0])


@dataclass(frozen=True)
class Deterministic:
    """Every run takes equally long.

    Parameters
    ----------
    value : float
        Seconds, above 0.
    """

    value: float

    def __post_init__(self) -> None:
        require(0 < self.value < math.inf, "run time", self.value, "seconds above 0")

    @property
    def mean(self) -> float:
        """Mean run time, s."""
        return self.value

    def cdf(self, x: float) -> float:
        """Return P(run time <= x)."""
        return float(x >= self.value)

    def law(self) -> npt.NDArray[np.float64]:
        """Return the row that `runtime_at` inverts."""
        return np.array([DETERMINISTIC, self.value, 0.0, 0.0])


@dataclass(frozen=True)
class Hyperexponential:
    """The law of two exponential phases with balanced means: each does half of the work.

    Parameters
    ----------
    mean : float
        Seconds, above 0.
    cv : float
        Coefficient of variation, from 1; 1 is the exponential law.

    Examples
    --------
    >>> Hyperexponential(10.0, 1.0).cdf(10.0) == Exponential(10.0).cdf(10.0)
    True
    """

    mean: float
    cv: float

    def __post_init__(self) -> None:
        require(0 < self.mean < math.inf, "mean run time", self.mean, "seconds above 0")
        require(1 <= self.cv < 1e6, "cv of run times", self.cv, "a number from 1 to 1e6")

    @property
    def _phases(self) -> tuple[float, float, float]:
        """Probability of the first phase, and the mean of each, s."""
        square = self.cv * self.cv
        first = (1.0 + math.sqrt((square - 1.0) / (square + 1.0))) / 2.0
        return first, self.mean / (2.0 * first), self.mean / (2.0 * (1.0 - first))

    def cdf(self, x: float) -> float:
        """Return P(run time <= x)."""
        first, short, long = self._phases
        beyond = first * math.exp(-max(x, 0.0) / short)
        return 1.0 - beyond - (1.0 - first) * math.exp(-max(x, 0.0) / long)

    def law(self) -> npt.NDArray[np.float64]:
        """Return the row that `runtime_at` inverts."""
        return np.array([HYPEREXPONENTIAL, *self._phases])


@dataclass(frozen=True)
class Empirical:
    """The run times of a log, each equally likely.

    Parameters
    ----------
    values : tuple of float
        Seconds, from 0.
    """

    values: tuple[float, ...]

    def __post_init__(self) -> None:
        fit = len(self.values) > 0 and all(0 <= value < math.inf for value in self.values)
        require(fit, "run times of a log", self.values[:3], "seconds from 0, one at least")

    @property
    def mean(self) -> float:
        """Mean run time, s."""
        return math.fsum(self.values) / len(self.values)

    def cdf(self, x: float) -> float:
        """Return P(run time <= x)."""
        return sum(value <= x for value in self.values) / len(self.values)

    def law(self) -> npt.NDArray[np.float64]:
        """Return the row that `runtime_at` inverts."""
        return np.array([EMPIRICAL, *self.values])


@inlined
def exponential_at(u: float) -> float:
    """Return the value at level `u` in [0, 1) of the exponential law of mean 1 (compiled)."""
    return -math.log(1.0 - u)


@compiled()
def log_normal(sigma: float, draws: Stream) -> float:
    """Return a log-normal variable of median 1, by the method of Box and Muller (compiled).

    Parameters
    ----------
    sigma : float
        Standard deviation of its logarithm.
    draws : array of uint64, shape (4,)
        The stream, of which it takes two numbers.
    """
    radius = math.sqrt(2.0 * exponential_at(uniform(draws)))
    return math.exp(sigma * radius * math.cos(2.0 * math.pi * uniform(draws)))


@inlined
def runtime_at(law: npt.NDArray[np.float64], u: float) -> float:
    """Return the run time at level `u` in [0, 1) of a law, s (compiled)."""
    kind, value = law[0], float(law[1])
    if kind == EXPONENTIAL:
        value *= exponential_at(u)
    elif kind == PARETO:
        value *= math.exp(exponential_at(u * float(law[2])) / float(law[3]))
    elif kind == HYPEREXPONENTIAL:
        first = value  # what is left of the draw once the phase is known is as good as new
        if u < first:
            value = float(law[2]) * exponential_at(u / first)
        else:
            value = float(law[3]) * exponential_at((u - first) / (1.0 - first))
    elif kind == EMPIRICAL:
        value = float(law[1 + int(u * (len(law) - 1))])
    return value

"""Laws of run times, drawn by inverse transform: one random number a draw.

A law is a row of numbers that one compiled function inverts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from grid.errors import require, require_numbers
from grid.kernel.compile import compiled, inlined
from grid.streams import Stream, uniform

PARETO, EXPONENTIAL, DETERMINISTIC, HYPEREXPONENTIAL, EMPIRICAL = range(5)


@runtime_checkable
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
        require_numbers(self)
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
        require_numbers(self)
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
        require_numbers(self)
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
        require_numbers(self)
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
        require_numbers(self)
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

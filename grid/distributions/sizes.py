"""Laws of sizes, drawn from the table of their cumulative probabilities: one number a draw.

So any law over whole numbers needs nothing but its `cdf`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from grid.errors import require, require_numbers
from grid.kernel.compile import inlined

LARGEST_SIZE = 2**20
"""Most processors a law of sizes may name; its table has a row for each size."""


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
        require_numbers(self)
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

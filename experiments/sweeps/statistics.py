"""Confidence intervals of means and of ratios of means, from independent observations."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

CONFIDENCE = 0.95

NOTHING = 1e-9
"""A difference of so small a part of what is compared is no more than rounding."""


class Interval(NamedTuple):
    """An estimate and its confidence interval, ``mean`` plus or minus ``half_width``.

    Attributes
    ----------
    mean : float
    half_width : float or None
        None if there is one observation only, which tells nothing of the others.
    freedom : float
        Degrees of freedom of Student's law from which the half-width is; infinite: the normal law.
    among : int
        Of how many such intervals all hold their means with 95 %.
    """

    mean: float
    half_width: float | None
    freedom: float = math.inf
    among: int = 1

    @property
    def low(self) -> float:
        """Lower end; minus infinity without a half-width."""
        return -math.inf if self.half_width is None else self.mean - self.half_width

    @property
    def high(self) -> float:
        """Upper end; infinity without a half-width."""
        return math.inf if self.half_width is None else self.mean + self.half_width

    def scaled(self, factor: float) -> Interval:
        """Return the interval of the estimate times a factor."""
        half = None if self.half_width is None else abs(factor) * self.half_width
        return self._replace(mean=factor * self.mean, half_width=half)

    def moved(self, by: float) -> Interval:
        """Return the interval of the estimate plus a number."""
        return self._replace(mean=self.mean + by)

    def minus(self, other: Interval) -> Interval:
        """Return the interval of the difference to another estimate, from other observations.

        >>> Interval(5.0, 3.0).minus(Interval(1.0, 4.0))
        Interval(mean=4.0, half_width=5.0, freedom=inf, among=1)
        """
        half = None
        if self.half_width is not None and other.half_width is not None:
            half = math.hypot(self.half_width, other.half_width)
        freedom, among = min(self.freedom, other.freedom), min(self.among, other.among)
        return Interval(self.mean - other.mean, half, freedom, among)

    def widened(self, among: int) -> Interval:
        """Return it so wide that so many of its kind hold all their means with 95 % (Bonferroni).

        One that is among some already is then one among so many times as many.

        >>> Interval(1.0, 1.96).widened(40)
        Interval(mean=1.0, half_width=3.227..., freedom=inf, among=40)
        """
        every = among * self.among
        half = self.half_width
        if half:
            half *= _quantile(self.freedom, every) / _quantile(self.freedom, self.among)
        return self._replace(half_width=half, among=every)


def mean_interval(values: npt.ArrayLike) -> Interval:
    """Return the mean of independent observations with its 95 % confidence interval.

    Parameters
    ----------
    values : array_like, shape (observations,)
        At least one. Differences of paired observations give the interval of a paired difference.

    Notes
    -----
    The half-width is t s / sqrt(n), with t the 97.5 % quantile of Student's law of n - 1 degrees
    of freedom and s the standard deviation of the sample.

    Examples
    --------
    >>> interval = mean_interval([1.0, 2.0, 3.0])
    >>> interval.mean, round(interval.half_width, 3)
    (2.0, 2.484)
    """
    sample = np.asarray(values, np.float64)
    mean = float(sample.mean())
    return Interval(mean, _half_width(sample, mean), len(sample) - 1)


def ratio_interval(tops: npt.ArrayLike, bottoms: npt.ArrayLike) -> Interval:
    """Return the ratio of two means of paired observations with its 95 % confidence interval.

    Parameters
    ----------
    tops, bottoms : array_like, shape (observations,)
        At least one each; the mean of the bottoms is above 0.

    Notes
    -----
    The interval is that of the mean of tops - ratio x bottoms, divided by the mean of the bottoms
    (the ratio estimator of survey sampling): what the two have in common cancels out.

    Examples
    --------
    >>> ratio_interval([1.0, 2.0, 3.0], [2.0, 4.0, 6.0])
    Interval(mean=0.5, half_width=0.0, freedom=2, among=1)
    """
    top, bottom = np.asarray(tops, np.float64), np.asarray(bottoms, np.float64)
    above, below = float(top.mean()), float(bottom.mean())
    ratio = above / below
    half = _half_width(top - ratio * bottom, above)
    return Interval(ratio, None if half is None else half / below, len(top) - 1)


def standard_error(sample: npt.NDArray[np.float64], whole: float) -> float:
    """Return that of the mean of two observations or more; 0 if it is only rounding of a whole."""
    if (sample == sample[0]).all():  # infinite ones too
        return 0.0
    error = float(sample.std(ddof=1)) / math.sqrt(len(sample))
    return 0.0 if error <= NOTHING * abs(whole) else error


def _half_width(sample: npt.NDArray[np.float64], whole: float) -> float | None:
    count = len(sample)
    return None if count < 2 else _quantile(count - 1) * standard_error(sample, whole)


def _quantile(freedom: float, among: int = 1) -> float:
    """Return how many standard errors each of so many intervals is wide to each side."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 1 - (1 - CONFIDENCE) / (2 * among)))

"""Ranks of policies that met the same jobs, with ties where they cannot be told apart."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd

from experiments.studies.statistics import CONFIDENCE, Interval, mean_interval

NOTHING = 1e-9
"""A difference of so small a part of what is compared is no more than rounding."""


def differences(one: pd.Series, other: pd.Series) -> npt.NDArray[np.float64]:
    """Return one minus the other in the replications that both have."""
    pairs = pd.concat([one, other], axis=1, join="inner").dropna().to_numpy(np.float64)
    found: npt.NDArray[np.float64] = pairs[:, 0] - pairs[:, 1]
    found[np.abs(found) <= NOTHING * np.abs(pairs).max(axis=1, initial=0.0)] = 0.0
    return found


def paired_difference(one: pd.Series, other: pd.Series) -> Interval | None:
    """Return the mean of one minus the other with its interval; None if no replication has both."""
    found = differences(one, other)
    return mean_interval(found) if len(found) else None


def p_value(found: npt.ArrayLike) -> float:
    """Return how likely differences of this size are if their mean is 0 (Student's paired test).

    Returns
    -------
    float
        1 if there are fewer than two, or all are 0; 0 if all are the same number but 0.

    Examples
    --------
    >>> round(p_value([1.0, 2.0, 3.0]), 4), p_value([5.0, 5.0]), p_value([0.0, 0.0]), p_value([5.0])
    (0.0742, 0.0, 1.0, 1.0)
    """
    from scipy.special import stdtr

    sample = np.asarray(found, np.float64)
    if len(sample) < 2 or not sample.any():
        return 1.0
    error = float(sample.std(ddof=1)) / math.sqrt(len(sample))
    if error <= NOTHING * abs(float(sample.mean())):
        return 0.0
    return 2.0 * float(stdtr(len(sample) - 1, -abs(float(sample.mean())) / error))


def ranks(samples: Mapping[str, pd.Series], more_is_better: bool = False) -> dict[str, int]:
    """Return the rank of each policy: one more than the number of policies that are surely better.

    Parameters
    ----------
    samples : mapping of str to Series
        Of each policy its numbers, by replication; two are compared in those that both have.
    more_is_better : bool
        High numbers are good ones.

    Notes
    -----
    Policy A is surely better than B if the mean of their paired differences is on its side, and
    differs from 0 by Student's paired test at a level of 5 % for all pairs of policies together
    (Holm's step-down procedure): if no policy differs from another, the chance that any gets
    another rank than 1 is at most 5 %. Policies that cannot be told apart from the same others tie.

    Examples
    --------
    >>> few, same = pd.Series([1.0, 2.0, 3.0]), pd.Series([2.0, 1.0, 3.0])
    >>> ranks({"slow": few + 100, "quick": few, "quick too": same})
    {'slow': 3, 'quick': 1, 'quick too': 1}
    """
    pairs = []
    for one, other in combinations(samples, 2):
        found = differences(samples[one], samples[other])
        if len(found):
            winner, loser = (one, other) if (found.mean() > 0) == more_is_better else (other, one)
            pairs.append((p_value(found), winner, loser))
    rank = dict.fromkeys(samples, 1)
    for index, (chance, _, loser) in enumerate(sorted(pairs)):
        if chance > (1 - CONFIDENCE) / (len(pairs) - index):
            break
        rank[loser] += 1
    return rank

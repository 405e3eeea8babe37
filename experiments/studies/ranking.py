"""Ranks of policies that met the same jobs, with ties where they cannot be told apart."""

from __future__ import annotations

import math
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from experiments.sweeps.statistics import CONFIDENCE, NOTHING, standard_error


def common(samples: Mapping[str, pd.Series]) -> pd.DataFrame:
    """Return a column for each policy, and a row for each replication that all of them have."""
    if not samples:
        return pd.DataFrame()
    return pd.concat(dict(samples), axis=1, join="inner").dropna()


def differences(one: pd.Series, other: pd.Series) -> npt.NDArray[np.float64]:
    """Return one minus the other in the replications that both have."""
    return _apart(common({"one": one, "other": other}).to_numpy(np.float64))


def _apart(pairs: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the first column minus the second; what is no more than rounding is 0."""
    found: npt.NDArray[np.float64] = pairs[:, 0] - pairs[:, 1]
    found[np.abs(found) <= NOTHING * np.abs(pairs).max(axis=1, initial=0.0)] = 0.0
    return found


def firsts_alike(
    runs: pd.DataFrame, places: list[str], told: list[str], numbers: list[str]
) -> dict[Any, int]:
    """Return of each place which one is the first whose runs have the same numbers as its own.

    Parameters
    ----------
    runs : DataFrame
    places : list of str
        The columns that tell places apart.
    told : list of str
        Those that tell runs of a place apart: what two places both have is compared, if anything.
    numbers : list of str
        The columns of numbers.
    """
    groups = runs.groupby(places, sort=False)
    rows, columns = groups.ngroup(), runs.groupby(told, sort=False).ngroup()
    table = np.full((rows.max() + 1, columns.max() + 1, len(numbers)), np.nan)
    table[rows, columns] = runs[numbers].fillna(np.inf)  # NaN: no such run
    found: dict[Any, int] = {}
    for row, (place, _) in enumerate(groups):
        firsts = [*dict.fromkeys(found.values())]
        there = ~np.isnan(table[firsts]) & ~np.isnan(table[row])
        same = there.any(axis=(1, 2)) & ((table[firsts] == table[row]) | ~there).all(axis=(1, 2))
        found[place] = firsts[int(same.argmax())] if same.any() else row
    return found


def p_value(found: npt.ArrayLike, pairs: int = 1) -> float:
    """Return how likely paired differences are if the two policies are equal (two-sided).

    Parameters
    ----------
    found : array_like, shape (replications,)
    pairs : int
        Pairs of policies that are tested together.

    Returns
    -------
    float
        1 if there are fewer than two differences, or if their mean is 0.

    Notes
    -----
    Two policies are equal if exchanging them changes nothing; then differences are as likely to
    have either sign. Wilcoxon's signed-rank test needs no more than that, whatever the tails of
    their distribution, and however much windows differ in level. But with n replications it finds
    no p below 2 ** (1 - n): where that is above the level that Holm's procedure asks of the first
    of so many pairs, Student's paired test is used, which is conservative for symmetric
    differences with heavy tails. Which test is used depends on the numbers of replications and of
    pairs, never on the results. Differences that are all the same number, as of jobs that were
    counted, tell no spread by which Student's test could judge: then it is 2 ** (1 - n), how often
    so many have the same sign.

    The sign of the mean decides the direction, so a policy cannot be found better by this test if
    its mean is worse.

    Examples
    --------
    >>> round(p_value([1.0, 2.0, 3.0]), 4), p_value([5.0, 5.0]), p_value([0.0, 0.0]), p_value([5.0])
    (0.0742, 0.5, 1.0, 1.0)
    >>> p_value([1.0, 2.0, 3.0, 4.0, 5.0, 6000.0])
    0.03125
    """
    sample = np.asarray(found, np.float64)
    count, mean = len(sample), float(sample.mean()) if len(sample) else 0.0
    if count < 2 or mean == 0.0:
        return 1.0
    if 2.0 ** (1 - count) <= (1 - CONFIDENCE) / pairs:
        return _signed_rank(sample[sample != 0.0] * math.copysign(1.0, mean))
    return _student(sample, mean)


def _signed_rank(sample: npt.NDArray[np.float64]) -> float:
    """Return the two-sided p of differences, none of them 0, whose mean is positive."""
    from scipy.stats import wilcoxon

    return min(1.0, 2.0 * float(wilcoxon(sample, alternative="greater").pvalue))


def _student(sample: npt.NDArray[np.float64], mean: float) -> float:
    from scipy.special import stdtr

    error = standard_error(sample, mean)
    if not error:
        return float(2.0 ** (1 - len(sample)))
    return 2.0 * float(stdtr(len(sample) - 1, -abs(mean) / error))


def surely_apart(
    samples: Sequence[npt.NDArray[np.float64]], facts: Sequence[bool] | None = None
) -> list[bool]:
    """Tell of paired differences that are tested together which ones are surely not chance.

    Parameters
    ----------
    samples : sequence of ndarray, each of shape (replications,)
        Of each pair the differences in the replications that both have.
    facts : sequence of bool, optional
        Of which pairs nothing is random: they would differ so whatever the seed.

    Notes
    -----
    Two surely differ if three things agree: the mean of their differences has a sign; more
    replications have that sign than the other one; and the differences are unlikely between equals
    (`p_value`) at a level of 5 % for all samples together (Holm's step-down procedure). If all
    are equal, the chance that any two are called different is at most 5 %.

    The second demand keeps two from being called different for a few replications.

    Examples
    --------
    >>> many = np.array([3.0, 4.0, 5.0, 4.0, 3.0, 5.0, 4.0, 3.0])
    >>> surely_apart([many, many * [1, -1, 1, -1, 1, -1, 1, -1]])
    [True, False]
    """
    chances = [
        0.0 if fact and len(found) > 1 and found.any() else p_value(found, len(samples))
        for found, fact in zip(samples, facts or [False] * len(samples), strict=True)
    ]
    sure = [False] * len(samples)
    for index, which in enumerate(np.argsort(chances, kind="stable")):
        if chances[which] > (1 - CONFIDENCE) / (len(samples) - index):
            break
        found = samples[which]
        sure[which] = bool(np.sign(found).sum() * found.sum() > 0)
    return sure


def surely_better(
    shared: pd.DataFrame, more_is_better: bool = False, fixed: Container[str] = ()
) -> set[tuple[str, str]]:
    """Return all pairs of policies of which the first is surely better than the second.

    Parameters
    ----------
    shared : DataFrame
        Of each policy its numbers in the replications that all have (`common`).
    more_is_better : bool
        High numbers are good ones.
    fixed : container of str
        Policies of whose runs nothing is random.

    Notes
    -----
    Policy A is surely better than B if they surely differ (`surely_apart`, of all pairs of policies
    together) and the mean of their paired differences is on its side. That makes the relation
    acyclic, so the policy of the best mean is never surely worse than another.

    Examples
    --------
    >>> few = pd.Series([1.0, 2.0, 3.0, 4.0, 5.0])
    >>> slow = 1.1 * few + 20
    >>> sorted(surely_better(pd.DataFrame({"slow": slow, "quick": few, "as quick": few[::-1]})))
    [('as quick', 'slow'), ('quick', 'slow')]
    """
    values = shared.to_numpy(np.float64) * (1.0 if more_is_better else -1.0)
    pairs = list(combinations(range(values.shape[1]), 2))
    samples = [_apart(values[:, pair]) for pair in pairs]
    facts = [all(shared.columns[each] in fixed for each in pair) for pair in pairs]
    better = set()
    for pair, found, sure in zip(pairs, samples, surely_apart(samples, facts), strict=True):
        winner, loser = pair if found.sum() > 0 else pair[::-1]
        if sure:
            better.add((str(shared.columns[winner]), str(shared.columns[loser])))
    return better


def ranks(policies: Iterable[str], better: Collection[tuple[str, str]]) -> dict[str, int]:
    """Return the rank of each policy: one more than the number of policies that are surely better.

    Parameters
    ----------
    policies : iterable of str
    better : collection of (str, str)
        What `surely_better` found.

    Examples
    --------
    >>> ranks(["slow", "quick", "as quick"], {("quick", "slow"), ("as quick", "slow")})
    {'slow': 3, 'quick': 1, 'as quick': 1}
    """
    return {policy: 1 + sum(loser == policy for _, loser in better) for policy in policies}

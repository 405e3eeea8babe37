"""How often policies are run in a setting: round by round, until their means are sure enough."""

from __future__ import annotations

import math

import pandas as pd

from experiments.studies.definition import Definition
from experiments.studies.outcome import mean_of

GROWTH = 2
"""From one round to the next, replications become so many times as many at most."""


def next_target(study: Definition, runs: pd.DataFrame, target: int, limit: int) -> int:
    """Return how many replications a setting is to have, as far as can be told by now.

    Parameters
    ----------
    study : Definition
    runs : DataFrame
        All runs of the setting with its workload (`StudyOutcome.runs`), which alone decide.
    target : int
        How many replications of each policy they are.
    limit : int
        How many there can be.

    Returns
    -------
    int
        The same if they are enough: all policies are as precise as the study asks, but for those
        without a mean or a steady state; or no number that is reported changed from one
        replication to another.

    Notes
    -----
    A half-width is in proportion to 1 / sqrt(n), by which the n that is enough is estimated.
    """
    policies = [each for _, each in runs.groupby("policy", sort=False)]
    reported = list(study.reported)
    if all((each[reported].nunique(dropna=False) == 1).all() for each in policies):
        return target
    how, most = study.replications, GROWTH * target
    if target < how.least:
        return min(how.least, limit)
    wanted = target
    for each in policies:
        mean = mean_of(each, study.metric)
        steady = not (each["stable"] == 0).any()
        if how.precision is None or mean is None or mean.half_width is None or not steady:
            continue
        accepted = how.precision * abs(mean.mean)
        if mean.half_width > accepted:
            ratio = mean.half_width / accepted if accepted else math.inf
            estimate = most if ratio > GROWTH else math.ceil(target * ratio**2)
            wanted = max(wanted, target + 1, min(most, estimate))
    return min(wanted, limit)

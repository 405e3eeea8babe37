"""How often policies are run in a setting: round by round, until their means are sure enough."""

from __future__ import annotations

import math

import pandas as pd

from experiments.studies.definition import Definition
from experiments.studies.tables import mean_of
from experiments.sweeps.observations import seeds_matter

GROWTH = 2
"""From one round to the next, replications become so many times as many at most."""


def next_target(
    study: Definition, runs: pd.DataFrame, target: int, limit: int, whole_log: bool = False
) -> int:
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
    whole_log : bool
        Each replays the same log.

    Returns
    -------
    int
        The same if they are enough: all policies are as precise as the study asks, but for those
        without a mean; or a log is replayed whole and nothing is random.

    Notes
    -----
    A half-width is in proportion to 1 / sqrt(n), by which the n that is enough is estimated. One of
    0, as where no job has waited yet, says nothing of what is random.
    """
    policies = [each for _, each in runs.groupby("policy", sort=False)]
    if whole_log and not any(map(seeds_matter, policies)):
        return target
    how, most = study.replications, GROWTH * target
    if target < how.least:
        return min(how.least, limit)
    wanted = target
    for each in policies:
        mean = mean_of(each, study.metric)
        if how.precision is None or mean is None or mean.half_width is None:
            continue
        accepted = how.precision * abs(mean.mean)
        half = mean.half_width or (math.inf if seeds_matter(each) else 0.0)
        if half > accepted:
            ratio = half / accepted if accepted else math.inf
            estimate = most if ratio > GROWTH else math.ceil(target * ratio**2)
            wanted = max(wanted, target + 1, min(most, estimate))
    return min(wanted, limit)

"""The performance of each round of a run: CP of every cluster, MCP and PB (`muscle`, section 5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from grid.finished import Records
from grid.performance import (
    Weights,
    check_idle,
    combine,
    mean_comprehensive_performance,
    performance_balance,
)
from grid.platform import Platform
from grid.records import Floats, Integers, Totals, completed, idle_totals, totals


class Means(NamedTuple):
    """Means over rounds, s; None where there is no round to take them of."""

    mcp: float | None
    pb: float | None
    cps: list[float | None]  # of each cluster


class Rounds(NamedTuple):
    """The performance of each round of a run.

    Attributes
    ----------
    dispatched : array, shape (rounds,)
        When, s.
    jobs : array, shape (rounds, clusters)
        Jobs of the round that each cluster ran.
    cps : array, shape (rounds, clusters)
        CP of each cluster, s (`muscle`, eq. 1): 0 without jobs, NaN if it is not known.
    """

    dispatched: Floats
    jobs: Integers
    cps: Floats

    def mcp(self) -> Floats:
        """Return MCP of each round (`muscle`, eq. 7), shape (rounds,); NaN if a CP is."""
        return mean_comprehensive_performance(self.cps, self.jobs)

    def pb(self) -> Floats:
        """Return PB of each round (`muscle`, eq. 8), shape (rounds,); NaN if a CP is."""
        return performance_balance(self.cps, self.jobs)

    def means(self) -> Means:
        """Return MCP, PB and each CP, means over the rounds whose CP is known of every cluster."""
        known = ~np.isnan(self.mcp())
        if not known.any():
            return Means(None, None, [None] * self.cps.shape[1])
        return Means(
            float(self.mcp()[known].mean()),
            float(self.pb()[known].mean()),
            self.cps[known].mean(axis=0).tolist(),
        )


def round_performance(
    records: Records, platform: Platform, weights: Sequence[Weights], idle: str
) -> Rounds:
    """Return the realised performance of each round of a run in mode `batch`.

    All jobs of a round arrive at the instant of its dispatch, when the clusters are idle: so a
    round is the completed jobs of one arrival time. Over-deadline, makespan and idle-time of each
    cluster count from the dispatch to the cluster's last finish.

    Parameters
    ----------
    records : Records
        Of complete rounds, in any order.
    platform : Platform
        Where they ran.
    weights : sequence of Weights, one for each cluster
    idle : {"total", "mean"}
        Reading of idle-time.

    Raises
    ------
    GridError
        For an unknown `idle`.
    """
    done = completed(records)
    dispatched, group = np.unique(done["arrival"], return_inverse=True)
    sums = totals(done, platform, group, len(dispatched))
    makespans = np.where(sums.jobs > 0, sums.last - dispatched[:, None], 0.0)
    return Rounds(dispatched, sums.jobs, _cps(sums, makespans, platform, weights, idle))


def run_performance(
    records: Records, platform: Platform, weights: Sequence[Weights], idle: str
) -> Rounds:
    """Return the performance of a whole run as one round; no round if no job was completed.

    The makespan of each cluster is that of `cluster_metrics`, from its own first start.

    Parameters
    ----------
    records, platform, weights, idle
        As for `round_performance`.

    Raises
    ------
    GridError
        For an unknown `idle`.
    """
    done = completed(records)
    dispatched = done["arrival"].min(keepdims=True) if len(done) else done["arrival"]
    sums = totals(done, platform, np.zeros(len(done), np.int64), len(dispatched))
    makespans = sums.last - sums.first
    return Rounds(dispatched, sums.jobs, _cps(sums, makespans, platform, weights, idle))


def _cps(
    sums: Totals, makespans: Floats, platform: Platform, weights: Sequence[Weights], idle: str
) -> Floats:
    check_idle(idle)
    idle_times = idle_totals(makespans, sums.work, platform)
    if idle == "mean":
        idle_times = idle_times / platform.sizes
    by_metric = np.array(weights, np.float64).T
    cps: Floats = combine.py_func(sums.over_deadline, makespans, idle_times, by_metric)
    return cps

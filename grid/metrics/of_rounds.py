"""The performance of each round of a run: CP of every cluster, MCP and PB (`muscle`, section 5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from grid.metrics.job_totals import Tally
from grid.metrics.performance import (
    Weights,
    check_idle,
    combine,
    mean_comprehensive_performance,
    performance_balance,
)
from grid.platform.multicluster import Platform
from grid.world.finished import Records
from grid.world.records import Floats, Integers, completed


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
    first : int
        The number of the first of them in the run.
    """

    dispatched: Floats
    jobs: Integers
    cps: Floats
    first: int = 1

    def of(self, which: npt.NDArray[np.bool_]) -> Rounds:
        """Return some of the rounds, those that a mask names."""
        return Rounds(self.dispatched[which], self.jobs[which], self.cps[which])

    def since(self, time: float) -> Rounds:
        """Return those that were dispatched from a time (s) on."""
        before = self.dispatched < time
        return self.of(~before)._replace(first=self.first + int(before.sum()))

    @property
    def alone(self) -> str:
        """In words that PB of each round says no more than its MCP, "" if that is not so.

        Of a round whose jobs are all on one cluster, both are that cluster's CP (`muscle`, eqs. 7
        and 8).
        """
        if not len(self.jobs) or ((self.jobs > 0).sum(axis=1) > 1).any():
            return ""
        return "of one job" if (self.jobs.sum(axis=1) == 1).all() else "on one cluster each"

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
    tally = Tally(platform, len(dispatched))
    tally.add(done, group=group)
    return _rounds(tally, dispatched, dispatched[:, None], weights, idle)


def run_performance(tally: Tally, weights: Sequence[Weights], idle: str) -> Rounds:
    """Return the performance of a whole run as one round; no round if no job was completed.

    The makespan of each cluster is that of `cluster_metrics`, from its own first start.

    Parameters
    ----------
    tally : Tally
        Of all jobs that left, in one group.
    weights, idle
        As for `round_performance`.

    Raises
    ------
    GridError
        For an unknown `idle`.
    """
    some = tally.grid["jobs"] > 0
    rounds = _rounds(
        tally, tally.grid["first_arrival"], tally.clusters["first_start"], weights, idle
    )
    return rounds.of(some)


def _rounds(
    tally: Tally, dispatched: Floats, begun: Floats, weights: Sequence[Weights], idle: str
) -> Rounds:
    """Return the performance of rounds, whose makespans on clusters count from when they began."""
    check_idle(idle)
    sums, sizes = tally.clusters, tally.platform.sizes
    ran = sums["jobs"] > 0
    makespans = np.where(ran, np.where(ran, sums["last_finish"], 0.0) - begun, 0.0)
    idle_times = np.maximum(sizes * makespans - sums["work"], 0.0)  # rounding makes them no less
    if idle == "mean":
        idle_times = idle_times / sizes
    by_metric = np.array(weights, np.float64).T
    cps: Floats = combine(sums["over_deadline"], makespans, idle_times, by_metric)
    return Rounds(dispatched, sums["jobs"], cps)

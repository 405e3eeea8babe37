"""What the runs of `beosim` came to at each point, and how two points compare."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from experiments.papers import outcome
from experiments.papers.beosim.points import FIRST_FIT, FIXED, Point, run
from experiments.papers.judging import Measured
from experiments.papers.outcome import Floats
from experiments.sweeps.statistics import Interval, mean_interval
from experiments.sweeps.sweep import Observation, Run


class Outcome(outcome.Outcome):
    """The replications of all points: turnarounds and what goes with them."""

    columns = ("turnaround", "wait", "penalty", "coallocated", "saturation")
    lost = "without_steady_state"

    def run(
        self,
        points: Iterable[Point],
        carry_out: Callable[[list[Run]], Mapping[str, Observation]],
    ) -> None:
        """Have the runs of points carried out; those of Fixed once their First-Fit is known."""
        points = list(points)
        super().run([point for point in points if point.policy != FIXED], carry_out)
        fixed = [point for point in points if point.policy == FIXED]
        if fixed:
            super().run(fixed, carry_out)

    def run_of(self, point: Point, seed: int) -> Run:
        """Return a run of a point."""
        return run(point, self.scale, seed, self._penalty(point, seed))

    def _penalty(self, point: Point, seed: int) -> float:
        """Return the penalty that Fixed is fed: what First-Fit's jobs had, with the same jobs."""
        if point.policy != FIXED:
            return 1.0
        return float(self.values(replace(point, policy=FIRST_FIT), "penalty")[seed])

    def more(self, one: Point, other: Point) -> Interval | None:
        """Return by how much the turnaround at one point is above that at another, s."""
        return self.compared(
            one, other, lambda: mean_interval(self.values(one) - self.values(other))
        )

    def all_more(self, ones: Sequence[Point], others: Sequence[Point]) -> list[Measured]:
        """Return by how much each is above its counterpart, where at least one is stable."""
        found = []
        for one, other in zip(ones, others, strict=True):
            more = self.more(one, other)
            if more is not None:
                found.append(Measured(f"{one.where}, against {other.name}", more))
        return found

    def crossing(
        self, curve: Sequence[Point], level: Point, at: Callable[[Point], Floats]
    ) -> tuple[Floats, Floats]:
        """Return between where and where a curve gets above a level, in each replication.

        Both are the same place, interpolated, unless the first point above it has no steady state;
        NaN: nowhere.

        Parameters
        ----------
        curve : sequence of Point
            From the left to the right.
        level : Point
        at : callable
            Returns where a point lies on the axis, in each replication.
        """
        x = np.array([at(point) for point in curve])
        y = np.log([self.values(point) / self.values(level) for point in curve])  # they rise so
        found = np.full((2, self.replications), np.nan)
        for seed in range(self.replications):
            above = np.flatnonzero(y[:, seed] > 0)
            if len(above) and above[0] > 0:
                right, left = above[0], above[0] - 1
                share = -y[left, seed] / (y[right, seed] - y[left, seed])
                ends = (share, share) if self.stable(curve[right]) else (0.0, 1.0)
                found[:, seed] = x[left, seed] + np.multiply(ends, x[right, seed] - x[left, seed])
        return found[0], found[1]

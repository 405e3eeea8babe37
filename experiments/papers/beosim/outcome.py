"""What the runs came to at each point, and how two points compare."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from experiments.papers.beosim.points import FIRST_FIT, FIXED, Point, run
from experiments.papers.claims import Measured
from experiments.sweeps.statistics import Interval, mean_interval
from experiments.sweeps.sweep import Observation, Run

Floats = npt.NDArray[np.float64]
COLUMNS = ("turnaround", "wait", "penalty", "coallocated", "saturation")
NO_STEADY_STATE = Interval(math.inf, 0.0)
"""What stands for a mean that says nothing but how long the run was."""


class Outcome:
    """The replications of all points.

    Replications are independent. The jobs of one depend on the number of clusters and the law of
    the workload alone, so that points are compared replication by replication.

    Parameters
    ----------
    scale : float
        Jobs of a run, in units of the paper's.
    replications : int
        Runs of each point, of seeds 0, 1, ...
    """

    def __init__(self, scale: float, replications: int) -> None:
        self.scale, self.replications = scale, replications
        self._of: dict[Point, dict[str, Floats]] = {}

    def run(self, points: Iterable[Point], carry_out: Callable[[list[Run]], Observations]) -> None:
        """Have the runs of points carried out; those of Fixed once their First-Fit is known."""
        runs = {
            point: [
                run(point, self.scale, seed, self._penalty(point, seed))
                for seed in range(self.replications)
            ]
            for point in dict.fromkeys(points)
        }
        found = carry_out([each for of_point in runs.values() for each in of_point])
        for point, of_point in runs.items():
            rows = [found[each.key] for each in of_point]
            self._of[point] = {
                name: np.array([row[name][0] for row in rows]) for name in (*COLUMNS, "stable")
            }

    def _penalty(self, point: Point, seed: int) -> float:
        """Return the penalty that Fixed is fed: what First-Fit's jobs had, with the same jobs."""
        if point.policy != FIXED:
            return 1.0
        return float(self.values(replace(point, policy=FIRST_FIT), "penalty")[seed])

    def values(self, point: Point, column: str = "turnaround") -> Floats:
        """Return what each replication of a point came to."""
        return self._of[point][column]

    def stable(self, point: Point) -> bool:
        """Tell whether all replications have a steady state, as far as is known (NaN: not)."""
        return bool(self._of[point]["stable"].all())

    def unknown(self, point: Point) -> bool:
        """Tell whether replications are too short to tell whether they have a steady state."""
        return bool(np.isnan(self._of[point]["stable"]).any())

    def mean(self, point: Point, column: str = "turnaround") -> Interval:
        """Return the mean over the replications, infinite without a steady state."""
        return mean_interval(self.values(point, column)) if self.stable(point) else NO_STEADY_STATE

    def more(self, one: Point, other: Point) -> Interval | None:
        """Return by how much the turnaround at one point is above that at another, s.

        It is infinite if one of them has no steady state, None if neither has.
        """
        if self.stable(one) and self.stable(other):
            return mean_interval(self.values(one) - self.values(other))
        if self.stable(one) or self.stable(other):
            return Interval(-math.inf if self.stable(one) else math.inf, 0.0)
        return None

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
    ) -> Floats:
        """Return where a curve first gets above a level, in each replication; NaN: nowhere.

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
        found = np.full(self.replications, np.nan)
        for seed in range(self.replications):
            above = np.flatnonzero(y[:, seed] > 0)
            if len(above) and above[0] > 0:
                right, left = above[0], above[0] - 1
                share = -y[left, seed] / (y[right, seed] - y[left, seed])
                found[seed] = x[left, seed] + share * (x[right, seed] - x[left, seed])
        return found

    def row(self, point: Point) -> dict[str, object]:
        """Return a point with the mean of each column and its half-width (``_ci``)."""
        row: dict[str, object] = asdict(point) | {
            "replications": self.replications,
            "without_steady_state": int((self._of[point]["stable"] == 0).sum()),
        }
        for column in COLUMNS:
            mean, half = self.mean(point, column)
            finite = mean < math.inf
            row[column], row[f"{column}_ci"] = (mean, half) if finite else (None, None)
        return row

    def table(self, points: dict[int, list[Point]]) -> pd.DataFrame:
        """Return one row for each figure and point: what it is, then `row`."""
        return pd.DataFrame(
            [
                {"figure": figure, **self.row(point)}
                for figure, of_figure in points.items()
                for point in dict.fromkeys(of_figure)
            ]
        )


Observations = dict[str, Observation]

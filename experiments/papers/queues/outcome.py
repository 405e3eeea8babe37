"""What the runs came to at each point, and how two points compare."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from experiments.papers.claims import Measured
from experiments.papers.queues.points import Point, run
from experiments.sweeps.statistics import Interval, mean_interval, ratio_interval
from experiments.sweeps.sweep import Observation, Run

Floats = npt.NDArray[np.float64]
COLUMNS = ("total", "local", "global")
QUEUES = ("queue 1", "queue 2", "queue 3", "queue 4")
SATURATED = Interval(math.inf, 0.0)
"""What stands for a mean that says nothing but how long the run was."""


class Outcome:
    """The replications of all points.

    Replications are independent. The jobs of one depend on the case and the load alone, so that
    points are compared replication by replication.

    Parameters
    ----------
    scale : float
    replications : int
        Runs of each point, of seeds 0, 1, ...
    """

    def __init__(self, scale: float, replications: int) -> None:
        self.scale, self.replications = scale, replications
        self._of: dict[Point, dict[str, Floats]] = {}

    def run(
        self,
        points: Iterable[Point],
        carry_out: Callable[[list[Run]], Mapping[str, Observation]],
    ) -> None:
        """Have the runs of points carried out."""
        runs = {
            point: [run(point, self.scale, seed) for seed in range(self.replications)]
            for point in dict.fromkeys(points)
        }
        found = carry_out([each for of_point in runs.values() for each in of_point])
        for point, of_point in runs.items():
            rows = [found[each.key] for each in of_point]
            self._of[point] = {
                name: np.array([row[name][0] for row in rows])
                for name in (*COLUMNS, *QUEUES, "stable")
            }

    def values(self, point: Point, column: str = "total") -> Floats:
        """Return what each replication of a point came to."""
        return self._of[point][column]

    def stable(self, point: Point) -> bool:
        """Tell whether most replications settle; close to saturation some run may seem not to."""
        return bool(self._of[point]["stable"].mean() > 0.5)

    def mean(self, point: Point, column: str = "total") -> Interval | None:
        """Return the mean response time; infinite if saturated, None without such jobs."""
        if not self.stable(point):
            return SATURATED
        values = self.values(point, column)
        return None if np.isnan(values).any() else mean_interval(values)

    def excess(
        self, one: Point, other: Point, column: str = "total", of_other: str = ""
    ) -> Interval | None:
        """Return by how much one response time is above another, percent of the other.

        It is infinite if one of the points is saturated, None if both are.

        Parameters
        ----------
        one, other : Point
        column : str
            Which response time.
        of_other : str
            Which of the other point, unless the same.
        """
        if self.stable(one) and self.stable(other):
            ratio = ratio_interval(self.values(one, column), self.values(other, of_other or column))
            half = ratio.half_width
            return Interval(100 * (ratio.mean - 1), None if half is None else 100 * half)
        if self.stable(one) or self.stable(other):
            return Interval(-math.inf if self.stable(one) else math.inf, 0.0)
        return None

    def excesses(
        self, pairs: Sequence[tuple[Point, Point]], column: str = "total"
    ) -> list[Measured]:
        """Return by how much the first of each pair is above the second, if one is stable."""
        found = []
        for one, other in pairs:
            excess = self.excess(one, other, column)
            if excess is not None:
                where = one.where if one.where == other.where else f"{one.where}, {other.where}"
                versus = "" if one.policy == other.policy else f" against {other.name}"
                found.append(Measured(f"{one.name}{versus}, {where}", excess))
        return found

    def table(self, points: Mapping[int, Sequence[Point]]) -> pd.DataFrame:
        """Return one row for each figure and point.

        Columns: figure, composition, balanced, policy, load, replications, saturated (how many of
        them are); the mean of each response time and the half-width of its 95 % confidence interval
        (``_ci``), in units of the mean service time, none where saturated.
        """
        return pd.DataFrame(
            [
                {"figure": figure, **self._row(point)}
                for figure, of_figure in points.items()
                for point in of_figure
            ]
        )

    def _row(self, point: Point) -> dict[str, object]:
        row: dict[str, object] = {
            "composition": ",".join(map(str, point.case.composition)),
            "balanced": point.case.balanced,
            "policy": point.policy,
            "load": point.load,
            "replications": self.replications,
            "saturated": int((self.values(point, "stable") == 0).sum()),
        }
        for column in (*COLUMNS, *QUEUES):
            mean = self.mean(point, column)
            told = mean is not None and mean.mean < math.inf
            name = column.replace(" ", "_")
            row[name] = mean.mean if mean is not None and told else None
            row[f"{name}_ci"] = mean.half_width if mean is not None and told else None
        return row

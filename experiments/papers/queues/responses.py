"""What the runs of `queues` came to at each point, and how two points compare."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.papers import outcome
from experiments.papers.judging import Measured
from experiments.papers.queues.points import Point, run
from experiments.sweeps.statistics import Interval, ratio_interval
from experiments.sweeps.sweep import Run

KINDS = ("total", "local", "global")
"""Of jobs, each with a response time of its own."""


class Outcome(outcome.Outcome):
    """The replications of all points: response times, in units of the mean service time."""

    columns = (*KINDS, "queue 1", "queue 2", "queue 3", "queue 4")
    lost = "saturated"

    def run_of(self, point: Point, seed: int) -> Run:
        """Return a run of a point."""
        return run(point, self.scale, seed)

    def stable(self, point: Point) -> bool:
        """Tell whether most replications settle; close to saturation some run may seem not to."""
        return bool(self.values(point, "stable").mean() > 0.5)

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

        def stable() -> Interval:
            ratio = ratio_interval(self.values(one, column), self.values(other, of_other or column))
            return ratio.moved(-1).scaled(100)

        return self.compared(one, other, stable)

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

    def told(self, point: Point) -> dict[str, object]:
        """Return what a point is, for a table."""
        return {
            "composition": ",".join(map(str, point.case.composition)),
            "balanced": point.case.balanced,
            "policy": point.policy,
            "load": point.load,
        }

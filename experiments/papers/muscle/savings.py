"""What the runs came to at each point of each curve, and how MUSCLE compares with the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from experiments.papers.judging import Measured
from experiments.papers.muscle.points import (
    DLL,
    LIST,
    MUSCLE,
    SERIES,
    WRAND,
    Point,
    Series,
    run,
)
from experiments.sweeps.statistics import Interval, mean_interval, ratio_interval
from experiments.sweeps.sweep import Observation, Run

METRICS = ("mcp", "pb", "overdue", "late")
NAMES = {MUSCLE: "MUSCLE", DLL: "DLL", WRAND: "WRAND"}


class Outcome:
    """The rounds of all runs, by point and series.

    Rounds of mode `batch` are independent of each other, as each finds idle clusters and has jobs
    of its own. So the rounds of all replications of a point are its sample. Series of a point have
    the same jobs in the same rounds, so that they are compared round by round.

    Parameters
    ----------
    points : sequence of Point
    jobs : int
        Of a run.
    replications : int
        Runs of each series at each point, of seeds 0, 1, ...
    """

    def __init__(self, points: Sequence[Point], jobs: int, replications: int) -> None:
        self.points, self.jobs, self.replications = list(points), jobs, replications
        self._runs: dict[tuple[Point, Series], list[Run]] = {
            (point, series): [run(point, series, jobs, seed) for seed in range(replications)]
            for point in points
            for series in SERIES
        }
        self._rounds: dict[tuple[Point, Series], dict[str, npt.NDArray[np.float64]]] = {}
        self._cut: dict[Point, None] = {}

    @property
    def runs(self) -> list[Run]:
        """All runs that the outcome is of."""
        return [run for runs in self._runs.values() for run in runs]

    def fill(self, observations: Mapping[str, Observation]) -> None:
        """Take what the runs came to, by key."""
        for place, runs in self._runs.items():
            of_runs = [observations[run.key] for run in runs]
            self._rounds[place] = {
                metric: np.concatenate([each[metric] for each in of_runs]) for metric in METRICS
            }
            if not all(each["whole"][0] for each in of_runs):
                self._cut[place[0]] = None

    def cut(self, figure: int) -> list[Point]:
        """Return the points of a figure at which a run has no whole round: too few jobs for one."""
        return [point for point in self._cut if point.figure == figure]

    def rounds(self, point: Point, series: Series, metric: str) -> npt.NDArray[np.float64]:
        """Return a metric of each round."""
        return self._rounds[point, series][metric]

    def value(self, point: Point, series: Series, metric: str) -> Interval:
        """Return the mean of a metric over the rounds."""
        return mean_interval(self.rounds(point, series, metric))

    def saving(self, point: Point, series: Series, metric: str = "mcp") -> Interval:
        """Return what MUSCLE saves of a metric of the series: 1 - MUSCLE / series, of means."""
        return ratio_interval(*self._pairs(point, series, metric)).scaled(-1).moved(1)

    def difference(self, point: Point, series: Series, metric: str = "mcp") -> Interval:
        """Return the mean of series - MUSCLE, round by round."""
        muscle, other = self._pairs(point, series, metric)
        return mean_interval(other - muscle)

    def part(self, point: Point, series: Series) -> Interval:
        """Return the part of MCP that is over-deadline, as a share."""
        return ratio_interval(
            self.rounds(point, series, "overdue"), self.rounds(point, series, "mcp")
        )

    def savings(
        self, points: Sequence[Point], titan: str, start: str, policy: str, metric: str = "mcp"
    ) -> list[Measured]:
        """Return what MUSCLE saves at each of some points."""
        series = Series(titan, policy, start)
        return [
            Measured(f"{where(point)}, {NAMES[policy]}", self.saving(point, series, metric))
            for point in points
        ]

    def _pairs(
        self, point: Point, series: Series, metric: str
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        muscle = Series(series.titan, MUSCLE, LIST)
        return self.rounds(point, muscle, metric), self.rounds(point, series, metric)

    def table(self, figure: int) -> pd.DataFrame:
        """Return one row for each point and series of a figure.

        Columns: what the point is (sizes, queue, max_deadline_ratio, clusters); titan, global,
        start; replications, rounds; mean and half-width of the 95 % confidence interval (``_ci``)
        of mcp, pb, overdue (s) and late (share of the jobs); of baselines also the saving of
        MUSCLE (share) and the difference to it (s), of mcp and pb.
        """
        rows = [
            self._row(point, series)
            for point in self.points
            if point.figure == figure
            for series in SERIES
        ]
        return pd.DataFrame(rows)

    def _row(self, point: Point, series: Series) -> dict[str, object]:
        row: dict[str, object] = {
            "sizes": point.sizes,
            "queue": point.queue,
            "max_deadline_ratio": point.max_ratio,
            "clusters": point.clusters,
            "titan": series.titan,
            "global": series.policy,
            "start": "seed" if series.policy == MUSCLE else series.start,
            "replications": self.replications,
            "rounds": len(self.rounds(point, series, "mcp")),
        }
        for metric in METRICS:
            row[metric], row[f"{metric}_ci"], _ = self.value(point, series, metric)
        for metric in ("mcp", "pb"):
            for name, compare in (("saving", self.saving), ("difference", self.difference)):
                mean: float | None = None
                half: float | None = None
                if series.policy != MUSCLE:
                    mean, half, _ = compare(point, series, metric)
                row[f"{metric}_{name}"], row[f"{metric}_{name}_ci"] = mean, half
        return row


def where(point: Point) -> str:
    """Return in words where a point lies in its figure."""
    if point.figure == 5:
        return f"dr to {point.max_ratio:g}, N={point.queue:g}"
    if point.figure == 7:
        return f"{point.clusters} clusters"
    law = "" if point.sizes == "uniform" else f" {point.sizes}"
    return f"N={point.queue:g}{law}"

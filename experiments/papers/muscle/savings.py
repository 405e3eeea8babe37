"""What the runs came to at each point of each curve, and how MUSCLE compares with the others."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

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

METRICS = ("mcp", "pb", "overdue", "late", "makespan", "utilization")
NAMES = {MUSCLE: "MUSCLE", DLL: "DLL", WRAND: "WRAND"}

Place = tuple[Point, Series]


@dataclass
class Asked:
    """What a verdict rests on.

    Attributes
    ----------
    places : set of Place
        Whose rounds were looked at.
    halves : list of float
        Half-widths of all intervals; infinite: of one round.
    """

    places: set[Place] = field(default_factory=set)
    halves: list[float] = field(default_factory=list)


class Outcome:
    """The rounds of all runs, by point and series.

    Rounds of mode `batch` are independent of each other, as each finds idle clusters and has jobs
    of its own. So the rounds of all replications of a point are its sample. Series of a point have
    the same jobs in the same rounds, so that they are compared round by round.

    Series may have different numbers of replications: then those that both have are compared.

    Parameters
    ----------
    points : sequence of Point
    jobs : int
        Of a run.
    replications : int
        Runs of each series at each point, of seeds 0, 1, ...

    Attributes
    ----------
    replications : dict of Place to int
    among : int
        Among how many intervals each is one, all of which shall hold their means with 95 %.
    """

    def __init__(self, points: Sequence[Point], jobs: int, replications: int) -> None:
        self.points, self.jobs = list(points), jobs
        places: list[Place] = [(point, series) for point in points for series in SERIES]
        self.replications = dict.fromkeys(places, replications)
        self.among = 1
        self._asked = Asked()
        self._runs: dict[Place, list[Run]] = {place: [] for place in places}
        self._rounds: dict[Place, dict[str, npt.NDArray[np.float64]]] = {}
        self._cut: dict[Point, None] = {}

    def runs_of(self, place: Place) -> list[Run]:
        """Return the runs of a series at a point."""
        made = self._runs[place]
        seeds = range(len(made), self.replications[place])
        made.extend(run(*place, self.jobs, seed) for seed in seeds)
        return made

    @property
    def runs(self) -> list[Run]:
        """All runs that the outcome is of."""
        return [run for place in self._runs for run in self.runs_of(place)]

    def fill(self, observations: Mapping[str, Observation]) -> None:
        """Take what the runs came to, by key."""
        for place in self._runs:
            of_runs = [observations[run.key] for run in self.runs_of(place)]
            self._rounds[place] = {
                metric: np.concatenate([each[metric] for each in of_runs]) for metric in METRICS
            }
            if not all(each["whole"][0] for each in of_runs):
                self._cut[place[0]] = None

    def cut(self, figure: int) -> list[Point]:
        """Return the points of a figure at which a run has no whole round: too few jobs for one."""
        return [point for point in self._cut if point.figure == figure]

    @contextmanager
    def asked(self) -> Iterator[Asked]:
        """Give what is looked at meanwhile."""
        self._asked = Asked()
        yield self._asked

    def rounds(self, point: Point, series: Series, metric: str) -> npt.NDArray[np.float64]:
        """Return a metric of each round."""
        self._asked.places.add((point, series))
        return self._rounds[point, series][metric]

    def value(self, point: Point, series: Series, metric: str) -> Interval:
        """Return the mean of a metric over the rounds."""
        return self._wide(mean_interval(self.rounds(point, series, metric)))

    def saving(self, point: Point, series: Series, metric: str = "mcp") -> Interval:
        """Return what MUSCLE saves of a metric of the series: 1 - MUSCLE / series, of means."""
        return self._wide(ratio_interval(*self._pairs(point, series, metric)).scaled(-1).moved(1))

    def difference(self, point: Point, series: Series, metric: str = "mcp") -> Interval:
        """Return the mean of series - MUSCLE, round by round."""
        muscle, other = self._pairs(point, series, metric)
        return self._wide(mean_interval(other - muscle))

    def part(self, point: Point, series: Series) -> Interval:
        """Return the part of MCP that is over-deadline, as a share."""
        overdue, whole = (self.rounds(point, series, metric) for metric in ("overdue", "mcp"))
        return self._wide(ratio_interval(overdue, whole))

    def _wide(self, interval: Interval) -> Interval:
        """Return an interval as wide as one among so many is."""
        wide = interval.widened(self.among)
        self._asked.halves.append(math.inf if wide.half_width is None else wide.half_width)
        return wide

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
        muscle = self.rounds(point, Series(series.titan, MUSCLE, LIST), metric)
        other = self.rounds(point, series, metric)
        both = min(len(muscle), len(other))
        return muscle[:both], other[:both]

    def table(self, figure: int) -> pd.DataFrame:
        """Return one row for each point and series of a figure.

        Columns: what the point is (sizes, queue, max_deadline_ratio, clusters); titan, global,
        start; replications, rounds; mean and half-width of the 95 % confidence interval (``_ci``)
        of mcp, pb, overdue, makespan (s), late (share of the jobs) and utilization (share); of
        baselines also the saving of MUSCLE (share) and the difference to it (s), of mcp and pb.
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
            "replications": self.replications[point, series],
            "rounds": len(self.rounds(point, series, "mcp")),
        }
        for metric in METRICS:
            row[metric], row[f"{metric}_ci"] = self.value(point, series, metric)[:2]
        for metric in ("mcp", "pb"):
            for name, compare in (("saving", self.saving), ("difference", self.difference)):
                mean: float | None = None
                half: float | None = None
                if series.policy != MUSCLE:
                    mean, half = compare(point, series, metric)[:2]
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

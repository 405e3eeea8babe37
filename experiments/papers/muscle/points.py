"""What Figs. 4 to 7 of `muscle` vary: the points of each, and the runs at each point.

The paper does not print the x values of Figs. 4 and 5 nor the Pareto exponent: the levels and
deadline ranges here, and exponent 1, are choices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from agents.model import GridModel
from experiments.scenario.scenario import Scenario
from experiments.sweeps.sweep import Observation, Run
from grid.metrics.job_totals import Tally
from grid.metrics.of_rounds import round_performance
from grid.platform.multicluster import Platform
from grid.world.records import completed

FIGURES = (4, 5, 6, 7)
JOBS = 20_000
"""Jobs of a run at scale 1, as in the paper."""

LEVELS = (40, 60, 80, 100, 120, 140, 160)
SIZES = ("uniform", "normal", "log-uniform")
LEVELS_OF_OTHERS = (40, 100)
"""Levels under sizes that are not uniform, to see whether the patterns are similar."""
RATIOS = (0.5, 2, 5, 10)
"""MAX_DR of Fig. 5; MIN_DR is 0."""

POOL = tuple(range(20, 57, 4))
"""Cluster sizes of Fig. 7, of equal rate."""
POOLS = (4, 6, 8, 10)
"""How many of them, the smallest first."""
POOL_LEVEL = 80
"""N on the first pool; N over processors stays the same."""

PAPER, OURS = "paper", "ours"
TITANS: dict[str, dict[str, Any]] = {
    OURS: {},
    # Section 5 stops TITAN when two generations differ by less than a threshold.
    PAPER: {"coding": "two-dimensional", "patience": 1},
}
"""Parameters of each TITAN."""

MUSCLE, DLL, WRAND = "muscle", "dll", "wrand"
LIST, RANDOM = "list", "random"
STARTS = (LIST, RANDOM)
"""How TITAN starts without a seed schedule: under DLL and WRAND only."""

PRINTED: dict[int, dict[tuple[int, str], float]] = {
    4: {(40, DLL): 0.121, (40, WRAND): 0.084, (100, DLL): 0.567, (100, WRAND): 0.489},
    6: {(40, DLL): 0.156, (100, DLL): 0.575, (160, DLL): 0.137},
}
"""What MUSCLE saves of the MCP of others, by N, as section 5 says of figures (shares)."""


@dataclass(frozen=True)
class Point:
    """A point of a figure: what the clusters and the workload are.

    Attributes
    ----------
    figure : int
    clusters : int
        Of Table 3, or of the pool of Fig. 7.
    queue : float
        Mean number of jobs in the queue, N.
    sizes : str
        Law of job sizes.
    max_ratio : float
        MAX_DR.
    """

    figure: int
    clusters: int
    queue: float
    sizes: str = "uniform"
    max_ratio: float = 5.0

    @property
    def x(self) -> float:
        """Where the point lies in its figure."""
        return {5: self.max_ratio, 7: float(self.clusters)}.get(self.figure, self.queue)

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters of the scenario `muscle`, but for jobs and TITAN."""
        parameters: dict[str, Any] = {
            "mode": "batch",
            "queue": float(self.queue),
            "sizes": self.sizes,
            "max_deadline_ratio": float(self.max_ratio),
        }
        if self.figure == 6:
            parameters["weights"] = ((12, 3, 1), (8, 3, 1), (4, 3, 1), (1, 3, 1))
        if self.figure == 7:
            parameters["weights"] = (8, 3, 1)
            parameters["max_size"] = POOL[self.clusters - 1]
        return parameters


def points(figures: Sequence[int]) -> list[Point]:
    """Return the points of figures, in order."""
    found: list[Point] = []
    if 4 in figures:
        found += [
            Point(4, 4, level, sizes)
            for sizes in SIZES
            for level in (LEVELS if sizes == "uniform" else LEVELS_OF_OTHERS)
        ]
    if 5 in figures:
        found += [Point(5, 4, level, max_ratio=dr) for level in (40, 100) for dr in RATIOS]
    if 6 in figures:
        found += [Point(6, 4, level) for level in (40, 100, 160)]
    if 7 in figures:
        smallest = sum(POOL[: POOLS[0]])
        found += [
            Point(7, count, POOL_LEVEL * sum(POOL[:count]) / smallest, "log-uniform")
            for count in POOLS
        ]
    return found


class Series(NamedTuple):
    """A curve of a figure: a global scheduler over a TITAN.

    Attributes
    ----------
    titan : {"ours", "paper"}
    policy : {"muscle", "dll", "wrand"}
    start : {"list", "random"}
        Of the baselines' TITAN; MUSCLE's has a seed schedule, and "list" here.
    """

    titan: str
    policy: str
    start: str


SERIES = tuple(
    Series(titan, policy, start)
    for titan in TITANS
    for policy in (MUSCLE, DLL, WRAND)
    for start in (STARTS if policy != MUSCLE else (LIST,))
)


@cache
def _platform(figure: int, clusters: int) -> Platform:
    if figure == 7:
        return Platform.star(POOL[:clusters])
    return Scenario.load("muscle").platform


def table_3() -> Iterator[str]:
    """Yield the lines of the table of the clusters, in Markdown."""
    platform = _platform(4, 4)
    yield "| cluster | " + " | ".join(platform.names) + " |"
    yield "|---|" + "--:|" * len(platform.names)
    yield "| processors | " + " | ".join(map(str, platform.sizes)) + " |"
    yield "| rate | " + " | ".join(map(str, platform.rates)) + " |\n"


def scenario(point: Point, series: Series, jobs: int) -> Scenario:
    """Return what is run at a point of a curve."""
    of_table_3 = Scenario.load("muscle").parameters
    return Scenario(
        "muscle",
        _platform(point.figure, point.clusters),
        of_table_3.model_dump(exclude_unset=True)
        | point.parameters
        | TITANS[series.titan]
        | {"start": series.start, "jobs": jobs},
        series.policy,
        "titan",
        paper="muscle",
    )


def run(point: Point, series: Series, jobs: int, seed: int) -> Run:
    """Return a run at a point of a curve, of which one of a round tells the time."""
    kind = point.figure == 7, point.queue, series.titan, series.policy == MUSCLE
    probe = scenario(point, series, min(jobs, max(1, round(point.queue))))
    return Run(scenario(point, series, jobs), seed, kind, probe)


def observe(model: GridModel, steps: Iterable[None]) -> Observation:
    """Return of each round its MCP, PB, over-deadline in MCP, late jobs, makespan and utilization.

    Late jobs are a share of all, the makespan is of the whole grid, and utilization is over it. The
    last round is left out unless it is the only one: it holds what was left of the jobs. Then there
    is no ``whole`` round.
    """
    for _ in steps:
        pass
    platform = model.world.platform
    records = model.world.log.records()
    rounds = round_performance(records, platform, model.weights, model.idle)
    done = completed(records)
    group = np.searchsorted(rounds.dispatched, done["arrival"])
    jobs = rounds.jobs.sum(axis=1)
    late = np.bincount(group, done["finish"] > done["deadline"], len(jobs)) / jobs
    tally = Tally(platform, len(jobs))
    tally.add(done, group=group)
    over = tally.clusters["over_deadline"]
    weight = np.array([each.over_deadline / sum(each) for each in model.weights])
    overdue = (over * weight * rounds.jobs).sum(axis=1) / jobs
    makespan = tally.clusters["last_finish"].max(axis=1) - rounds.dispatched
    utilization = tally.clusters["work"].sum(axis=1) / (makespan * sum(platform.sizes))
    columns = {
        "mcp": rounds.mcp(),
        "pb": rounds.pb(),
        "overdue": overdue,
        "late": late,
        "makespan": makespan,
        "utilization": utilization,
    }
    whole = max(1, len(jobs) - 1)
    of_rounds = {name: values[:whole].tolist() for name, values in columns.items()}
    return {**of_rounds, "whole": [float(len(jobs) > 1)]}

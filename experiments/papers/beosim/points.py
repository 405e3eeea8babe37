"""What Figs. 9 to 27 of `beosim` vary: the points of each, and the runs at each point.

The paper prints neither the bandwidths of Figs. 9 to 11 nor the steps of Figs. 14 to 27: those here
are choices, which reach from where jobs are hardly slowed to where no steady state is left.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from agents.model import GridModel
from experiments.scenario.scenario import Scenario
from experiments.sweeps.no_steady_state import is_lost
from experiments.sweeps.sweep import Observation, Run
from grid.metrics.stability import FEWEST

JOBS = {4: 4_000_000, 6: 400_000}
"""Jobs of each cluster at scale 1, as in the paper, by the section that tells the workload."""
WARM_UP = 0.05
"""Share of the jobs that come first and count nothing: clusters begin empty."""

CLUSTERS = {9: 2, 10: 4, 11: 8}
"""Of Figs. 9 to 11."""
ACCEPTABLE = {
    9: {"migration-only": (1.2, 1.25), "no-share": (1.35, 1.4)},
    11: {"migration-only": (1.13, 1.2), "no-share": (1.25, 1.35)},
}
"""Between which mean penalties a baseline is reached, by figure, as the paper prints them."""
BSBW_OF_CLUSTERS = {
    2: (*range(700, 1401, 100), *range(1450, 1951, 50), 2000, 2100),
    4: (*range(300, 651, 50), *range(675, 876, 25), 900),
    8: (300, 350, *range(400, 476, 25), *range(500, 571, 10), 600),
}
LINK_MBPS = 1000.0
"""Capacity of each link."""
BSBW_13 = tuple(range(300, 801, 50))
BSBW = tuple(range(200, 901, 100))
LSLT = tuple(range(40, 121, 20))
CHUNKS = (70, 80, 85, 90)
ALL_CHUNKS = (0, 25, 50, *CHUNKS, 95, 100)
LOW, HIGH = 300, 800
"""Bandwidths of Figs. 24 to 27, Mbit/s."""

NO_SHARE, MIGRATION, IDEAL = "no-share", "migration-only", "ideal"
FIRST_FIT, FIXED = "first-fit", "fixed-penalty"
A1, B1, B2, B3, B4, ADAPTIVE = "a1", "b1", "b2", "b3", "b4", "adaptive"

STEPS = 50
"""Looks at a run: at its links, and whether it is lost."""


@dataclass(frozen=True)
class Point:
    """A meta-scheduler under a workload.

    Attributes
    ----------
    section : int
        Of the paper, whose workload it is: 4 or 6.
    clusters : int
    policy : str
    bsbw : float
        Bisection bandwidth of the jobs, Mbit/s.
    lslt : float
        Link saturation level threshold, percent.
    chunk : int
        Chunk size threshold of B3, percent.
    """

    section: int
    clusters: int
    policy: str
    bsbw: float = 500.0
    lslt: float = 100.0
    chunk: int = 85

    @property
    def name(self) -> str:
        """What its meta-scheduler is called."""
        return f"{NAMES[B3]} {self.chunk} %" if self.policy == B3 else NAMES[self.policy]

    @property
    def where(self) -> str:
        """What it is, in words."""
        parts = [self.name]
        if self.section == 4:
            parts.append(f"{self.clusters} clusters")
        if self.policy not in (NO_SHARE, MIGRATION, IDEAL):
            parts.append(f"BSBW {self.bsbw:g}")
            if self.section == 6 and self.lslt != 100:
                parts.append(f"LSLT {self.lslt:g}")
        return ", ".join(parts)


NAMES = {
    NO_SHARE: "No Share",
    MIGRATION: "Migration Only",
    IDEAL: "Ideal",
    FIRST_FIT: "First-Fit",
    FIXED: "Fixed",
    A1: "A1",
    B1: "B1",
    B2: "B2",
    B3: "B3",
    B4: "B4",
    ADAPTIVE: "adaptive (ours)",
}

MIGRATION_6, IDEAL_6 = Point(6, 4, MIGRATION), Point(6, 4, IDEAL)
"""The anchors of section 6."""

SURFACES = {
    14: Point(6, 4, A1),
    15: Point(6, 4, B1),
    16: Point(6, 4, B2),
    17: Point(6, 4, B4),
    **{18 + index: Point(6, 4, B3, chunk=chunk) for index, chunk in enumerate(CHUNKS)},
}
"""The meta-scheduler of each of Figs. 14 to 21."""
OURS = Point(6, 4, ADAPTIVE)

OF_22 = (*(SURFACES[figure] for figure in (14, 15, 16, 20, 17)), OURS)
OF_23 = (*(SURFACES[figure] for figure in (18, 19, 20, 21)), SURFACES[14], OURS)


def grid(of: Point) -> list[Point]:
    """Return the points of a surface: LSLT by LSLT, each with all bandwidths."""
    return [replace(of, bsbw=float(bsbw), lslt=float(lslt)) for lslt in LSLT for bsbw in BSBW]


def over_bandwidth(of: Point, bandwidths: Iterable[float] = BSBW) -> list[Point]:
    """Return a curve over the bisection bandwidth."""
    return [replace(of, bsbw=float(bsbw)) for bsbw in bandwidths]


def over_threshold(of: Point, bsbw: float) -> list[Point]:
    """Return a curve over LSLT."""
    return [replace(of, bsbw=float(bsbw), lslt=float(lslt)) for lslt in LSLT]


def over_chunks(bsbw: float) -> list[Point]:
    """Return B3 with one chunk size threshold after the other."""
    return [replace(SURFACES[18], bsbw=float(bsbw), chunk=chunk) for chunk in ALL_CHUNKS]


@dataclass(frozen=True)
class Line:
    """Points of one meta-scheduler in a figure.

    Attributes
    ----------
    points : list of Point
    over : str, optional
        The attribute of points that grows along the line; None for a level line, of one point.
    """

    points: list[Point]
    over: Literal["bsbw", "lslt", "chunk"] | None = None


LEVELS_6 = [Line([MIGRATION_6]), Line([IDEAL_6])]


def lines(figure: int) -> list[Line]:
    """Return the lines of Figs. 9 to 11, 13 and 22 to 27."""
    if figure in CLUSTERS:
        clusters = CLUSTERS[figure]
        bandwidths = BSBW_OF_CLUSTERS[clusters]
        return [
            *(Line([Point(4, clusters, policy)]) for policy in (NO_SHARE, MIGRATION, IDEAL)),
            *(
                Line(over_bandwidth(Point(4, clusters, policy), bandwidths), "bsbw")
                for policy in (FIRST_FIT, FIXED)
            ),
        ]
    if figure == 13:
        return [
            *(Line([Point(4, 4, policy)]) for policy in (MIGRATION, IDEAL)),
            *(
                Line(over_bandwidth(Point(4, 4, policy), BSBW_13), "bsbw")
                for policy in (FIRST_FIT, A1, B1, ADAPTIVE)
            ),
        ]
    of = OF_22 if figure in (22, 24, 25) else OF_23
    if figure in (22, 23):
        return [*LEVELS_6, *(Line(over_bandwidth(each), "bsbw") for each in of)]
    bsbw = LOW if figure in (24, 26) else HIGH
    return [*LEVELS_6, *(Line(over_threshold(each, bsbw), "lslt") for each in of)]


def lines_of_chunks(figure: int) -> list[Line]:
    """Return, with the bandwidth of Fig. 26 or 27, B1 and B3 over its chunk size threshold."""
    bsbw = LOW if figure == 26 else HIGH
    return [Line([replace(SURFACES[15], bsbw=float(bsbw))]), Line(over_chunks(bsbw), "chunk")]


def points_of(figure: int) -> list[Point]:
    """Return all points that a figure, or a picture beside it, shows."""
    if figure in SURFACES:
        return [*grid(SURFACES[figure]), *grid(OURS)]
    shown = lines(figure) + (lines_of_chunks(figure) if figure in (26, 27) else [])
    return [point for line in shown for point in line.points]


FIGURES = (*CLUSTERS, 13, *SURFACES, *range(22, 28))


def jobs_per_cluster(section: int, scale: float) -> int:
    """Return the jobs of each cluster."""
    return max(1, math.floor(JOBS[section] * scale + 0.5))


def too_short(section: int, scale: float) -> bool:
    """Tell whether runs have too few jobs to say anything: clusters are empty at first."""
    return jobs_per_cluster(section, scale) < FEWEST


def short_note(scale: float, sections: Iterable[int]) -> str:
    """Return what is said below a table if runs of some sections' workloads are too short."""
    short = [str(section) for section in sorted(sections) if too_short(section, scale)]
    if not short:
        return ""
    return (
        f"too few jobs: runs of section {' and '.join(short)} have fewer than {FEWEST:,} of each "
        "cluster, which decides nothing; a larger --scale can"
    )


@cache
def _of_section(section: int) -> Scenario:
    scenario = Scenario.load("beosim")
    if section == 4:
        scenario = scenario.changed(["size_low=10", "size_high=90", "runtime=225"])
    return scenario


def scenario(point: Point, jobs: int, penalty: float = 1.0) -> Scenario:
    """Return what is run at a point, with so many jobs of each cluster."""
    base = _of_section(point.section)
    settings = {
        "clusters": point.clusters,
        "jobs_per_cluster": jobs,
        "step": jobs * base.parameters.interarrival / STEPS,
        "bsbw": point.bsbw,
        "lslt": point.lslt,
        "chunk": point.chunk,
        "penalty": penalty,
        "warmup": int(WARM_UP * jobs * point.clusters),
    }
    return base.changed(
        [f"{name}={value!r}" for name, value in settings.items()], global_scheduler=point.policy
    )


def run(point: Point, scale: float, seed: int, penalty: float = 1.0) -> Run:
    """Return a run at a point, of which one of few jobs tells the time."""
    jobs = jobs_per_cluster(point.section, scale)
    probe = scenario(point, min(jobs, 2500), penalty)
    bsbw = point.bsbw if point.policy in (FIRST_FIT, FIXED) else 0.0  # which decides on the queue
    kind = point.section, point.clusters, point.policy, bsbw
    return Run(scenario(point, jobs, penalty), seed, kind, probe)


def observe(model: GridModel, steps: Iterable[None]) -> Observation:
    """Return means over jobs, how saturated links were seen, and whether the queue settled.

    A run whose queue grows without end is not carried to its own.
    """
    world = model.world
    world.log.stream(None)
    saturation = 0.0
    for _ in steps:
        saturation = max(saturation, float((world.state.demand / world.state.capacity).max()))
        if is_lost(model):
            break
    found = world.statistics
    return {
        "turnaround": [found.mean_turnaround or 0.0],
        "wait": [found.mean_wait or 0.0],
        "penalty": [found.mean_penalty],
        "coallocated": [found.coallocated or 0.0],
        "saturation": [saturation],
        "stable": [math.nan if found.stable is None else float(found.stable)],
    }

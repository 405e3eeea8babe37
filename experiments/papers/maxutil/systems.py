"""What the tables and figures of `maxutil` need: systems, how they are simulated, their runs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.maxutil.heavy_traffic import HeavyTraffic
from experiments.maxutil.poisson import FullQueue
from experiments.maxutil.system import LOG, System
from experiments.papers.maxutil.paper_tables import (
    SIZE,
    TABLE_3,
    TABLE_3_CLUSTERS,
    TABLE_4,
    TABLE_4_CLUSTERS,
    TABLE_5,
    Row,
)
from experiments.sweeps.sweep import Run
from grid.reading import digest

JOBS = 4_000_000
"""Of a run at scale 1."""
FPFS_SHARE = 0.1
"""Of the jobs of a run, those of one under FPFS, which searches its queue."""
POISSON_SHARE = 0.25
"""The same of a run with Poisson arrivals, of which a search does a dozen."""
FEWEST = 1000
"""Jobs of a run at least, beside three times those that wait."""
PROBE = 100_000
"""Jobs at most of a run that tells how long others take."""

PARTS = ("tables", "poisson", "figures", "chain", "logs")

CLUSTERS = 4
REQUESTS = ("ordered", "unordered", "total")
MANY_JUMPS, FEW_JUMPS = 50, 5
QUEUES = (10, 100, 1000)
"""Jobs that wait under FPFS: the paper's number is lost, and it makes a difference."""
THRESHOLD = 1000.0
"""Mean response time at the maximal utilization, in mean service times: the paper's is lost."""
FULL_QUEUES = ((100, 1000), (200, 1000), (1000, 2000))
"""Jobs that wait in the beginning under FPFS, and how many are too many. The paper does not print
the one; of the other, all but the number of its digits, four, is lost."""
IMPROVED = TABLE_5[3:]
"""The laws of Fig. 5."""
SERVICES: tuple[tuple[str, float], ...] = (
    ("deterministic", 0.0),
    ("exponential", 1.0),
    ("hyperexponential", 2.0),
    ("hyperexponential", 5.0),
    ("hyperexponential", 10.0),
)
"""Laws of service times and their coefficients of variation."""
ENDS = (SERVICES[0], SERVICES[1], SERVICES[-1])
STUDIED = TABLE_5[1]
"""The law that section 7.1's study of service times is taken to be about: it alone fits."""


@dataclass(frozen=True)
class Point:
    """A system, and how it is simulated.

    Attributes
    ----------
    system : System
    waiting : int
        Jobs that always wait. 0: jobs arrive by a Poisson process, until the mean response time
        reaches a threshold; under FPFS, for as long as a queue lasts.
    queue : tuple of int
        Of such a queue: the jobs that wait in the beginning, and how many are too many.
    """

    system: System
    waiting: int = 1
    queue: tuple[int, int] = (0, 0)


def point(law: str, request: str = "unordered", clusters: int = CLUSTERS, **more: Any) -> Point:
    """Return a system of section 6 or 7 under FCFS."""
    return Point(System((SIZE,) * clusters, law, request, **more))


# Tables 3 and 4 ---------------------------------------------------------------------------------

ROWS: tuple[tuple[int, Row], ...] = (
    *((TABLE_3_CLUSTERS, row) for row in TABLE_3),
    *((TABLE_4_CLUSTERS, row) for row in TABLE_4),
)
"""With the number of clusters."""


def of_row(clusters: int, row: Row) -> dict[str, Point]:
    """Return the systems of a row: a single cluster, and each kind of request."""
    single = {"single": point(row.law, "total", 1)}
    return single | {request: point(row.law, request, clusters) for request in REQUESTS}


POISSON = {
    (clusters, row.law, name): Point(each.system, waiting=0)
    for clusters, row in ROWS
    for name, each in of_row(clusters, row).items()
    if name != "total" and (name, clusters) != ("unordered", TABLE_4_CLUSTERS)
}
"""The first kind of the paper's simulations: what it validates them by, and what it finds so."""

# Section 7 --------------------------------------------------------------------------------------


def service_point(law: str, request: str, service: str, cv: float) -> Point:
    """Return a system with a law of service times."""
    if service == "exponential":
        return point(law, request)
    return point(law, request, service=service, cv=cv or 10.0)


def fpfs(law: str, jumps: int, waiting: int, queue: tuple[int, int] = (0, 0)) -> Point:
    """Return a system under FPFS."""
    system = point(law, policy="fpfs", max_jumps=jumps).system
    return Point(system, waiting, queue)


UNORDERED = {law: point(law) for law in TABLE_5}
DEPENDENT = {law: point(law, dependent=True) for law in TABLE_5}
FIRST_FIT = {law: point(law, placement="ff") for law in TABLE_5}
SERVICE = {
    (law, request, each): service_point(law, request, *each)
    for law in TABLE_5
    for request in ("ordered", "unordered")
    for each in (SERVICES if law == STUDIED else ENDS)
}
FPFS = {
    (law, jumps, waiting): fpfs(law, jumps, waiting)
    for law in IMPROVED
    for jumps in (FEW_JUMPS, MANY_JUMPS)
    for waiting in QUEUES
}
LASTING = {
    (law, jumps, queue): fpfs(law, jumps, 0, queue)
    for law in IMPROVED
    for jumps in (FEW_JUMPS, MANY_JUMPS)
    for queue in FULL_QUEUES
}
"""FPFS by the paper's own method."""

# Tiny systems -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tiny:
    """A system so small that its Markov chain can be solved.

    Attributes
    ----------
    law : str
    clusters, size : int
    waiting : int
        Jobs that wait; 1 is FCFS.
    max_jumps : int or None
    """

    law: str
    clusters: int
    size: int
    waiting: int = 1
    max_jumps: int | None = None

    @property
    def point(self) -> Point:
        """The system."""
        sizes = (self.size,) * self.clusters
        policy = "fcfs" if self.waiting == 1 else "fpfs"
        system = System(sizes, self.law, policy=policy, max_jumps=self.max_jumps)
        return Point(system, self.waiting)

    @property
    def policy(self) -> str:
        """What it is called."""
        if self.waiting == 1:
            return "FCFS"
        jumps = "" if self.max_jumps is None else f"({self.max_jumps})"
        return f"FPFS{jumps}, {self.waiting} waiting"


TINY = (
    Tiny("U[1,3]", 2, 6),
    Tiny("U[1,3]", 2, 6, 2),
    Tiny("U[1,3]", 2, 6, 2, 1),
    Tiny("D(0.6)[1,4]", 2, 8),
    Tiny("U[1,2]", 3, 4),
    Tiny("U[1,2]", 3, 4, 3, 2),
)


def log_points(ctc: Path | None, das: Path | None) -> dict[tuple[str, str], Point]:
    """Return the systems of Fig. 7, by log and request.

    Of the CTC's jobs size and time are drawn together, of the DAS's each by itself.
    """
    found = {}
    for name, path in (("CTC", ctc), ("DAS", das)):
        if path is None:
            continue
        law = f"{LOG}{path}"
        drawn: dict[str, Any] = (
            {"together": True} if name == "CTC" else {"draws": 1, "service": law}
        )
        found[name, "unordered"] = point(law, dependent=True, **drawn)
        found[name, "total"] = point(law, "total", **drawn)
    return found


def points_of(part: str) -> list[Point]:
    """Return the systems that a part of the paper needs, but those of logs."""
    if part == "tables":
        return [each for row in ROWS for each in of_row(*row).values()]
    if part == "poisson":
        needed = (each for clusters, row in ROWS for each in of_row(clusters, row).values())
        return [*POISSON.values(), *needed]
    if part == "figures":
        groups = (UNORDERED, DEPENDENT, FIRST_FIT, SERVICE, FPFS, LASTING)
        return [each for group in groups for each in group.values()]
    return [tiny.point for tiny in TINY] if part == "chain" else []


def share_of(point: Point) -> float:
    """Return the share of the jobs of a run that one of a system has."""
    by_policy = FPFS_SHARE if point.system.policy == "fpfs" else 1.0
    return by_policy * (1.0 if point.waiting else POISSON_SHARE)


def jobs_of(point: Point, jobs: float) -> int:
    """Return how many jobs a run of a system has, if others have so many."""
    queue = max(point.waiting, point.queue[0])
    return max(FEWEST, 3 * queue, math.floor(jobs * share_of(point) + 0.5))


def run(point: Point, scale: float, seed: int) -> Run:
    """Return a run of a system."""
    system, start = point.system, point.queue[0]
    jobs = jobs_of(point, JOBS * scale)
    kind = (
        system.request,
        system.placement,
        system.policy,
        system.max_jumps,
        system.dependent,
        len(system.sizes),
        point.waiting,
        point.queue,
        system.law if system.law.startswith(LOG) else "",
    )
    whole: HeavyTraffic | FullQueue
    if point.waiting:
        whole = HeavyTraffic(system, jobs, point.waiting)
    else:
        whole = FullQueue(system, jobs, 0.0 if start else THRESHOLD, *point.queue)
    few = max(math.ceil(PROBE * share_of(point)), 3 * point.waiting, 3 * start)
    logs = {each for each in (system.law, system.service) if each.startswith(LOG)}
    files = " ".join(digest(each.removeprefix(LOG)) for each in sorted(logs))
    return Run(whole, seed, kind, whole.cut(few), files=files)

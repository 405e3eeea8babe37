"""What Figs. 3 and 4 of `oas` compare: workloads, methods and sizes of time slots.

The paper does not print its workloads. Those here are in its spirit: eight jobs of 1 to 12 tasks,
sigma 0.7 and a mean base time of 670,000 s, on the paper's three clusters. They are files beside
this module, which `metasched oas` reads.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources

from agents.oas import HEURISTICS, Instance

FOLDER = resources.files("experiments.papers.oas") / "workloads"
OF_SLOTS = "slots"
"""The workload of Fig. 3."""

WORKLOADS = tuple(f"wl-{number}" for number in range(1, 7))
"""Those of Fig. 4."""

FIGURE = {"slots": 3, "workloads": 4}
PARTS = tuple(FIGURE)
SHARES = (15, 25, 35, 50, 75, 100, 150, 200, 250)
"""Sizes of slots, percent of the mean base time; the paper has them from 15 to 250."""

OF_MILP = (100, 150, 200, 250)
"""Those at which the mixed-integer model is solved as printed, which takes long at smaller ones."""

OF_FIGURE_4 = 50
OAS, MILP, AGGREGATED = SEARCHES = "cpsat", "milp", "aggregated"
QUEUES = tuple(name for name in HEURISTICS if name != "insertion")
METHODS = (*QUEUES, "insertion", OAS)


@dataclass(frozen=True)
class Point:
    """A workload, what schedules it, and in slots of which size.

    Attributes
    ----------
    workload : str
        Name of its file.
    method : str
        A heuristic, or a solver.
    share : int or None
        Size of a slot, percent of the mean base time; None: continuous time.
    """

    workload: str
    method: str
    share: int | None = None

    @property
    def name(self) -> str:
        """What the method is called."""
        named = {
            OAS: "OAS",
            MILP: "OAS as printed",
            AGGREGATED: "OAS with nodes counted",
            "insertion": "insertion",
        }
        return named.get(self.method, self.method.upper())

    @property
    def where(self) -> str:
        """Its workload and slots, in words."""
        slots = "without slots" if self.share is None else f"slots of {self.share} %"
        return f"{self.workload.upper()}, {slots}" if self.workload != OF_SLOTS else slots

    @property
    def slot(self) -> float | None:
        """Size of a slot, s."""
        return None if self.share is None else mean_base_time(self.workload) * self.share / 100

    def key(self, time_limit: float) -> str:
        """Return what tells it from all others; heuristics have no limit."""
        given = [self.workload, self.method, self.share]
        return json.dumps([*given, time_limit] if self.method in SEARCHES else given)


@cache
def instance(workload: str) -> Instance:
    """Return a workload on its clusters."""
    return Instance.from_dict(json.loads((FOLDER / f"{workload}.json").read_text("utf-8")))


def mean_base_time(workload: str) -> float:
    """Return the mean base time of the jobs of a workload, s."""
    jobs = instance(workload).jobs
    return float(sum(job.base_time for job in jobs) / len(jobs))


def points(part: str) -> list[Point]:
    """Return the points of a part."""
    if part == "slots":
        continuous = Point(OF_SLOTS, OAS)
        slotted = [Point(OF_SLOTS, OAS, share) for share in SHARES]
        counted = [Point(OF_SLOTS, AGGREGATED, share) for share in SHARES]
        return [
            continuous,
            *slotted,
            *counted,
            *(Point(OF_SLOTS, MILP, share) for share in OF_MILP),
        ]
    return [
        Point(workload, method, share)
        for workload in WORKLOADS
        for method in METHODS
        for share in (OF_FIGURE_4, None)
    ]

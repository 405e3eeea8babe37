"""The schedules of all points: made by a process of their own, kept as they are made."""

from __future__ import annotations

import multiprocessing
import signal
import time
from collections.abc import Iterable
from typing import Any

import pandas as pd

from agents.oas import Answer, approximate, solve, verify
from agents.oas.schedule import Run
from experiments.oas.replaying import compare
from experiments.papers.oas.schedules import (
    AGGREGATED,
    MILP,
    OAS,
    OF_MILP,
    OF_SLOTS,
    SEARCHES,
    SHARES,
    Point,
    instance,
)
from experiments.sweeps.forecast import Forecast
from experiments.sweeps.run_store import Kept
from experiments.sweeps.sweep import Watch

OPTIMAL = "optimal"
"""Status of a schedule of which it is proved that none ends earlier."""


class Outcome:
    """What each point came to: the answer as JSON has it, replayed where OAS has no slots.

    Parameters
    ----------
    time_limit : float
        Wall-clock seconds that a solver may take.
    """

    def __init__(self, time_limit: float) -> None:
        self.time_limit = time_limit
        self._of: dict[Point, dict[str, Any]] = {}

    def run(self, points: Iterable[Point], kept: Kept, watch: Watch) -> None:
        """Schedule what is not kept yet, one after the other, for solvers take all cores.

        A process of its own does it: a solver that gets Ctrl-C itself would call it a day, and its
        schedule the best that it could find.
        """
        keys = {point: point.key(self.time_limit) for point in points}
        done = kept.all()
        left = [point for point, key in keys.items() if key not in done]
        forecast = Forecast([[_estimate(point, self.time_limit)] for point in left])
        watch.begin(len(keys) - len(left), forecast)
        if left:
            tasks = [(point, self.time_limit) for point in left]
            processes = multiprocessing.get_context("spawn")
            with processes.Pool(1, _begin) as pool:
                pool.apply(int)  # what is compiled at its beginning is no part of the first run
                began = time.monotonic()
                for index, answer in enumerate(pool.imap(_scheduled, tasks)):
                    kept.add({keys[left[index]]: answer})
                    before, began = began, time.monotonic()
                    watch.advance(index, [began - before])
            done = kept.all()
        self._of |= {point: done[key] for point, key in keys.items()}

    def __getitem__(self, point: Point) -> dict[str, Any]:
        return self._of[point]

    def makespan(self, point: Point) -> float:
        """Return the makespan of a point, s."""
        return float(self._of[point]["makespan"])

    def is_proved(self, point: Point) -> bool:
        """Tell whether it is proved that no schedule ends earlier than that of a point."""
        return bool(self._of[point]["status"] == OPTIMAL)

    def bound(self, point: Point) -> float:
        """Return what the optimum of a point is not below, s; of a heuristic its own makespan."""
        if point.method != OAS or self.is_proved(point):
            return self.makespan(point)
        return float(self._of[point]["bound"])

    def optima(self) -> dict[str, int]:
        """Return for how many schedules of OAS an optimum was searched, and how often proved."""
        found = [answer for point, answer in self._of.items() if point.method == OAS]
        found += [each["replay"]["links_ignored"] for each in found if "replay" in each]
        proved = sum(each["status"] == OPTIMAL for each in found)
        return {"searched": len(found), "proved": proved}

    def runs(self, point: Point) -> list[Run]:
        """Return the schedule of a point."""
        return [
            Run(run["job"], run["start"], run["finish"], tuple(run["nodes"]))
            for run in self._of[point]["schedule"]
        ]

    def table(self, points: Iterable[Point]) -> pd.DataFrame:
        """Return one row for each point.

        Columns: workload, method, slot (percent of the mean base time, none in continuous time),
        slot_s, status, makespan, bound (s), compaction, solve (s).
        """
        return pd.DataFrame(
            [
                {
                    "workload": point.workload,
                    "method": point.method,
                    "slot": point.share,
                    "slot_s": point.slot,
                    **{name: self._of[point][name] for name in ("status", "makespan", "bound")},
                    "compaction": self._of[point]["compaction"],
                    "solve": self._of[point]["wall_s"],
                }
                for point in points
            ]
        )


def _estimate(point: Point, time_limit: float) -> tuple[str, float]:
    """Return a point's kind, and roughly the time that it takes, s.

    Models in slots take all that they are given in the finest ones, and far less in coarser ones.
    """
    of = {MILP: (min(OF_MILP), 2), AGGREGATED: (min(SHARES), 4)}
    if point.method not in of or point.share is None:
        return point.method, 0.4
    finest, power = of[point.method]
    return point.method, time_limit * (finest / point.share) ** power


def _begin() -> None:
    """Leave Ctrl-C to the parent, which then ends this process; have compiled what is measured."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in ("fcfs", "insertion"):
        approximate(name, instance(OF_SLOTS))
    solve(instance(OF_SLOTS), 1e9, AGGREGATED, 1.0)  # which imports the solver


def _scheduled(task: tuple[Point, float]) -> dict[str, Any]:
    """Return the verified answer of a point, in the worker."""
    point, time_limit = task
    given = instance(point.workload)

    def method(of: Any) -> Answer:
        if point.method in SEARCHES:
            return solve(of, point.slot, point.method, time_limit)
        return approximate(point.method, of, point.slot)

    answer = method(given)
    verify(given, answer)
    told = answer.to_dict()
    if point.share is None and point.workload != OF_SLOTS:
        told["replay"] = compare(given, answer, method).to_dict()
    return told

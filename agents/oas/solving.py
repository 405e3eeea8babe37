"""The best schedule of an instance, how good it is at most, and how that is known."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from agents.numbers import is_real
from agents.oas.instance import LARGEST, SMALLEST, Instance, exact, told
from agents.oas.model import execution_time, obstacles, powers
from agents.oas.scaled import Scaled
from agents.oas.schedule import (
    Decision,
    Run,
    chained,
    compaction,
    held_for,
    makespan,
    printed,
    timetable,
)
from agents.oas.solvers.aggregated import aggregated, entries
from agents.oas.solvers.certificate import no_sum_between
from agents.oas.solvers.cp_sat import cp_sat
from agents.oas.solvers.heuristics import HEURISTICS, heuristic
from agents.oas.solvers.milp import milp
from agents.oas.solvers.solver_result import Found
from agents.oas.verify import ScheduleError, verify
from grid.errors import GridError

SOLVERS = {"cpsat": cp_sat, "milp": milp, "aggregated": aggregated}
IN_SLOTS = ("milp", "aggregated")
"""Solvers of models of time slots."""

CLOSE = Fraction(1, 10**9)
"""Share of a makespan by which it may be above its bound only because durations were rounded."""

LARGEST_MODEL = 2_000_000
"""Jobs x clusters x levels; jobs x nodes x slots x slots; or splits of jobs x slots that each takes
x slots, beyond which no solver is asked."""


@dataclass(frozen=True)
class Answer:
    """A schedule, and what is known of it.

    Attributes
    ----------
    status : str
        ``optimal``: proven, no schedule ends earlier; ``feasible``: not proven; ``infeasible``:
        there is no schedule.
    method : str
        The solver or the heuristic.
    slot : float or None
        Seconds; None in continuous time.
    schedule : list of Run
        Of each job, in order.
    makespan : float or None
        Seconds until the last job has finished, or until the end of its last slot.
    bound : float or None
        No makespan is lower; a heuristic knows none.
    compaction : float or None
        Share of all nodes' time, up to the makespan, in which tasks run.
    wall_s : float
        Seconds that it took.
    why : list of str
        Which jobs can run nowhere, and for which links.
    """

    status: str
    method: str
    slot: float | None
    schedule: list[Run]
    makespan: float | None
    bound: float | None
    compaction: float | None
    wall_s: float
    why: list[str]

    @property
    def gap(self) -> float | None:
        """By which share of the makespan a better one could be lower."""
        if self.makespan is None or self.bound is None:
            return None
        return 1 - self.bound / self.makespan

    def to_dict(self) -> dict[str, Any]:
        """Return the answer, ready for JSON; `verify` holds for it as it is printed."""
        found: dict[str, Any] = {
            "status": self.status,
            "method": self.method,
            "slot": self.slot,
            "makespan": self.makespan,
            "bound": self.bound,
            "gap": self.gap,
            "compaction": self.compaction,
            "wall_s": self.wall_s,
            "schedule": [run.to_dict() for run in self.schedule],
        }
        return found | ({"why": self.why} if self.why else {})


def solve(
    instance: Instance, slot: float | None = None, solver: str = "cpsat", time_limit: float = 60.0
) -> Answer:
    """Return the schedule of the lowest makespan, or the best that is found in time.

    Parameters
    ----------
    instance : Instance
    slot : float, optional
        Seconds. Jobs start when slots do, and hold nodes and bandwidth to the end of their last
        one. By default time is continuous.
    solver : str
        ``cpsat``; or, with a slot, ``milp`` for the model of the paper as printed, or
        ``aggregated`` for one of the same optimum that counts identical nodes.
    time_limit : float
        Wall-clock seconds for the solver.

    Raises
    ------
    GridError
        For an argument out of its range; the message names it.

    Examples
    --------
    >>> from agents.oas import Cluster, Instance, Job
    >>> two = Instance((Cluster(2, 1, 1000),), (Job(2, 60, 10, 0.7), Job(1, 30, 10, 0.7)))
    >>> answer = solve(two)
    >>> answer.status, answer.makespan
    ('optimal', 90.0)
    """
    began = time.perf_counter()
    size = _checked_slot(slot)
    if solver not in SOLVERS:
        raise GridError(f"solver: found {solver!r}; accepted: {', '.join(SOLVERS)}")
    if solver in IN_SLOTS and size is None:
        raise GridError(f"solver: found {solver!r} without a slot; accepted: with one, or 'cpsat'")
    if not (is_real(time_limit) and time_limit > 0):
        raise GridError(f"time_limit: found {told(time_limit)}; accepted: seconds above 0")
    if why := obstacles(instance):
        return Answer("infeasible", solver, slot, [], None, None, None, _since(began), why)
    start = min(
        (heuristic(name, instance, size) for name in HEURISTICS),
        key=lambda each: (
            _exact_makespan(instance, each, size),
            makespan(timetable(instance, each, size)),
        ),
    )
    scaled = Scaled.of(instance, size)
    found = _searched(solver, instance, scaled, _in_units(scaled, start), time_limit)
    decisions = found.decisions
    if not _holds(instance, decisions, size):
        decisions = start  # loads were rounded, and do not fit as they are
    length, known = (_exact_makespan(instance, each, size) for each in (decisions, start))
    if known <= length:  # of schedules that are as good, the same one each time
        decisions, length = start, known
    bound = (found.bound - scaled.raised) * scaled.unit
    proven = bound >= length
    if slot is None and bound < length < bound * (1 + CLOSE):  # all that rounding left
        times = [
            [execution_time(job, power) for power in powers(instance)] for job in instance.jobs
        ]
        proven = no_sum_between(times, bound, length)
    runs = timetable(instance, decisions, size)
    ends = makespan(runs)
    lowest = ends if proven else min(ends, _printed_down(bound))
    status = "optimal" if proven else "feasible"
    return Answer(
        status, solver, slot, runs, ends, lowest, compaction(instance, runs), _since(began), []
    )


def approximate(name: str, instance: Instance, slot: float | None = None) -> Answer:
    """Return the schedule of a heuristic.

    Parameters
    ----------
    name : str
        One of `HEURISTICS`.
    instance : Instance
    slot : float, optional
        Seconds; see `solve`.

    Raises
    ------
    GridError
        For an argument out of its range; the message names it.
    """
    began = time.perf_counter()
    size = _checked_slot(slot)
    if name not in HEURISTICS:
        raise GridError(f"heuristic: found {name!r}; accepted: {', '.join(HEURISTICS)}")
    if why := obstacles(instance):
        return Answer("infeasible", name, slot, [], None, None, None, _since(began), why)
    runs = timetable(instance, heuristic(name, instance, size), size)
    shares = compaction(instance, runs)
    return Answer("feasible", name, slot, runs, makespan(runs), None, shares, _since(began), [])


def _since(began: float) -> float:
    return time.perf_counter() - began


def _checked_slot(slot: float | None) -> Fraction | None:
    if slot is None:
        return None
    if not (is_real(slot) and SMALLEST <= slot <= LARGEST):
        raise GridError(
            f"slot: found {told(slot)}; accepted: seconds, a number above 0 "
            f"({SMALLEST:g} to {LARGEST:.0e})"
        )
    return exact(slot)


def _searched(
    solver: str, instance: Instance, scaled: Scaled, start: Sequence[Decision], time_limit: float
) -> Found:
    """Return what a solver finds; of what is too large for it, what it would start from."""
    theta = max(decision.end for decision in start)
    size = {
        "cpsat": lambda: len(instance.jobs) * len(scaled.durations[0]) * len(scaled.capacities),
        "milp": lambda: len(instance.jobs) * instance.nodes * theta**2,
        "aggregated": lambda: entries(instance, scaled, theta, LARGEST_MODEL),
    }
    if size[solver]() > LARGEST_MODEL:
        return Found(start, max(row[0] for row in scaled.durations))
    return SOLVERS[solver](instance, scaled, start, time_limit)


def _in_units(scaled: Scaled, decisions: Sequence[Decision]) -> list[Decision]:
    """Return decisions with their times in the units of a solver."""
    levels = [
        max(level for level, count in zip(scaled.levels, each.nodes, strict=True) if count)
        for each in decisions
    ]
    durations = [Fraction(scaled.durations[job][level]) for job, level in enumerate(levels)]
    return [
        Decision(int(begin), int(end), each.nodes)
        for (begin, end), each in zip(chained(decisions, durations), decisions, strict=True)
    ]


def _exact_makespan(
    instance: Instance, decisions: Sequence[Decision], slot: Fraction | None
) -> Fraction:
    """Return the makespan in seconds, without rounding."""
    held = [held_for(instance, job, each.nodes, slot) for job, each in enumerate(decisions)]
    return max(finish for _, finish in chained(decisions, held)) * (slot or 1)


def _holds(instance: Instance, decisions: Sequence[Decision], slot: Fraction | None) -> bool:
    try:
        verify(instance, timetable(instance, decisions, slot), slot)
    except ScheduleError:
        return False
    return True


def _printed_down(seconds: Fraction) -> float:
    """Return the largest float that, as it is printed, is no more."""
    return -printed(-seconds)

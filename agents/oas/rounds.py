"""A round of jobs that wait beside others that run: the best schedule found within limits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from agents.oas.instance import Cluster, Instance, Job
from agents.oas.scaled import Scaled
from agents.oas.schedule import Decision
from agents.oas.solvers.cp_sat import cp_sat
from agents.oas.solvers.heuristics import HEURISTICS, heuristic
from grid.jobs import LONGEST
from grid.settings import Checked, setting


@dataclass(frozen=True)
class OasSettings(Checked):
    """Of the rounds of `OasScheduler`."""

    group = "OAS"

    round_jobs: int = setting(
        40,
        "Most waiting jobs that a round optimises, the oldest ones.",
        least=1,
        most=1_000_000_000,
    )
    round_time: float = setting(
        0.1,
        "What CP-SAT may take for a round; 0: the best heuristic schedule is taken.",
        unit="s",
        least=0,
        most=LONGEST,
    )
    round_clock: str = setting(
        "deterministic",
        "Whether round_time counts what CP-SAT computes, so that runs can be repeated; or, wall, "
        "time as it passes, so that they cannot.",
        choices=("deterministic", "wall"),
    )


FINENESS = 10_000
"""Units in the longest time of a round: predictions are no finer."""

ROUND_EFFORT = 100_000
"""Of the insertion heuristic: a fortieth of what it takes for a single instance."""


class Waiting(NamedTuple):
    """A job that waits: its tasks, s on nodes of effective power 1, Mbit/s of each task."""

    tasks: int
    time: float
    bandwidth: float


class Running(NamedTuple):
    """A job that runs: the nodes that it holds of each cluster, s until its end, Mbit/s."""

    nodes: tuple[int, ...]
    left: float
    bandwidth: float


def plan_round(
    clusters: Sequence[Cluster],
    waiting: Sequence[Waiting],
    running: Sequence[Running],
    settings: OasSettings,
) -> list[Decision]:
    """Return when and where waiting jobs run, so that the last of them ends earliest.

    What runs keeps its nodes and bandwidth until it ends. The schedule is that of CP-SAT if it
    finds a better one than all heuristics within its limit, else the best of theirs.

    Parameters
    ----------
    clusters : sequence of Cluster
    waiting : sequence of Waiting
        Each of which can run when nothing else does.
    running : sequence of Running
    settings : OasSettings

    Returns
    -------
    list of Decision
        Of each waiting job, in units that tell the order.
    """
    longest = max(*(job.time for job in waiting), *(job.left for job in running), 0.0)
    unit = longest / FINENESS or 1.0
    held = [_rounded(sum(j.nodes), j.left / unit, j.bandwidth, sigma=0) for j in running]
    jobs = [_rounded(j.tasks, j.time / unit, j.bandwidth, sigma=1) for j in waiting]
    instance = Instance(tuple(clusters), (*held, *jobs))
    count = len(held)
    scaled = Scaled.of(instance, up=True)
    pinned = [
        Decision(0, row[0], job.nodes) for row, job in zip(scaled.durations, running, strict=False)
    ]
    found = [heuristic(name, instance, None, pinned, ROUND_EFFORT) for name in HEURISTICS]
    best = min(found, key=lambda decisions: max(each.end for each in decisions[count:]))
    if settings.round_time > 0 and not _is_lowest(best, scaled, count):
        limit, repeatable = settings.round_time, settings.round_clock == "deterministic"
        proposed = cp_sat(instance, scaled, best, limit, repeatable, count).decisions
        if max(each.end for each in proposed) < max(each.end for each in best):
            best = list(proposed)
    return best[count:]


def _rounded(tasks: int, units: float, bandwidth: float, sigma: int) -> Job:
    """Return a job of round numbers; without processing time it takes as long on all nodes."""
    mbps = Fraction(math.floor(bandwidth * FINENESS), FINENESS)
    return Job(tasks, Fraction(max(1, math.ceil(units))), mbps, Fraction(sigma))


def _is_lowest(decisions: Sequence[Decision], scaled: Scaled, pinned: int) -> bool:
    """Tell whether the schedule is as short as its longest job on the fastest nodes."""
    shortest = max(row[0] for row in scaled.durations[pinned:])
    return max(each.end for each in decisions[pinned:]) <= shortest or len(decisions) == pinned + 1

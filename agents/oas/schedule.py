"""A schedule as it is told: when each job runs, and where, in numbers that hold as printed."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from agents.oas.instance import Instance, exact
from agents.oas.model import run_time, slots


@dataclass(frozen=True)
class Run:
    """When a job holds nodes, and how many of each cluster.

    Attributes
    ----------
    job : int
        Its index, from 0.
    start, finish : float
        Seconds.
    nodes : tuple of int
        Of each cluster.
    """

    job: int
    start: float
    finish: float
    nodes: tuple[int, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the run, ready for JSON."""
        return asdict(self) | {"nodes": list(self.nodes)}


class Decision(NamedTuple):
    """What a solver decides of a job: where it runs, and which jobs it follows.

    `begin` and `end` are whole numbers that tell the order only: a job that begins when another one
    ends, or later, follows it.
    """

    begin: int
    end: int
    nodes: tuple[int, ...]


def printed(seconds: Fraction) -> float:
    """Return the least float that, as it is printed, is no less.

    Examples
    --------
    >>> printed(Fraction(1, 10)), printed(Fraction(2, 3))
    (0.1, 0.6666666666666667)
    """
    number = float(seconds)
    while exact(number) < seconds:
        number = math.nextafter(number, math.inf)
    return number


def timetable(
    instance: Instance, decisions: Sequence[Decision], slot: Fraction | None = None
) -> list[Run]:
    """Return the schedule in which each job starts as soon as those that it follows have finished.

    What could run at the same time still does, or less of it: if any two of some jobs overlapped,
    so did all of them at some moment. Jobs start at 0 or when others finish, so that the makespan
    is a sum of execution times.

    Parameters
    ----------
    instance : Instance
    decisions : sequence of Decision
        Of each job.
    slot : Fraction, optional
        Seconds; starts and finishes are rounded up to slots.
    """
    finishes = chained(
        decisions,
        [held_for(instance, job, each.nodes, slot) for job, each in enumerate(decisions)],
        slot is None,
    )
    runs = []
    for job, (start, finish) in enumerate(finishes):
        if slot is not None:
            start, finish = start * slot, finish * slot
        runs.append(Run(job, printed(start), printed(finish), decisions[job].nodes))
    return runs


def held_for(instance: Instance, job: int, nodes: Sequence[int], slot: Fraction | None) -> Fraction:
    """Return how long a job holds its nodes, in seconds or in slots."""
    seconds = run_time(instance, job, nodes)
    return seconds if slot is None else Fraction(slots(seconds, slot))


def chained(
    decisions: Sequence[Decision], durations: Sequence[Fraction], to_print: bool = False
) -> list[tuple[Fraction, Fraction]]:
    """Return the start and finish of jobs that start as soon as those they follow have finished.

    Parameters
    ----------
    decisions : sequence of Decision
    durations : sequence of Fraction
        Of each job.
    to_print : bool
        Each finish is what will be printed of it, and so is what follows.
    """
    ended = sorted(range(len(decisions)), key=lambda job: decisions[job].end)
    ends = [decisions[job].end for job in ended]
    latest = [Fraction(0)]  # finish of the first i that end
    times: list[tuple[Fraction, Fraction]] = [(Fraction(0), Fraction(0))] * len(decisions)
    known = 0
    for job in sorted(range(len(decisions)), key=lambda job: decisions[job].begin):
        before = bisect_right(ends, decisions[job].begin)
        while known < before:
            latest.append(max(latest[-1], times[ended[known]][1]))
            known += 1
        start = latest[before]
        finish = start + durations[job]
        times[job] = start, exact(printed(finish)) if to_print else finish
    return times


def makespan(runs: Sequence[Run]) -> float:
    """Return when the last job finishes, in seconds."""
    return max(run.finish for run in runs)


def compaction(instance: Instance, runs: Sequence[Run]) -> float:
    """Return the share of all nodes' time, up to the makespan, in which tasks run.

    Nodes that are held to the end of a slot by a job that has finished are idle then.
    """
    work = sum(
        instance.jobs[run.job].tasks * run_time(instance, run.job, run.nodes) for run in runs
    )
    return float(work / (instance.nodes * exact(makespan(runs))))

"""How short a round of jobs that has gone could have been at best.

The optimum of a round is the least time from its dispatch until the last of its jobs has finished,
over all schedules in which

- the same jobs run on the same clusters, none before messages could have brought it there from the
  dispatch on, each for as long as it takes there without waiting for data or for links;
- each runs whole on one cluster if it fits there, or, if such jobs of the run were split, is split
  in any way; no link is too narrow for that, and being split costs nothing;
- what was dispatched before stays where and when it ran, whether it had started by then or not,
  and what was dispatched later takes nothing away;
- processors that were away, which count as jobs that were dispatched before, stay away.

The round as it went is one of these schedules, only that it may have lasted longer than need be. So
no round is shorter than its optimum, nor than a bound of that. Where the best schedule splits or
moves a job that takes longer so, nobody could have kept to it: its length is a bound, no optimum.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from agents.oas.instance import Cluster, Instance, Job
from agents.oas.scaled import Scaled
from agents.oas.schedule import Decision
from agents.oas.solvers.cp_sat import cp_sat

UNITS = 10**9
"""Units in a round at most: its times are whole ones, rounded down if they are not."""

EXACT = 2**53
"""Units up to which clocks count without rounding."""


@dataclass(frozen=True)
class Went:
    """A job as it went.

    Attributes
    ----------
    runtime : float
        Seconds on a cluster of rate 1.
    start, finish : float
        Seconds.
    nodes : tuple of int
        Of each cluster.
    slowed : bool
        It takes longer if it is split.
    home : int or None
        Cluster on which it need not wait for its data; None: on none it waits.
    delays : tuple of float
        Seconds from the dispatch until it can start on each cluster at the earliest; empty: 0.
    """

    runtime: float
    start: float
    finish: float
    nodes: tuple[int, ...]
    slowed: bool = False
    home: int | None = None
    delays: tuple[float, ...] = ()

    def costs(self, nodes: Sequence[int]) -> bool:
        """Return whether it takes longer on these nodes of each cluster than they are slow."""
        used = [cluster for cluster, count in enumerate(nodes) if count]
        return (self.slowed and len(used) > 1) or (self.home is not None and used != [self.home])


@dataclass(frozen=True)
class Yardstick:
    """What is known of the optimum of a round.

    Attributes
    ----------
    makespan : float
        Of the round as it went, seconds from the dispatch.
    best : float
        Of the best schedule that was found, seconds.
    bound : float
        No schedule is shorter, seconds.
    proven : bool
        The bound is the optimum.
    relaxed : bool
        The best schedule that was found ignores what splitting or moving its jobs costs, so that
        the round as it went is the best that is known to be possible.
    """

    makespan: float
    best: float
    bound: float
    proven: bool
    relaxed: bool = False

    @property
    def gap(self) -> float:
        """Share of its makespan that the round is above the bound by."""
        return 1 - self.bound / self.makespan if self.makespan > 0 else 0.0


def measure(
    sizes: Sequence[int],
    rates: Sequence[float],
    dispatched: float,
    jobs: Sequence[Went],
    earlier: Sequence[Went] = (),
    whole: bool = True,
    time_limit: float = 10.0,
) -> Yardstick:
    """Compare a round with its optimum (see above), or with the best bound that is found.

    Parameters
    ----------
    sizes, rates : sequence of int, of float
        Nodes of each cluster, and their speed.
    dispatched : float
        Seconds.
    jobs : sequence of Went
        Those of the round, at least one.
    earlier : sequence of Went
        Jobs dispatched before it.
    whole : bool
        No job is split that fits on a cluster.
    time_limit : float
        Wall-clock seconds for CP-SAT.

    Examples
    --------
    >>> jobs = [Went(2.0, 0.0, 2.0, (1, 0)), Went(3.0, 2.0, 5.0, (1, 0))]
    >>> measure([1, 1], [1.0, 0.5], 0.0, jobs)
    Yardstick(makespan=5.0, best=4.0, bound=4.0, proven=True, relaxed=False)
    """
    last = max(job.finish for job in jobs)
    makespan = last - dispatched
    if not makespan:
        return Yardstick(makespan, makespan, makespan, True)
    held = [job for job in earlier if dispatched < job.finish and job.start < last]
    rising = sorted(set(rates), reverse=True)
    levels = [rising.index(rate) for rate in rates]
    unit, exact = _unit(dispatched, last, held, jobs, rates)
    # Of clocks, by which one job may seem to begin before another ends.
    rounding = 0.0 if exact else 4 * math.ulp(last)

    def units(seconds: Fraction) -> int:
        return max(0, math.floor(seconds / unit))

    durations, start, releases = [], [], []
    for index, job in enumerate((*held, *jobs)):
        begin = max(job.start, dispatched)
        ran = Fraction(min(job.finish, last)) - Fraction(begin) - Fraction(rounding)
        level = max(of for of, count in zip(levels, job.nodes, strict=True) if count)
        times = [Fraction(job.runtime / rate) for rate in rising]
        times[level] = min(times[level], ran)
        row = [units(ran if index < len(held) else time) for time in times]
        durations.append(row)
        first = units(Fraction(begin) - Fraction(dispatched))
        start.append(Decision(first, first + row[level], job.nodes))
        if index >= len(held):
            of_job = [units(Fraction(delay)) for delay in job.delays or [0.0] * len(sizes)]
            of_job = [min(r, first) if n else r for r, n in zip(of_job, job.nodes, strict=True)]
            releases.append(of_job)
    widest = max(sizes)
    tasks = [sum(job.nodes) for job in (*held, *jobs)]
    scaled = Scaled(
        levels,
        durations,
        [[0] * (min(n, widest) + 1) for n in tasks],
        [0] * len(sizes),
        unit,
        raised=0,
        exact_times=exact,
        exact_loads=True,
    )
    instance = Instance(
        tuple(Cluster(size, Fraction(1), Fraction(1)) for size in sizes),
        tuple(Job(n, Fraction(1), Fraction(0), Fraction(1)) for n in tasks),
    )
    found = cp_sat(
        instance,
        scaled,
        start,
        time_limit,
        pinned=len(held),
        whole=whole,
        releases=releases,
    )
    shortest = max(each.end for each in found.decisions[len(held) :])
    left = 0 if exact else 2 * len(jobs)
    if found.bound >= Fraction(makespan) / unit - left:
        return Yardstick(makespan, makespan, makespan, True)  # all that rounding left
    best, bound = (min(makespan, float(each * unit)) for each in (shortest, found.bound))
    planned = found.decisions[len(held) :]
    if any(job.costs(each.nodes) for job, each in zip(jobs, planned, strict=True)):
        return Yardstick(makespan, makespan, bound, False, relaxed=True)
    return Yardstick(makespan, best, bound, found.bound >= shortest)


def _unit(
    dispatched: float,
    last: float,
    held: Sequence[Went],
    jobs: Sequence[Went],
    rates: Sequence[float],
) -> tuple[Fraction, bool]:
    """Return the unit of a round's times, s, and whether they are whole ones, not rounded."""
    ends = [time for job in (*held, *jobs) for time in (job.start, job.finish)]
    inside = [min(max(dispatched, time), last) for time in ends]
    lengths = [job.runtime / rate for job in jobs for rate in set(rates)]
    delays = {delay for job in jobs for delay in job.delays}
    times = map(Fraction, (dispatched, last, *inside, *lengths, *delays))
    unit = Fraction(1, math.lcm(*(each.denominator for each in times)))
    exact = last <= EXACT * unit and last - dispatched <= UNITS * unit
    return (unit, True) if exact else (Fraction(last - dispatched) / UNITS, False)

"""What a cluster's administrator may choose among: no schedule is better in every metric.

DEAP's NSGA-II over over-deadline, makespan and idle-time, the three metrics that `muscle`, eq. 1
combines by weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from deap import base, tools

from agents.schedule import Placement
from agents.titan.decoding import Problem, Scoring, metrics, schedule, scoring
from agents.titan.genetic import evolve
from agents.titan.operators import Individual, order_crossover, perturbation
from agents.titan.scheduler import pose, stream_of
from agents.titan.settings import Settings
from grid.errors import GridError
from grid.streams import Stream, below, uniform

WEIGHTS = (
    (1, 0),
    (64, 1),
    (16, 1),
    (4, 1),
    (2, 1),
    (1, 1),
    (1, 2),
    (1, 4),
    (1, 16),
    (1, 64),
    (0, 1),
)
"""Weights (Wo, Wm) whose best schedules the first generation holds."""

CROSSOVER = 0.5
"""Probability that a pair is crossed."""


@dataclass(frozen=True)
class Compromise:
    """A schedule that none betters in one metric without being worse in another.

    Attributes
    ----------
    over_deadline : float
        Time that jobs end after their deadlines, seconds, summed.
    makespan : float
        Latest end, seconds after the dispatch.
    idle_time : float
        Processor-seconds that no job uses up to the makespan.
    schedule : list of Placement
        Every job once.
    """

    over_deadline: float
    makespan: float
    idle_time: float
    schedule: list[Placement]


class _MetricsFitness(base.Fitness):  # type: ignore[misc]  # DEAP has no types
    weights = (-1.0, -1.0, -1.0)


class _Candidate(Individual):
    fitness_class = _MetricsFitness


def pareto_front(
    sizes: npt.ArrayLike,
    execution_times: npt.ArrayLike,
    deadlines: npt.ArrayLike,
    processors: int,
    *,
    population: int = 60,
    generations: int = 100,
    release: npt.ArrayLike | None = None,
    rng: np.random.Generator | int | None = None,
) -> list[Compromise]:
    """Return schedules of jobs on one cluster among which only preferences decide.

    Parameters
    ----------
    sizes, execution_times, deadlines : array_like, shape (jobs,)
        Processors, seconds, and seconds after the dispatch (inf: none).
    processors : int
        Of the cluster.
    population : int
        Schedules in a generation, at least 2.
    generations : int
        Generations after the first, from 0.
    release : array_like, shape (processors,), optional
        When each processor is free, seconds after the dispatch; by default at once.
    rng : numpy.random.Generator or int, optional
        Source of randomness, or a seed; 0 by default.

    Returns
    -------
    list of Compromise
        By over-deadline, the lowest first.

    Raises
    ------
    GridError
        For an argument that cannot be used; the message names it.

    Notes
    -----
    NSGA-II [1]_, from the best schedules that TITAN finds for some weights and random ones. All
    jobs run, so on a cluster that is free at once idle-time is processors x makespan - work: the
    front is a curve.

    References
    ----------
    .. [1] K. Deb, A. Pratap, S. Agarwal, T. Meyarivan, "A fast and elitist multiobjective genetic
       algorithm: NSGA-II", IEEE Trans. Evolutionary Computation 6(2), 2002.

    Examples
    --------
    >>> front = pareto_front([2, 1, 1], [2.0, 3.0, 3.0], [6.0, 3.0, 4.0], processors=2)
    >>> [(each.over_deadline, each.makespan, each.idle_time) for each in front]
    [(0.0, 5.0, 0.0)]
    >>> front = pareto_front([1, 1, 1], [2.0, 3.0, 5.0], [2.0, 3.0, 9.0], processors=2)
    >>> [(each.over_deadline, each.makespan, each.idle_time) for each in front]
    [(0.0, 7.0, 4.0), (2.0, 5.0, 0.0)]
    """
    problem = pose(sizes, execution_times, deadlines, processors, release)
    if generations < 0:
        raise GridError(f"generations: found {generations!r}; accepted is an integer >= 0")
    numbers = stream_of(rng)
    toolbox = _toolbox(scoring(problem, (1, 1, 1), "total"), numbers)
    members = _first(problem, Settings(population=population), numbers)
    front = tools.ParetoFront(similar=lambda one, other: True)
    for generation in range(generations + 1):
        for member in members:
            if not member.fitness.valid:
                member.fitness.values = toolbox.evaluate(member)
        front.update(members)
        # Schedules equal in all metrics are one compromise: copies would crowd out others.
        distinct = {member.fitness.values: member for member in members}
        members = toolbox.select(list(distinct.values()), population)
        if generation < generations and len(problem) > 1:
            members += _children(members, population, toolbox, numbers)
    found = sorted(front, key=lambda member: member.fitness.values)
    choice = []
    for member in found:
        over_deadline, makespan, idle_time = member.fitness.values
        placements = schedule(problem, member)
        choice.append(Compromise(over_deadline, makespan, idle_time, placements))
    return choice


def _toolbox(judge: Scoring, stream: Stream) -> base.Toolbox:
    toolbox = base.Toolbox()
    toolbox.register("evaluate", _evaluate, judge=judge)
    toolbox.register("select", tools.selNSGA2)
    toolbox.register("mate", order_crossover, stream=stream)
    toolbox.register("mutate", perturbation, stream=stream)
    return toolbox


def _evaluate(candidate: Individual, judge: Scoring) -> tuple[float, ...]:
    # Rounded, so that sums in another order are no other compromise.
    return tuple(float(f"{value:.12g}") for value in metrics(candidate.row, judge))


def _first(problem: Problem, settings: Settings, stream: Stream) -> list[_Candidate]:
    """Return TITAN's answers to some weights, and as many random orders as there is room for."""
    orders: list[Sequence[int]] = []
    for over_deadline, makespan in WEIGHTS[: settings.population]:
        weighted = replace(settings, weights=(over_deadline, makespan, 0))
        orders.append(evolve(problem, weighted, stream).order)
    while len(orders) < settings.population:
        orders.append(_shuffled(len(problem), stream))
    return [_Candidate(order) for order in orders]


def _shuffled(jobs: int, stream: Stream) -> list[int]:
    keys = [uniform(stream) for _ in range(jobs)]
    return sorted(range(jobs), key=keys.__getitem__)


def _children(
    parents: Sequence[_Candidate], count: int, toolbox: base.Toolbox, stream: Stream
) -> list[_Candidate]:
    children = [toolbox.clone(_winner(parents, stream)) for _ in range(count)]
    for a, b in zip(children[::2], children[1::2], strict=False):
        if uniform(stream) < CROSSOVER:
            toolbox.mate(a, b)
    for child in children:
        toolbox.mutate(child)
        del child.fitness.values
    return children


def _winner(parents: Sequence[_Candidate], stream: Stream) -> _Candidate:
    """Return the better of two: that which dominates, else that in the emptier place.

    As DEAP's own tournament, which draws from Python's global random numbers.
    """
    a, b = (parents[below(stream, len(parents))] for _ in range(2))
    if a.fitness.dominates(b.fitness):
        return a
    if b.fitness.dominates(a.fitness):
        return b
    return a if a.fitness.crowding_dist >= b.fitness.crowding_dist else b

"""The genetic algorithm of TITAN (`muscle`, section 3) on DEAP's machinery.

With the default operators a whole generation is one compiled call over arrays; with an operator
of the user's the same loop goes individual by individual through the Toolbox. Both ways draw the
same random numbers in the same order.
"""

from __future__ import annotations

import functools
import itertools
import math
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from deap import base, tools

from agents.titan.columns import Resources, check_resources, row_of
from agents.titan.decoding import (
    Integers,
    Problem,
    Scoring,
    lower_bound,
    schedule,
    scoring,
)
from agents.titan.operators import OPERATORS, default_toolbox
from agents.titan.orders import first_generation
from agents.titan.populations import Arrays, Individuals
from agents.titan.settings import Settings
from grid.errors import GridError
from grid.streams import Stream


@dataclass(frozen=True)
class Outcome:
    """What a search found.

    Attributes
    ----------
    order : tuple of int
        The best order.
    resources : sequence of sequence of int
        Two-dimensional coding: processors of each job, by its number.
    cp : float
        Its CP, seconds.
    generations : int
        Generations bred after the first.
    logbook : deap.tools.Logbook
        One record a generation: ``gen``, and ``min`` and ``mean`` of CP.
    hall : deap.tools.HallOfFame
        The best individual.
    """

    order: tuple[int, ...]
    resources: Resources
    cp: float
    generations: int
    logbook: tools.Logbook
    hall: tools.HallOfFame


_FEW_JOBS = 7
"""Most jobs that are tried in every order."""


@functools.cache
def _every_order(jobs: int) -> Integers:
    return np.array(list(itertools.permutations(range(jobs))), np.int64)


@contextmanager
def _python_drawing_from(stream: Stream) -> Iterator[None]:
    """Have Python's `random`, from which DEAP's own operators draw, follow from a stream."""
    before = random.getstate()
    random.seed(stream.tobytes())
    try:
        yield
    finally:
        random.setstate(before)


def _has_any(toolbox: base.Toolbox | None, operators: Sequence[str]) -> bool:
    return any(hasattr(toolbox, name) for name in operators)


def _limits(settings: Settings, jobs: int, toolbox: base.Toolbox | None) -> tuple[int, int]:
    """Return how many generations are bred, and orders tried whenever that has stalled."""
    if settings.generations is not None:
        return settings.generations, 0
    limit = max(1, settings.effort // max(1, settings.population * jobs))
    lowers_cp = settings.coding == "order" and not hasattr(toolbox, "evaluate")
    improvable = lowers_cp or hasattr(toolbox, "improve")
    return limit, min(settings.moves, settings.effort // max(1, jobs)) if improvable else 0


def _tries_all(settings: Settings, jobs: int, limit: int, toolbox: base.Toolbox | None) -> bool:
    """Tell whether the jobs are so few that every order is tried instead of breeding."""
    if limit == 0 or jobs > _FEW_JOBS or settings.coding == "two-dimensional":
        return False
    most = settings.population * (1 + min(settings.patience, limit))
    return math.factorial(jobs) <= most and not _has_any(toolbox, OPERATORS[1:])


def _seed_resources(
    problem: Problem, judge: Scoring, order: list[int], given: Resources
) -> Resources:
    """Return the processors of each job in the first schedule, if the coding has any."""
    if judge.columns[-1] == judge.columns[0]:
        return ()
    placed = sorted(schedule(problem, order), key=lambda placement: placement.job)
    seed = given or [placement.resources for placement in placed]
    check_resources("seed_resources", seed, problem.sizes, judge.processors)
    return seed


class _Records:
    """The records of a search: its generations, and the best schedule of all."""

    def __init__(self) -> None:
        self.logbook, self.hall = tools.Logbook(), tools.HallOfFame(1)
        self.lowest = math.inf

    def add(self, generation: int, population: Arrays | Individuals) -> float:
        """Record a generation; return its best CP."""
        cps = population.performances()
        best = min(cps)
        self.logbook.record(gen=generation, min=best, mean=math.fsum(cps) / len(cps))
        if best < self.lowest:
            self.lowest = best
            self.hall.update([population.best()])
        return best


class _Stop(NamedTuple):
    """What ends a search."""

    settings: Settings  # threshold and patience
    limit: int  # generations
    moves: int  # orders that a local search tries when breeding has stalled
    bound: float  # CP that no schedule betters


def _search(
    population: Arrays | Individuals, stop: _Stop, records: _Records, generation: int
) -> int:
    """Breed generations, from one of this number on; return the number of the last."""
    settings, limit, moves, bound = stop
    target, stalled = math.inf, 0
    while True:
        best = records.add(generation, population)
        stalled += 1
        if best < target:
            target = best - settings.threshold * abs(best)
            stalled = 0
        if generation >= limit or best <= bound:
            return generation
        if stalled >= settings.patience:
            if not (moves and population.improve(moves, generation)):
                return generation
            limit -= moves // settings.population  # as much effort
        generation += 1
        population.breed(generation)


def evolve(
    problem: Problem,
    settings: Settings,
    stream: Stream,
    seed_order: Sequence[int] | None = None,
    toolbox: base.Toolbox | None = None,
    seed_resources: Resources = (),
) -> Outcome:
    """Search for the schedule of lowest CP.

    The first generation is the seed and random schedules. When breeding has stalled, a local search
    goes on from the best; when that finds nothing better, the search is over. It also stops by
    `settings`, and at once when the CP is as low as if every job were alone on the cluster. Up to 7
    jobs are tried in every order instead, where that takes no more orders than the patience alone
    would and no operator that breeds is a user's: the first generation is then the seed, or the
    jobs as given, and the second one all orders.

    Parameters
    ----------
    problem : Problem
        The jobs and the cluster.
    settings : Settings
        How to search.
    stream : Stream
        Where random numbers come from; it advances.
    seed_order : sequence of int, optional
        Every job once, in the order of the seed schedule; the outcome is never worse. Without
        it all of the first generation is random.
    toolbox : deap.base.Toolbox, optional
        Its `OPERATORS`, as far as registered, and its ``map`` and ``clone`` replace TITAN's own.
        An ``evaluate`` of the user's goes without TITAN's local search, which lowers CP.
    seed_resources : sequence of sequence of int, optional
        Two-dimensional coding: processors of each job in the seed schedule, by number of the job;
        by default those that are free first.

    Raises
    ------
    GridError
        For a seed that is no schedule of the jobs; when a user's evaluate returns anything but one
        finite number, or a user's operator anything but as many schedules.

    Examples
    --------
    >>> from grid.streams import stream
    >>> jobs = Problem([2, 1, 1], [4.0, 3.0, 1.0], [9.0, 9.0, 1.0], [0.0, 0.0])
    >>> evolve(jobs, Settings(), stream(0, "titan")).order
    (1, 2, 0)
    """
    jobs = len(problem)
    first = list(range(jobs)) if seed_order is None else list(seed_order)
    if sorted(first) != list(range(jobs)):
        raise GridError(f"seed_order: found {first}; accepted is every job from 0 once")
    judge = scoring(problem, settings.weights, settings.idle, settings.coding)
    limit, moves = _limits(settings, jobs, toolbox)
    if exhaustive := _tries_all(settings, jobs, limit, toolbox):
        rows = np.array(first, np.int64)[_every_order(jobs)]
        random_from, limit = len(rows), 1
    else:
        seed = _seed_resources(problem, judge, first, seed_resources)
        rows = np.tile(row_of(first, seed), (settings.population, 1))
        random_from = 0 if seed_order is None else 1
        limit = limit if jobs else 0
    cps = np.empty(len(rows))
    first_generation(rows, cps, random_from, judge, stream)
    bound = -math.inf
    if not (exhaustive or hasattr(toolbox, "evaluate")):
        bound = lower_bound(problem, settings.weights, settings.idle)
        bound += 1e-9 * bound  # summed in another order
    population: Arrays | Individuals
    own_operators = _has_any(toolbox, OPERATORS)
    if own_operators:
        own = default_toolbox(judge, stream)
        vars(own).update(vars(toolbox))
        population = Individuals(rows, settings, judge, own, stream)
    else:
        population = Arrays(rows, cps, settings, judge, stream)
    records = _Records()
    if exhaustive:
        given = population.performances()[0]
        records.logbook.record(gen=0, min=given, mean=given)
    stop = _Stop(settings, limit, moves, bound)
    with _python_drawing_from(stream) if own_operators else nullcontext():
        generation = _search(population, stop, records, int(exhaustive))
    logbook, hall = records.logbook, records.hall
    return Outcome(tuple(hall[0]), hall[0].resources, records.lowest, generation, logbook, hall)

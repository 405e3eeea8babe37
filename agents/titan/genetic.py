"""The genetic algorithm of TITAN (`muscle`, section 3) on DEAP's machinery.

With the default operators a whole generation is one compiled call over arrays; with an operator
of the user's the same loop goes individual by individual through the Toolbox. Both ways draw the
same random numbers in the same order.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from deap import base, tools

from agents.titan.columns import Resources, check_resources, row_of
from agents.titan.decoding import Integers, Problem, lower_bound, schedule, scoring
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
    coded = settings.coding == "two-dimensional"
    first = list(range(jobs)) if seed_order is None else list(seed_order)
    if sorted(first) != list(range(jobs)):
        raise GridError(f"seed_order: found {first}; accepted is every job from 0 once")
    judge = scoring(problem, settings.weights, settings.idle, settings.coding)
    improvable = hasattr(toolbox, "improve") or not (coded or hasattr(toolbox, "evaluate"))
    moves = min(settings.moves, settings.effort // max(1, jobs)) if improvable else 0
    limit = max(1, settings.effort // max(1, settings.population * jobs))
    if settings.generations is not None:
        limit, moves = settings.generations, 0
    most = settings.population * (1 + min(settings.patience, limit))
    few = limit > 0 and jobs <= _FEW_JOBS and math.factorial(jobs) <= most
    bred_by_user = any(hasattr(toolbox, name) for name in OPERATORS[1:])
    if exhaustive := few and not (coded or bred_by_user):
        rows = np.array(first, np.int64)[_every_order(jobs)]
        random_from, limit = len(rows), 1
    else:
        seed: Resources = ()
        if coded:
            placed = sorted(schedule(problem, first), key=lambda placement: placement.job)
            seed = seed_resources or [placement.resources for placement in placed]
            check_resources("seed_resources", seed, problem.sizes, judge.processors)
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
    if toolbox is None or not any(hasattr(toolbox, name) for name in OPERATORS):
        population = Arrays(rows, cps, settings, judge, stream)
    else:
        own = default_toolbox(judge, stream)
        vars(own).update(vars(toolbox))
        population = Individuals(rows, settings, judge, own, stream)

    statistics, logbook, hall = tools.Statistics(), tools.Logbook(), tools.HallOfFame(1)
    statistics.register("min", min)
    statistics.register("mean", lambda values: math.fsum(values) / len(values))
    lowest = target = math.inf
    stalled = 0
    if exhaustive:
        given = population.performances()[0]
        logbook.record(gen=0, min=given, mean=given)
    for generation in itertools.count(int(exhaustive)):
        record = statistics.compile(population.performances())
        logbook.record(gen=generation, **record)
        best = record["min"]
        if best < lowest:
            lowest = best
            hall.update([population.best()])
        stalled += 1
        if best < target:
            target = best - settings.threshold * abs(best)
            stalled = 0
        if generation >= limit or best <= bound:
            break
        if stalled >= settings.patience:
            if not (moves and population.improve(moves, generation)):
                break
            limit -= moves // settings.population  # as much effort
        population.breed(generation + 1)
    return Outcome(tuple(hall[0]), hall[0].resources, lowest, generation, logbook, hall)

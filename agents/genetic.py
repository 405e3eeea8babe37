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
from numbers import Real
from typing import Any

import numpy as np
from deap import base, tools

from agents.decoding import Integers, Problem, Scoring, lower_bound, score, scoring
from agents.orders import chance, cross, first_generation, next_generation, perturb, spin
from grid.errors import GridError
from grid.performance import check_idle, check_weights
from grid.streams import Stream

OPERATORS = ("evaluate", "select", "mate", "mutate")
"""What a user may register on a Toolbox, with DEAP's own conventions.

``evaluate(individual) -> (cp,)``, ``select(individuals, k) -> list``, ``mate(a, b) -> (a, b)``
and ``mutate(a) -> (a,)``; mate and mutate may change their arguments, which are copies.
"""


@dataclass(frozen=True)
class Settings:
    """How TITAN searches.

    Attributes
    ----------
    population : int
        Orders in a generation, at least 2.
    patience : int
        Stop after so many generations without an improvement, at least 1.
    threshold : float
        Least relative decrease of the best CP that counts as an improvement, in [0, 1).
    generations : int or None
        Most generations after the first; None derives it from `effort`.
    effort : int
        Most jobs placed in one search (population x jobs x generations) when `generations` is
        None: it bounds the time for long queues. A million take 20 to 30 ms.
    elite : float
        Share of the population that survives unchanged, in [0, 1), at least one: the best orders,
        one for each distinct CP.
    crossover, mutation : float
        Probabilities that a pair is crossed, and that a child is mutated, in [0, 1].
    weights : sequence of float
        (Wo, Wm, Wi) of eq. 1.
    idle : {"total", "mean"}
        Reading of idle-time.

    Raises
    ------
    GridError
        For a value outside its range.
    """

    population: int = 50
    patience: int = 500
    threshold: float = 1e-4
    generations: int | None = None
    effort: int = 4_000_000
    elite: float = 0.4
    crossover: float = 0.3
    mutation: float = 1.0
    weights: Sequence[float] = (4.0, 3.0, 1.0)
    idle: str = "total"

    def __post_init__(self) -> None:
        check_weights(self.weights)
        check_idle(self.idle)
        for name, accepted, valid in (
            ("population", "an integer >= 2", _whole(self.population, 2)),
            ("patience", "an integer >= 1", _whole(self.patience, 1)),
            ("effort", "an integer >= 1", _whole(self.effort, 1)),
            (
                "generations",
                "an integer >= 0 or None",
                self.generations is None or _whole(self.generations, 0),
            ),
            ("threshold", "a number in [0, 1)", 0 <= self.threshold < 1),
            ("elite", "a number in [0, 1)", 0 <= self.elite < 1),
            ("crossover", "a number in [0, 1]", 0 <= self.crossover <= 1),
            ("mutation", "a number in [0, 1]", 0 <= self.mutation <= 1),
        ):
            if not valid:
                raise GridError(f"{name}: found {getattr(self, name)!r}; accepted is {accepted}")


def _whole(value: Any, least: int) -> bool:
    return isinstance(value, (int, np.integer)) and bool(value >= least)


class CpFitness(base.Fitness):  # type: ignore[misc]  # DEAP has no types
    """Fitness of an order: its CP, to be minimised."""

    weights = (-1.0,)


class Individual(list[int]):
    """An order of jobs with the fitness that DEAP expects.

    A list, so that DEAP's own operators on permutations work on it.
    """

    def __init__(self, order: Sequence[int], values: tuple[float, ...] = ()) -> None:
        super().__init__(order)
        self.fitness = CpFitness(values)

    def __deepcopy__(self, memo: dict[int, Any]) -> Individual:
        return Individual(self, self.fitness.values)

    @property
    def cp(self) -> float:
        """Comprehensive performance, seconds."""
        return float(self.fitness.values[0])


def evaluate(individual: Individual, judge: Scoring) -> tuple[float]:
    """Return the CP of an order (`muscle`, eq. 1)."""
    return (score(np.array(individual, np.int64), judge),)


def roulette(individuals: Sequence[Individual], k: int, stream: Stream) -> list[Individual]:
    """Draw `k` individuals with probability proportional to fitness (`muscle`, eq. 2)."""
    cps = np.array([individual.cp for individual in individuals])
    chosen = np.empty(k, np.int64)
    spin(cps, chosen, np.empty(len(cps)), stream)
    return [individuals[i] for i in chosen.tolist()]


def order_crossover(a: Individual, b: Individual, stream: Stream) -> tuple[Individual, Individual]:
    """Cross two orders: each keeps a section, the rest comes in the order of the other (OX)."""
    one, other = np.array(a, np.int64), np.array(b, np.int64)
    child_a, child_b, used = (np.empty_like(one) for _ in range(3))
    cross(one, other, child_a, child_b, used, stream)
    a[:], b[:] = child_a.tolist(), child_b.tolist()
    return a, b


def perturbation(individual: Individual, stream: Stream) -> tuple[Individual]:
    """Swap two jobs or move one, and again with probability 1/2."""
    order = np.array(individual, np.int64)
    perturb(order, stream)
    individual[:] = order.tolist()
    return (individual,)


def default_toolbox(judge: Scoring, stream: Stream) -> base.Toolbox:
    """Return a Toolbox with TITAN's own operators for one problem."""
    toolbox = base.Toolbox()
    toolbox.register("evaluate", evaluate, judge=judge)
    toolbox.register("select", roulette, stream=stream)
    toolbox.register("mate", order_crossover, stream=stream)
    toolbox.register("mutate", perturbation, stream=stream)
    return toolbox


class _Arrays:
    """A population as arrays: a generation is one compiled call."""

    def __init__(
        self, orders: Any, cps: Any, settings: Settings, judge: Scoring, stream: Stream
    ) -> None:
        population, jobs = orders.shape
        self.orders, self.cps, self.stream = orders, cps, stream
        self._spare = np.empty_like(orders), np.empty_like(cps)
        self._fixed = (
            _elite(settings),
            float(settings.crossover),
            float(settings.mutation),
            judge,
            np.empty(population),
            np.empty(population, np.int64),
            np.empty(jobs, np.int64),
            stream,
        )

    def breed(self, generation: int) -> None:
        parents = self.orders, self.cps
        next_generation(*parents, *self._spare, *self._fixed)
        (self.orders, self.cps), self._spare = self._spare, parents

    def performances(self) -> list[float]:
        values: list[float] = self.cps.tolist()
        return values

    def best(self) -> Individual:
        row = int(self.cps.argmin())
        return Individual(self.orders[row].tolist(), (float(self.cps[row]),))


class _Individuals:
    """A population as DEAP has it: individuals that pass through a Toolbox one by one."""

    def __init__(
        self, orders: Any, settings: Settings, toolbox: base.Toolbox, stream: Stream
    ) -> None:
        self.settings, self.toolbox, self.stream = settings, toolbox, stream
        self.jobs = list(range(orders.shape[1]))
        self.members = [Individual(order) for order in orders.tolist()]
        self._evaluate(self.members, 0)

    def breed(self, generation: int) -> None:
        distinct: dict[float, Individual] = {}
        for member in sorted(self.members, key=lambda member: member.cp):
            distinct.setdefault(member.cp, member)
        kept = list(distinct.values())[: _elite(self.settings)]
        wanted = len(self.members) - len(kept)
        children = [self.toolbox.clone(a) for a in self.toolbox.select(self.members, wanted)]
        if len(children) != wanted:
            raise GridError(
                f"generation {generation}: select returned {len(children)} individuals; "
                f"accepted are the {wanted} asked for"
            )
        for i in range(0, wanted - 1, 2):
            if chance(self.stream, self.settings.crossover):
                children[i : i + 2] = self.toolbox.mate(*children[i : i + 2])
        for i in range(wanted):
            if chance(self.stream, self.settings.mutation):
                (children[i],) = self.toolbox.mutate(children[i])
        self._evaluate(children, generation)
        self.members = kept + children

    def _evaluate(self, members: list[Individual], generation: int) -> None:
        for member in members:
            if sorted(member) != self.jobs:
                raise GridError(
                    f"generation {generation}: mate or mutate made {list(member)}; accepted is "
                    f"every job from 0 to {len(self.jobs) - 1} once"
                )
        for member, values in zip(
            members, self.toolbox.map(self.toolbox.evaluate, members), strict=True
        ):
            if not _is_finite(values):
                raise GridError(
                    f"generation {generation}: evaluate returned {values!r} for the order "
                    f"{list(member)}; accepted is a tuple of one finite number"
                )
            member.fitness.values = values

    def performances(self) -> list[float]:
        return [member.cp for member in self.members]

    def best(self) -> Individual:
        return min(self.members, key=lambda member: member.cp)


def _is_finite(values: Any) -> bool:
    # DEAP ranks NaN above every number.
    if not isinstance(values, Sequence) or len(values) != 1 or not isinstance(values[0], Real):
        return False
    return math.isfinite(values[0])


def _elite(settings: Settings) -> int:
    return max(1, int(settings.elite * settings.population))


@dataclass(frozen=True)
class Outcome:
    """What a search found.

    Attributes
    ----------
    order : tuple of int
        The best order.
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
) -> Outcome:
    """Search for the order of lowest CP.

    The first generation is the seed and random orders. The search stops by `settings`, and at
    once when the CP is as low as if every job were alone on the cluster. Up to 7 jobs are tried
    in every order instead, where that takes no more orders than the patience alone would and no
    operator that breeds is a user's: the first generation is then the seed, or the jobs as given,
    and the second one all orders.

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

    Raises
    ------
    GridError
        For a seed that is not a permutation of the jobs; when a user's evaluate returns anything
        but one finite number, or a user's operator anything but as many permutations.

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
    judge = scoring(problem, settings.weights, settings.idle)
    limit = max(1, settings.effort // max(1, settings.population * jobs))
    if settings.generations is not None:
        limit = settings.generations
    most = settings.population * (1 + min(settings.patience, limit))
    bred_by_user = any(hasattr(toolbox, name) for name in OPERATORS[1:])
    if exhaustive := jobs <= _FEW_JOBS and math.factorial(jobs) <= most and not bred_by_user:
        orders = np.array(first, np.int64)[_every_order(jobs)]
        random_from, limit = len(orders), 1
    else:
        orders = np.tile(np.array(first, np.int64), (settings.population, 1))
        random_from = 0 if seed_order is None else 1
    cps = np.empty(len(orders))
    first_generation(orders, cps, random_from, judge, stream)
    bound = -math.inf
    if not (exhaustive or hasattr(toolbox, "evaluate")):
        bound = lower_bound(problem, settings.weights, settings.idle)
        bound += 1e-9 * bound  # summed in another order
    population: _Arrays | _Individuals
    if toolbox is None or not any(hasattr(toolbox, name) for name in OPERATORS):
        population = _Arrays(orders, cps, settings, judge, stream)
    else:
        own = default_toolbox(judge, stream)
        vars(own).update(vars(toolbox))
        population = _Individuals(orders, settings, own, stream)

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
        if generation == limit or stalled == settings.patience or best <= bound:
            break
        population.breed(generation + 1)
    return Outcome(tuple(hall[0]), lowest, generation, logbook, hall)

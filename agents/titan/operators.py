"""TITAN's schedules as DEAP's individuals, and its operators as a Toolbox holds them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from deap import base

from agents.titan.columns import Resources, columns_of, row_of, schedule_of
from agents.titan.decoding import Scoring, score
from agents.titan.local_search import descend
from agents.titan.orders import cross, perturb, perturb_columns, spin
from grid.streams import Stream

OPERATORS = ("evaluate", "select", "mate", "mutate", "improve")
"""What a user may register on a Toolbox, with DEAP's own conventions.

``evaluate(individual) -> (cp,)``, ``select(individuals, k) -> list``, ``mate(a, b) -> (a, b)``
and ``mutate(a) -> (a,)``; mate and mutate may change their arguments, which are copies. Beside
DEAP's four, ``improve(a, moves) -> (a,)`` is the local search, which may try so many orders: it
gets a copy of the best individual when breeding has stalled, and if what it returns is better, that
takes the place of the worst and breeding goes on.
"""


class CpFitness(base.Fitness):  # type: ignore[misc]  # DEAP has no types
    """Fitness of a schedule: its CP, to be minimised."""

    weights = (-1.0,)


class Individual(list[int]):
    """An order of jobs with the fitness that DEAP expects.

    A list, so that DEAP's own operators on permutations work on it. In the two-dimensional coding
    they change the places of jobs, and each keeps its processors.

    Attributes
    ----------
    fitness : CpFitness
    resources : sequence of sequence of int
        Processors of each job, by its number; empty if the order alone is coded.
    """

    fitness_class: ClassVar[type[base.Fitness]] = CpFitness

    def __init__(
        self,
        order: Sequence[int],
        values: tuple[float, ...] = (),
        resources: Resources = (),
    ) -> None:
        super().__init__(order)
        self.fitness = self.fitness_class(values)
        self.resources = resources

    def __deepcopy__(self, memo: dict[int, Any]) -> Individual:
        resources = [tuple(each) for each in self.resources]
        return type(self)(self, self.fitness.values, resources)

    @property
    def cp(self) -> float:
        """Comprehensive performance, seconds."""
        return float(self.fitness.values[0])

    @property
    def row(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """The schedule as compiled code has it."""
        return row_of(self, self.resources)


def evaluate(individual: Individual, judge: Scoring) -> tuple[float]:
    """Return the CP of a schedule (`muscle`, eq. 1)."""
    return (score(individual.row, judge),)


def roulette(individuals: Sequence[Individual], k: int, stream: Stream) -> list[Individual]:
    """Draw `k` individuals with probability proportional to fitness (`muscle`, eq. 2)."""
    cps = np.array([individual.cp for individual in individuals])
    chosen = np.empty(k, np.int64)
    spin(cps, chosen, np.empty(len(cps)), stream)
    return [individuals[i] for i in chosen.tolist()]


def order_crossover(a: Individual, b: Individual, stream: Stream) -> tuple[Individual, Individual]:
    """Cross two schedules: each keeps a section, the rest comes in the order of the other (OX).

    In the two-dimensional coding each job brings its processors along.
    """
    columns = columns_of(a.resources, len(a))
    one, other = a.row, b.row
    child_a, child_b = np.empty_like(one), np.empty_like(other)
    cross(one, other, child_a, child_b, columns, np.empty(len(a), np.int64), stream)
    for individual, child in ((a, child_a), (b, child_b)):
        individual[:], individual.resources = schedule_of(child.tolist(), columns)
    return a, b


def perturbation(individual: Individual, stream: Stream, processors: int = 0) -> tuple[Individual]:
    """Swap two jobs or move one, and again with probability 1/2.

    In the two-dimensional coding each time, as likely, one of a job's processors is changed for
    another of the `processors` of the cluster instead.
    """
    row = individual.row
    columns = columns_of(individual.resources, len(individual))
    if individual.resources:
        perturb_columns(row, columns, processors, stream)
    else:
        perturb(row, stream)
    individual[:], individual.resources = schedule_of(row.tolist(), columns)
    return (individual,)


def local_search(
    individual: Individual, moves: int, judge: Scoring, stream: Stream
) -> tuple[Individual]:
    """Improve an order by trying so many others (`agents.titan.local_search`)."""
    row = individual.row
    descend(row, individual.cp, moves, judge, np.empty_like(row), stream)
    individual[:] = row.tolist()
    return (individual,)


def default_toolbox(judge: Scoring, stream: Stream) -> base.Toolbox:
    """Return a Toolbox with TITAN's own operators for one problem."""
    toolbox = base.Toolbox()
    toolbox.register("evaluate", evaluate, judge=judge)
    toolbox.register("select", roulette, stream=stream)
    toolbox.register("mate", order_crossover, stream=stream)
    toolbox.register("mutate", perturbation, stream=stream, processors=judge.processors)
    toolbox.register("improve", local_search, judge=judge, stream=stream)
    return toolbox

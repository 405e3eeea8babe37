"""A generation of TITAN's search: as arrays, or as DEAP's individuals.

Both breed the next one from the same random numbers, drawn in the same order.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any

import numpy as np
from deap import base

from agents.titan.columns import check_resources, schedule_of
from agents.titan.decoding import Scoring
from agents.titan.local_search import descend
from agents.titan.operators import Individual
from agents.titan.orders import Breeding, chance, next_generation
from agents.titan.settings import Settings
from grid.errors import GridError
from grid.foreign import quoted
from grid.streams import Stream


class Arrays:
    """A population as arrays: a generation is one compiled call."""

    def __init__(
        self,
        rows: Any,
        cps: Any,
        settings: Settings,
        judge: Scoring,
        stream: Stream,
    ) -> None:
        population = len(rows)
        self.rows, self.cps, self.columns = rows, cps, judge.columns
        self._spare = np.empty_like(rows), np.empty_like(cps)
        self._breeding = Breeding(
            _elite(settings),
            float(settings.crossover),
            float(settings.mutation),
            judge,
            np.empty(population),
            np.empty(population, np.int64),
            np.empty(len(judge.sizes), np.int64),
            stream,
        )

    def breed(self, generation: int) -> None:
        """Replace the generation by the next, of this number."""
        parents = self.rows, self.cps
        next_generation(*parents, *self._spare, self._breeding)
        (self.rows, self.cps), self._spare = self._spare, parents

    def improve(self, moves: int, generation: int) -> bool:
        """Have a local search put an order better than all in the place of the worst, if it can."""
        best = int(self.cps.argmin())
        row = self.rows[best].copy()
        by = self._breeding
        found = descend(row, self.cps[best], moves, by.judge, by.used, by.stream)
        if better := bool(found < self.cps[best]):
            worst = int(self.cps.argmax())
            self.rows[worst], self.cps[worst] = row, found
        return better

    def performances(self) -> list[float]:
        """Return the CP of each schedule."""
        values: list[float] = self.cps.tolist()
        return values

    def best(self) -> Individual:
        """Return the best schedule, the first of equals."""
        best = int(self.cps.argmin())
        order, resources = schedule_of(self.rows[best].tolist(), self.columns)
        return Individual(order, (float(self.cps[best]),), resources)


class Individuals:
    """A population as DEAP has it: individuals that pass through a Toolbox one by one."""

    def __init__(
        self,
        rows: Any,
        settings: Settings,
        judge: Scoring,
        toolbox: base.Toolbox,
        stream: Stream,
    ) -> None:
        self.settings, self.toolbox, self.stream = settings, toolbox, stream
        self.judge = judge
        self.members = []
        for row in rows.tolist():
            order, resources = schedule_of(row, judge.columns)
            self.members.append(Individual(order, (), resources))
        self._evaluate(self.members, 0)

    def breed(self, generation: int) -> None:
        """Replace the generation by the next, of this number."""
        distinct: dict[float, Individual] = {}
        for member in sorted(self.members, key=lambda member: member.cp):
            distinct.setdefault(member.cp, member)
        kept = list(distinct.values())[: _elite(self.settings)]
        wanted = len(self.members) - len(kept)
        chosen = self._made(generation, "select", wanted, self.members, wanted)
        children = [self.toolbox.clone(each) for each in chosen]
        for i in range(0, wanted - 1, 2):
            if chance(self.stream, self.settings.crossover):
                children[i : i + 2] = self._made(generation, "mate", 2, *children[i : i + 2])
        for i in range(wanted):
            if chance(self.stream, self.settings.mutation):
                children[i : i + 1] = self._made(generation, "mutate", 1, children[i])
        self._evaluate(children, generation)
        self.members = kept + children

    def improve(self, moves: int, generation: int) -> bool:
        """Have a local search put an order better than all in the place of the worst, if it can."""
        best = self.best()
        (found,) = self._made(generation, "improve", 1, self.toolbox.clone(best), moves)
        self._evaluate([found], generation)
        if better := found.cp < best.cp:
            cps = self.performances()
            self.members[cps.index(max(cps))] = found
        return better

    def _made(self, generation: int, name: str, wanted: int, *given: Any) -> list[Individual]:
        """Return the individuals that an operator makes; raise `GridError` unless as many."""
        made = getattr(self.toolbox, name)(*given)
        alone = isinstance(made, Individual) or not isinstance(made, Iterable)
        found: list[Any] = [None] if alone else list(made)
        right = all(isinstance(each, Individual) for each in found)
        if not right or len(found) != wanted:
            returned = _individuals(len(found)) if right else quoted(made)
            raise GridError(
                f"generation {generation}: {name} returned {returned}; accepted: a tuple of "
                f"{_individuals(wanted)}"
            )
        return found

    def _evaluate(self, members: list[Individual], generation: int) -> None:
        sizes, processors = self.judge.sizes, self.judge.processors
        for member in members:
            if sorted(member) != list(range(len(sizes))):
                raise GridError(
                    f"generation {generation}: mate or mutate made {list(member)}; accepted is "
                    f"every job from 0 to {len(sizes) - 1} once"
                )
            if self.settings.coding == "two-dimensional":
                check_resources(
                    f"generation {generation}: resources", member.resources, sizes, processors
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
        """Return the CP of each schedule."""
        return [member.cp for member in self.members]

    def best(self) -> Individual:
        """Return the best schedule, the first of equals."""
        return min(self.members, key=lambda member: member.cp)


def _individuals(count: int) -> str:
    return "one individual" if count == 1 else f"{count} individuals"


def _is_finite(values: Any) -> bool:
    # DEAP ranks NaN above every number.
    if not isinstance(values, Sequence) or len(values) != 1 or not isinstance(values[0], Real):
        return False
    return math.isfinite(values[0])


def _elite(settings: Settings) -> int:
    return max(1, int(settings.elite * settings.population))

"""The memetic part of TITAN's search: a local search beside the population, compiled.

It descends from the best order by moves of one job and swaps of two until none of them lowers CP,
then shakes the best order it knows and descends anew. It makes a fixed number of moves in each
generation, so that generations take equally long; the population and the local search hand each
other what is better.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from agents.decoding import score
from grid.kernel.compile import compiled, inlined, part
from grid.streams import below

SHAKEN = 3
"""Swaps that take a local optimum to where the next descent begins."""


class Walk(NamedTuple):
    """Where the local search is."""

    current: npt.NDArray[np.int64]  # (jobs,): order that descends
    best: npt.NDArray[np.int64]  # (jobs,): best order known
    cps: npt.NDArray[np.float64]  # (2,): CP of both
    place: npt.NDArray[np.int64]  # (2,): the move tried last, and how many since one helped
    moves: int  # orders to score in a generation

    @classmethod
    def beginning(cls, jobs: int, moves: int) -> Walk:
        """Return a walk that knows no order yet."""
        current, best = np.zeros((2, jobs), np.int64)
        return cls(current, best, np.full(2, np.inf), np.zeros(2, np.int64), moves)


@inlined
def _copy(source: Any, target: Any) -> None:
    for position in range(len(source)):
        target[position] = source[position]


@part
def _insert(order: Any, origin: int, target: int) -> None:
    job = order[origin]
    while origin < target:
        order[origin] = order[origin + 1]
        origin += 1
    while origin > target:
        order[origin] = order[origin - 1]
        origin -= 1
    order[target] = job


@inlined
def _swap(order: Any, one: int, other: int) -> None:
    job = order[one]
    order[one] = order[other]
    order[other] = job


@compiled()
def walk(w: Any, order: Any, cp: float, s: Any, stream: Any) -> Any:
    """Make the moves of one generation, and return the CP of the best order known.

    `order` and `cp` are the best of the population: if it has got ahead, the search goes on there.
    """
    jobs = len(order)
    neighbours = 2 * jobs * jobs
    current, best, cps, place = w.current, w.best, w.cps, w.place
    if cp < cps[1]:
        _copy(order, current)
        _copy(order, best)
        cps[0] = cps[1] = cp
        place[1] = 0
    tried = 0
    while tried < w.moves:
        if place[1] >= neighbours:  # a local optimum: it is equal to the best, or worse
            if cps[0] <= cps[1]:
                _copy(current, best)
            _copy(best, current)
            for _ in range(SHAKEN):
                _swap(current, below(stream, jobs), below(stream, jobs))
            cps[0] = score(current, s)
            place[0] = below(stream, neighbours)
            place[1] = 0
            tried += 1
        place[0] = place[0] + 1 if place[0] + 1 < neighbours else 0
        place[1] += 1
        swaps = place[0] % 2 == 1
        one, other = (place[0] // 2) // jobs, (place[0] // 2) % jobs
        if one == other or (swaps and one > other):
            continue
        if swaps:
            _swap(current, one, other)
        else:
            _insert(current, one, other)
        found = score(current, s)
        tried += 1
        if found < cps[0]:
            cps[0] = found
            place[1] = 0
        elif swaps:
            _swap(current, one, other)
        else:
            _insert(current, other, one)
        if cps[0] < cps[1]:
            cps[1] = cps[0]
            _copy(current, best)
    return cps[1]

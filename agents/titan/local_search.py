"""The memetic part of TITAN's search: a local search from the best order, compiled."""

from __future__ import annotations

from typing import Any

from agents.titan.decoding import score
from agents.titan.orders import copy, insert, swap
from grid.kernel.compile import compiled
from grid.streams import below

SHAKEN = 3
"""Swaps that take a local optimum to where the next descent begins."""


@compiled()
def descend(order: Any, cp: float, moves: int, s: Any, current: Any, stream: Any) -> Any:
    """Improve `order`, whose CP is `cp`, by trying so many others, and return its CP then.

    It descends by moves of one job and swaps of two until none of them lowers CP, then shakes the
    best order and descends anew. `current` (one a job) is scratch.
    """
    jobs = len(order)
    neighbours = 2 * jobs * jobs
    copy(order, current)
    lowest = cp
    move = below(stream, neighbours)
    in_vain = 0
    tried = 0
    while tried < moves:
        if in_vain >= neighbours:  # a local optimum: as good as the best, or worse
            if cp <= lowest:
                copy(current, order)
            copy(order, current)
            for _ in range(SHAKEN):
                swap(current, below(stream, jobs), below(stream, jobs))
            cp = score(current, s)
            tried += 1
            move = below(stream, neighbours)
            in_vain = 0
        move = move + 1 if move + 1 < neighbours else 0
        in_vain += 1
        swaps = move % 2 == 1
        one, other = (move // 2) // jobs, (move // 2) % jobs
        if one == other or (swaps and one > other):
            continue
        if swaps:
            swap(current, one, other)
        else:
            insert(current, one, other)
        found = score(current, s)
        tried += 1
        if found < cp:
            cp = found
            in_vain = 0
        elif swaps:
            swap(current, one, other)
        else:
            insert(current, other, one)
        if cp < lowest:
            lowest = cp
            copy(current, order)
    return lowest

"""What jobs were seen to need of links.

A scheduler that is told nothing of a job's bandwidth still sees what its start adds to the demand
on the links, which by eqs. 1 and 8 of `beosim` tells its bisection bandwidth. The memory of a
policy that looks keeps mean and variance over about the last `WINDOW` jobs, of all jobs and of each
kind. Jobs are of one kind if their sizes have as many binary digits.
"""

from __future__ import annotations

import math
from typing import Any

from agents.coallocation.primitives import LSLT, all_free
from grid.kernel.compile import inlined

SIZE, FREE, DEMAND, SHARE = range(LSLT + 1, LSLT + 5)
"""Where the memory holds, of the job split last: its nodes (0: none to learn from), how many it
left free, the demand on all links before it (Mbit/s), and its own as a multiple of its bisection
bandwidth."""

ALL, KINDS, KNOWLEDGE = 0, 64, SHARE + 1
"""The kind of all jobs, how many there can be, and where what is known of them begins."""

SEEN, MEAN, VARIANCE = range(3)
"""What that is: jobs, Mbit/s, (Mbit/s)^2."""

LENGTH = KNOWLEDGE + 3 * KINDS
"""How many numbers that are, with those before."""

WINDOW = 100.0


@inlined
def _demand(known: Any) -> float:
    """Return the demand on all links together, Mbit/s."""
    demand = 0.0
    for link in range(known.links):
        demand += known.demand[link]
    return demand


@inlined
def _row(kind: int) -> int:
    """Return where what is known of a kind begins."""
    return KNOWLEDGE + 3 * kind


@inlined
def _note(memory: Any, kind: int, bandwidth: float) -> None:
    """Bring up to date what is known of a kind."""
    row = _row(kind)
    memory[row + SEEN] += 1.0
    weight = 1.0 / min(memory[row + SEEN], WINDOW)
    error = bandwidth - memory[row + MEAN]
    memory[row + MEAN] += weight * error
    memory[row + VARIANCE] = (1.0 - weight) * (memory[row + VARIANCE] + weight * error * error)


@inlined
def look_out(known: Any, memory: Any, size: int, pairs: int) -> None:
    """Remember how things are just before a job is split, to learn from what that changes.

    `pairs` are those of its nodes that links part, added over the links.
    """
    memory[SIZE] = size
    memory[FREE] = all_free(known) - size
    memory[DEMAND] = _demand(known)
    memory[SHARE] = 4.0 * pairs / (float(size) * size)


@inlined
def learn(known: Any, memory: Any) -> None:
    """Learn from the job split last, unless others have ended since: then more nodes are free."""
    size = memory[SIZE]
    memory[SIZE] = 0.0
    if size > 0.0 and all_free(known) == memory[FREE]:
        bandwidth = (_demand(known) - memory[DEMAND]) / memory[SHARE]
        _note(memory, ALL, bandwidth)
        _note(memory, math.frexp(size)[1], bandwidth)


@inlined
def expected_bandwidth(memory: Any, size: int) -> float:
    """Return the bisection bandwidth to reckon with for a job, Mbit/s: 0 if none has been seen.

    That is the mean of its kind, or of all if none of its kind has been seen, and one standard
    deviation more: a link that is asked too much slows down every job that shares it.
    """
    row = _row(math.frexp(float(size))[1])
    if memory[row + SEEN] == 0.0:
        row = _row(ALL)
    return float(memory[row + MEAN] + math.sqrt(memory[row + VARIANCE]))

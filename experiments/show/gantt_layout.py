"""Rows of a Gantt chart: which processors of its cluster each part of a job is drawn on.

Results count processors and do not name them, so the chart names them itself: a part gets the
lowest that are free, in order of events, completions before starts at one instant.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from grid.errors import GridError
from grid.kernel.compile import compiled, part

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

FULL, HELD = -1, -2


class Blocks(NamedTuple):
    """Neighbouring rows that a part holds, each of shape (blocks,)."""

    part: Integers
    first: Integers  # lowest row
    rows: Integers  # how many


def lay(start: Floats, finish: Floats, processors: Integers, size: int) -> Blocks:
    """Return the rows of the parts of jobs on one cluster.

    Parameters
    ----------
    start, finish : array, shape (parts,)
        When each holds its processors, s.
    processors : array, shape (parts,)
        How many each holds.
    size : int
        Processors of the cluster.

    Returns
    -------
    Blocks
        By part in order of starts; rows from 0.

    Raises
    ------
    GridError
        If more processors are held at once than there are.
    """
    lasting = finish > start
    starts = np.lexsort((lasting, start))  # what takes no time is over before others begin
    ends = np.flatnonzero(lasting)
    ends = ends[np.argsort(finish[ends], kind="stable")]
    room = 4 * len(start) + 16
    while True:
        blocks = np.zeros((room, 3), np.int64)
        free = np.zeros((min(size, room) + 2, 2), np.int64)
        held = np.zeros((len(start), 2), np.int64)
        used = _lay(start, finish, processors, size, starts, ends, blocks, free, held)
        if used == HELD:
            raise GridError(f"more than its {size} processors are held at once")
        if used != FULL:
            return Blocks(*blocks[:used].T)
        room *= 2


@part
def _release(blocks: Integers, free: Integers, runs: int, held: Integers) -> int:
    """Give the rows of a part back, and return how many free runs there are."""
    for block in range(held[0], held[1]):
        low = blocks[block, 1]
        high = low + blocks[block, 2]
        at = runs
        while at > 0 and free[at - 1, 0] > low:
            at -= 1
        below = at > 0 and free[at - 1, 1] == low
        above = at < runs and free[at, 0] == high
        if below and above:
            free[at - 1, 1] = free[at, 1]
            runs -= 1
            for index in range(at, runs):
                free[index, 0], free[index, 1] = free[index + 1, 0], free[index + 1, 1]
        elif below:
            free[at - 1, 1] = high
        elif above:
            free[at, 0] = low
        else:
            for index in range(runs, at, -1):
                free[index, 0], free[index, 1] = free[index - 1, 0], free[index - 1, 1]
            free[at, 0], free[at, 1] = low, high
            runs += 1
    return runs


@compiled()
def _lay(
    start: Floats,
    finish: Floats,
    processors: Integers,
    size: int,
    starts: Integers,
    ends: Integers,
    blocks: Integers,
    free: Integers,
    held: Integers,
) -> int:
    """Fill in blocks and return how many there are; `free` holds runs of rows, lowest first."""
    used, runs, ended = 0, 1, 0
    free[0, 0], free[0, 1] = 0, size
    for each in starts:
        while ended < len(ends) and finish[ends[ended]] <= start[each]:
            runs = _release(blocks, free, runs, held[ends[ended]])
            ended += 1
        held[each, 0] = used
        left = processors[each]
        taken = 0  # runs that are used up
        while left > 0:
            if taken == runs:
                return HELD
            if used == len(blocks):
                return FULL
            count = min(left, free[taken, 1] - free[taken, 0])
            blocks[used, 0], blocks[used, 1], blocks[used, 2] = each, free[taken, 0], count
            used += 1
            left -= count
            free[taken, 0] += count
            taken += free[taken, 0] == free[taken, 1]
        held[each, 1] = used
        if taken:
            runs -= taken
            for index in range(runs):
                free[index, 0], free[index, 1] = free[index + taken, 0], free[index + taken, 1]
        if finish[each] <= start[each]:
            runs = _release(blocks, free, runs, held[each])
    return used

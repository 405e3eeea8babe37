"""Resource spaces, and packing jobs into one: MUSCLE's search of the composition table.

Algorithms 2 and 3 of `muscle`, section 4.2. As printed they do not end on real batches, and
overfill a space; `pack` says what is done instead.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from agents.muscle.composition import CompositionTable, Ints, Positions
from grid.kernel.compile import compiled, part

Floats = npt.NDArray[np.float64]

FREE, TAKEN = 0, -1  # free is what a new array holds


@compiled()
def earliest_space(release: Floats, smallest: int) -> tuple[float, int, int]:
    """Return the time, first processor and size of a cluster's earliest resource space.

    `muscle` does not define it. At each release time in turn, look at the runs of adjacent free
    processors from the lowest index; the space is the first run that holds the smallest
    unallocated job. A run too small for every job would be offered for ever.

    Parameters
    ----------
    release : float64 array of shape (processors,)
        When each processor becomes free, s.
    smallest : int
        Processors the smallest unallocated job needs, no more than the cluster has.

    Examples
    --------
    >>> import numpy as np
    >>> earliest_space(np.array([4.0, 4.0, 4.0, 4.0, 2.0, 2.0]), 1)
    (2.0, 4, 2)
    """
    time, first = np.inf, 0
    start = 0
    while start + smallest <= len(release):
        latest = -np.inf
        next_start = start + 1
        for i in range(start, start + smallest):
            latest = max(latest, release[i])
            if latest >= time:
                next_start = i + 1  # no window over this processor is earlier
                break
        if latest < time:
            time, first = latest, start
        start = next_start
    end = first
    while end < len(release) and release[end] <= time:
        end += 1
    return time, first, end - first


class Packing(NamedTuple):
    """What the search remembers while the jobs of one table are allocated.

    A job counts as allocated from the moment a composition being packed holds it: `holder` is
    FREE, or the row of that composition until the job enters the queue, or TAKEN from then on.
    A composition that stands in for a job of another is in a shorter row, so a row names at most
    one composition being packed.

    Attributes
    ----------
    holder : int64 array of shape (jobs,)
        Who holds each job.
    taken : int32 array of shape (rows + 1, jobs)
        For each composition of a row, how many of its jobs are held.
    first_open : int32 array of shape (rows + 1,)
        All compositions of a row before this one have an allocated job.
    queue : int64 array of shape (jobs,)
        The paper's q: the jobs for the space, in the order of their resources.
    held : int64 array of shape (jobs,)
        Jobs held since the search of a row began, to be released if it fails.
    parent, position, end : int64 arrays of shape (rows + 1,)
        For the composition being packed in a row: the row of the one it stands in for, its next
        job, and where it ends.
    """

    holder: Ints
    taken: Positions
    first_open: Positions
    queue: Ints
    held: Ints
    parent: Ints
    position: Ints
    end: Ints


@compiled(allocates=True)
def new_packing(jobs: int, largest: int) -> Packing:
    """Return the memory of a search in which no job is allocated yet."""
    rows = largest + 1
    return Packing(
        np.zeros(jobs, np.int64),
        np.zeros((rows, jobs), np.int32),
        np.zeros(rows, np.int32),
        np.empty(jobs, np.int64),
        np.empty(jobs, np.int64),
        np.empty(rows, np.int64),
        np.empty(rows, np.int64),
        np.empty(rows, np.int64),
    )


@part
def _count(job: int, change: int, table: CompositionTable, packing: Packing) -> None:
    """Add to the number of held jobs of every composition that holds the job."""
    composition_of = table.composition_of
    for row in range(1, len(table.counts)):
        k = composition_of[job, row]
        if k >= 0:
            packing.taken[row, k] += change


@part
def _choose(row: int, table: CompositionTable, packing: Packing) -> int:
    """Return the composition of a row to pack, -1 if there is none.

    The first with no allocated job, else the first of several jobs with the fewest allocated.
    Algorithm 2 would pass through one-job compositions of allocated jobs on its way there.
    """
    starts = table.starts[row]
    taken = packing.taken[row]
    count = table.counts[row]
    for k in range(packing.first_open[row], count):
        if taken[k] == 0:
            return k
    best = -1
    for k in range(count):
        if starts[k + 1] - starts[k] > 1 and (best < 0 or taken[k] < taken[best]):
            best = k
            if taken[k] == 1:
                break
    return best


@part
def _pack_row(row: int, sizes: Ints, table: CompositionTable, packing: Packing) -> int:
    """Queue jobs that fill a space of `row` processors; return how many, 0 if none are found."""
    holder, parent, position, end = (
        packing.holder,
        packing.parent,
        packing.position,
        packing.end,
    )
    parent[row] = 0
    queued = held = 0
    while True:
        k = _choose(row, table, packing)
        if k < 0:
            for i in range(held):
                holder[packing.held[i]] = FREE
                _count(packing.held[i], -1, table, packing)
            return 0
        position[row] = table.starts[row, k]
        end[row] = table.starts[row, k + 1]
        for i in range(position[row], end[row]):
            job: Any = np.int64(table.jobs[row, i])
            if holder[job] == FREE:
                holder[job] = row
                packing.held[held] = job
                held += 1
                _count(job, 1, table, packing)
        # Queue jobs up to the next one that needs an alternative, which is sought in its row.
        alternative = 0
        while alternative == 0:
            if position[row] == end[row]:
                row = parent[row]
                if row == 0:
                    return queued
                continue
            job = table.jobs[row, position[row]]
            position[row] += 1
            if holder[job] == row:
                holder[job] = TAKEN
                packing.queue[queued] = job
                queued += 1
            else:
                alternative = sizes[job]
        parent[alternative] = row
        row = alternative


@part
def pack(space: int, sizes: Ints, table: CompositionTable, packing: Packing) -> int:
    """Choose jobs that fill a resource space as far as possible (`muscle`, Algorithms 2 and 3).

    The jobs are left in `packing.queue`, in the order of their resources, and are allocated.

    Where the paper is departed from, since two one-job compositions of equal size would call each
    other for ever, a job could enter q twice, and the space could overfill:

    - jobs in q count as allocated, and so do the jobs of every composition that is being packed,
      whether for the space itself or in place of an allocated job;
    - one-job compositions on the recursion path are skipped. Of an allocated job, such a
      composition leads only to another composition of its own row, so `_choose` goes there at once;
    - q is emptied before the next smaller row is tried, and nothing else is taken back;
    - step 9 of Algorithm 3 is read as "if Algorithm 2 returns 0".

    Parameters
    ----------
    space : int
        Adjacent free processors.
    sizes : int64 array of shape (jobs,)
        Processors each job needs.
    table : CompositionTable
        The table of these jobs.
    packing : Packing
        What was allocated before.

    Returns
    -------
    int
        Jobs in the queue; 0 only if every unallocated job is larger than the space.
    """
    counts, first_open = table.counts, packing.first_open
    for row in range(min(space, len(counts) - 1), 0, -1):
        queued: int = _pack_row(row, sizes, table, packing)
        if queued > 0:
            for r in range(1, len(counts)):
                while first_open[r] < counts[r] and packing.taken[r, first_open[r]] > 0:
                    first_open[r] += 1
            return queued
    return 0

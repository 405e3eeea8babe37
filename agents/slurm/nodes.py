"""The nodes of a cluster: which a job gets, and when enough of them will be free."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from copy import copy

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

NOBODY = -1
"""A job that has just started: which one it is does not matter."""

FIRST_STEP = 30.0
"""Time within which ends of jobs are looked at together first; it then doubles, s (the page
``slurm.conf``, on ``bf_window_linear``)."""


def chosen(
    free: Counts, weights: Counts, size: int, least: float, most: float = np.inf
) -> Counts | None:
    """Return how many processors of each node a job gets, None if it does not fit.

    As Slurm does where nothing is known of the network: the nodes are in a row, and jobs are
    allocated on a best-fit basis. The smallest set of consecutive nodes that suffices is taken,
    else the largest; of a set a single node that suffices, the one with the least free, else its
    nodes in order. Nodes of the lowest weight that suffice together are considered only.

    Parameters
    ----------
    free : int array, shape (nodes,)
        Processors that are free, 0 on nodes that may not be used.
    weights : int array, shape (nodes,)
    size : int
        Processors.
    least, most : float
        Nodes.

    Examples
    --------
    >>> same = np.ones(4, int)
    >>> chosen(np.array([8, 3, 0, 4]), same, 4, 1), chosen(np.array([8, 3, 0, 4]), same, 13, 1)
    (array([0, 0, 0, 4]), array([8, 3, 0, 2]))
    """
    usable = free > 0
    if free.sum() < size or np.count_nonzero(usable) < least:
        return None
    lightest, heaviest = weights.min(), weights.max()
    limits = [lightest] if lightest == heaviest else np.unique(weights[usable]).tolist()
    for limit in limits:
        found = _best_fit(np.where(weights <= limit, free, 0), size, least)
        if found is not None and np.count_nonzero(found) <= most:
            return found
    return None


def _best_fit(free: Counts, size: int, least: float) -> Counts | None:
    alloc = np.zeros_like(free)
    sets = list(_consecutive(free))
    while size > 0 and sets:
        missing = max(int(least) - int(np.count_nonzero(alloc)), 1)
        totals = [int(free[each].sum()) for each in sets]
        best, most = 0, -1.0
        for i, (each, total) in enumerate(zip(sets, totals, strict=True)):
            enough = total >= size and each.stop - each.start >= missing
            # Of those that suffice the smallest, before any other; else the largest.
            rank = 2.0 - total / (total + 1) if enough else total / (total + 1)
            if rank > most:
                best, most = i, rank
        among = sets.pop(best)
        found = _filled(free[among], size, missing)
        alloc[among] = found
        size -= int(found.sum())
    return alloc if size <= 0 and np.count_nonzero(alloc) >= least else None


def _filled(free: Counts, size: int, missing: int) -> Counts:
    """Return what a job gets of consecutive nodes, of at least so many of them if they suffice."""
    alloc = np.zeros_like(free)
    if missing == 1 and free.max() >= size:
        alone = np.where(free >= size, free, np.iinfo(free.dtype).max)
        alloc[alone.argmin()] = size
        return alloc
    size -= max(missing - len(free), 0)  # one of each node that is yet to come
    spread = min(missing, len(free), size)
    alloc[:spread] = 1  # one of each, at least
    rest = free - alloc
    before = np.cumsum(rest) - rest
    return alloc + np.clip(size - spread - before, 0, rest)


def _consecutive(free: Counts) -> Iterator[slice]:
    """Yield the sets of consecutive nodes with free processors."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], free > 0, [0]))))
    for begin, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        yield slice(begin, end)


class Occupied:
    """What is free on each node, and what runs there until when.

    Parameters
    ----------
    now : float
        s.
    free : int array, shape (nodes,)
    weights : int array, shape (nodes,)
    ends : float array, shape (jobs,)
        When each job that runs has to have ended, s.
    held : int array, shape (jobs, nodes)
        Processors of each.
    linear : float
        By how much the step grows in which ends are looked at, s; 0: it doubles.
    jobs : int array, shape (jobs,), optional
        Which jobs these are; by default they are numbered.
    """

    def __init__(
        self,
        now: float,
        free: Counts,
        weights: Counts,
        ends: Floats,
        held: Counts,
        linear: float,
        jobs: Counts | None = None,
    ) -> None:
        order = np.argsort(ends, kind="stable")
        self.now, self.free, self.weights, self.linear = now, free, weights, linear
        self.ends, self.held = ends[order], held[order]
        self.jobs = order if jobs is None else jobs[order]
        self._freed = np.cumsum(self.held, axis=0)

    def without(self, jobs: Collection[int]) -> Occupied:
        """Return what would be free if some jobs did not run."""
        other = copy(self)
        other.stop(jobs)
        return other

    def stop(self, jobs: Collection[int]) -> None:
        """Have some jobs run no longer."""
        gone = np.isin(self.jobs, [*jobs])
        self.free = self.free + self.held[gone].sum(axis=0)
        self.ends, self.held, self.jobs = self.ends[~gone], self.held[~gone], self.jobs[~gone]
        self._freed = np.cumsum(self.held, axis=0)

    def held_by(self, job: int) -> Counts:
        """Return the processors of each node that a job holds."""
        held: Counts = self.held[self.jobs == job].sum(axis=0)
        return held

    def take(self, alloc: Counts, end: float) -> None:
        """Have a job run from now on."""
        self.free = self.free - alloc
        at = int(np.searchsorted(self.ends, end, "right"))
        self.ends = np.insert(self.ends, at, end)
        self.held = np.insert(self.held, at, alloc, axis=0)
        self.jobs = np.insert(self.jobs, at, NOBODY)
        self._freed = np.cumsum(self.held, axis=0)

    def fits(self, mask: Mask, size: int, least: float, most: float) -> Counts | None:
        """Return what a job would get of some nodes now, None if it does not fit."""
        return chosen(np.where(mask, self.free, 0), self.weights, size, least, most)

    def earliest(
        self, mask: Mask, size: int, least: float, most: float
    ) -> tuple[float, Counts] | None:
        """Return when a job can start on some nodes (s), if nothing else does, and what it gets.

        The ends of jobs are looked at in steps that grow: a job starts after all ends of a step.
        """
        found = self.fits(mask, size, least, most)
        if found is not None:
            return self.now, found
        held = self.held @ mask
        missing = size - int(self.free @ mask)
        enough = int(np.searchsorted(np.cumsum(held), missing))  # the jobs that have to end
        for row in self._steps(np.flatnonzero(held)):
            if row < enough:
                continue
            free = np.where(mask, self.free + self._freed[row], 0)
            found = chosen(free, self.weights, size, least, most)
            if found is not None:
                return max(float(self.ends[row]), self.now), found
        return None

    def _steps(self, rows: npt.NDArray[np.int64]) -> Iterator[int]:
        """Yield the last job of each step."""
        step, at, ends = FIRST_STEP, 0, self.ends[rows]
        while at < len(rows):
            at = int(np.searchsorted(ends, ends[at] + step, "right"))
            yield int(rows[at - 1])
            step = step + self.linear if self.linear else 2 * step


def processors_of(alloc: Counts, first: Sequence[int], idle: Mask) -> list[int]:
    """Return the processors of a job, of those that are idle the first of each node.

    They are marked as no longer idle.

    Parameters
    ----------
    alloc : int array, shape (nodes,)
        How many the job gets of each.
    first : sequence of int
        Of each node the number of its first processor, and then the number of all.
    idle : bool array, shape (processors,)
    """
    found: list[int] = []
    for node in np.flatnonzero(alloc).tolist():
        begin = first[node]
        mine = begin + np.flatnonzero(idle[begin : first[node + 1]])[: int(alloc[node])]
        idle[mine] = False
        found += mine.tolist()
    return found

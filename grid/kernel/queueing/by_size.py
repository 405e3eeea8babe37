"""The waiting jobs of each size: where backfilling finds a job that may go before others.

On a cluster that lets jobs go before others, all waiting jobs of one size are in a search tree
of their own, each part of which knows its shortest job. The roots of these trees are a list, the
smallest size first. So to look for a job takes as long as a look at each size that fits, however
many jobs wait.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from grid.kernel.compile import inlined, part
from grid.kernel.queueing.trees import before, insert, remove
from grid.kernel.state import EASY, FPFS, NONE, State


@inlined
def is_searched(state: State, by_size: Any, cluster: int) -> bool:
    """Tell whether the jobs that wait on a cluster are kept by size."""
    service = state.service[cluster]
    return len(by_size) > 0 and service in (FPFS, EASY)


@inlined
def _sum_up_path(state: State, by_size: Any) -> None:
    """Bring what is known of the parts of a tree up to date, from the lowest that changed up."""
    while state.path_length > 0:
        state.path_length -= 1
        row = by_size[state.path[state.path_length]]
        row.shortest = row.time
        for below in (row.left, row.right):
            if below != NONE:
                row.shortest = min(row.shortest, by_size[below].shortest)


@inlined
def _roots_at(state: State, by_size: Any, cluster: int, size: int) -> tuple[int, int, int]:
    """Return the roots of the trees of the next smaller size, of a size, and of the next larger.

    Of those that there are; NONE for one that is not.
    """
    smaller, root = NONE, state.smallest[cluster]
    while root != NONE and by_size[root].size < size:
        smaller, root = root, by_size[root].larger
    if root != NONE and by_size[root].size == size:
        return smaller, root, by_size[root].larger
    return smaller, NONE, root


@inlined
def _link(state: State, by_size: Any, cluster: int, smaller: int, root: int) -> None:
    if smaller == NONE:
        state.smallest[cluster] = root
    else:
        by_size[smaller].larger = root


@part
def note_size(state: State, slots: Any, by_size: Any, cluster: int, job: int) -> None:
    """Put a job that has joined the queue of a cluster among those of its size."""
    row = by_size[job]
    row.size, row.time = slots[job].size, slots[job].predicted_time
    smaller, root, larger = _roots_at(state, by_size, cluster, row.size)
    state.path_length = 0
    root = insert(state, slots, by_size, root, job, True)
    _sum_up_path(state, by_size)
    by_size[root].larger = larger
    _link(state, by_size, cluster, smaller, root)


@part
def forget_size(state: State, slots: Any, by_size: Any, cluster: int, job: int) -> None:
    """Take a job that has left the queue of a cluster out of those of its size."""
    smaller, root, larger = _roots_at(state, by_size, cluster, by_size[job].size)
    state.path_length = 0
    root, _ = remove(state, slots, by_size, root, job, True)
    _sum_up_path(state, by_size)
    if root == NONE:
        root = larger
    else:
        by_size[root].larger = larger
    _link(state, by_size, cluster, smaller, root)


@inlined
def _ends_by(state: State, time: float, end: float) -> bool:
    return bool(state.now + time <= end)


@inlined
def _first_behind(state: State, slots: Any, by_size: Any, node: int, job: int, end: float) -> int:
    """Return the first job of a tree behind one (NONE: of all) that would end by a time, or NONE.

    On the way down to where the jobs behind begin, each one of them that is passed comes, with all
    to its right, before those that were passed above it.
    """
    found = NONE
    while node != NONE and _ends_by(state, by_size[node].shortest, end):
        row = by_size[node]
        if job != NONE and not before(slots, job, node):
            node = row.right
            continue
        right = row.right != NONE and _ends_by(state, by_size[row.right].shortest, end)
        if right or _ends_by(state, row.time, end):
            found = node
        node = row.left
    if found == NONE or _ends_by(state, by_size[found].time, end):
        return found
    node = by_size[found].right
    while True:
        left = by_size[node].left
        if left != NONE and _ends_by(state, by_size[left].shortest, end):
            node = left
        elif _ends_by(state, by_size[node].time, end):
            return node
        else:
            node = by_size[node].right


@part
def next_that_may_go(state: State, slots: Any, by_size: Any, cluster: int, job: int) -> int:
    """Return the first job behind one (NONE: of all) that may go before others, or NONE.

    One may that fits now and either ends before the head of the queue shall start, or leaves it
    enough processors.
    """
    found, root = NONE, state.smallest[cluster]
    while root != NONE and by_size[root].size <= state.free[cluster]:
        row = by_size[root]
        end = np.inf if row.size <= state.extra[cluster] else state.shadow[cluster]
        other = _first_behind(state, slots, by_size, root, job, end)
        if other != NONE and (found == NONE or before(slots, other, found)):
            found = other
        root = row.larger
    return found

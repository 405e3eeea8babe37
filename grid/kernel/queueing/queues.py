"""Waiting jobs: one queue for each cluster, indexed by the order of service.

A queue is a randomised search tree (treap) over job slots, ordered by `key` and then `serial`:
joining, leaving and finding the first cost O(log n) whatever the discipline, and walking it in
order needs no copy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from grid.kernel.compile import inlined
from grid.kernel.state import NONE, State


@inlined
def _mixed(serial: int) -> np.uint64:
    """Return a well-spread rank for a serial number (splitmix64)."""
    x = np.uint64(serial) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@inlined
def _before(slots: Any, a: int, b: int) -> bool:
    if slots[a].key != slots[b].key:
        return slots[a].key < slots[b].key
    return slots[a].serial < slots[b].serial


@inlined
def _hang(state: State, slots: Any, queue: int, parent: int, to_left: bool, node: int) -> None:
    if parent == NONE:
        state.root[queue] = node
    elif to_left:
        slots[parent].left = node
    else:
        slots[parent].right = node


@inlined
def _leftmost(slots: Any, node: int) -> int:
    while slots[node].left != NONE:
        node = slots[node].left
    return node


@inlined
def join(state: State, slots: Any, queue: int, job: int) -> None:
    """Put a job into a queue, at the place of its `key` and `serial`."""
    head = state.head[queue]
    if head == NONE or _before(slots, job, head):
        state.head[queue] = job
    rank = _mixed(slots[job].serial)
    slots[job].rank = rank
    slots[job].left = NONE
    slots[job].right = NONE
    parent, to_left, node = NONE, False, state.root[queue]
    while node != NONE and slots[node].rank >= rank:
        parent = node
        to_left = _before(slots, job, node)
        node = slots[node].left if to_left else slots[node].right
    _hang(state, slots, queue, parent, to_left, job)
    # What stood here is split into what comes before the job and what comes after it.
    smaller, larger = NONE, NONE
    while node != NONE:
        if _before(slots, node, job):
            if smaller == NONE:
                slots[job].left = node
            else:
                slots[smaller].right = node
            smaller = node
            node = slots[node].right
        else:
            if larger == NONE:
                slots[job].right = node
            else:
                slots[larger].left = node
            larger = node
            node = slots[node].left
    if smaller != NONE:
        slots[smaller].right = NONE
    if larger != NONE:
        slots[larger].left = NONE
    state.waiting[queue] += 1


@inlined
def leave(state: State, slots: Any, queue: int, job: int) -> None:
    """Take a job out of the queue that it is in."""
    parent, to_left, node = NONE, False, state.root[queue]
    while node != job:
        parent = node
        to_left = _before(slots, job, node)
        node = slots[node].left if to_left else slots[node].right
    left, right = slots[job].left, slots[job].right
    if job == state.head[queue]:
        state.head[queue] = parent if right == NONE else _leftmost(slots, right)
    while left != NONE and right != NONE:
        if slots[left].rank >= slots[right].rank:
            _hang(state, slots, queue, parent, to_left, left)
            parent, to_left, left = left, False, slots[left].right
        else:
            _hang(state, slots, queue, parent, to_left, right)
            parent, to_left, right = right, True, slots[right].left
    _hang(state, slots, queue, parent, to_left, left if left != NONE else right)
    state.waiting[queue] -= 1


@inlined
def first(state: State, slots: Any, queue: int) -> int:
    """Return the job at the head of a queue, or NONE."""
    return int(state.head[queue])


@inlined
def after(state: State, slots: Any, queue: int, job: int) -> int:
    """Return the job that follows `job` (which need not be in the queue any more), or NONE."""
    node, found = state.root[queue], NONE
    while node != NONE:
        if _before(slots, job, node):
            found = node
            node = slots[node].left
        else:
            node = slots[node].right
    return found


@inlined
def _down_to_first(state: State, slots: Any, node: int) -> int:
    """Note a part of a tree that is to be walked; return its first job, the next of the walk."""
    while node != NONE:
        state.path[state.path_length] = node
        state.path_length += 1
        node = slots[node].left
    return int(state.path[state.path_length - 1]) if state.path_length > 0 else NONE


@inlined
def walk(state: State, slots: Any, queue: int) -> int:
    """Begin to walk a queue, one walk at a time; return its first job, or NONE."""
    state.path_length = 0
    return int(_down_to_first(state, slots, state.root[queue]))


@inlined
def walk_from(state: State, slots: Any, queue: int, job: int) -> int:
    """Begin to walk a queue behind `job` (which need not be in it any more)."""
    state.path_length = 0
    node = state.root[queue]
    while node != NONE:
        if _before(slots, job, node):
            state.path[state.path_length] = node
            state.path_length += 1
            node = slots[node].left
        else:
            node = slots[node].right
    return int(_down_to_first(state, slots, NONE))


@inlined
def walk_on(state: State, slots: Any, job: int) -> int:
    """Return the job that follows `job` in a walk, or NONE.

    What has changed the queue since ends the walk: it has to begin anew.
    """
    state.path_length -= 1
    return int(_down_to_first(state, slots, slots[job].right))

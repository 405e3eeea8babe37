"""Waiting jobs: one queue for each cluster, indexed by the order of service.

A queue is a randomised search tree (treap) over job slots, ordered by `key` and then `serial`:
joining, leaving and finding the first cost O(log n) whatever the discipline, and walking it in
order needs no copy. Where jobs may go before others, each part of the tree knows its smallest job
and its shortest ones (`grid.kernel.dtypes.SUBTREE`), and is passed over where none of them may.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from grid.kernel.compile import inlined, part, unchecked
from grid.kernel.dtypes import LEVELS
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
def level_of(state: State, queue: int, size: int) -> int:
    """Return the level of a size, which is no lower than that of a smaller one."""
    if size <= 1:
        return 0
    return int(min(LEVELS - 1.0, np.log2(size) * state.levels_per_doubling[queue]))


@unchecked
def _sum_up(slots: Any, subtrees: Any, node: int) -> None:
    """Write what there is from a job down, from what there is from those below it down."""
    row, slot = subtrees[node], slots[node]
    row.size = slot.size
    for level in range(LEVELS):
        row.time[level] = np.inf if level < row.level else slot.predicted_time
    for below in (slot.left, slot.right):
        if below != NONE:
            other = subtrees[below]
            row.size = min(row.size, other.size)
            for level in range(LEVELS):
                row.time[level] = min(row.time[level], other.time[level])


@inlined
def _note_on_path(state: State, node: int) -> None:
    state.path[state.path_length] = node
    state.path_length += 1


@inlined
def _pass(state: State, subtrees: Any, node: int) -> None:
    """Note a job below which something changes."""
    if subtrees is not None and len(subtrees) > 0:
        _note_on_path(state, node)


@part
def _sum_up_each(state: State, slots: Any, subtrees: Any) -> None:
    while state.path_length > 0:
        state.path_length -= 1
        _sum_up(slots, subtrees, state.path[state.path_length])


@inlined
def _sum_up_path(state: State, slots: Any, subtrees: Any) -> None:
    """Bring what is known of the parts of a tree up to date, from the lowest that changed up."""
    if subtrees is not None and state.path_length > 0:
        _sum_up_each(state, slots, subtrees)


@inlined
def join(state: State, slots: Any, subtrees: Any, queue: int, job: int) -> None:
    """Put a job into a queue, at the place of its `key` and `serial`."""
    head = state.head[queue]
    if head == NONE or _before(slots, job, head):
        state.head[queue] = job
    rank = _mixed(slots[job].serial)
    slots[job].rank = rank
    slots[job].left = NONE
    slots[job].right = NONE
    if subtrees is not None and len(subtrees) > 0:
        state.path_length = 0
        subtrees[job].level = level_of(state, queue, slots[job].size)
    parent, to_left, node = NONE, False, state.root[queue]
    while node != NONE and slots[node].rank >= rank:
        _pass(state, subtrees, node)
        parent = node
        to_left = _before(slots, job, node)
        node = slots[node].left if to_left else slots[node].right
    _hang(state, slots, queue, parent, to_left, job)
    _pass(state, subtrees, job)
    # What stood here is split into what comes before the job and what comes after it.
    smaller, larger = NONE, NONE
    while node != NONE:
        _pass(state, subtrees, node)
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
    _sum_up_path(state, slots, subtrees)
    state.waiting[queue] += 1


@inlined
def leave(state: State, slots: Any, subtrees: Any, queue: int, job: int) -> None:
    """Take a job out of the queue that it is in."""
    if subtrees is not None and len(subtrees) > 0:
        state.path_length = 0
    parent, to_left, node = NONE, False, state.root[queue]
    while node != job:
        _pass(state, subtrees, node)
        parent = node
        to_left = _before(slots, job, node)
        node = slots[node].left if to_left else slots[node].right
    left, right = slots[job].left, slots[job].right
    if job == state.head[queue]:
        state.head[queue] = parent if right == NONE else _leftmost(slots, right)
    while left != NONE and right != NONE:
        if slots[left].rank >= slots[right].rank:
            _pass(state, subtrees, left)
            _hang(state, slots, queue, parent, to_left, left)
            parent, to_left, left = left, False, slots[left].right
        else:
            _pass(state, subtrees, right)
            _hang(state, slots, queue, parent, to_left, right)
            parent, to_left, right = right, True, slots[right].left
    _hang(state, slots, queue, parent, to_left, left if left != NONE else right)
    _sum_up_path(state, slots, subtrees)
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
        _note_on_path(state, node)
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
            _note_on_path(state, node)
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


# Walks that pass over what cannot start --------------------------------------------------------


@inlined
def _may_hold(state: State, subtrees: Any, queue: int, level: int, node: int) -> bool:
    """Tell whether one of the jobs from `node` down may go before others on its cluster.

    `level` is that of the processors that are free. None may where this is false; where it is
    true, one may or none.
    """
    row = subtrees[node]
    if row.size > state.free[queue]:
        return False
    ends_in_time = state.now + row.time[level] <= state.shadow[queue]
    return bool(ends_in_time or row.size <= state.extra[queue])


@inlined
def _down_where(state: State, slots: Any, subtrees: Any, queue: int, level: int, node: int) -> int:
    while node != NONE and _may_hold(state, subtrees, queue, level, node):
        _note_on_path(state, node)
        node = slots[node].left
    return int(state.path[state.path_length - 1]) if state.path_length > 0 else NONE


@inlined
def walk_where(state: State, slots: Any, subtrees: Any, queue: int, level: int, job: int) -> int:
    """Begin to walk a queue behind `job` (NONE: from its head), where jobs may go before others."""
    state.path_length = 0
    node = state.root[queue]
    if job == NONE:
        return int(_down_where(state, slots, subtrees, queue, level, node))
    while node != NONE and _may_hold(state, subtrees, queue, level, node):
        if _before(slots, job, node):
            _note_on_path(state, node)
            node = slots[node].left
        else:
            node = slots[node].right
    return int(_down_where(state, slots, subtrees, queue, level, NONE))


@inlined
def walk_where_on(state: State, slots: Any, subtrees: Any, queue: int, level: int, job: int) -> int:
    """Return the job that follows `job` in such a walk, or NONE, as `walk_on` does."""
    state.path_length -= 1
    return int(_down_where(state, slots, subtrees, queue, level, slots[job].right))

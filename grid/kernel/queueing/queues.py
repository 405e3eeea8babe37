"""Waiting jobs: one queue for each cluster, indexed by the order of service.

A queue is a search tree (`grid.kernel.queueing.trees`) over job slots: joining, leaving and finding
the first cost O(log n) whatever the discipline, and walking it in order needs no copy. Where jobs
may go before others, those of one size are in a tree of their own, too
(`grid.kernel.queueing.by_size`).
"""

from __future__ import annotations

from typing import Any

from grid.kernel.compile import inlined
from grid.kernel.queueing.by_size import forget_size, is_searched, note_size
from grid.kernel.queueing.trees import before, insert, leftmost, note_on_path, remove, spread
from grid.kernel.state import NONE, State


@inlined
def join(state: State, slots: Any, by_size: Any, queue: int, job: int) -> None:
    """Put a job into a queue, at the place of its `key` and `serial`."""
    head = state.head[queue]
    if head == NONE or before(slots, job, head):
        state.head[queue] = job
    slots[job].rank = spread(slots[job].serial)
    state.root[queue] = insert(state, slots, slots, state.root[queue], job, False)
    if by_size is not None and is_searched(state, by_size, queue):
        note_size(state, slots, by_size, queue, job)
    state.waiting[queue] += 1


@inlined
def leave(state: State, slots: Any, by_size: Any, queue: int, job: int) -> None:
    """Take a job out of the queue that it is in."""
    right = slots[job].right
    root, parent = remove(state, slots, slots, state.root[queue], job, False)
    state.root[queue] = root
    if job == state.head[queue]:
        state.head[queue] = parent if right == NONE else leftmost(slots, right)
    if by_size is not None and is_searched(state, by_size, queue):
        forget_size(state, slots, by_size, queue, job)
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
        if before(slots, job, node):
            found = node
            node = slots[node].left
        else:
            node = slots[node].right
    return found


@inlined
def _down_to_first(state: State, slots: Any, node: int) -> int:
    """Note a part of a tree that is to be walked; return its first job, the next of the walk."""
    while node != NONE:
        note_on_path(state, node)
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
        if before(slots, job, node):
            note_on_path(state, node)
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

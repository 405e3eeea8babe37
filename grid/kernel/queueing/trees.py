"""Search trees of jobs: treaps, ordered by `key` and then `serial`, balanced by `rank`.

The links of a tree are fields of some table with a row for each slot, so that a job may be in
several trees. A rank is a hash of the serial number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from grid.kernel.compile import inlined
from grid.kernel.state import NONE, State


@inlined
def spread(serial: int) -> np.uint64:
    """Return a well-spread rank for a serial number (splitmix64)."""
    x = np.uint64(serial) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@inlined
def before(slots: Any, a: int, b: int) -> bool:
    """Tell whether one job comes before another."""
    if slots[a].key != slots[b].key:
        return slots[a].key < slots[b].key
    return slots[a].serial < slots[b].serial


@inlined
def leftmost(slots: Any, node: int) -> int:
    """Return the first job of a tree in a queue."""
    while slots[node].left != NONE:
        node = slots[node].left
    return node


@inlined
def note_on_path(state: State, node: int) -> None:
    """Add a job to `state.path`."""
    state.path[state.path_length] = node
    state.path_length += 1


@inlined
def _hang(links: Any, root: int, parent: int, to_left: bool, node: int) -> int:
    """Hang a job below another (NONE: it is the root); return the root."""
    if parent == NONE:
        return node
    if to_left:
        links[parent].left = node
    else:
        links[parent].right = node
    return root


@inlined
def insert(state: State, slots: Any, links: Any, root: int, job: int, noted: bool) -> int:
    """Put a job into a search tree, at the place of its `key`, `serial` and `rank`.

    Parameters
    ----------
    links : table
        Whose fields `left` and `right` make the tree.
    root : int
        Its root, or NONE.
    noted : bool
        Note on `state.path` each job, from the root down, below which something changes.

    Returns
    -------
    int
        The root from now on.
    """
    rank = slots[job].rank
    links[job].left = NONE
    links[job].right = NONE
    parent, to_left, node = NONE, False, root
    while node != NONE and slots[node].rank >= rank:
        if noted:
            note_on_path(state, node)
        parent = node
        to_left = before(slots, job, node)
        node = links[node].left if to_left else links[node].right
    root = _hang(links, root, parent, to_left, job)
    if noted:
        note_on_path(state, job)
    # What stood here is split into what comes before the job and what comes after it.
    smaller, larger = NONE, NONE
    while node != NONE:
        if noted:
            note_on_path(state, node)
        if before(slots, node, job):
            if smaller == NONE:
                links[job].left = node
            else:
                links[smaller].right = node
            smaller = node
            node = links[node].right
        else:
            if larger == NONE:
                links[job].right = node
            else:
                links[larger].left = node
            larger = node
            node = links[node].left
    if smaller != NONE:
        links[smaller].right = NONE
    if larger != NONE:
        links[larger].left = NONE
    return int(root)


@inlined
def remove(
    state: State, slots: Any, links: Any, root: int, job: int, noted: bool
) -> tuple[int, int]:
    """Take a job out of the search tree that it is in, as `insert` puts it there.

    Returns
    -------
    root, parent : int
        The root from now on, and the job from which the one that is gone hung (NONE: it was the
        root).
    """
    above, to_left, node = NONE, False, root
    while node != job:
        if noted:
            note_on_path(state, node)
        above = node
        to_left = before(slots, job, node)
        node = links[node].left if to_left else links[node].right
    parent, left, right = above, links[job].left, links[job].right
    while left != NONE and right != NONE:
        if slots[left].rank >= slots[right].rank:
            if noted:
                note_on_path(state, left)
            root = _hang(links, root, parent, to_left, left)
            parent, to_left, left = left, False, links[left].right
        else:
            if noted:
                note_on_path(state, right)
            root = _hang(links, root, parent, to_left, right)
            parent, to_left, right = right, True, links[right].left
    root = _hang(links, root, parent, to_left, left if left != NONE else right)
    return int(root), int(above)

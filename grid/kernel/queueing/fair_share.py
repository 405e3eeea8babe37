"""What users have used of a cluster, decayed: the order of queues that give each a fair share.

The usage of a user at time t is the sum, over the jobs that the user has started there, of
processors x time x 2^(-(t - start) / half-life). The time of a job is as predicted while it runs,
and as long as it was there once it has ended. Jobs of users who have used less, over their share,
go first; equal ones in order of landing.

All usage decays alike, so that the order of users changes only when jobs start or end: usage is
kept as the binary logarithm of what it would come to at time 0 (its *level*), which time alone does
not change. Only jobs of users whose level has changed get another place in the queue, once before
the cluster serves it: what starts then counts from the next time on.

Where a cluster serves the head of its queue only, the queue's tree holds the first waiting job of
each user, behind which the user's others stand in a line (of `next`), in order of landing. So it is
one job that gets another place, however many wait.

The table is hashed by user and cluster, and found by its address, for only those who start or end
jobs have a use for it.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba.core import types
from numba.extending import intrinsic

from grid.kernel.compile import compiled, inlined, part
from grid.kernel.queueing.queues import after, first, join, leave
from grid.kernel.state import CONSERVATIVE, HEAD, NONE, State

USAGE = np.dtype(
    [
        ("there", np.int64),  # 1: the row is of a user
        ("user", np.int64),
        ("cluster", np.int64),
        ("share", np.float64),
        ("level", np.float64),  # log2 of processor-seconds
        ("rank", np.float64),  # of the user's jobs in the queue
        ("changed", np.int64),  # 1: the level has changed since, and the row is in the list
        ("next", np.int64),  # row of the list of changed ones of the cluster
        ("first", np.int64),  # of the user's waiting jobs, where they stand in a line, or NONE
        ("last", np.int64),
    ],
    align=True,
)
"""What a user has used of a cluster."""


_USAGE = numba.from_dtype(USAGE)


@intrinsic
def _at(typing_context: Any, table: Any, row: Any) -> Any:
    """Return a row of the table at an address, without checking that there is one."""

    def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        offset = builder.mul(values[1], values[1].type(_USAGE.size))
        address = builder.add(values[0], offset)
        return builder.inttoptr(address, context.get_value_type(_USAGE))

    return _USAGE(types.int64, types.int64), codegen


@inlined
def _row(table: int, room: int, cluster: int, user: int) -> int:
    """Return the row of a user on a cluster, or the vacant one where it belongs."""
    mixed = np.uint64(user) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(cluster)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    row = np.int64(mixed >> np.uint64(32)) & (room - 1)
    while True:
        usage = _at(table, row)
        if usage.there == 0 or (usage.user == user and usage.cluster == cluster):
            return int(row)
        row = (row + 1) & (room - 1)


@inlined
def _usage(state: State, cluster: int, user: int) -> Any:
    """Return what a user has used of a cluster."""
    return _at(state.usage_at, _row(state.usage_at, state.usage_room, cluster, user))


@part
def _open(state: State, cluster: int, user: int) -> int:
    """Return the row of a user on a cluster, who has used nothing if there was none."""
    row = _row(state.usage_at, state.usage_room, cluster, user)
    usage = _at(state.usage_at, row)
    if usage.there == 0:
        usage.there = 1
        usage.user = user
        usage.cluster = cluster
        usage.share = 1.0
        usage.level = usage.rank = -np.inf
        usage.first = usage.last = NONE
        state.usages += 1
    return int(row)


@inlined
def has_room(state: State) -> bool:
    """Tell whether a job of any user may come: half of the rows stay vacant."""
    return bool(2 * (state.usages + state.clusters) <= state.usage_room)


@part
def open_rows(state: State, user: int) -> None:
    """Have a user known wherever the order depends on what users have used."""
    for cluster in range(state.clusters):
        if state.half_life[cluster] > 0.0:
            _open(state, cluster, user)


@compiled()
def give_share(box: Any, cluster: int, user: int, share: float) -> None:
    """Give a user a share of a cluster."""
    state: State = box[0]
    _at(state.usage_at, _open(state, cluster, user)).share = share


@compiled()
def move_rows(box: Any, table: int, room: int) -> None:
    """Move all rows into another table, which is the one from now on."""
    state: State = box[0]
    for cluster in range(state.clusters):
        state.usage_changed[cluster] = NONE
    for index in range(state.usage_room):
        old = _at(state.usage_at, index)
        if old.there == 1:
            row = _row(table, room, old.cluster, old.user)
            new = _at(table, row)
            new.there = 1
            new.user = old.user
            new.cluster = old.cluster
            new.share = old.share
            new.level = old.level
            new.rank = old.rank
            new.changed = old.changed
            new.first = old.first
            new.last = old.last
            if old.changed == 1:
                new.next = state.usage_changed[old.cluster]
                state.usage_changed[old.cluster] = row
    state.usage_at = table
    state.usage_room = room


@inlined
def _level_with(level: float, work: float, halvings: float) -> float:
    """Return a level to which work (processor-seconds) is added that has not decayed by then.

    Negative work takes away what was charged too much.
    """
    if work == 0.0:
        return level
    added = np.log2(abs(work)) + halvings
    if work > 0.0:
        top = max(level, added)
        return float(top + np.log2(2.0 ** (level - top) + 2.0 ** (added - top)))
    return float(level + np.log2(1.0 - 2.0 ** (added - level))) if added < level else -np.inf


@part
def _charge(state: State, cluster: int, user: int, work: float, start: float) -> None:
    row = _row(state.usage_at, state.usage_room, cluster, user)
    usage = _at(state.usage_at, row)
    usage.level = _level_with(usage.level, work, start / state.half_life[cluster])
    if usage.changed == 0:
        usage.changed = 1
        usage.next = state.usage_changed[cluster]
        state.usage_changed[cluster] = row


@inlined
def charge_start(state: State, slot: Any, cluster: int, count: int) -> None:
    """Charge the user of a job that starts now on `count` processors for its predicted time."""
    if state.half_life[cluster] > 0.0:
        _charge(state, cluster, slot.user, slot.predicted_time * count, state.now)


@inlined
def charge_end(state: State, slot: Any, cluster: int, count: int) -> None:
    """Charge the user of a job for the time that it was there, instead of the predicted one."""
    if state.half_life[cluster] > 0.0:
        more = state.now - slot.start - slot.predicted_time
        _charge(state, cluster, slot.user, more * count, slot.start)


@inlined
def rank_by_usage(state: State, slot: Any, cluster: int) -> float:
    """Return the rank at which the jobs of a job's user are in the queue of a cluster."""
    return float(_usage(state, cluster, slot.user).rank)


@inlined
def _first_at(state: State, slots: Any, queue: int, key: float) -> int:
    """Return the first job of a queue whose key is at least `key`, or NONE."""
    node, found = state.root[queue], NONE
    while node != NONE:
        if slots[node].key >= key:
            found = node
            node = slots[node].left
        else:
            node = slots[node].right
    return found


@part
def reorder(state: State, slots: Any, by_size: Any, cluster: int) -> None:
    """Move the jobs of users whose usage has changed to their places in the queue."""
    while state.usage_changed[cluster] != NONE:
        usage = _at(state.usage_at, state.usage_changed[cluster])
        state.usage_changed[cluster] = usage.next
        usage.changed = 0
        before, user = usage.rank, usage.user
        rank = usage.level - np.log2(usage.share)
        usage.rank = rank
        if rank == before:
            continue
        if state.service[cluster] == HEAD:
            if usage.first != NONE:
                leave(state, slots, by_size, cluster, usage.first)
                slots[usage.first].key = rank
                join(state, slots, by_size, cluster, usage.first)
            continue
        job = _first_at(state, slots, cluster, before)
        while job != NONE and slots[job].key == before:
            following = after(state, slots, cluster, job)
            if slots[job].user == user:
                leave(state, slots, by_size, cluster, job)
                slots[job].key = rank
                join(state, slots, by_size, cluster, job)
                if state.service[cluster] != CONSERVATIVE:  # where all keep their reservations
                    state.disturbed[cluster] = 1
            job = following


# Lines of users --------------------------------------------------------------------------------


@inlined
def in_lines(state: State, cluster: int) -> bool:
    """Tell whether the jobs that wait on a cluster stand in lines of users."""
    return bool(state.half_life[cluster] > 0.0 and state.service[cluster] == HEAD)


@part
def line_up(state: State, slots: Any, by_size: Any, cluster: int, job: int) -> None:
    """Put a job into its user's line, at the place of its `serial`."""
    usage = _usage(state, cluster, slots[job].user)
    head, serial = usage.first, slots[job].serial
    if head == NONE or serial < slots[head].serial:
        if head != NONE:
            leave(state, slots, by_size, cluster, head)
            state.waiting[cluster] += 1
        else:
            usage.last = job
        usage.first = job
        slots[job].next = head
        join(state, slots, by_size, cluster, job)
        return
    before = usage.last
    if serial < slots[before].serial:  # a failure threw it back
        before = head
        while slots[slots[before].next].serial < serial:
            before = slots[before].next
    else:
        usage.last = job
    slots[job].next = slots[before].next
    slots[before].next = job
    state.waiting[cluster] += 1


@part
def leave_head(state: State, slots: Any, by_size: Any, cluster: int, job: int) -> None:
    """Take out of a queue its first job, or the first of a line."""
    leave(state, slots, by_size, cluster, job)
    if not in_lines(state, cluster):
        return
    usage = _usage(state, cluster, slots[job].user)
    usage.first = slots[job].next
    if usage.first == NONE:
        usage.last = NONE
    else:
        slots[usage.first].key = usage.rank
        join(state, slots, by_size, cluster, usage.first)
        state.waiting[cluster] -= 1


@part
def unfold(state: State, slots: Any, by_size: Any, cluster: int) -> None:
    """Put all jobs of lines, if there are lines, into the queue's tree."""
    if not in_lines(state, cluster):
        return
    job = first(state, slots, cluster)
    while job != NONE:
        usage = _usage(state, cluster, slots[job].user)
        usage.first = usage.last = NONE
        behind = slots[job].next
        slots[job].next = NONE
        while behind != NONE:
            following = slots[behind].next
            slots[behind].next = NONE
            slots[behind].key = usage.rank
            join(state, slots, by_size, cluster, behind)
            state.waiting[cluster] -= 1
            behind = following
        job = after(state, slots, cluster, job)


@part
def fold(state: State, slots: Any, by_size: Any, cluster: int) -> None:
    """Have all jobs of a queue stand in lines again, if they did."""
    if not in_lines(state, cluster):
        return
    job = first(state, slots, cluster)
    while job != NONE:
        following = after(state, slots, cluster, job)
        usage = _usage(state, cluster, slots[job].user)
        if usage.first == NONE:
            usage.first = job
        else:
            leave(state, slots, by_size, cluster, job)
            slots[usage.last].next = job
            state.waiting[cluster] += 1
        usage.last = job
        job = following

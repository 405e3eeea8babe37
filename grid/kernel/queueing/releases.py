"""When the processors of a cluster are expected to be free: what backfilling relies on.

A job is expected to end as predicted when it started; one that runs for longer, now.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from grid.kernel.bandwidth import overdue_at
from grid.kernel.compile import inlined, part, unchecked
from grid.kernel.state import NONE, State
from grid.kernel.tables import Tables


@inlined
def _predicted_end(slot: Any) -> float:
    """Return when a job that runs on one cluster was expected to end as it started, s."""
    return float(slot.start + slot.predicted_time)


@inlined
def expected_end(state: State, slot: Any) -> float:
    """Return when a job that runs on one cluster is expected to end, s."""
    return max(_predicted_end(slot), state.now)


@inlined
def expected_end_of_parts(state: State, slot: Any) -> float:
    """Return when a job that runs on several clusters is expected to end, s, as links are now.

    Of those it is known what they do to it; only its dedicated execution time is predicted.
    """
    return max(overdue_at(slot), state.now)


@inlined
def is_overdue(state: State, slots: Any, cluster: int) -> bool:
    """Tell whether a job of a cluster, whose jobs are kept in order, should have ended by now."""
    job = state.running[cluster]
    return job != NONE and _predicted_end(slots[job]) <= state.now


@part
def keep_in_order(state: State, slots: Any, job: int) -> None:
    """Move a job that has just started to its place among those of its cluster, by expected end."""
    slot = slots[job]
    end, before, after = _predicted_end(slot), job, slot.next
    while after != NONE and _predicted_end(slots[after]) <= end:
        before, after = after, slots[after].next
    if before == job:
        return
    state.running[slot.cluster] = slot.next
    slots[slot.next].previous = NONE
    slots[before].next = job
    slot.previous, slot.next = before, after
    if after != NONE:
        slots[after].previous = job


@inlined
def freed_by(state: State, tables: Tables, cluster: int, job: int, count: int) -> int:
    """Return how many of the `count` processors that a job holds on a cluster do not go with it."""
    return count - _going_with(state, tables.slots, tables.processors, cluster, job)


@inlined
def _going_with(state: State, slots: Any, processors: Any, cluster: int, job: int) -> int:
    going = 0
    if processors is not None and state.remaining[cluster] < state.up[cluster]:
        processor = slots[job].first_processor
        while processor != NONE:
            goes = processors[processor].causes > 0
            going += goes and processors[processor].cluster == cluster
            processor = processors[processor].next
    return going


@part
def parts_freed(state: State, tables: Tables, cluster: int, after: float) -> tuple[float, int]:
    """Return when parts of co-allocated jobs are expected to end next, s, and what that frees.

    Those that end by `after` (s) are left out. Without any, that is at infinity.
    """
    soonest, count = np.inf, 0
    for index in range(state.sliding):
        row = tables.sliding[index]
        if row.take[cluster] > 0:
            slot = tables.slots[row.job]
            end = expected_end_of_parts(state, slot)
            if after < end <= soonest:
                count = 0 if end < soonest else count
                soonest = end
                count += freed_by(state, tables, cluster, row.job, row.take[cluster])
    return soonest, count


@unchecked
def _sink(heap: Any, at: int, count: int) -> None:
    time, what = heap[at].time, heap[at].what
    child = 2 * at + 1
    while child < count:
        if child + 1 < count and heap[child + 1].time < heap[child].time:
            child += 1
        if heap[child].time >= time:
            break
        heap[at].time, heap[at].what = heap[child].time, heap[child].what
        at, child = child, 2 * child + 1
    heap[at].time, heap[at].what = time, what


@inlined
def order(heap: Any, count: int) -> None:
    """Make a heap, the soonest first, of what is in no order (`RELEASE`)."""
    for at in range(count // 2 - 1, -1, -1):
        _sink(heap, at, count)


@inlined
def drop_first(heap: Any, count: int) -> int:
    """Take the soonest out of a heap; return how many are left."""
    count -= 1
    heap[0].time, heap[0].what = heap[count].time, heap[count].what
    _sink(heap, 0, count)
    return count

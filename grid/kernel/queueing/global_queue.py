"""Jobs that wait globally, in order of arrival, and which of them is offered next.

They stand in lines, each in order of serial. A policy whose refusals hold for all larger jobs too
has a line for each size, so that a pass over the queue asks once for each size that it refuses and
looks at no other job; a policy that visits queues has a line for each of them; for others there is
one line, from its head to its end.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from grid.kernel.compile import inlined, unchecked
from grid.kernel.policies.decisions import call_largest
from grid.kernel.queueing.visiting import tell_arrival, tell_departure
from grid.kernel.state import LINES, NOBODY, NONE, State

ASK = -2
"""The scheduler is asked which queue it visits."""


@inlined
def _line(state: State, slot: Any) -> int:
    if state.visits == 1:
        return int(slot.queue)
    return int(slot.size) if state.by_size == 1 else 0


@inlined
def _set_first(state: State, slots: Any, line: int, job: int) -> None:
    state.line_first[line] = job
    state.line_turn[line] = NOBODY if job == NONE else slots[job].serial * LINES + line
    if state.visits == 1:
        state.known.head_arrival[line] = np.inf if job == NONE else slots[job].arrival


@inlined
def _count_waiting(state: State, line: int, more: int) -> None:
    queue = len(state.free)
    if state.visits == 1:
        state.known.queued[line] += more
        queue = line if line < state.clusters else queue
    state.waiting[queue] += more


@inlined
def join_line(state: State, slots: Any, job: int) -> None:
    """Put a job into its line, behind those known before it."""
    slot = slots[job]
    line = _line(state, slot)
    before = state.line_last[line]
    while before != NONE and slots[before].serial > slot.serial:
        before = slots[before].previous
    slot.previous = before
    slot.jumps = 0
    if before == NONE:
        slot.next = state.line_first[line]
        _set_first(state, slots, line, job)
    else:
        slot.next = slots[before].next
        slots[before].next = job
    if slot.next == NONE:
        state.line_last[line] = job
    else:
        slots[slot.next].previous = job
    state.lines_begin = min(state.lines_begin, line)
    state.lines_end = max(state.lines_end, line + 1)
    _count_waiting(state, line, 1)


@inlined
def leave_line(state: State, slots: Any, job: int) -> None:
    """Take a job out of its line."""
    slot = slots[job]
    line = _line(state, slot)
    if slot.previous == NONE:
        state.jumps -= slot.jumps
    else:
        slots[slot.previous].jumps += slot.jumps
    if slot.previous == NONE:
        _set_first(state, slots, line, slot.next)
        if slot.next == NONE and line == state.lines_begin:
            state.lines_begin += 1
    else:
        slots[slot.previous].next = slot.next
    if slot.next == NONE:
        state.line_last[line] = slot.previous
    else:
        slots[slot.next].previous = slot.previous
    _count_waiting(state, line, -1)


@inlined
def overtake(state: State, slots: Any, job: int) -> None:
    """Count that a job goes before those known earlier, if there are any.

    All of them are overtaken, and none that is behind it: to count that at the last one is enough,
    for how often the head was overtaken is the sum over the queue.
    """
    if slots[job].previous != NONE:
        slots[slots[job].previous].jumps += 1
        state.jumps += 1


@unchecked
def _first_turn(turns: Any) -> int:
    """Return the least of some turns."""
    least = NOBODY
    for index in range(len(turns)):
        least = min(least, turns[index])
    return least


@inlined
def _largest(state: State, memory: Any) -> int:
    """Return a size such that all larger jobs would have to wait."""
    if state.largest_at == 0:
        return LINES
    return int(call_largest(state.largest_at, state.known, memory))


@inlined
def _first_willing(state: State, slots: Any, job: int, memory: Any) -> int:
    """Return the first job that need not wait for its size, from one in the only line on."""
    if state.largest_at != 0 and job != NONE:
        largest = _largest(state, memory)
        while job != NONE and slots[job].size > largest:
            job = slots[job].next
    return job


@inlined
def first_offered(state: State, slots: Any, memory: Any) -> int:
    """Return the job known first of those that need not wait for their sizes, or NONE.

    If queues are visited the scheduler is to be asked: ASK.
    """
    if state.visits == 1:
        return ASK
    if state.by_size == 0:
        return _first_willing(state, slots, state.line_first[0], memory)
    end = min(state.lines_end, state.refused_size)
    if end <= state.lines_begin:
        return NONE
    # Larger ones that arrive before all are offered again need not be offered either.
    state.refused_size = min(state.refused_size, _largest(state, memory) + 1)
    end = min(end, state.refused_size)
    turn = _first_turn(state.line_turn[state.lines_begin : end])
    if turn == NOBODY:
        state.lines_begin = max(state.lines_begin, end)
        return NONE
    return int(state.line_first[turn % LINES])


@inlined
def next_offered(
    state: State, slots: Any, size: int, following: int, refused: bool, memory: Any
) -> int:
    """Return the job that is offered after one of a size, behind which `following` stands.

    If queues are visited the scheduler is to be asked: ASK.
    """
    if state.visits == 1:
        return ASK
    if state.by_size == 1:
        if refused:
            state.refused_size = size
        return first_offered(state, slots, memory) if state.offering_all == 1 else NONE
    if state.jumps >= state.max_jumps and following != state.line_first[0]:
        return NONE
    return _first_willing(state, slots, following, memory)


@inlined
def offer(state: State, slots: Any, job: int) -> None:
    """Have a job offered that has just been put into the global queue."""
    if state.visits == 1:
        tell_arrival(state, slots[job].queue)
    elif state.cursor != NONE or state.reconsider == 1:
        state.offering_all = 1  # and so comes to this one
    elif state.offering_all == 0 and slots[job].size < state.refused_size:
        state.cursor = job


@inlined
def offer_again(state: State) -> None:
    """Have every job that waits globally offered again, from the head of the queue.

    A scheduler that works in rounds looks at them again, if it awaits room for one.
    """
    if state.visits == 1:
        tell_departure(state)
        return
    state.refused_size = NOBODY
    state.foreseen = 0
    state.cursor = NONE
    if state.collect == 0:
        state.offering_all = int(state.waiting[len(state.free)] > 0)
    elif state.waiting[len(state.free)] > 0:
        state.collected += state.awaits_room

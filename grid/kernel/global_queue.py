"""Jobs that wait globally, in order of arrival, and which of them is offered next.

They stand in lines, each in order of serial. A policy whose refusals hold for all larger jobs too
has a line for each size, so that a pass over the queue asks once for each size that it refuses and
looks at no other job; for others there is one line, from its head to its end.
"""

from __future__ import annotations

from typing import Any

from grid.kernel.compile import compiled, inlined
from grid.kernel.state import LINES, NOBODY, NONE


@inlined
def _line(state: Any, size: int) -> int:
    return size if state.by_size == 1 else 0


@inlined
def _set_first(state: Any, slots: Any, line: int, job: int) -> None:
    state.line_first[line] = job
    state.line_turn[line] = NOBODY if job == NONE else slots[job].serial * LINES + line


@inlined
def join_line(state: Any, slots: Any, job: int) -> None:
    """Put a job into its line, behind those known before it."""
    slot = slots[job]
    line = _line(state, slot.size)
    before = state.line_last[line]
    while before != NONE and slots[before].serial > slot.serial:
        before = slots[before].previous
    slot.previous = before
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
    state.lines = max(state.lines, line + 1)
    state.waiting[len(state.free)] += 1


@inlined
def leave_line(state: Any, slots: Any, job: int) -> None:
    """Take a job out of its line."""
    slot = slots[job]
    line = _line(state, slot.size)
    if slot.previous == NONE:
        _set_first(state, slots, line, slot.next)
    else:
        slots[slot.previous].next = slot.next
    if slot.next == NONE:
        state.line_last[line] = slot.previous
    else:
        slots[slot.next].previous = slot.previous
    state.waiting[len(state.free)] -= 1


@compiled(cache=False, forceinline=True, boundscheck=False)
def _first_turn(turns: Any, end: int) -> int:
    """Return the least of the turns before `end`, which stays below the number of lines."""
    least = NOBODY
    for line in range(end):
        least = min(least, turns[line])
    return least


@inlined
def first_offered(state: Any) -> int:
    """Return the job known first of those not larger than one that was refused, or NONE."""
    turn = _first_turn(state.line_turn, min(state.lines, state.refused_size))
    return NONE if turn == NOBODY else int(state.line_first[turn % LINES])


@inlined
def offer_again(state: Any) -> None:
    """Have every job of the global queue offered again, from its head."""
    state.refused_size = LINES
    if state.collect == 0:
        state.cursor = first_offered(state)

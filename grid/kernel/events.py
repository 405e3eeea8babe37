"""Events that are due: a heap ordered by time, then kind, then order of scheduling."""

from __future__ import annotations

import math
from typing import Any

from grid.kernel.compile import inlined, part, unchecked
from grid.kernel.state import KIND_BITS, State
from grid.streams import uniform

_ARITY = 4


@inlined
def kind_of(event: Any) -> int:
    """Return what kind of event it is."""
    return event.turn >> KIND_BITS


@inlined
def schedule(state: State, events: Any, time: float, kind: int, subject: int) -> int:
    """Add an event and return the index at which it stands until the heap changes again."""
    at = state.events
    state.events += 1
    state.serial += 1
    turn = (kind << KIND_BITS) + state.serial
    while at > 0:
        parent = (at - 1) // _ARITY
        above = events[parent]
        if above.time < time or (above.time == time and above.turn < turn):
            break
        events[at] = above
        at = parent
    event = events[at]
    event.time = time
    event.turn = turn
    event.subject = subject
    return at


@part
def plan_failure(state: State, events: Any, kind: int, mean: float, processor: int) -> None:
    """Have a processor fail, or be repaired, after an exponential time of this mean (s)."""
    time = -mean * math.log(1.0 - uniform(state.failure_stream))
    state.background += 1
    schedule(state, events, state.now + time, kind, processor)


@unchecked
def _soonest(events: Any, first: int, end: int) -> int:
    """Return which event of those from `first` to before `end` comes soonest."""
    soonest, time = first, events[first].time
    for other in range(first + 1, end):
        if events[other].time == time:
            sooner = events[other].turn < events[soonest].turn
        else:
            sooner = events[other].time < time
        soonest = other if sooner else soonest
        time = events[other].time if sooner else time
    return soonest


@inlined
def remove_next(state: State, events: Any) -> None:
    """Remove the event at the top of the heap."""
    state.events -= 1
    count = state.events
    last = events[count]
    at = 0
    child = 1
    while child < count:
        child = _soonest(events, child, min(child + _ARITY, count))
        below = events[child]
        if below.time > last.time or (below.time == last.time and below.turn > last.turn):
            break
        events[at] = below
        at = child
        child = _ARITY * at + 1
    events[at] = last

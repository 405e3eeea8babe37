"""Events that are due: a heap ordered by time, then kind, then order of scheduling."""

from __future__ import annotations

import math
from typing import Any

from grid.kernel.compile import inlined, part
from grid.streams import uniform

_ARITY = 4


@inlined
def _sooner(a: Any, b: Any) -> bool:
    if a.time != b.time:
        return a.time < b.time
    if a.kind != b.kind:
        return a.kind < b.kind
    return a.serial < b.serial


@part
def schedule(state: Any, events: Any, time: float, kind: int, subject: int) -> int:
    """Add an event and return the index at which it stands until the heap changes again."""
    at = state.events
    state.events += 1
    state.serial += 1
    serial = state.serial
    while at > 0:
        parent = (at - 1) // _ARITY
        above = events[parent]
        # A new event has the highest serial: it rises only past a later time or kind.
        if above.time < time or (above.time == time and above.kind <= kind):
            break
        events[at] = above
        at = parent
    event = events[at]
    event.time = time
    event.kind = kind
    event.serial = serial
    event.subject = subject
    return at


@part
def plan_failure(state: Any, events: Any, kind: int, mean: float, processor: int) -> None:
    """Have a processor fail, or be repaired, after an exponential time of this mean (s)."""
    time = -mean * math.log(1.0 - uniform(state.failure_stream))
    state.background += 1
    schedule(state, events, state.now + time, kind, processor)


@part
def remove_next(state: Any, events: Any) -> None:
    """Remove the event at the top of the heap."""
    state.events -= 1
    count = state.events
    if count == 0:
        return
    last = events[count]
    at = 0
    child = 1
    while child < count:
        best = child
        for other in range(child + 1, min(child + _ARITY, count)):
            if _sooner(events[other], events[best]):
                best = other
        if not _sooner(events[best], last):
            break
        events[at] = events[best]
        at = best
        child = _ARITY * at + 1
    events[at] = last

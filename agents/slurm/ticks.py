"""When loops are due that run each so many seconds: at multiples of these."""

from __future__ import annotations

import math


def ticked(last: float, now: float, interval: float) -> bool:
    """Tell whether a multiple of an interval (s) has come since a time (s)."""
    if interval == math.inf:
        return False
    return last == -math.inf or math.floor(now / interval) > math.floor(last / interval)


def next_tick(after: float, interval: float) -> float:
    """Return the next multiple of an interval (s) after a time (s), infinity if either is that."""
    if math.inf in (after, interval):
        return math.inf
    return (math.floor(after / interval) + 1) * interval

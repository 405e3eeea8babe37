"""How much of a job a link can bear between its two sides (`beosim`, eqs. 1, 9 and 10)."""

from __future__ import annotations

from typing import Any

from agents.coallocation.modules import limit
from grid.kernel.compile import inlined


@inlined
def bound(known: Any, size: int, ppbw: float, link: int, lslt: float) -> int:
    """Return the most nodes, of a job up to half, on one side of a link that keep it within LSLT.

    That is floor(n1) of eq. 9, decided on whole numbers by eq. 1: the root is too sensitive to
    rounding where demands meet the threshold exactly. No node at all is always possible.
    """
    return most_within(size, ppbw, limit(known, link, lslt) - known.demand[link])


@inlined
def most_within(size: int, ppbw: float, available: float) -> int:
    """Return the same of a link with so much bandwidth to give, Mbit/s."""
    low, high = 0, size // 2
    while low < high:
        middle = (low + high + 1) // 2
        if middle * (size - middle) / (size - 1.0) * ppbw <= available:
            low = middle
        else:
            high = middle - 1
    return low

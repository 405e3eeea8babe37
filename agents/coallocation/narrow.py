"""How much of a job a link can bear between its two sides (`beosim`, eqs. 1, 9 and 10)."""

from __future__ import annotations

import math
from typing import Any

from agents.coallocation.primitives import limit
from grid.kernel.compile import inlined


@inlined
def _demand(size: int, ppbw: float, side: int) -> float:
    """Return what a job with `side` nodes on one side of a link needs of it, Mbit/s (eq. 1)."""
    return side * (size - side) / (size - 1.0) * ppbw


@inlined
def bound(known: Any, size: int, ppbw: float, link: int, lslt: float) -> int:
    """Return the most nodes, of a job up to half, on one side of a link that keep it within LSLT.

    That is floor(n1) of eq. 9, decided on whole numbers by eq. 1: the root, where it begins to
    look, is too sensitive to rounding where demands meet the threshold exactly. No node at all is
    always possible.
    """
    return most_within(size, ppbw, limit(known, link, lslt) - known.demand[link])


@inlined
def most_within(size: int, ppbw: float, available: float) -> int:
    """Return the same of a link with so much bandwidth to give, Mbit/s."""
    half = size // 2
    if half == 0 or _demand(size, ppbw, half) <= available:
        return half
    square = 0.25 * size * size - available * (size - 1.0) / ppbw
    side = int(max(0.5 * size - math.sqrt(max(square, 0.0)), 0.0))
    while side > 0 and _demand(size, ppbw, side) > available:
        side -= 1
    while side + 1 < half and _demand(size, ppbw, side + 1) <= available:
        side += 1
    return side

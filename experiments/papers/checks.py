"""What all studies ask of the numbers that they are given."""

from __future__ import annotations

from grid.errors import GridError


def check_amounts(scale: float, replications: int, workers: int, fewest: int = 1) -> None:
    """Raise `GridError` for a number that no study can do; `fewest` replications are enough."""
    if not 0 < scale <= 1000:
        raise GridError(f"scale: found {scale!r}; accepted: a number above 0, up to 1000")
    for name, count, least in (("replications", replications, fewest), ("workers", workers, 1)):
        if count < least:
            raise GridError(f"{name}: found {count!r}; accepted: a whole number from {least}")

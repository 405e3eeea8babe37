"""What takes too long, or too much memory, is refused before it begins."""

from __future__ import annotations

import math

from grid.errors import GridError

LONGEST = 300.0
"""CPU seconds, as estimated, that a formula may take."""

LARGEST = 2.0
"""Gigabytes, as estimated, that it may hold."""


def check_cost(what: str, seconds: float, numbers: float = 0) -> None:
    """Refuse a computation that is estimated to take more than `LONGEST` or `LARGEST`.

    Parameters
    ----------
    what : str
        What is computed.
    seconds : float
        CPU time.
    numbers : float
        How many numbers of 8 bytes it holds at a time.

    Raises
    ------
    GridError
        With the estimate.

    Examples
    --------
    >>> check_cost("ordered requests", 7200)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    grid.errors.GridError: ordered requests: estimated at 2 hours of CPU time; accepted: ...
    """
    gigabytes = numbers * 8e-9
    if seconds <= LONGEST and gigabytes <= LARGEST:
        return
    found = f"{_told(seconds)} of CPU time"
    if gigabytes > LARGEST:
        found += f" and {gigabytes:.2g} GB"
    raise GridError(
        f"{what}: estimated at {found}; accepted: at most {LONGEST / 60:g} min and {LARGEST:g} GB "
        "(fewer or smaller clusters, or fewer sizes)"
    )


def _told(seconds: float) -> str:
    for unit, length in (("years", 31557600), ("days", 86400), ("hours", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.2g} {unit}"
    return f"{seconds:.2g} s"


def multisets(kinds: int, length: int) -> float:
    """Return how many ways there are to choose so many things of some kinds, in no order.

    >>> multisets(3, 2)
    6.0
    """
    try:
        return float(math.comb(kinds + length - 1, length))
    except OverflowError:
        return math.inf


def jobs_at_once(processors: int, mean: float, least: int) -> float:
    """Return an estimate of how many jobs may fit together before more is negligible.

    >>> jobs_at_once(32, 16.0, 1)
    16.0
    """
    return min(processors / max(least, 1), 10 + 3 * processors / max(mean, 1e-9))

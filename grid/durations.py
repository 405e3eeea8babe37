"""Times that people write, such as ``90s``, ``10m`` or ``4w``."""

from __future__ import annotations

import math

from grid.errors import GridError

_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}


def seconds(text: str) -> float | None:
    """Return the time that a text says, s, or None if it says none above 0.

    Examples
    --------
    >>> seconds("90s"), seconds("4w"), seconds("soon")
    (90.0, 2419200.0, None)
    """
    unit = _SECONDS.get(text[-1:])
    try:
        found = float(text if unit is None else text[:-1]) * (unit or 1.0)
    except ValueError:
        return None
    return found if 0.0 < found < math.inf else None


def time_of(value: object, name: str) -> float:
    """Return a time above 0 that is given as a number of seconds, or as text such as ``10m``, s.

    Raises
    ------
    GridError
        If it is none.
    """
    found = None if isinstance(value, bool) else seconds(str(value))
    if found is None:
        accepted = "a time above 0, such as 30s, 10m or 2h"
        raise GridError(f"{name}: found {str(value)!r}; accepted: {accepted}")
    return found

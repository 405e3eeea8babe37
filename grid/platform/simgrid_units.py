"""Numbers with units, as SimGrid writes them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from grid.errors import PlatformError
from grid.foreign import quoted

_PREFIXES = {"": 1.0} | {
    sign + binary: (1024.0 if binary else 1000.0) ** power
    for power, sign in enumerate("kMGTPEZY", 1)
    for binary in ("", "i")
}
SPEED = {
    prefix + unit: factor for prefix, factor in _PREFIXES.items() for unit in ("f", "flops")
} | {"": 1.0}
"""Units of speed, in flop/s."""

MBIT = {
    prefix + unit: factor * bits / 1e6
    for prefix, factor in _PREFIXES.items()
    for unit, bits in (("Bps", 8), ("bps", 1))
} | {"": 8e-6}
"""Units of bandwidth, in Mbit/s; without one, bytes a second."""

SECONDS = {"w": 604_800.0, "d": 86_400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "": 1.0} | {
    "ms": 1e-3,
    "us": 1e-6,
    "ns": 1e-9,
    "ps": 1e-12,
}
"""Units of time, in s."""

_MEASURED = re.compile(r"((?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?+)\s*+([A-Za-z]*+)", re.ASCII)


def measured(text: str, units: Mapping[str, float]) -> float:
    """Return the number that a text with a unit spells.

    Raises
    ------
    PlatformError
        If it spells none.

    Examples
    --------
    >>> measured("1.25E8Bps", MBIT), measured("24us", SECONDS), measured("16.673E9flops", SPEED)
    (1000.0, 2.4e-05, 16673000000.0)
    """
    match = _MEASURED.fullmatch(text.strip())
    if match is None or match[2] not in units:
        accepted = ", ".join(unit for unit in list(units)[:6] if unit)
        raise PlatformError(
            f"found {quoted(text)}; accepted: a number and a unit, such as {accepted}"
        )
    return float(match[1]) * units[match[2]]

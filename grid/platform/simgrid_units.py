"""What attributes in platforms of SimGrid say: numbers with units, and what is wrong with one."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import TypeVar
from xml.etree.ElementTree import Element

from grid.errors import PlatformError
from grid.foreign import plain, quoted

Value = TypeVar("Value")

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

SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12} | {
    "": 1.0,
    "m": 60.0,
    "h": 3600.0,
    "d": 86_400.0,
    "w": 604_800.0,
}
"""Units of time, in s."""

_MEASURED = re.compile(r"((?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?+)\s*+([A-Za-z]*+)", re.ASCII)


def said(element: Element, name: str, read: Callable[[str], Value], unsaid: str = "") -> Value:
    """Return what an attribute says; errors name its element, and it.

    Raises
    ------
    PlatformError
        If `read` does.
    """
    try:
        return read(element.get(name, unsaid))
    except PlatformError as error:
        raise PlatformError(f"{called(element)}: {name}: {error}") from None


def called(element: Element) -> str:
    """Return the name of an element for a message: what it is, and its own."""
    return plain(f"{element.tag} {element.get('id', '')}".strip())


def measured(text: str, units: Mapping[str, float], from_0: bool = False) -> float:
    """Return the finite number above 0, or from 0, that a text with a unit spells.

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
    value = float(match[1]) * units[match[2]] if match and match[2] in units else -math.inf
    if not 0 <= value < math.inf or (value == 0 and not from_0):
        least = "from 0" if from_0 else "above 0"
        accepted = ", ".join(unit for unit in list(units)[:6] if unit)
        raise PlatformError(
            f"found {quoted(text)}; accepted: a number {least} and a unit, such as {accepted}"
        )
    return value

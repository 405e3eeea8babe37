"""Values of ``slurm.conf``: times, numbers, lists of nodes."""

from __future__ import annotations

import math
import re
from itertools import cycle, product

from grid.errors import GridError
from grid.foreign import quoted

WITHOUT_END = ("infinite", "unlimited", "-1")

MOST_NODES = 1_000_000

_TIME = re.compile(
    r"(?:(?P<days>\d{1,9})-)?(?P<first>\d{1,9})(?::(?P<second>\d{1,9}))?(?::(?P<third>\d{1,9}))?",
    re.ASCII,
)
_ITEM = re.compile(r"(?:[^\[\],\s]|\[[\d,-]*\])+", re.ASCII)
_BRACKETS = re.compile(r"\[([\d,-]*)\]", re.ASCII)


def seconds(where: str, text: str) -> float:
    """Return a time, s: a number of minutes, ``min:s``, ``h:min:s``, ``days-h:min:s``.

    Examples
    --------
    >>> seconds("", "90"), seconds("", "1-12"), seconds("", "00:30:00"), seconds("", "UNLIMITED")
    (5400.0, 129600.0, 1800.0, inf)

    Raises
    ------
    GridError
        For any other text.
    """
    if text.lower() in WITHOUT_END:
        return math.inf
    found = _TIME.fullmatch(text)
    if found is None:
        raise GridError(
            f"{where}: found {quoted(text)}; accepted: minutes, h:min:s, days-h:min:s or UNLIMITED"
        )
    first, second, third = (int(found[name] or 0) for name in ("first", "second", "third"))
    if found["days"] is not None:
        return float(int(found["days"]) * 86400 + first * 3600 + second * 60 + third)
    if found["third"] is not None:
        return float(first * 3600 + second * 60 + third)
    if found["second"] is not None:
        return float(first * 60 + second)
    return float(first * 60)


def whole(where: str, text: str, least: int = 0, most: int = 2**53) -> int:
    """Return a whole number within limits.

    Raises
    ------
    GridError
        For any other text.
    """
    if re.fullmatch(r"-?\d{1,18}", text, re.ASCII) is None or not least <= int(text) <= most:
        limits = f"from {least}" if most == 2**53 else f"from {least} to {most}"
        raise GridError(f"{where}: found {quoted(text)}; accepted: a whole number {limits}")
    return int(text)


def yes(where: str, text: str) -> bool:
    """Return whether a text is YES, as NO is not.

    Raises
    ------
    GridError
        For any other text.
    """
    if text.lower() not in ("yes", "no"):
        raise GridError(f"{where}: found {quoted(text)}; accepted: YES, NO")
    return text.lower() == "yes"


def node_names(where: str, text: str) -> list[str]:
    """Return the names of a list of nodes.

    Examples
    --------
    >>> node_names("", "n[1-3,7],gpu0"), node_names("", "rack[08-10]x")
    (['n1', 'n2', 'n3', 'n7', 'gpu0'], ['rack08x', 'rack09x', 'rack10x'])
    >>> node_names("", "r[0-1]n[1-2]")
    ['r0n1', 'r0n2', 'r1n1', 'r1n2']

    Raises
    ------
    GridError
        For another text, or more than `MOST_NODES`.
    """
    found: list[str] = []
    at = 0
    while at < len(text):
        item = _ITEM.match(text, at)
        end = at if item is None else item.end()
        if item is None or (end < len(text) and text[end] != ","):
            raise GridError(f"{where}: found {quoted(text)}; accepted: nodes such as n[1-4,7],gpu1")
        at = end + 1
        parts = [
            [number for span in part.split(",") for number in _numbers(where, text, span)]
            if within  # every second one: what brackets hold
            else [part]
            for within, part in zip(cycle((False, True)), _BRACKETS.split(item[0]), strict=False)
        ]
        if len(found) + math.prod(map(len, parts)) > MOST_NODES:
            raise GridError(f"{where}: found {quoted(text)}; accepted: at most {MOST_NODES:,}")
        found += map("".join, product(*parts))
    return found


def _numbers(where: str, text: str, span: str) -> list[str]:
    ends = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", span, re.ASCII)
    if ends is None or int(ends[2] or ends[1]) - int(ends[1]) not in range(MOST_NODES):
        raise GridError(f"{where}: found {quoted(text)}; accepted: nodes such as n[1-4,7],gpu1")
    width = len(ends[1])
    return [f"{n:0{width}}" for n in range(int(ends[1]), int(ends[2] or ends[1]) + 1)]

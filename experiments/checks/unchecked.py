"""What of a summary is taken as it stands, since the jobs of the run cannot tell it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any

GIVEN = ("seed", "workload", "parameters", "platform", "rejections")
"""What the checks go by."""
COUNTED = ("jobs/submitted", "jobs/completed", "jobs/rejected", "rejected_jobs", "unfinished")
"""What is counted in ``jobs.csv``."""
BOUNDED = ("simulated_s", "restarts", "preemptions", "lost_work")
"""Numbers that are held against what they must be at least, or at most."""

KINDS = {
    "messages": re.compile(r"/messages|refused_starts$|/mean_age|^brokers/"),
    "plans and predictions": re.compile(r"planned$|prediction|^applications/|/rounds$|/cp_basis$"),
    "links": re.compile(r"^links/|^demand$|^saturated$"),
    "other metrics": re.compile(r"^metrics/|^clusters/|^classes/|^origins/|^waiting$"),
    "run": re.compile(""),
}
"""What is not checked is of the first of these whose pattern is found in its path."""


def unchecked(summary: dict[str, Any], numbers: Collection[str]) -> tuple[str, ...]:
    """Return the paths of a summary's values that no check is about, in its order.

    Parameters
    ----------
    summary : dict
    numbers : collection of str
        Paths of the numbers that were worked out again.

    Examples
    --------
    >>> summary = {"seed": 1, "metrics": {"mcp": 2.0, "rounds": 3}, "clusters": [{"cp_planned": 4}]}
    >>> unchecked(summary, ["metrics/mcp"])
    ('metrics/rounds', 'clusters/*/cp_planned')
    """
    found = {
        # What is unknown of one cluster is so of all.
        "/".join("*" if part.isdecimal() else part for part in path.split("/")): None
        for path in _leaves(summary, "")
        if path not in numbers
        and path.partition("/")[0] not in GIVEN
        and path not in COUNTED
        and path.rpartition("/")[2] not in BOUNDED
    }
    return tuple(found)


def grouped(paths: Iterable[str]) -> dict[str, list[str]]:
    """Return the last names of paths that are not checked, by what they are of.

    Examples
    --------
    >>> grouped(["scenario", "metrics/mcp_planned", "clusters/*/cp_planned"])
    {'plans and predictions': ['mcp_planned', 'cp_planned'], 'run': ['scenario']}
    """
    found: dict[str, dict[str, None]] = {kind: {} for kind in KINDS}
    for path in paths:
        kind = next(kind for kind, pattern in KINDS.items() if pattern.search(path))
        found[kind][path.rpartition("/")[2]] = None
    return {kind: [*names] for kind, names in found.items() if names}


def _leaves(value: Any, path: str) -> Iterator[str]:
    """Yield the paths of the values in objects, and in lists of objects."""
    if isinstance(value, dict):
        items = [*value.items()]
    elif isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        items = [(str(index), each) for index, each in enumerate(value)]
    else:
        yield path
        return
    for key, each in items:
        yield from _leaves(each, f"{path}/{key}" if path else key)

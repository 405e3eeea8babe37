"""Which windows of logs schedulers were learned from, so that they say nothing of how these do."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from datetime import datetime

import numpy as np
import numpy.typing as npt

from agents.learned.policy import Lessons
from agents.registry import name_of
from experiments.scenario.scenario import Scenario
from experiments.show.numbers import counted
from grid.logs.calendar import read, seconds_until
from grid.reading import digest

Window = tuple[float, float]
"""When it begins and ends, s after the first job of the log."""


def learned_from(scenario: Scenario, digests: Collection[str]) -> dict[str, tuple[Window, ...]]:
    """Return which windows of logs the schedulers of a scenario were learned from, by their names.

    Parameters
    ----------
    scenario : Scenario
    digests : collection of str
        SHA-256 of the files of the logs.
    """
    given = scenario.global_scheduler, scenario.local_scheduler
    found = {}
    for name, kind in zip(given, (scenario.policy, scenario.local_policy), strict=True):
        lessons = getattr(kind, "lessons", Lessons())
        for each in digests:
            if windows := lessons.logs.get(each):
                found[name_of(name)] = windows
    return found


def overlap(there: npt.NDArray[np.float64], windows: Sequence[Window]) -> npt.NDArray[np.bool_]:
    """Return which parts of a log have something in common with some of the windows.

    Parameters
    ----------
    there : float array, shape (2, parts)
        When they begin and end.
    windows : sequence of Window

    Examples
    --------
    >>> overlap(np.array([[0.0, 7.0, 14.0], [7.0, 14.0, 21.0]]), [(8.0, 9.0), (14.0, 15.0)])
    array([False,  True,  True])
    """
    starts, ends = np.transpose(windows)
    common = (there[0][:, np.newaxis] < ends) & (starts < there[1][:, np.newaxis])
    found: npt.NDArray[np.bool_] = common.any(axis=1)
    return found


def not_held_out(
    scenario: Scenario,
    digests: Collection[str] | None = None,
    start: str | None = None,
    log: str = "this log",
) -> Iterator[str]:
    """Yield of each scheduler that was learned from jobs that are run, that it was.

    Parameters
    ----------
    scenario : Scenario
    digests : collection of str, optional
        SHA-256 of the files of its logs; by default they are read.
    start : str, optional
        What the clock of the log showed at time 0 of the run, if that is known.
    log : str
        What it is called.
    """
    kinds = scenario.policy, scenario.local_policy
    of_all = [found for kind in kinds if (found := getattr(kind, "lessons", None)) is not None]
    if not of_all:
        return
    parameters = scenario.parameters
    known = [digest(path) for path in scenario.logs] if digests is None else digests
    begun = [each.starts[path] for each in of_all for path in known if path in each.starts]
    first = read(begun[0]) if begun else None
    begin = _seconds(parameters.window_start, first)
    if isinstance(parameters.window_start, str) and first is not None and start is not None:
        begin = (read(start) - first).total_seconds()
    end = math.inf if parameters.window_end is None else _seconds(parameters.window_end, first)
    if math.isnan(begin) or math.isnan(end):  # dates of a log that tells none are refused
        return
    run = np.array([[begin], [end]])
    for name, windows in learned_from(scenario, known).items():
        if overlap(run, windows).any():
            of = counted(len(windows), "window")
            yield (
                f"{name}: learned from {of} of {log}, and what is run is of these, too: it says "
                "little of how this does elsewhere (studies with windows leave such ones out)"
            )


def _seconds(moment: float | str, first: datetime | None) -> float:
    """Return a moment in seconds after a clock showed the first one; NaN if that is not known."""
    if not isinstance(moment, str):
        return moment
    with suppress(ValueError):
        return math.nan if first is None else seconds_until(moment, first)
    return math.nan

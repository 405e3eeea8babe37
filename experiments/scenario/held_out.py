"""Which windows of logs schedulers were learned from, so that they say nothing of how these do."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from agents.learned.policy import Lessons
from agents.registry import name_of
from experiments.scenario.parameters import Parameters
from experiments.scenario.scenario import Scenario
from experiments.show.numbers import counted
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


def _or(moment: float | None, unknown: float) -> float:
    return unknown if moment is None or math.isnan(moment) else moment


def not_held_out(scenario: Scenario) -> Iterator[str]:
    """Yield of each scheduler that was learned from what is run, that it was."""
    kinds = scenario.policy, scenario.local_policy
    if not any(isinstance(getattr(kind, "lessons", None), Lessons) for kind in kinds):
        return
    parameters = scenario.parameters
    assert isinstance(parameters, Parameters)
    asked = parameters.window_start, parameters.window_end
    begin, end = (math.nan if isinstance(each, str) else each for each in asked)
    # Of dates it is not known here when they are: any window may be meant.
    run = np.array([[_or(begin, -math.inf)], [_or(end, math.inf)]])
    for name, windows in learned_from(scenario, [digest(path) for path in scenario.logs]).items():
        if overlap(run, windows).any():
            of = counted(len(windows), "window")
            yield (
                f"{name}: learned from {of} of this log, and what is run is of these, too: it says "
                "little of how this does elsewhere (studies leave such windows out)"
            )

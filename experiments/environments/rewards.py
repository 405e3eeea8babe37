"""What an agent is rewarded for: jobs that have ended, each as it fared, or a whole run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.model import GridModel
from agents.numbers import is_real
from experiments.run.observed import Observed
from experiments.run.results import Result
from experiments.scenario.scenario import Scenario
from experiments.show.labels import METRICS, OF_PARTS, TABLES, WITHIN, why_none
from experiments.studies.definition import MORE_IS_BETTER
from grid.errors import GridError
from grid.foreign import plain, quoted
from grid.names import meant
from grid.world.finished import Records
from grid.world.records import bounded_slowdown

Reward = Callable[[Records], npt.ArrayLike]
"""The rewards of jobs that have ended, one each."""
MET = "deadlines_met"
"""The reward that takes jobs with deadlines."""
OF_RUN = tuple(name for name in METRICS if name not in (*OF_PARTS, *TABLES))
"""Metrics of a run that are numbers."""


def _turnaround(jobs: Records) -> npt.NDArray[np.float64]:
    return -np.asarray(jobs["finish"] - jobs["arrival"], float)


def _wait(jobs: Records) -> npt.NDArray[np.float64]:
    return -np.asarray(jobs["start"] - jobs["arrival"], float)


def _slowdown(jobs: Records) -> npt.NDArray[np.float64]:
    return -bounded_slowdown(jobs)


def _met(jobs: Records) -> npt.NDArray[np.float64]:
    there = jobs["deadline"] < np.inf
    return np.where(there & (jobs["finish"] <= jobs["deadline"]), 1.0, 0.0)


REWARDS: dict[str, Reward] = {
    "bounded_slowdown": _slowdown,
    "wait": _wait,
    "turnaround": _turnaround,
    MET: _met,
}
"""By name: minus the bounded slowdown, the wait or the turnaround, s; 1 for a deadline that is met,
and nothing for jobs that miss it or have none."""


def is_metric(asked: object) -> bool:
    """Tell whether a reward is a metric, or a number in a table of them: of a whole run."""
    if not isinstance(asked, str) or asked in REWARDS:
        return False
    table, within, _ = asked.partition(WITHIN)
    return (table in TABLES and bool(within)) or asked in OF_RUN


def metric_of(name: str, model: GridModel, scenario: Scenario, observed: Observed) -> float:
    """Return the reward of a run that is over: its metric, or minus that where less is better.

    Raises
    ------
    GridError
        If it is no number.
    """
    found = Result.of(model, scenario, 0.0, observed=observed).summary()["metrics"]
    table, within, key = name.partition(WITHIN)
    of = found.get(table) or {} if within else found
    if within and of and key not in of:
        accepted = meant(name, [f"{table}{WITHIN}{each}" for each in of])
        raise GridError(f"reward {plain(name, 60)}: found none of this run; {accepted}")
    value: Any = of.get(key or name)
    if not is_real(value):
        why = why_none(name)
        told = f"found {quoted(value)} for this run; accepted: a number{why and f', but {why}'}"
        raise GridError(f"reward {name}: {told}")
    return float(value) if name in MORE_IS_BETTER else -float(value)


def reward_of(asked: str | Reward) -> tuple[str, Reward]:
    """Return a reward of jobs and its name: one of `REWARDS`, or a function of one's own."""
    if is_metric(asked):
        return str(asked), lambda jobs: np.zeros(len(jobs))
    if callable(asked):
        return plain(getattr(asked, "__name__", "reward"), 60), asked
    if not isinstance(asked, str) or asked not in REWARDS:
        told = (
            meant(asked, [*REWARDS, *OF_RUN, *(f"{name}{WITHIN}..." for name in TABLES)])
            if isinstance(asked, str)
            else f"accepted: {', '.join(REWARDS)}, a metric, or a function of jobs that ended"
        )
        raise GridError(f"reward: found {quoted(asked)}; {told}")
    return asked, REWARDS[asked]


def rewards(name: str, of: Reward, jobs: Records) -> float:
    """Return the sum of the rewards of jobs that have ended.

    Raises
    ------
    GridError
        For rewards that are no finite numbers, one a job.
    """
    found = np.asarray(of(jobs), float)
    if found.shape != (len(jobs),):
        accepted = f"one number for each of {len(jobs)} jobs"
        raise GridError(f"reward {name}: found shape {found.shape}; accepted: {accepted}")
    if not np.isfinite(found).all():
        at = int(np.flatnonzero(~np.isfinite(found))[0])
        raise GridError(
            f"reward {name}: found {found[at]:g} for job {jobs['number'][at]}; accepted: numbers"
        )
    return float(found.sum())

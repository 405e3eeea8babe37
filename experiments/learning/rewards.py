"""What an agent is rewarded for: jobs that have ended, each as it fared."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from grid.errors import GridError
from grid.foreign import plain, quoted
from grid.kernel.statistics import SLOWDOWN_BOUND
from grid.names import meant
from grid.world.finished import Records

Reward = Callable[[Records], npt.ArrayLike]
"""The rewards of jobs that have ended, one each."""


def _turnaround(jobs: Records) -> npt.NDArray[np.float64]:
    return -np.asarray(jobs["finish"] - jobs["arrival"], float)


def _wait(jobs: Records) -> npt.NDArray[np.float64]:
    return -np.asarray(jobs["start"] - jobs["arrival"], float)


def _slowdown(jobs: Records) -> npt.NDArray[np.float64]:
    return np.minimum(_turnaround(jobs) / np.maximum(jobs["execution_time"], SLOWDOWN_BOUND), -1.0)


def _met(jobs: Records) -> npt.NDArray[np.float64]:
    there = jobs["deadline"] < np.inf
    return np.where(there & (jobs["finish"] <= jobs["deadline"]), 1.0, 0.0)


REWARDS: dict[str, Reward] = {
    "bounded_slowdown": _slowdown,
    "wait": _wait,
    "turnaround": _turnaround,
    "deadlines_met": _met,
}
"""By name: minus the bounded slowdown, the wait or the turnaround, s; 1 for a deadline that is met,
and nothing for jobs that miss it or have none."""


def reward_of(asked: str | Reward) -> tuple[str, Reward]:
    """Return a reward and its name: one of `REWARDS`, or a function of one's own."""
    if callable(asked):
        return plain(getattr(asked, "__name__", "reward"), 60), asked
    if not isinstance(asked, str) or asked not in REWARDS:
        told = (
            meant(asked, REWARDS) if isinstance(asked, str) else f"accepted: {', '.join(REWARDS)}"
        )
        raise GridError(f"reward: found {quoted(asked)}; {told}, or a function of jobs that ended")
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

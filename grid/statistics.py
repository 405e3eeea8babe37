"""What a run has come to so far, from sums alone: its jobs need not be kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from grid.stability import FEWEST, is_settled

if TYPE_CHECKING:
    from grid.tables import Tables

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Statistics:
    """Means over the jobs that count: those that arrived after the warm-up, and completed.

    Attributes
    ----------
    jobs : int
        How many they are.
    mean_wait, mean_turnaround : float or None
        From arrival to (last) start, and to finish, s; None without jobs.
    mean_bounded_slowdown : float or None
        Of max(1, turnaround / max(execution time, 10 s)), with the execution time that the job has
        where its links are not shared.
    coallocated : float or None
        Share of them that ran on several clusters.
    mean_penalty : float
        Of the actual over the dedicated execution time of those; 1 if there are none.
    utilization : float or None
        Processor-seconds held from the first of their arrivals to the last change, over all that
        there are; None if no time passed.
    queue_times : array, shape (intervals + 1,)
        Bounds of a few dozen intervals with equally many arrivals each, s. The last arrivals of all
        may be left out, fewer than make an interval; the warm-up is not.
    mean_queue : array, shape (intervals,)
        Mean number of jobs that wait, globally or at clusters, in each interval.
    """

    jobs: int
    mean_wait: float | None
    mean_turnaround: float | None
    mean_bounded_slowdown: float | None
    coallocated: float | None
    mean_penalty: float
    utilization: float | None
    queue_times: Floats
    mean_queue: Floats

    @classmethod
    def of(cls, tables: Tables) -> Statistics:
        """Return what a world has summed up by now."""
        sums = tables.sums
        jobs, coallocated = int(sums["jobs"]), int(sums["coallocated"])

        def mean(name: str) -> float | None:
            return float(sums[name]) / jobs if jobs else None

        penalty = float(sums["penalty"]) / coallocated if coallocated else 1.0
        taken = int(sums["snapshots"])
        at = np.concatenate([[0.0], sums["snapshot_at"][:taken]])
        area = np.concatenate([[0.0], sums["snapshot_waiting"][:taken]])
        passed = np.diff(at)
        queue = np.divide(np.diff(area), passed, out=np.zeros(taken), where=passed > 0)
        return cls(
            jobs=jobs,
            mean_wait=mean("wait"),
            mean_turnaround=mean("turnaround"),
            mean_bounded_slowdown=mean("bounded_slowdown"),
            coallocated=mean("coallocated"),
            mean_penalty=penalty,
            utilization=_utilization(tables),
            queue_times=at,
            mean_queue=queue,
        )

    @property
    def stable(self) -> bool | None:
        """Whether the queue stopped growing; None if there are too few jobs to tell.

        One that grows as long as jobs come has no steady state, and the means say nothing but how
        long the run was.
        """
        if self.jobs < FEWEST:
            return None
        return is_settled(self.mean_queue[-(len(self.mean_queue) // 3 * 3) :])


def _utilization(tables: Tables) -> float | None:
    sums = tables.sums
    began, ended = float(sums["counted_from"]), float(tables.columns["changed"].max())
    if not began < ended:
        return None
    held = float(tables.busy_area_at(ended).sum()) - float(sums["area_before"])
    return held / ((ended - began) * float(tables.platform.sizes.sum()))

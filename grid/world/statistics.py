"""What a run has come to so far, from sums alone: its jobs need not be kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from grid.kernel.state import State
from grid.kernel.statistics import TOLERANCE
from grid.metrics.stability import FEWEST, is_settled

Floats = npt.NDArray[np.float64]


class Links(NamedTuple):
    """How links were used: the mean of demand / capacity, and the share of time with more."""

    demand: Floats
    saturated: Floats


class Responses(NamedTuple):
    """Mean response times under a policy that visits queues, s; NaN where no job completed.

    A response time is a turnaround, as `queues` calls it.
    """

    local: float  # of jobs of one component
    everywhere: float  # of jobs of more
    queues: Floats  # of each local queue, then of the global one


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
        Of the actual over the dedicated execution time of those (`beosim`, 4.2), but for jobs that
        take no time; 1 if there are none.
    queue_times : array, shape (intervals + 1,)
        Bounds of a few dozen intervals with equally many arrivals each, s. The last arrivals of all
        may be left out, fewer than make an interval; the warm-up is not.
    mean_queue : array, shape (intervals,)
        Mean number of jobs that wait, globally or at clusters, in each interval.
    links, links_over_time : Links or None
        How links were used: arrays of shape (links,), from the first arrival that counts to the
        last finish, or until now while there are jobs; and of shape (intervals, links), in each of
        the intervals above. None if the global scheduler takes no account of links, for then
        nobody reckons what they carry.
    responses : Responses or None
        None unless the global scheduler visits queues.
    """

    jobs: int
    mean_wait: float | None
    mean_turnaround: float | None
    mean_bounded_slowdown: float | None
    coallocated: float | None
    mean_penalty: float
    queue_times: Floats
    mean_queue: Floats
    links: Links | None
    links_over_time: Links | None
    responses: Responses | None

    @classmethod
    def of(cls, state: State) -> Statistics:
        """Return what a world has summed up by now."""
        sums = state.statistics
        at = np.concatenate([[0.0], sums.snapshot_at[: sums.snapshots]])
        counts_links = state.penalty == 0.0
        area = np.concatenate([[0.0], sums.snapshot_waiting[: sums.snapshots]])
        return cls(
            jobs=sums.jobs,
            **means(sums.array[0]),
            queue_times=at,
            mean_queue=_over(np.diff(area), np.diff(at)),
            links=_links(state) if counts_links else None,
            links_over_time=_links_over_time(state, np.diff(at)) if counts_links else None,
            responses=_responses(state) if state.visits else None,
        )

    @property
    def stable(self) -> bool | None:
        """Whether the queue did not grow throughout (`grid.metrics.stability.is_settled`).

        None if too few jobs, or all at once, came to tell. Of one that grew, means are those of a
        run of this length. Neither answer is a proof.
        """
        if self.jobs < FEWEST or self.queue_times[1] == self.queue_times[-1]:
            return None
        return is_settled(self.mean_queue[-(len(self.mean_queue) // 3 * 3) :])


def _responses(state: State) -> Responses:
    with np.errstate(invalid="ignore"):
        local, everywhere = state.responses / state.responded
        by_queue = state.queue_responses / state.queue_responded
    return Responses(float(local), float(everywhere), by_queue[: state.clusters + 1])


def means(sums: Any) -> dict[str, Any]:
    """Return the means that `Statistics` has, by name, of sums over jobs.

    Parameters
    ----------
    sums : record
        With the fields `grid.kernel.statistics.JOB_SUMS`.
    """
    jobs, penalised = int(sums["jobs"]), int(sums["penalised"])
    names = {
        "mean_wait": "wait",
        "mean_turnaround": "turnaround",
        "mean_bounded_slowdown": "bounded_slowdown",
        "coallocated": "coallocated",
    }
    found = {name: float(sums[of]) / jobs if jobs else None for name, of in names.items()}
    penalty = float(sums["penalty"]) / penalised if penalised else 1.0
    # the difference of two late times is rounded: no more than that is no penalty
    return found | {"mean_penalty": penalty if penalty > 1.0 + TOLERANCE else 1.0}


def _links(state: State) -> Links:
    """Return how links were used from the first arrival that counts to the last finish."""
    sums = state.statistics
    until = sums.since if state.live else sums.last_finish
    left = sums.since - sums.links_since  # with the demand that there is now
    carried = state.carried + state.demand * left - state.carried_before
    full = state.demand > state.capacity * (1 + TOLERANCE)
    saturated = state.saturated + full * left - state.saturated_before
    time = np.array(max(0.0, until - sums.counted_from))
    return Links(_over(carried, time) / state.capacity, _over(saturated, time))


def _links_over_time(state: State, passed: Floats) -> Links:
    taken, time = state.statistics.snapshots, passed[:, None]
    carried = np.diff(state.snapshot_carried[:taken], axis=0, prepend=0.0)
    saturated = np.diff(state.snapshot_saturated[:taken], axis=0, prepend=0.0)
    return Links(_over(carried, time) / state.capacity, _over(saturated, time))


def _over(values: Floats, time: Floats) -> Floats:
    """Return values over time, 0 where none passes."""
    return np.divide(values, time, out=np.zeros(values.shape), where=time > 0)

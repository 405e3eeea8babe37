"""What an agent sees at a decision, each number between 0 and 1."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from experiments.environments.episode import Episode
from grid.kernel.compile import compiled, inlined
from grid.kernel.queueing.queues import after, first
from grid.kernel.state import NONE

LONG = 2592000.0
"""The time that counts as 1, as do longer ones, s: 30 days."""
MANY = 10_000.0
"""The number of jobs that counts as 1, as do more."""
OF_JOB = "size", "predicted_runtime", "waited", "slack"
"""Of the job that is decided about: processors, as a share of the largest cluster; run time on a
cluster of rate 1, time since it arrived, and time left until its deadline, 1 without one, as
`shrink`."""
OF_CLUSTER = "size", "free", "up", "waiting", "load", "age", "predicted_time"
"""Of each cluster, as the brokers know it: processors, as a share of the largest; free and up, as a
share of its own; jobs that wait there, as `shrink_count`; load, age of the news, and what the job
would take there, as `shrink`."""
OF_WAITING = "size", "predicted_time", "waited", "slack", "fits"
"""Of each job that waits at a cluster: processors, as a share of the cluster's; time that it is
predicted to take there, time since it arrived, and time left until its deadline, 1 without one, as
`shrink`; and 1 if it fits."""
OF_OWN = "free", "up", "waiting"
"""Of a local scheduler's cluster: processors that are free, and up, as shares of its size; jobs
that wait there, as `shrink_count`."""


_LOG_LONG, _LOG_MANY = math.log1p(LONG), math.log1p(MANY)


@inlined
def _shrink(value: float, most: float, log: float) -> float:
    if value >= most:  # as where there is no deadline, of every job
        return 1.0
    return math.log1p(value) / log if value > 0.0 else 0.0


@inlined
def shrink(seconds: float) -> float:
    """Return a time on a scale on which `LONG` or more is 1.

    It is logarithmic: of 0 s it is 0, of a minute 0.28, an hour 0.55, a day 0.77.
    """
    return _shrink(seconds, LONG, _LOG_LONG)


@inlined
def shrink_count(jobs: float) -> float:
    """Return a number of jobs on such a scale, on which `MANY` or more is 1."""
    return _shrink(jobs, MANY, _LOG_MANY)


def space_of(clusters: int) -> spaces.Dict:
    """Return the space of observations of a number of clusters.

    ``job`` is as `OF_JOB`, ``clusters`` has a row as `OF_CLUSTER` for each, ``waiting`` is how many
    jobs wait globally, as `shrink_count`, and ``action_mask`` has a 1 for each action that may be
    taken.
    """

    def box(*shape: int) -> spaces.Box:
        return spaces.Box(0.0, 1.0, shape, np.float32)

    return spaces.Dict(
        {
            "job": box(len(OF_JOB)),
            "clusters": box(clusters, len(OF_CLUSTER)),
            "waiting": box(1),
            "action_mask": spaces.MultiBinary(clusters + 1),
        }
    )


@compiled()
def observe(
    box: Any, slots: Any, slot: int, last: bool, job: Any, told: Any, waiting: Any, mask: Any
) -> None:
    """Write what is known at a decision about a job, and what may be decided.

    It may be sent to clusters that are known to have enough processors up. It may wait if there
    are none, or if this is not its last chance.

    Parameters
    ----------
    box, slots : structured arrays
        Of the kernel's tables.
    slot : int
        Of the job.
    last : bool
        It is not offered again.
    job, told, waiting, mask : arrays
        To write to, of the shapes and types of `space_of`.
    """
    state, asked = box[0], slots[slot]
    known, now, count = state.known, state.now, state.clusters
    largest, fits = 0, 0
    for c in range(count):
        largest = max(largest, known.size[c])
        fits += known.up[c] >= asked.size
    for c in range(count):
        size, age = known.size[c], 0.0
        if state.at_once[c] == 0:
            age = now - known.at[c]
        told[c, 0] = size / largest
        told[c, 1] = known.free[c] / size
        told[c, 2] = known.up[c] / size
        told[c, 3] = shrink_count(known.waiting[c])
        told[c, 4] = shrink(known.load[c])
        told[c, 5] = shrink(age)
        told[c, 6] = shrink(asked.predicted_runtime / known.rate[c])
        mask[c] = known.up[c] >= asked.size
    job[0] = min(1.0, asked.size / largest)
    job[1] = shrink(asked.predicted_runtime)
    job[2] = shrink(now - asked.arrival)
    job[3] = shrink(asked.deadline - now)
    queued = state.waiting[-1]
    waiting[0] = shrink_count(queued)
    mask[count] = fits == 0 or not last


def observed(episode: Episode) -> dict[str, Any]:
    """Return what the global scheduler knows at a decision, in new arrays."""
    tables, count = episode.world.tables, episode.world.clusters
    job, told = np.empty(len(OF_JOB), np.float32), np.empty((count, len(OF_CLUSTER)), np.float32)
    waiting, mask = np.empty(1, np.float32), np.empty(count + 1, np.int8)
    slot, last = episode.scheduler.asked, episode.last_chance
    observe(tables.box, tables.slots, slot, last, job, told, waiting, mask)
    return {"job": job, "clusters": told, "waiting": waiting, "action_mask": mask}


def local_space_of(window: int) -> spaces.Dict:
    """Return the space of what a local scheduler sees.

    ``jobs`` has a row as `OF_WAITING` for each job that it sees, then zeros; ``cluster`` is as
    `OF_OWN`; and ``action_mask`` has a 1 for each action that may be taken.
    """

    def box(*shape: int) -> spaces.Box:
        return spaces.Box(0.0, 1.0, shape, np.float32)

    return spaces.Dict(
        {
            "jobs": box(window, len(OF_WAITING)),
            "cluster": box(len(OF_OWN)),
            "action_mask": spaces.MultiBinary(window + 1),
        }
    )


@compiled()
def candidates(box: Any, slots: Any, cluster: int, starts: Any, seen: Any) -> Any:
    """Write which jobs a local scheduler sees that wait at its cluster, the first as they landed.

    Parameters
    ----------
    box, slots : structured arrays
        Of the kernel's tables.
    cluster : int
    starts : int array
        Slots of the jobs that are to start at this instant, which it does not see.
    seen : int array
        Takes the slots of the others.

    Returns
    -------
    count, free : int
        How many these are, and the processors that are free for them.
    fits : bool
        Whether one of them fits.
    """
    state = box[0]
    free = state.free[cluster]
    for at in range(len(starts)):
        free -= slots[starts[at]].size
    job, count, fits = first(state, slots, cluster), 0, False
    while job != NONE and count < len(seen):
        taken = False
        for at in range(len(starts)):
            taken = taken or starts[at] == job
        if not taken:
            seen[count] = job
            count += 1
            fits = fits or slots[job].size <= free
        job = after(state, slots, cluster, job)
    return count, free, fits


@compiled()
def observe_locally(
    box: Any,
    slots: Any,
    cluster: int,
    seen: Any,
    count: int,
    free: int,
    may_wait: bool,
    jobs: Any,
    own: Any,
    mask: Any,
) -> None:
    """Write what a local scheduler sees, and what it may decide.

    Parameters
    ----------
    box, slots : structured arrays
        Of the kernel's tables.
    cluster : int
    seen : int array
        Slots of the jobs that it sees, in front.
    count : int
        How many these are.
    free : int
        Processors that are free, but for those of jobs that are to start at this instant.
    may_wait : bool
    jobs, own, mask : arrays
        To write to, of the shapes and types of `local_space_of`.
    """
    state, window = box[0], len(jobs)
    size = state.size[cluster]
    for at in range(count):
        job = slots[seen[at]]
        jobs[at, 0] = job.size / size
        jobs[at, 1] = shrink(job.predicted_time)
        jobs[at, 2] = shrink(state.now - job.arrival)
        jobs[at, 3] = shrink(job.deadline - state.now)
        jobs[at, 4] = mask[at] = job.size <= free
    jobs[count:] = 0.0
    mask[count:window] = 0
    mask[window] = may_wait
    own[0], own[1] = free / size, state.up[cluster] / size
    own[2] = shrink_count(state.waiting[cluster])


def observed_locally(
    episode: Episode,
    cluster: int,
    slots: npt.NDArray[np.int64],
    free: int,
    window: int,
    may_wait: bool,
) -> dict[str, Any]:
    """Return what a local scheduler sees, in new arrays.

    Parameters
    ----------
    episode : Episode
    cluster : int
    slots : array of int
        Of the jobs that it sees.
    free : int
        Processors that are free, but for those of jobs that are to start at this instant.
    window : int
        Jobs that it could see.
    may_wait : bool
    """
    tables = episode.world.tables
    jobs, own = np.empty((window, len(OF_WAITING)), np.float32), np.empty(3, np.float32)
    mask = np.empty(window + 1, np.int8)
    here = slots, len(slots), free, may_wait
    observe_locally(tables.box, tables.slots, cluster, *here, jobs, own, mask)
    return {"jobs": jobs, "cluster": own, "action_mask": mask}


def nothing(space: spaces.Dict) -> dict[str, Any]:
    """Return what is seen when the run is over: zeros."""
    return {name: np.zeros(each.shape, each.dtype) for name, each in space.spaces.items()}

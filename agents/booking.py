"""How far a cluster is booked by its running jobs and by an order of its waiting ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from agents.decoding import Problem, schedule
from agents.messages import SeedSchedule

if TYPE_CHECKING:
    from agents.cluster import ClusterAgent

Floats = npt.NDArray[np.float64]


def problem_of(cluster: ClusterAgent, slots: Sequence[int]) -> Problem:
    """Return the jobs of these slots as PACE predicts them, and the cluster as it is now."""
    model = cluster.model
    jobs = model.world.jobs
    return Problem(
        jobs["size"][slots],
        model.pace.predict(jobs["runtime"][slots])[:, cluster.index],
        jobs["deadline"][slots] - model.now,
        cluster.release_times(),
    )


@dataclass(frozen=True)
class Booked:
    """What a local scheduler can report of its cluster.

    Attributes
    ----------
    plan : int
        Counts the plans, so that a reminder of an older one can be told.
    round : int
        Latest round whose seed schedule is in it, 0 before the first.
    release : array, shape (processors,)
        When each processor is expected to be free for more, s, absolute, in increasing order.
    unfinished : array, shape (jobs, 4)
        Of each job: expected finish (s, absolute), execution time (s), processors, deadline (s,
        absolute).
    """

    plan: int
    round: int
    release: Floats
    unfinished: Floats

    @classmethod
    def nothing(cls, processors: int) -> Booked:
        """Return the booking of a cluster without jobs."""
        return cls(0, 0, np.zeros(processors), np.empty((0, 4)))

    @classmethod
    def by(
        cls,
        cluster: ClusterAgent,
        order: Sequence[int],
        before: Booked,
        seeds: Sequence[SeedSchedule],
    ) -> Booked:
        """Return the booking by the running jobs and the jobs of `order` (slots)."""
        model = cluster.model
        jobs, now = model.world.jobs, model.now
        problem = problem_of(cluster, order)
        release = problem.release.copy()
        running, counts = model.world.running(cluster.index)
        unfinished = [
            (jobs["end"][slot], jobs["execution_time"][slot], count, jobs["deadline"][slot])
            for slot, count in zip(running, counts, strict=True)
        ]
        for job, start, resources in schedule(problem, range(len(order))):
            slot, time = order[job], problem.execution_times[job]
            release[list(resources)] = start + time
            unfinished.append((now + start + time, time, len(resources), jobs["deadline"][slot]))
        return cls(
            before.plan + 1,
            seeds[-1].round if seeds else before.round,
            np.sort(now + release),
            np.array(unfinished, np.float64).reshape(-1, 4),
        )

"""How far a cluster is booked: what its scheduler reports, and what MUSCLE believes of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agents.protocols import Cluster
from agents.titan.decoding import Problem, schedule
from grid.kernel.state import NONE

Floats = npt.NDArray[np.float64]


def problem_of(cluster: Cluster, slots: Sequence[int], since: float) -> Problem:
    """Return the jobs of these slots as PACE predicts them, and the cluster as it is now.

    Times count from `since`, s.
    """
    model = cluster.model
    jobs = model.world.jobs
    return Problem(
        jobs["size"][slots],
        model.pace.predict(slots)[:, cluster.index],
        jobs["deadline"][slots] - since,
        cluster.released_at() - since,
    )


def planned_processors(cluster: Cluster, slots: Sequence[int]) -> list[list[int]]:
    """Return on which processors, as `released_at` counts them, a plan has jobs run.

    An empty list is that of a job that may run on any, or for which one has gone since; that of no
    jobs: no plan names processors.
    """
    jobs = cluster.model.world.jobs
    if (jobs["first_turn"][slots] == NONE).all():
        return []
    at = {processor: place for place, processor in enumerate(cluster.processors().tolist())}
    named = [jobs.turns(slot) for slot in slots]
    return [[at[each] for each in of_job] if at.keys() >= {*of_job} else [] for of_job in named]


@dataclass(frozen=True)
class Booked:
    """How far a cluster is booked by its running jobs and by an order of its waiting ones.

    Attributes
    ----------
    serial : int
        Counts a cluster's bookings, so that a reminder of an older one can be told.
    round : int
        Latest round whose seed schedule is in it, 0 before the first.
    release : array, shape (processors,)
        When each processor that remains is expected to be free for more, s, absolute; in increasing
        order, as a cluster's scheduler reports it.
    unfinished : array, shape (jobs, 4)
        Of each job: expected finish (s, absolute), execution time (s), processors, slack (s).
    overdue : bool
        A job runs for longer than predicted: it, and all that waits for it, is expected to end
        sooner than it can.
    """

    serial: int
    round: int
    release: Floats
    unfinished: Floats
    overdue: bool = False

    @classmethod
    def nothing(cls, processors: int) -> Booked:
        """Return the booking of a cluster without jobs."""
        return cls(0, 0, np.zeros(processors), np.empty((0, 4)))

    @classmethod
    def by(cls, cluster: Cluster, order: Sequence[int], serial: int, round: int) -> Booked:
        """Return the booking by the running jobs and the jobs of `order` (slots)."""
        world = cluster.model.world
        jobs = world.jobs
        # Times since 0, so that each expected end is the very number that the kernel comes to
        # if predictions are exact.
        problem = problem_of(cluster, order, since=0.0)
        release = problem.release.copy()
        processors = planned_processors(cluster, order)
        running, counts, ends = cluster.expected_ends()
        deadline, arrival, time_of = jobs["deadline"], jobs["arrival"], jobs["predicted_time"]
        unfinished = [
            (end, time_of[slot], n, deadline[slot] - arrival[slot] - time_of[slot])
            for slot, n, end in zip(running, counts, ends, strict=True)
        ]
        for job, start, resources in schedule(problem, range(len(order)), processors):
            time = problem.execution_times[job]
            release[list(resources)] = start + time
            slack = problem.deadlines[job] - arrival[order[job]] - time
            unfinished.append((start + time, time, len(resources), slack))
        return cls(
            serial,
            round,
            np.sort(release),
            np.array(unfinished, np.float64).reshape(-1, 4),
            bool((ends <= cluster.model.now).any()),
        )

    def attributes(self, now: float) -> Floats:
        """Return p, etSum, sizeSum and slkSum (eq. 3) of the jobs unfinished at `now`."""
        if len(self.unfinished) == 0:
            return np.zeros(4)
        left = self.unfinished[self.unfinished[:, 0] > now]
        # Exact sums: the same on every version and machine.
        return np.array([len(left), *(math.fsum(column) for column in left[:, 1:].T.tolist())])

    def makespan(self, now: float) -> float:
        """Return the makespan of what is left at `now`, s."""
        return max(0.0, self._end() - now)

    def _end(self) -> float:
        """Return when all that is booked is expected to have ended, s.

        Jobs may run on processors that will go as soon as they end: these do not remain.
        """
        finishes = self.unfinished[:, 0]
        return float(max(self.release.max(initial=0.0), finishes.max(initial=0.0)))

    def down_to(self, threshold: float) -> float:
        """Return the first time at which the makespan of what is left is at most `threshold`."""
        time = self._end() - threshold
        # The difference is rounded.
        return time if self.makespan(time) <= threshold else math.nextafter(time, math.inf)

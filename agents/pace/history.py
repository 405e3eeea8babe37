"""What is known of a job's run time when it is submitted, from the jobs that ended before."""

from __future__ import annotations

import math
from collections import deque

import numpy as np

from grid.jobs import UNKNOWN
from grid.world.world import World

LAST = 2
"""Jobs whose mean run time is that of the next one.

Tsafrir, Etsion and Feitelson (IEEE TPDS 18(6), 2007) find that the last two of a user tell more
than all of them.
"""

HOUR = 3600.0
"""Run time of a job of which nothing is known while no job has ended, s."""

Key = tuple[int, int | None]


class History:
    """Run times of the jobs that have ended, by user and application.

    Parameters
    ----------
    world : World
        Where they run.
    learns : bool
        Predict from jobs that ended; else from the requested time alone.
    """

    def __init__(self, world: World, learns: bool) -> None:
        self._world = world
        self._learns = learns
        self._seen = 0
        self._ended = 0
        self._total = 0.0
        self._last: dict[Key, deque[float]] = {}

    def runtime(self, job: np.void) -> float:
        """Return the run time to expect of a job that is submitted now, s on a cluster of rate 1.

        That is the mean of the last jobs of the same user and application; without one, of the
        last of the same user; at most the requested time. Without any it is the requested time;
        without that the mean of all jobs that ended.
        """
        self._look()
        requested = float(job["requested_time"])
        for key in _keys(job) if self._learns else ():
            if last := self._last.get(key):
                return min(math.fsum(last) / len(last), requested)
        if requested < math.inf:
            return requested
        return self._total / self._ended if self._ended else HOUR

    def _look(self) -> None:
        """Note the jobs that ended since the last look."""
        left = self._world.log.count
        if left == self._seen:
            return
        for job in self._world.log.latest(left - self._seen):
            if math.isnan(job["start"]):
                continue  # it was rejected
            runtime = float(job["runtime"])
            self._ended += 1
            self._total += runtime
            for key in _keys(job):
                self._last.setdefault(key, deque(maxlen=LAST)).append(runtime)
        self._seen = left


def _keys(job: np.void) -> list[Key]:
    """Return what a job's history is kept under, the most telling first."""
    user, application = int(job["user"]), int(job["application"])
    if user != UNKNOWN:
        return [(user, application), (user, None)]
    return [] if application == UNKNOWN else [(user, application)]

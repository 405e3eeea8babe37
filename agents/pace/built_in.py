"""The predictors that are built in."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from agents.pace.evaluation import Evaluator
from agents.pace.predictor import EndedJob, Predictor, SubmittedJob
from agents.protocols import Grid
from grid.errors import GridError
from grid.jobs import UNKNOWN, JobArray
from grid.workloads.table import Table

Bools = npt.NDArray[np.bool_]

LAST = 2
"""Jobs whose mean run time is that of the next one.

Tsafrir, Etsion and Feitelson (IEEE TPDS 18(6), 2007) find that the last two of a user tell more
than all of them.
"""

HOUR = 3600.0
"""Run time of a job of which nothing is known while no job has ended, s."""


class Exact(Predictor):
    """The run time itself."""

    def predict(self, job: SubmittedJob) -> float:
        """Return the run time, s."""
        return float(job.runtime)


class Requested(Predictor):
    """The time that the user requested; without one, the mean of all jobs that ended."""

    needs = "have a requested time"

    def __init__(self, model: Grid) -> None:
        super().__init__(model)
        self._ended = 0
        self._total = 0.0

    @classmethod
    def tells(cls, jobs: JobArray) -> Bools:
        """Return which jobs have a requested time."""
        told: Bools = np.isfinite(jobs["requested_time"])
        return told

    def predict(self, job: SubmittedJob) -> float | Sequence[float]:
        """Return the requested time, or that mean, s."""
        return self._requested(job)

    def _requested(self, job: SubmittedJob) -> float:
        if job.requested_time < math.inf:
            return float(job.requested_time)
        return self._total / self._ended if self._ended else HOUR

    def ended(self, job: EndedJob) -> None:
        """Add a job to the mean."""
        self._ended += 1
        self._total += job.runtime


class Learned(Requested):
    """The mean of the last jobs of the same user and application; at most the requested time.

    Without one that ended, that of the last of the same user; then as `Requested`.
    """

    needs = "name a user or an application"

    def __init__(self, model: Grid) -> None:
        super().__init__(model)
        self._last: dict[tuple[int, int | None], deque[float]] = {}

    @classmethod
    def tells(cls, jobs: JobArray) -> Bools:
        """Return which jobs name a user or an application."""
        told: Bools = np.maximum(jobs["user"], jobs["application"]) != UNKNOWN
        return told

    def predict(self, job: SubmittedJob) -> float | Sequence[float]:
        """Return the mean of the last, s."""
        for key in _keys(job):
            if last := self._last.get(key):
                return min(math.fsum(last) / len(last), float(job.requested_time))
        return super().predict(job)

    def ended(self, job: EndedJob) -> None:
        """Keep its run time with those of its user."""
        super().ended(job)
        runtime = job.runtime
        for key in _keys(job):
            self._last.setdefault(key, deque(maxlen=LAST)).append(runtime)


def _keys(job: SubmittedJob | EndedJob) -> list[tuple[int, int | None]]:
    """Return what a job's run time is kept under, the most telling first."""
    user, application = job.user, job.application
    if user != UNKNOWN:
        return [(user, application), (user, None)]
    return [] if application == UNKNOWN else [(user, application)]


class Models(Requested):
    """What PACE's models of applications and hardware say; without one, as `Requested`.

    Raises
    ------
    GridError
        If a model, or what it is asked for, cannot be used: named by the job, before the run.
    """

    needs = "name an application and a problem size"
    on_each_cluster = True

    def __init__(self, model: Grid) -> None:
        super().__init__(model)
        platform = model.world.platform
        self._rates = platform.rates
        self._times = Evaluator(platform)
        self._applications: Mapping[int, str] = {}
        if isinstance(model.workload, Table):
            self._applications = model.workload.applications
            for row in model.workload.jobs[self.tells(model.workload.jobs)]:
                try:
                    self._modelled(SubmittedJob(row))
                except GridError as error:
                    raise GridError(f"job {row['number']}: {error}") from None

    @classmethod
    def tells(cls, jobs: JobArray) -> Bools:
        """Return which jobs have a model."""
        told: Bools = jobs["problem_size"] > 0
        return told

    def predict(self, job: SubmittedJob) -> list[float]:
        """Return the execution time on each cluster, s."""
        if job.problem_size > 0:
            return self._modelled(job)
        requested = self._requested(job)
        return [requested / rate for rate in self._rates.tolist()]

    def _modelled(self, job: SubmittedJob) -> list[float]:
        return self._times(self._applications[job.application], job.size, job.problem_size)

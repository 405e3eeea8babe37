"""Who predicts run times, and how to write one's own.

Subclass `Predictor` and give it `predict`, which says how long a job that is submitted now will
run; and `ended`, if it learns from the jobs that ended::

    class LastOfUser(Predictor):
        def __init__(self, model):
            super().__init__(model)
            self.last = {}

        def predict(self, job):
            return self.last.get(job.user, job.requested_time)

        def ended(self, job):
            self.last[job.user] = job.runtime
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from agents.protocols import Grid, NamedAgent
from grid.jobs import JobArray
from grid.names import meant
from grid.settings import check_flags

LARGEST_SIGMA = 5.0
"""Largest standard deviation of the logarithm of an error: one in six is then 148 or more."""


@dataclass(frozen=True)
class Prediction:
    """Who predicts run times, and how far that is off.

    Attributes
    ----------
    source : str or type
        A predictor: a name of `agents.registry.PREDICTORS`, ``module:Class``, or the class.
    error : float or sequence of float
        A number is the standard deviation of the logarithm of a factor of median 1, log-normal,
        on the run time of each job. Several are a factor for each cluster, on the execution times
        of all jobs there: as if its rate were that many times less.
    """

    source: str | type[Predictor] = "exact"
    error: float | Sequence[float] = 0.0


def _field(name: str) -> property:
    def read(self: _Row) -> Any:
        return self._row[name].item()

    return property(read)


class _Row:
    """A row of a table of jobs, whose fields are read as plain numbers and never set."""

    __slots__ = ("_row",)
    _row: np.void
    FIELDS: ClassVar[tuple[str, ...]]

    def __init__(self, row: np.void) -> None:
        _keep_row(self, row)

    def __init_subclass__(cls) -> None:
        for name in cls.FIELDS:  # several times as quick as by `__getattr__`
            setattr(cls, name, _field(name))

    def __getattr__(self, name: str) -> Any:
        likely = meant(name, self.FIELDS)
        raise AttributeError(f"job.{name}: no field; {likely}", name=name, obj=self)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._row,)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"job.{name} cannot be set: a predictor reads jobs")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.number})"


_keep_row = vars(_Row)["_row"].__set__  # past `__setattr__`


class SubmittedJob(_Row):
    """A job that is submitted now.

    Its ``runtime`` is the truth, for models of errors; what really predicts leaves it alone.
    """

    FIELDS = (
        "number", "arrival", "size", "runtime", "requested_time", "deadline", "origin",
        "computation_fraction", "ppbw", "user", "application", "problem_size",
    )  # fmt: skip


class EndedJob(_Row):
    """A job that has ended."""

    FIELDS = (
        "number", "arrival", "size", "runtime", "requested_time", "deadline", "origin", "user",
        "application", "cluster", "start", "finish", "execution_time", "predicted_time", "restarts",
    )  # fmt: skip


class Predictor(NamedAgent):
    """Says how long jobs will run, once for each when it is submitted."""

    needs: ClassVar[str] = ""
    """What some job must do, in words behind "jobs that"; empty: nothing."""
    on_each_cluster: ClassVar[bool] = False
    """`predict` returns an execution time for each cluster, s, in their order."""

    def __init__(self, model: Grid) -> None:
        super().__init__(model)
        check_flags(type(self))

    @property
    def name(self) -> str:
        """What messages call it."""
        return type(self).__name__

    @classmethod
    def tells(cls, jobs: JobArray) -> npt.NDArray[np.bool_]:
        """Return of each job whether it is as the predictor `needs` it."""
        return np.ones(len(jobs), np.bool_)

    def predict(self, job: SubmittedJob) -> float | Sequence[float]:
        """Return the run time to expect of a job, s on a cluster of rate 1."""
        raise NotImplementedError(f"{self.name}: no method `predict`")

    def ended(self, job: EndedJob) -> None:
        """Take note of a job that has ended; called before the next `predict`, in their order."""

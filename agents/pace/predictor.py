"""PACE: execution times predicted for each cluster before a job runs (`muscle`, section 2)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import mesa
import numpy as np
import numpy.typing as npt

from agents.pace.history import History
from agents.protocols import Grid
from grid.distributions import log_normal
from grid.errors import GridError
from grid.jobs import BY_RATES, UNKNOWN, JobArray
from grid.streams import stream
from grid.workloads.synthetic import JobMix
from grid.workloads.table import Table

Floats = npt.NDArray[np.float64]

PREDICTIONS = ("exact", "requested", "learned")
"""What the run time of a job may be predicted from: itself, its user's request, or `History`."""
NEEDED = {"requested": "have a requested time", "learned": "name a user or an application"}
"""What jobs have to do so that their run times can be predicted, in words."""

LARGEST_SIGMA = 5.0
"""Largest standard deviation of the logarithm of an error: one in six is then 148 or more."""


@dataclass(frozen=True)
class Prediction:
    """What PACE predicts run times from, and how far it is off.

    Attributes
    ----------
    source : {"exact", "requested", "learned"}
        What a run time is predicted from (`PREDICTIONS`).
    error : float or sequence of float
        A number is the standard deviation of the logarithm of a factor of median 1, log-normal,
        on the run time of each job. Several are a factor for each cluster, on the execution times
        of all jobs there: as if its rate were that many times less.
    """

    source: str = "exact"
    error: float | Sequence[float] = 0.0


class PacePredictor(mesa.Agent):  # type: ignore[misc]
    """Predicts execution times: a predicted run time over the rate of a cluster.

    The run time on a cluster of rate 1 is predicted once, when the job is submitted; all who
    schedule it see that number, and the world runs it for its true time. The model's `Prediction`
    says what from. Of a job that comes with an execution time for each cluster, all of them are
    taken to be as far off as its run time.

    Parameters
    ----------
    model : Grid

    Raises
    ------
    GridError
        If there is no such prediction, the jobs do not tell what it needs, or the error is none.

    Attributes
    ----------
    prediction : str
        What run times are predicted from.
    """

    def __init__(self, model: Grid) -> None:
        super().__init__(model)
        said = model.settings(Prediction)
        prediction = said.source
        if prediction not in PREDICTIONS:
            raise GridError(f"prediction: found {prediction!r}; accepted: {', '.join(PREDICTIONS)}")
        world = model.world
        self.prediction = prediction
        self._sigma, factors = _sigma_and_factors(said.error, world.clusters)
        self._world = world
        self._rates = world.platform.rates / factors
        self._off = world.platform.rates / self._rates
        self._draws = stream(model.seed, "prediction error")
        self._history: History | None = None
        if prediction != "exact":
            _check_told(model.workload, prediction)
            self._history = History(world, learns=prediction == "learned")
        requested = prediction == "requested" and _all_requested(model.workload)
        as_told = (self._history is None or requested) and self._sigma == 0.0
        world.policies.set_prediction(
            self._rates, None if as_told else self._runtime, requested and as_told
        )

    def _runtime(self, job: np.void) -> float:
        """Return the run time to expect of a job that is submitted now."""
        runtime = float(job["runtime"]) if self._history is None else self._history.runtime(job)
        return runtime * log_normal(self._sigma, self._draws) if self._sigma else runtime

    def predict_one(self, slot: int, cluster: int) -> float:
        """Return the execution time of one job on one cluster, s."""
        jobs = self._world.jobs
        runtime = jobs["predicted_runtime"].item(slot)
        row = jobs["times_row"].item(slot)
        if row == BY_RATES:
            return float(runtime / self._rates.item(cluster))
        time = jobs.times.item(row, cluster)
        return float(time * (runtime / jobs["runtime"].item(slot)) * self._off.item(cluster))

    def predict(self, slots: npt.ArrayLike) -> Floats:
        """Return the execution times of jobs on every cluster.

        Parameters
        ----------
        slots : array_like of int, shape (jobs,)
            Where the world keeps the jobs.

        Returns
        -------
        array, shape (jobs, clusters)
            Seconds.
        """
        jobs, slots = self._world.jobs, np.asarray(slots, np.int64)
        runtimes, rows = jobs["predicted_runtime"][slots], jobs["times_row"][slots]
        times: Floats = runtimes[:, None] / self._rates[None, :]
        told = rows != BY_RATES
        if told.any():
            off = runtimes[told] / jobs["runtime"][slots[told]]
            times[told] = jobs.times[rows[told]] * off[:, None] * self._off[None, :]
        return times


def _sigma_and_factors(error: float | Sequence[float], clusters: int) -> tuple[float, Floats]:
    """Return the standard deviation for jobs and the factor of each cluster that an error means."""
    if np.ndim(error) == 0:
        sigma = float(error)  # type: ignore[arg-type]
        if not 0 <= sigma <= LARGEST_SIGMA:
            raise GridError(
                f"prediction_error: found {error!r}; accepted: from 0 to {LARGEST_SIGMA:g}"
            )
        return sigma, np.ones(clusters)
    factors = np.array(error, np.float64)
    if factors.shape != (clusters,):
        raise GridError(
            f"prediction_error: found {len(factors)} factors; accepted: one number, or "
            f"{clusters} factors, one for each cluster"
        )
    if not ((factors > 0) & (factors < math.inf)).all():
        raise GridError(f"prediction_error: found {[*error]!r}; accepted: factors above 0")  # type: ignore[misc]
    return 0.0, factors


def is_told(workload: object, prediction: str) -> bool:
    """Tell whether some job says what a prediction needs; of a workload still to come, all may."""
    if prediction == "exact":
        return True
    if not isinstance(workload, Table):
        return not isinstance(workload, JobMix)
    return bool(tell(workload.jobs, prediction).any())


def tell(jobs: JobArray, prediction: str) -> npt.NDArray[np.bool_]:
    """Return of each job whether it says what a prediction needs (`NEEDED`)."""
    if prediction == "exact":
        return np.ones(len(jobs), np.bool_)
    if prediction == "learned":
        named: npt.NDArray[np.bool_] = np.maximum(jobs["user"], jobs["application"]) != UNKNOWN
        return named
    return np.isfinite(jobs["requested_time"])


def _all_requested(workload: object) -> bool:
    """Tell whether every job has a requested time, so that nothing else is ever asked for."""
    return isinstance(workload, Table) and bool(np.isfinite(workload.jobs["requested_time"]).all())


def _check_told(workload: object, prediction: str) -> None:
    """Refuse a prediction from what no job tells."""
    if not is_told(workload, prediction):
        raise GridError(
            f"prediction: found {prediction!r}; accepted: with a log whose jobs "
            f"{NEEDED[prediction]}"
        )

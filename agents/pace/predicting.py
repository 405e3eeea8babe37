"""PACE: execution times predicted for each cluster before a job runs (`muscle`, section 2)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from agents.error_context import made
from agents.numbers import is_real
from agents.pace.built_in import Exact, Requested
from agents.pace.predictor import LARGEST_SIGMA, EndedJob, Prediction, Predictor, SubmittedJob
from agents.protocols import Grid
from agents.registry import predictor
from grid.distributions import log_normal
from grid.errors import GridError
from grid.foreign import quoted
from grid.jobs import BY_RATES, LONGEST, JobArray
from grid.names import lack_of
from grid.streams import stream
from grid.workloads.synthetic import JobMix
from grid.workloads.table import Table
from grid.world.finished import Records

Floats = npt.NDArray[np.float64]


class Pace:
    """Execution times as predicted: a predicted run time over the rate of a cluster.

    The run time on a cluster of rate 1 is predicted once, when the job is submitted; all who
    schedule it see that number, and the world runs it for its true time. The model's `Prediction`
    says who predicts. Of a job that comes with an execution time for each cluster, all of them are
    taken to be as far off as its run time, unless the predictor predicts each of them.

    Parameters
    ----------
    model : Grid

    Raises
    ------
    GridError
        If there is no such predictor, the jobs do not tell what it needs, or the error is none.

    Attributes
    ----------
    predictor : Predictor
    exact : bool
        What is predicted is the truth.
    """

    def __init__(self, model: Grid) -> None:
        said = model.settings(Prediction)
        kind = predictor(said.source) if isinstance(said.source, str) else said.source
        world = model.world
        self._sigma, factors = _sigma_and_factors(said.error, world.clusters)
        self._model = model
        self._world = world
        self._rates = world.platform.rates / factors
        self._off = world.platform.rates / self._rates
        self._draws = stream(model.seed, "prediction error")
        self._seen = 0
        _check_told(model.workload, kind, said.source)
        self.predictor: Predictor = made(kind, model)
        if kind.predict is Predictor.predict:
            raise GridError(lack_of(kind, "predict"))
        requested = kind is Requested and _all_requested(model.workload)
        as_told = (kind is Exact or requested) and self._sigma == 0.0
        self.exact = kind is Exact and self._sigma == 0.0 and bool((factors == 1.0).all())
        self._learns = kind.ended is not Predictor.ended
        if self._learns and not as_told:
            world.log.consumers.append(self._take_note)
        world.policies.set_prediction(
            self._rates,
            None if as_told else self.runtime,
            requested and as_told,
            kind.on_each_cluster,
        )

    def runtime(self, row: np.void) -> float:
        """Return the run time to expect of a job that is submitted now."""
        if self._learns and (left := self._world.log.count - self._seen):
            self._take_note(self._world.log.latest(left))
        job, by = SubmittedJob(row), self.predictor
        found = self._model.told_by(by, by.predict, job)
        factor = log_normal(self._sigma, self._draws) if self._sigma else 1.0
        if not by.on_each_cluster:
            return _one(found, by, job) * factor
        times = _each(found, by, job, self._world.clusters) * self._off * factor
        if row["times_row"] != BY_RATES:
            times[np.isinf(self._world.jobs.times[row["times_row"]])] = np.inf
        self._world.policies.expect(times)
        return float((times * self._rates).min())

    def _take_note(self, left: Records) -> None:
        """Have the predictor note the jobs that ended, of these that left, since the last look."""
        new = min(len(left), self._world.log.count - self._seen)
        for row in left.rows[len(left) - new :]:
            if not math.isnan(row["start"]):  # else it was rejected
                self._model.told_by(self.predictor, self.predictor.ended, EndedJob(row))
        self._seen += new

    def learn(self, ended: npt.NDArray[np.void]) -> None:
        """Have the predictor note jobs that ended before the model began, rows of `FINISHED`."""
        for row in ended:
            self._model.told_by(self.predictor, self.predictor.ended, EndedJob(row))

    def predict_one(self, slot: int, cluster: int) -> float:
        """Return the execution time of one job on one cluster, s."""
        jobs = self._world.jobs
        if jobs.predicted is not None:
            return float(jobs.predicted.item(slot, cluster))
        runtime = jobs["predicted_runtime"].item(slot)
        row = jobs["times_row"].item(slot)
        if row == BY_RATES or self._world.state.limited:
            return float(runtime / self._rates.item(cluster))
        time = jobs.times.item(row, cluster)
        return float(time * (runtime / jobs["runtime"].item(slot)) * self._off.item(cluster))

    def predict_moulded(self, slot: int, rows: npt.NDArray[np.int64]) -> Floats:
        """Return the execution times of one job as it may be moulded.

        What is predicted of the job is taken to be as far off with each of its sizes.

        Parameters
        ----------
        slot : int
        rows : array, shape (sizes,)
            Some of the job's `grid.world.jobs.Jobs.mouldings`.

        Returns
        -------
        array, shape (sizes, clusters)
            Seconds.
        """
        times = self._world.jobs.times
        own = self._world.jobs["times_row"].item(slot)
        if own == BY_RATES:
            return self.predict([slot])
        moulded: Floats = times[rows] * (self.predict([slot])[0] / times[own])
        return moulded

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
        if jobs.predicted is not None:
            return jobs.predicted[slots]
        runtimes, rows = jobs["predicted_runtime"][slots], jobs["times_row"][slots]
        times: Floats = runtimes[:, None] / self._rates[None, :]
        told = rows != BY_RATES
        if self._world.state.limited:
            times[told] = np.where(np.isinf(jobs.times[rows[told]]), np.inf, times[told])
        elif told.any():
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
            f"{clusters} of them, one for each cluster"
        )
    if not ((factors > 0) & (factors < math.inf)).all():
        raise GridError(f"prediction_error: found {[*error]!r}; accepted: factors above 0")  # type: ignore[misc]
    return 0.0, factors


def _one(found: object, by: Predictor, job: SubmittedJob) -> float:
    """Return what a predictor said of a job, if that is a run time."""
    time = float(found) if is_real(found) else math.nan  # type: ignore[arg-type]
    if not 0 <= time <= LONGEST:
        raise GridError(
            f"{by.name}: prediction of job {job.number}: found {quoted(found)}; accepted: seconds, "
            f"from 0 to {LONGEST:g}"
        )
    return time


def _each(found: object, by: Predictor, job: SubmittedJob, clusters: int) -> Floats:
    """Return what a predictor said of a job, if those are execution times on each cluster."""
    try:
        given = np.array(found)
    except ValueError:  # lists in a list, not as long as each other
        given = np.zeros(0)
    times = given.astype(np.float64) if given.dtype.kind in "iuf" else np.zeros(0)
    if times.shape != (clusters,) or not ((times > 0) & (times <= LONGEST)).all():
        raise GridError(
            f"{by.name}: prediction of job {job.number}: found {quoted(found)}; accepted: "
            f"a list of times, one for each cluster ({clusters}): seconds, above 0 and up to "
            f"{LONGEST:g}"
        )
    return times


def is_told(workload: object, kind: type[Predictor]) -> bool:
    """Tell whether some job is as a predictor needs it; of a workload still to come, all may be."""
    if not kind.needs:
        return True
    if not isinstance(workload, Table):
        return not isinstance(workload, JobMix)
    return bool(told_of(kind, workload.jobs).any())


def told_of(kind: type[Predictor], jobs: JobArray) -> npt.NDArray[np.bool_]:
    """Return of each job whether it is as a predictor needs it; may raise `GridError`."""
    found = kind.tells(jobs)
    told = np.asarray(found)
    if told.shape != (len(jobs),) or told.dtype != bool:
        raise GridError(
            f"{kind.__name__}: tells: found {quoted(found)}; accepted: true or false of each of "
            f"{len(jobs):,} jobs"
        )
    return told


def _all_requested(workload: object) -> bool:
    """Tell whether every job has a requested time, so that nothing else is ever asked for."""
    return isinstance(workload, Table) and bool(np.isfinite(workload.jobs["requested_time"]).all())


def _check_told(workload: object, kind: type[Predictor], name: object) -> None:
    """Refuse a predictor that needs what no job tells."""
    if not is_told(workload, kind):
        raise GridError(
            f"prediction: found {name!r}; accepted: 'exact', or a log whose jobs {kind.needs}"
        )

"""Forecasting: the present of a service is run to its end many times, with drawn run times."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain, islice

import numpy as np

from experiments.service.forecasting.forecast import Forecast, Progress, Question
from experiments.service.forecasting.futures import Present
from experiments.service.forecasting.run_times import RunTimes
from experiments.service.grid_file import LiveGrid, load_grid
from experiments.service.store import DONE, FAILED, STARTING, WAITING, LiveJob, Store
from grid.errors import GridError

NEVER = 1e9
"""For how long a job that cannot begin holds the queue that it is in, s."""


def forecast(
    grid: LiveGrid,
    jobs: Sequence[LiveJob],
    limits: Mapping[str, int],
    began: float,
    now: float,
    futures: int = 100,
    seed: int = 0,
    workers: int | None = 1,
    progress: Progress | None = None,
) -> Forecast:
    """Return when jobs that run and wait will start and end.

    No other job comes than those that are there (`Present`). In a future, run times of jobs of one
    name are drawn at the same place among those known, for users' jobs in a row are alike: drawn
    one by one, intervals were narrower still on logs.

    Parameters
    ----------
    grid : LiveGrid
    jobs, limits, began, now, futures, seed, workers
        See `Question`.
    progress : Progress, optional
        Is told of each future.
    """
    platform = grid.scenario.platform
    names, rates = list(platform.names), platform.rates
    ended = [each for each in jobs if each.state in (DONE, FAILED) and each.exit_status is not None]
    times = RunTimes(ended, dict(zip(names, rates.tolist(), strict=True)))
    running = [each for each in jobs if each.goes_on and each.state != WAITING]
    running.sort(key=lambda each: each.started or now)
    waiting = [each for each in jobs if each.goes_on and each.state == WAITING]
    waiting.sort(key=lambda each: min(each.submitted, now))
    live = [*running, *waiting]
    rng = np.random.default_rng(seed)
    drawn = np.empty((futures, len(live)))
    of_name = {each.name: rng.random(futures) for each in live}  # whose jobs are alike
    for row, each in enumerate(live):
        since = now if each.started is None else each.started
        rate = rates[names.index(str(each.site))] if each.site else 1.0
        ran = max(0.0, now - since) * rate
        most = max(ran, longest(each, grid, each.site or each.only))
        drawn[:, row] = np.minimum(times.draw(each, ran, of_name[each.name]), most)
        if is_stuck(each, limits):
            drawn[:, row] = NEVER
    found = Forecast.of(live, futures, platform.names, now, times.known, limits)
    up = [
        limits.get(name, cluster.size)
        for name, cluster in zip(names, platform.clusters, strict=True)
    ]
    passing = Present(grid, running, waiting, up, began, now, ended, workers).futures(drawn, seed)
    if progress is not None and futures > 1:  # the first compiles: it tells nothing of the others
        others = progress.one_by_one(passing, futures - 1, "more future")
        passing = chain(islice(passing, 1), others)
    for future, went in enumerate(passing):
        found.learn(future, went, began)
    stuck = [is_stuck(each, limits) for each in live]
    found.forget(found.starts - now > NEVER / 2.0)  # behind one of them
    found.forget(np.tile(np.array(stuck, np.bool_)[:, np.newaxis], futures))
    return found


def is_stuck(job: LiveJob, limits: Mapping[str, int]) -> bool:
    """Return whether a job was given to a site that has too few processors for it now.

    Of one with none nothing is known: it may be drained, or does not answer.
    """
    return job.state == STARTING and 0 < limits.get(str(job.site), job.size) < job.size


def longest(job: LiveJob, grid: LiveGrid, only: str | None) -> float:
    """Return how long a job runs at most, s on a site of rate 1: batch systems end it then."""
    most, clusters = 0.0, grid.scenario.platform.clusters
    for cluster, driver in zip(clusters, grid.drivers, strict=len(grid.drivers) > 0):
        if only in (None, cluster.name):
            most = max(most, driver.limit(job.time, cluster.rate) * cluster.rate)
    return most or math.inf


def forecast_of(store: Store, question: Question, progress: Progress | None) -> Forecast:
    """Return a forecast on the sites of a service's grid, by its file.

    Raises
    ------
    GridError
        If no service has been there, or its grid cannot be read or has other sites.
    """
    if (asked := store.note("grid")) is None:
        raise GridError(f"{store.folder}: no service has been there; accepted: the folder of one")
    name, global_, local = asked
    grid = load_grid(name, global_, local, store.note("sites"))
    if [*store.note("sites")] != [*grid.scenario.platform.names]:
        raise GridError(f"{name}: found other sites than those served; accepted: the same")
    return forecast(grid, *question, progress=progress)

"""Forecasting: the present of a service is run to its end many times, with drawn run times."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from functools import cache, partial
from itertools import chain, islice

import numpy as np

from experiments.service.forecasting.forecast import Forecast, Progress, Question
from experiments.service.forecasting.futures import Floats, Present
from experiments.service.forecasting.run_times import RunTimes
from experiments.service.forecasting.there import There
from experiments.service.grid_file import LiveGrid, load_grid
from experiments.service.store import DONE, FAILED, LiveJob, Store
from experiments.show.numbers import counted
from grid.errors import GridError
from grid.foreign import plain
from grid.jobs import LONGEST

NEVER = 1e9
"""For how long a job that cannot begin holds the queue that it is in, s."""


def forecast(
    grid: LiveGrid,
    jobs: Sequence[LiveJob],
    up: Mapping[str, int],
    began: float,
    now: float,
    futures: int = 100,
    seed: int = 0,
    workers: int | None = 1,
    drained: Collection[str] = (),
    progress: Progress | None = None,
) -> Forecast:
    """Return when jobs that run and wait will start and end.

    No other job comes than those that are there (`Present`). In a future, run times of jobs of one
    name are drawn at the same place among those known, for users' jobs in a row are alike: drawn
    one by one, intervals were narrower still on logs.

    Parameters
    ----------
    grid : LiveGrid
    jobs, up, began, now, futures, seed, workers, drained
        See `Question`.
    progress : Progress, optional
        Is told of each future.
    """
    platform = grid.scenario.platform
    up = dict(zip(platform.names, platform.sizes.tolist(), strict=True)) | {**up}
    there = There.of(jobs, up, drained, now)
    ended = [each for each in jobs if each.state in (DONE, FAILED) and each.exit_status is not None]
    times = RunTimes(ended, dict(zip(platform.names, platform.rates.tolist(), strict=True)))
    drawn = _drawn(there, times, grid, now, futures, seed)
    found = Forecast.of(there.all, futures, platform.names, now, times.known)
    waits = there.in_queues
    limits = [0 if name in drained else up[name] for name in platform.names]
    longest = longest_of(waits, grid)
    present = Present(grid, there.begun, waits, limits, longest, began, now, ended, workers)
    passing = present.futures(drawn, seed)
    if progress is not None and futures > 1:  # the first compiles: it tells nothing of the others
        others = progress.one_by_one(passing, futures - 1, "more future")
        passing = chain(islice(passing, 1), others)
    for future, went in enumerate(passing):
        found.learn(future, went, began)
    found.forget(found.starts - now > NEVER / 2.0)  # behind one of them
    stuck = np.array([each.job in there.stuck for each in there.all], np.bool_)
    found.forget(np.tile(stuck[:, np.newaxis], futures))
    return found


def _drawn(
    there: There, times: RunTimes, grid: LiveGrid, now: float, futures: int, seed: int
) -> Floats:
    """Return run times of jobs in each future, s on a cluster of rate 1, by (future, job).

    Those of jobs that have begun are no longer than their batch systems let them run.
    """
    platform, rng = grid.scenario.platform, np.random.default_rng(seed)
    places = {name: index for index, name in enumerate(platform.names)}
    drawn = np.empty((futures, len(there.all)))
    of_name = {each.name: rng.random(futures) for each in there.all}  # whose jobs are alike
    for row, each in enumerate(there.all):
        rate, longest = 1.0, math.inf
        if row < len(there.begun) and each.site:
            rate = platform.rates[places[each.site]]
            # By the rate of when it was submitted there.
            longest = longest_at(grid, each.time, each.rate)[places[each.site]] * rate
        ran = max(0.0, now - (now if each.started is None else each.started)) * rate
        drawn[:, row] = np.minimum(times.draw(each, ran, of_name[each.name]), max(ran, longest))
        if each.job in there.stuck:
            drawn[:, row] = NEVER * rate
    return drawn


def longest_of(jobs: Sequence[LiveJob], grid: LiveGrid) -> Floats:
    """Return how long jobs may run at each site, s; infinity where they are not to go."""
    names, of_time = grid.scenario.platform.names, cache(partial(longest_at, grid))
    found = np.full((len(jobs), len(names)), LONGEST)
    for row, job in enumerate(jobs):
        found[row] = of_time(job.time)
        if job.only:
            found[row, [name != job.only for name in names]] = np.inf
    return found


def longest_at(grid: LiveGrid, time: float | None, rate: float | None = None) -> Floats:
    """Return how long a job with a requested time may run at each site, s, `LONGEST` at most.

    By the sites' rates, or that of when it was submitted.
    """
    platform, drivers = grid.scenario.platform, grid.drivers
    if not drivers:
        return np.full(len(platform.names), LONGEST)
    limits = (
        driver.limit(time, rate or cluster.rate)
        for cluster, driver in zip(platform.clusters, drivers, strict=True)
    )
    return np.minimum(LONGEST, [*limits])


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
    for cluster, driver in zip(grid.scenario.platform.clusters, grid.drivers, strict=True):
        served = store.note("sites")[cluster.name]
        if driver.name != "slurm" and cluster.size != served:  # which has told what it has
            found = (
                f"found {counted(cluster.size, 'processor')}, which had {served} as it was served"
            )
            raise GridError(
                f"{name}: {plain(cluster.name, 100)}: {found}; accepted: as many, or a service "
                "that begins with them"
            )
    return forecast(grid, *question, progress=progress)

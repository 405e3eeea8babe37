"""Forecasting: the present of a service is run to its end many times, with drawn run times."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import chain, islice

import numpy as np

from experiments.service.forecasting.forecast import Forecast, Progress, Question
from experiments.service.forecasting.futures import Floats, Present
from experiments.service.forecasting.run_times import RunTimes
from experiments.service.grid_file import LiveGrid, load_grid
from experiments.service.store import DONE, FAILED, STARTING, WAITING, LiveJob, Store
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
    names, rates = list(platform.names), platform.rates
    places = {name: index for index, name in enumerate(names)}
    ended = [each for each in jobs if each.state in (DONE, FAILED) and each.exit_status is not None]
    times = RunTimes(ended, dict(zip(names, rates.tolist(), strict=True)))
    given = [each for each in jobs if each.goes_on and each.state != WAITING]
    given.sort(key=lambda each: each.started or now)
    most = dict(zip(names, platform.sizes.tolist(), strict=True)) | {**up}
    most |= dict.fromkeys(drained, 0)
    later = too_early(given, most, drained)
    running = [each for each in given if each.job not in later]
    waiting = [each for each in jobs if each.goes_on and each.state == WAITING]
    waiting.sort(key=lambda each: min(each.submitted, now))
    live = [*running, *(each for each in given if each.job in later), *waiting]
    stuck = np.array([is_stuck(each, up) for each in live], np.bool_)
    rng = np.random.default_rng(seed)
    drawn = np.empty((futures, len(live)))
    of_name = {each.name: rng.random(futures) for each in live}  # whose jobs are alike
    for row, each in enumerate(live):
        since = now if each.started is None else each.started
        rate = rates[places[each.site]] if row < len(running) and each.site else 1.0
        ran = max(0.0, now - since) * rate
        longest = math.inf
        if row < len(running) and each.site:  # by the rate of when it was submitted there
            longest = longest_at(grid, each.time, each.rate)[places[each.site]] * rate
        drawn[:, row] = np.minimum(times.draw(each, ran, of_name[each.name]), max(ran, longest))
        if stuck[row]:
            drawn[:, row] = NEVER * rate
    found = Forecast.of(live, futures, platform.names, now, times.known)
    limits = [most[name] for name in names]
    waits = [*_in_queues(live[len(running) : len(given)]), *waiting]
    most_of = longest_of(waits, grid)
    present = Present(grid, running, waits, limits, most_of, began, now, ended, workers)
    passing = present.futures(drawn, seed)
    if progress is not None and futures > 1:  # the first compiles: it tells nothing of the others
        others = progress.one_by_one(passing, futures - 1, "more future")
        passing = chain(islice(passing, 1), others)
    for future, went in enumerate(passing):
        found.learn(future, went, began)
    found.forget(found.starts - now > NEVER / 2.0)  # behind one of them
    found.forget(np.tile(stuck[:, np.newaxis], futures))
    return found


def is_stuck(job: LiveJob, up: Mapping[str, int]) -> bool:
    """Return whether a job was given to a site that has too few processors for it now.

    Be it drained or not: it starts what it was given.
    """
    return job.state == STARTING and up.get(str(job.site), job.size) < job.size


def too_early(
    jobs: Sequence[LiveJob], limits: Mapping[str, int], drained: Collection[str]
) -> set[int]:
    """Return which jobs that were given to sites wait there: others hold what they need.

    Parameters
    ----------
    jobs : sequence of LiveJob
        Those that run, or are to start, in this order.
    limits : mapping of str to int
    drained : collection of str
        Of which it is not known.
    """
    free = {name: most for name, most in limits.items() if name not in drained}
    found = set()
    for job in sorted(jobs, key=lambda each: each.state == STARTING):
        site = str(job.site)
        if site not in free or (job.state == STARTING and limits[site] < job.size):
            continue
        if job.state == STARTING and free[site] < job.size:
            found.add(job.job)
        else:
            free[site] -= job.size
    return found


def _in_queues(jobs: Sequence[LiveJob]) -> list[LiveJob]:
    """Return jobs that were given to sites as if they were the first that wait there."""
    return [
        replace(each, state=WAITING, only=each.site, waits_at=each.site, landed=at - len(jobs))
        for at, each in enumerate(jobs)
    ]


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

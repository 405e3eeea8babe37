"""Forecasts: the present of a service, run to its end many times with run times that are drawn."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from typing import Any

import numpy as np
import numpy.typing as npt

from experiments.service.forecasting.futures import Present
from experiments.service.grid_file import LiveGrid, load_grid
from experiments.service.store import DONE, FAILED, RUNNING, STARTING, WAITING, LiveJob, Store
from experiments.sweeps.progress import SweepProgress
from grid.errors import GridError
from grid.world.finished import Records

Floats = npt.NDArray[np.float64]

ENOUGH = 5
"""Jobs from which run times are drawn, at least."""
UNKNOWN_TIME = 3600.0
"""Run time of a job of which nothing is known, s, as that which is expected of it."""
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


class RunTimes:
    """What is known of how long jobs run, s on a site of rate 1.

    They are drawn from jobs of the same name that have ended, if these are `ENOUGH`, else from all:
    from their run times over what was requested, where both have that, else from their run times.
    If too few have ended, a job runs for as long as was requested.

    Parameters
    ----------
    ended : sequence of LiveJob
        Jobs whose commands have ended.
    rates : mapping of str to float
        Of sites.
    """

    def __init__(self, ended: Sequence[LiveJob], rates: Mapping[str, float]) -> None:
        self._shares: dict[str | None, Floats] = {}
        self._times: dict[str | None, Floats] = {}
        shares: dict[str | None, list[float]] = {None: []}
        times: dict[str | None, list[float]] = {None: []}
        for job in ended:
            if job.started is None or job.ended is None:
                continue
            rate = job.rate or rates.get(str(job.site), 1.0)  # of then, if that is known
            ran = (job.ended - job.started) * rate
            for name in (None, job.name):
                times.setdefault(name, []).append(ran)
                if job.time is not None:
                    shares.setdefault(name, []).append(ran / job.time)
        self.known = len(times[None])
        for of, found in ((self._shares, shares), (self._times, times)):
            of.update({key: np.sort(each) for key, each in found.items() if len(each) >= ENOUGH})

    def draw(self, job: LiveJob, elapsed: float, draws: Floats) -> Floats:
        """Return run times of a job that has run for some time (s), one for each number in [0, 1).

        One that has outlasted all others runs for one to two times as long as it has.
        """
        for name in (job.name, None):
            if job.time is not None and name in self._shares:
                return _among(self._shares[name] * job.time, elapsed, draws)
            if name in self._times:
                return _among(self._times[name], elapsed, draws)
        asked = UNKNOWN_TIME if job.time is None else job.time
        return _among(np.array([asked]), elapsed, draws)


def _among(known: Floats, elapsed: float, draws: Floats) -> Floats:
    """Return draws from values beyond one."""
    first = int(np.searchsorted(known, elapsed, side="right"))
    if first == len(known):
        return elapsed * (1.0 + draws)
    later: Floats = known[first + (draws * (len(known) - first)).astype(np.int64)]
    return later


@dataclass(frozen=True)
class Forecast:
    """When jobs start and end in each of many futures.

    Attributes
    ----------
    jobs : tuple of LiveJob
        Those that run or wait.
    starts, ends : array, shape (jobs, futures)
        By the clock (Unix time, s); NaN where a job never starts.
    sites : array of int, shape (jobs, futures)
        Index of the site; -1 where a job never starts.
    names : tuple of str
        Of the sites.
    now : float
        Of the forecast, by the clock.
    known : int
        Jobs that had ended, from which run times are drawn.
    """

    jobs: tuple[LiveJob, ...]
    starts: Floats
    ends: Floats
    sites: npt.NDArray[np.int64]
    names: tuple[str, ...]
    now: float
    known: int

    @classmethod
    def of(
        cls, jobs: Sequence[LiveJob], futures: int, names: tuple[str, ...], now: float, known: int
    ) -> Forecast:
        """Return one in which no job ever starts."""
        shape = len(jobs), futures
        never = np.full(shape, math.nan)
        sites = np.full(shape, -1, np.int64)
        return cls(tuple(jobs), never, never.copy(), sites, names, now, known)

    @cached_property
    def _sorted(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Numbers of the jobs, rising, and whose they are."""
        numbers = np.array([job.job for job in self.jobs], np.int64)
        order = np.argsort(numbers)
        return numbers[order], order

    def learn(self, future: int, went: Sequence[Records], began: float) -> None:
        """Take in how jobs went in a future, by times since a service began, s."""
        numbers, order = self._sorted
        for records in went:
            started = ~np.isnan(records["start"])
            rows = order[np.searchsorted(numbers, records["number"][started])]
            self.starts[rows, future] = records["start"][started] + began
            self.ends[rows, future] = records["finish"][started] + began
            self.sites[rows, future] = records["cluster"][started]

    def rows(self, only: Collection[int] = ()) -> list[dict[str, Any]]:
        """Return what is expected of each job, or of some, ready for JSON.

        ``job``, ``name``, ``state``, ``sites`` (shares of the futures), ``never`` (the share in
        which it does not start), and ``start`` and ``end``: quantiles by the clock (s), null if it
        never starts.
        """
        found = []
        starts, ends = _quantiles(self.starts), _quantiles(self.ends)
        for row, job in enumerate(self.jobs):
            if only and job.job not in only:
                continue
            where = np.bincount(self.sites[row] + 1, minlength=len(self.names) + 1)
            shares = where / where.sum()
            sites = {name: float(x) for name, x in zip(self.names, shares[1:], strict=True) if x}
            told = {"job": job.job, "name": job.name, "state": job.state, "sites": sites}
            told["never"] = float(shares[0])
            told["start"], told["end"] = starts[row], ends[row]
            found.append(told)
        return found

    def of_sites(self) -> list[dict[str, Any]]:
        """Return when the last of these jobs ends at each site: ``site`` and quantiles ``over``."""
        found = []
        for index, name in enumerate(self.names):
            ends = np.where(self.sites == index, self.ends, self.now)
            last = np.nanmax(ends, axis=0, initial=self.now)
            found.append({"site": name, "over": _quantiles(last[np.newaxis])[0]})
        return found


def _quantiles(times: Floats) -> list[dict[str, float] | None]:
    """Return the quantiles of each row of times, None of one without any."""
    known = np.sort(times, axis=1)  # NaN last
    counts = (~np.isnan(known)).sum(axis=1)
    names = [f"{round(100 * share)}" for share in QUANTILES]
    places = np.ceil(np.outer(counts, QUANTILES)).astype(np.int64) - 1
    found = np.take_along_axis(known, np.maximum(places, 0), axis=1).tolist()
    return [
        dict(zip(names, row, strict=True)) if count else None
        for row, count in zip(found, counts.tolist(), strict=True)
    ]


def forecast(
    grid: LiveGrid,
    jobs: Sequence[LiveJob],
    limits: Mapping[str, int],
    began: float,
    now: float,
    futures: int = 100,
    seed: int = 0,
    progress: SweepProgress | None = None,
    workers: int = 1,
) -> Forecast:
    """Return when jobs that run and wait will start and end.

    No other job comes than those that are there (`Present`). In a future, run times of jobs of one
    name are drawn at the same place among those known, for users' jobs in a row are alike: drawn
    one by one, intervals were narrower still on logs.

    Parameters
    ----------
    grid : LiveGrid
    jobs : sequence of LiveJob
        All, by number.
    limits : mapping of str to int
        Processors that jobs may hold at sites; those not in it have all of theirs.
    began : float
        When the service of the folder first began, by the clock, s.
    now : float
        By the clock, s.
    futures : int
    seed : int
    progress : SweepProgress, optional
        Is told of each future.
    workers : int
        Processes that share futures which would take long.
    """
    platform = grid.scenario.platform
    names, rates = list(platform.names), platform.rates
    ended = [each for each in jobs if each.state in (DONE, FAILED) and each.exit_status is not None]
    times = RunTimes(ended, dict(zip(names, rates.tolist(), strict=True)))
    running = [each for each in jobs if each.state in (STARTING, RUNNING)]
    running.sort(key=lambda each: each.started or now)
    waiting = [each for each in jobs if each.state == WAITING and not (each.held or each.cancelled)]
    waiting.sort(key=lambda each: min(each.submitted, now))
    live = [*running, *waiting]
    rng = np.random.default_rng(seed)
    drawn = np.empty((futures, len(live)))
    of_name = {each.name: rng.random(futures) for each in live}  # whose jobs are alike
    for row, each in enumerate(live):
        since = now if each.started is None else each.started
        rate = rates[names.index(str(each.site))] if each.site else 1.0
        drawn[:, row] = times.draw(each, max(0.0, now - since) * rate, of_name[each.name])
    found = Forecast.of(live, futures, platform.names, now, times.known)
    most = [
        limits.get(name, cluster.size)
        for name, cluster in zip(names, platform.clusters, strict=True)
    ]
    passing = Present(grid, running, waiting, most, began, now, ended, workers).futures(drawn, seed)
    if progress is not None and futures > 1:  # the first compiles: it tells nothing of the others
        others = progress.one_by_one(passing, futures - 1, "more future")
        passing = chain(islice(passing, 1), others)
    for future, went in enumerate(passing):
        found.learn(future, went, began)
    return found


def forecast_of(
    store: Store,
    futures: int,
    seed: int,
    progress: SweepProgress | None = None,
    workers: int = 1,
) -> Forecast:
    """Return the forecast of a service's jobs, on the sites of its grid as they are now.

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
    began, limits = store.note("began"), limits_of(store)
    of = grid, store.jobs(), limits, began, time.time(), futures, seed
    return forecast(*of, progress, workers)


def limits_of(store: Store) -> dict[str, int]:
    """Return how many processors jobs may hold at sites, as of now: it may be that none serves."""
    sizes, limits = store.note("sites") or {}, store.note("limits") or {}
    drained, told = ({*(store.note(name) or ())} for name in ("drained", "told_drained"))
    there = {name: sizes.get(name, 0) for name in told - drained}  # as far as is known
    return limits | there | dict.fromkeys(drained, 0)

"""A forecast: when jobs start and end, and where, in each of many futures."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from experiments.service.store import LiveJob, Store
from experiments.show.numbers import counted

if TYPE_CHECKING:
    from grid.world.finished import Records

Floats = npt.NDArray[np.float64]
T = TypeVar("T")

LEARNED = 2000
"""Jobs that ended last, from which run times are drawn."""
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


class Progress(Protocol):
    """What is told of each future."""

    def one_by_one(self, done: Iterable[T], count: int, unit: str) -> Iterator[T]:
        """Yield what is done as it is asked for."""


class Question(NamedTuple):
    """What a forecast is made from, on the sites of a grid.

    Attributes
    ----------
    jobs : sequence of LiveJob
        Those that have not ended, by number, and those from which run times are drawn.
    up : mapping of str to int
        Processors that sites have for jobs, as was known last; those not in it have all of theirs.
    began : float
        When the service of the folder first began, by the clock, s.
    now : float
        By the clock, s.
    futures : int
    seed : int
    workers : int or None
        Processes that share futures which would take long; as many as there are cores.
    drained : collection of str
        Sites that are to start no further job.
    """

    jobs: Sequence[LiveJob]
    up: Mapping[str, int]
    began: float
    now: float
    futures: int = 100
    seed: int = 0
    workers: int | None = 1
    drained: Collection[str] = ()

    @classmethod
    def of(cls, store: Store, futures: int, seed: int, workers: int | None) -> Question:
        """Return that about the jobs of a service as they are now."""
        with store.at_once():  # all of one moment
            jobs = store.jobs("ended IS NULL") + store.ran_lately(LEARNED)
            up, drained = store.note("up") or {}, store.note("drained") or ()
            began = store.note("began")
        jobs.sort(key=lambda each: each.job)
        return cls(jobs, up, began, time.time(), futures, seed, workers, drained)


@dataclass(frozen=True, repr=False)
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
        cls,
        jobs: Sequence[LiveJob],
        futures: int,
        names: tuple[str, ...],
        now: float,
        known: int,
    ) -> Forecast:
        """Return one in which no job ever starts."""
        shape = len(jobs), futures
        never = np.full(shape, math.nan)
        sites = np.full(shape, -1, np.int64)
        return cls(tuple(jobs), never, never.copy(), sites, names, now, known)

    def __repr__(self) -> str:
        jobs, futures = counted(len(self.jobs), "job"), counted(self.starts.shape[1], "future")
        return f"<Forecast of {jobs} in {futures}; rows() has their times>"

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

    def forget(self, which: npt.NDArray[np.bool_]) -> None:
        """Have jobs not start in some futures."""
        self.starts[which] = self.ends[which] = math.nan
        self.sites[which] = -1

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
        """Return when the last of these jobs ends at each site: ``site`` and quantiles ``over``.

        Where none runs in any future, ``over`` is None.
        """
        found = []
        for index, name in enumerate(self.names):
            here = self.sites == index
            last = np.nanmax(np.where(here, self.ends, self.now), axis=0, initial=self.now)
            over = _quantiles(last[np.newaxis])[0] if here.any() else None
            found.append({"site": name, "over": over})
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

"""Futures: the present of a service, run to its end with run times that are given."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.pace.predictor import Prediction
from experiments.service.grid_file import LiveGrid
from experiments.service.mirror import Mirror, rows_of
from experiments.service.store import LiveJob
from grid.jobs import LONGEST, JobArray
from grid.kernel.state import ASKED
from grid.world.finished import Records
from grid.world.policies import Addresses

Floats = npt.NDArray[np.float64]

LONG = 20.0
"""Time from which on several processes share what is left, which take seconds to begin, s."""


class Future(Mirror):
    """A mirror whose jobs have run times, run to its end."""

    def __init__(self, *given: Any, **options: Any) -> None:
        self.went: list[Records] = []
        self._put: dict[int, int] = {}  # jobs that are put into queues of clusters, by number
        super().__init__(*given, **options)
        self._undrawn = self._streams()

    def _left(self, records: Records) -> None:
        self.went.append(records)

    @property
    def drew(self) -> bool:
        """Whether the kernel drew random numbers: other seeds may come to something else."""
        return self._streams() != self._undrawn

    def _streams(self) -> tuple[bytes, bytes]:
        state = self.world.state
        return state.loss_stream.tobytes(), state.known["stream"].tobytes()

    @property
    def blind(self) -> bool:
        """Whether what is decided before jobs end depends on no seed and no run time.

        That is known where compiled code of ours decides and nothing else does. Planners in Python
        reckon from true ends to expected ones, so that they see a run time in the last bits.
        """
        state = self.world.state
        asked = self.scheduler, self.pace.predictor, *(each.scheduler for each in self.clusters)
        own = all(type(each).__module__.startswith("agents.") for each in asked)
        compiled = state.place_at != 0 and bool(
            ((state.priority_at != 0) | (state.half_life > 0)).all()
        )
        told = state.predicting == ASKED and self.settings(Prediction).error == 0.0
        waits = state.collect == state.visits == 0 and not state.planned.any()
        return own and compiled and told and waits

    def put(self, rows: JobArray, clusters: Sequence[int]) -> None:
        """Take in jobs that wait at clusters, wherever the global scheduler would send them now."""
        policies, state, jobs = self.world.policies, self.world.state, self.world.jobs
        where = self._put
        where.update(zip(rows["number"].tolist(), clusters, strict=True))
        compiled, place = Addresses(state.place_at, state.largest_at), policies.place
        policies.set_addresses(Addresses())
        policies.place = lambda slot: where[jobs["number"].item(slot)]
        for row in range(len(rows)):  # whose order may be another than that of their submission
            self.submit(rows[row : row + 1])
        self.advance(self.now)
        self._put.clear()
        policies.place = place
        policies.set_addresses(compiled)
        for cluster in sorted({*clusters}):
            self.scheduler.withdrawn(cluster)  # whose book is made anew, of what is there

    def _submissions(self) -> None:
        if not self._put:
            super()._submissions()
            return
        slots = self.world.collected()
        numbers = self.world.jobs["number"][slots].tolist()
        self.world.send(slots, np.array([self._put[number] for number in numbers], np.int64))

    def keep(self, numbers: npt.NDArray[np.int64]) -> None:
        """Keep this moment for `again`: the jobs that are there have some of these numbers."""
        jobs, order = self.world.jobs, np.argsort(numbers)
        self._back, self._there = self.world.storage.kept(), jobs.there
        self._rows = order[np.searchsorted(numbers, jobs["number"][self._there], sorter=order)]
        self.world.log.consumers[:] = [self._left]  # no predictor will be asked any more

    def again(self, runtimes: Floats) -> bool:
        """Be at the moment that was kept, with other run times; tell whether that can be.

        Parameters
        ----------
        runtimes : array
            Of the jobs as they were numbered, s on a cluster of rate 1.
        """
        self._back()
        self.went.clear()
        return self.world.jobs.retime(self._there, runtimes[self._rows])


@dataclass(frozen=True)
class Present:
    """What all futures begin from.

    Attributes
    ----------
    grid : LiveGrid
    running, waiting : sequence of LiveJob
        In the order in which they started, and were submitted.
    limits : sequence of int
        Processors that jobs may hold at each site.
    longest : array, shape (waiting, sites)
        How long each that waits may run there, s: `LONGEST` without a limit, infinity where it does
        not go.
    began, now : float
        When the service of the folder first began, and the present, by the clock, s.
    ended : sequence of LiveJob
        What predictors learn from.
    workers : int or None
        Processes for futures that begin anew, if one alone would take long; as many as cores.
    """

    grid: LiveGrid
    running: Sequence[LiveJob]
    waiting: Sequence[LiveJob]
    limits: Sequence[int]
    longest: Floats
    began: float
    now: float
    ended: Sequence[LiveJob] = ()
    workers: int | None = 1

    def futures(self, drawn: Floats, seed: int) -> Iterator[Sequence[Records]]:
        """Yield how jobs went in each future.

        They begin alike up to now where nobody sees seeds and run times: that is done once then.

        Parameters
        ----------
        drawn : array, shape (futures, jobs)
            Run times of those that run, then of those that wait, s on a cluster of rate 1.
        seed : int
            Of the first future; that of each other is one more.
        """
        common = self._common(drawn.max(axis=0), seed) if len(drawn) > 1 else None
        for future, runtimes in enumerate(drawn):
            if common is not None and common.again(runtimes):
                common.finish()
                if not common.drew:
                    yield common.went
                    continue
                common = None
            if common is None:
                yield from self._anew(drawn[future:], seed + future)
                return
            yield self.went(runtimes, seed + future)

    def _anew(self, drawn: Floats, seed: int) -> Iterator[Sequence[Records]]:
        """Yield how jobs went in futures that each begin anew."""
        for future, runtimes in enumerate(drawn):
            began = time.monotonic()
            yield self.went(runtimes, seed + future)
            left = drawn[future + 1 :]
            takes = (time.monotonic() - began) * len(left)
            if future > 0 and takes > LONG and self.workers != 1:  # the first one compiles
                yield from self._beside_each_other(left, seed + future + 1)
                return

    def _beside_each_other(self, drawn: Floats, seed: int) -> Iterator[Sequence[Records]]:
        from experiments.sweeps.executors import local_workers
        from experiments.sweeps.starting import cores

        begin = partial(_take, self)
        with local_workers(min(self.workers or cores(), len(drawn)), begin, kept=False) as crew:
            yield from crew.executor.map(_went, drawn, count(seed))

    def went(self, runtimes: Floats, seed: int) -> Sequence[Records]:
        """Return how jobs went in the future of a seed that begins anew."""
        model = self._begun(runtimes, seed)
        model.finish()
        return model.went

    def _common(self, runtimes: Floats, seed: int) -> Future | None:
        """Return a future in which all is decided that is now, if others go on from there, too."""
        model = self._begun(runtimes, seed)
        if not model.blind:
            return None
        model.advance(model.now)
        model.keep(np.array([job.job for job in (*self.running, *self.waiting)], np.int64))
        return model

    def _begun(self, runtimes: Floats, seed: int) -> Future:
        """Return a future at the present moment, in which nothing is decided yet.

        Those that run are where they are, as are those in the queues of sites; the others are
        submitted now, and sites have the processors that they have now.
        """
        platform = self.grid.scenario.platform
        names = list(platform.names)
        model: Any = self.grid.scenario.model(seed, made=Future)
        model.learn(self.ended, self.began)
        rows = rows_of(self.waiting, self.began, self.now)
        rows["runtime"] = runtimes[len(self.running) :]
        limited = (self.longest != LONGEST).any(axis=1)
        if limited.any():
            rows["times_row"][limited] = np.arange(limited.sum())
            model.world.arrivals.take_limits(self.longest[limited])
        model.advance(0.0)
        for job, runtime in zip(self.running, runtimes, strict=False):
            model.advance(max(model.now, (job.started or self.now) - self.began))
            one = rows_of([job], self.began, self.now)
            one["runtime"] = runtime
            model.adopt(one, names.index(str(job.site)))
        model.advance(max(model.now, self.now - self.began))
        for cluster, most in enumerate(self.limits):
            model.limit(cluster, most)
        there = self._queues(model)
        put = np.array([job.job in there for job in self.waiting], np.bool_)
        if there:
            landed = np.array([job.landed or 0 for job in self.waiting])
            put_rows = rows[put][np.argsort(landed[put], kind="stable")]
            model.put(put_rows, [there[number] for number in put_rows["number"].tolist()])
        if not put.all():
            model.submit(rows[~put])
        return model

    def _queues(self, model: Future) -> dict[int, int]:
        """Return in the queues of which clusters jobs are, by their numbers.

        Under schedulers that visit queues, all are to be decided about again.
        """
        if model.scheduler.queues:
            return {}
        names = list(self.grid.scenario.platform.names)
        there = ((job, names.index(job.queued_at)) for job in self.waiting if job.queued_at)
        return {job.job: at for job, at in there if job.size <= self.limits[at]}


_present: Present | None = None
"""In a worker process: the one whose futures it has to tell."""


def _take(present: Present) -> None:
    """Have this process know what futures begin from."""
    global _present
    _present = present


def _went(runtimes: Floats, seed: int) -> Sequence[Records]:
    assert _present is not None
    return _present.went(runtimes, seed)

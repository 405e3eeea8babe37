"""The jobs of a world: those that are in it, and what is kept of those that left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from grid.kernel import access
from grid.kernel import state as k
from grid.world.finished import Records, last
from grid.world.statistics import Statistics
from grid.world.storage import CHUNK, Tables
from grid.world.watcher import Watcher

Indices = npt.NDArray[np.int64]


class Contents(Tables):
    """What can be asked of the jobs in the tables of a world.

    Attributes
    ----------
    consumers : list of callable
        Each is handed the jobs that left, as `stream_records` says.
    keeping : bool
        Jobs that left are kept, so that `records` knows of them.
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._drained: list[Records] = []
        self.keeping = True
        self._watcher: Watcher | None = None
        self.consumers: list[Callable[[Records], None]] = []

    # Jobs that are there ------------------------------------------------------------------------

    def queue(self, cluster: int | None = None) -> Indices:
        """Return the slots of the jobs waiting at a cluster (or globally), in order of service.

        Jobs in queues that the global scheduler visits wait for it, wherever they were submitted:
        `waiting` counts them there, but no local scheduler serves them: they wait globally.
        """
        if cluster is None:
            waiting = np.flatnonzero(self.jobs["status"] == k.GLOBAL)
            return waiting[np.argsort(self.jobs["serial"][waiting])]
        out = np.empty(int(self.waiting[cluster]), np.int64)
        return out[: access.queued(self._box, self.slots, cluster, out)]

    def running(self, cluster: int) -> tuple[Indices, Indices]:
        """Return the slots of the jobs running on a cluster, and their processors there."""
        out = np.empty(int(self.running_count[cluster]), np.int64)
        counts = np.empty_like(out)
        access.running(self._box, self.slots, self._sliding, cluster, out, counts)
        return out, counts

    def remaining_of(self, cluster: int, slots: Indices) -> Indices:
        """Return how many of the processors that each job holds on a cluster do not go with it.

        Parameters
        ----------
        cluster : int
            Index of the cluster, in a `tracked` world.
        slots : array of int64
            Jobs that run there.
        """
        begin = int(self.columns["first_processor"][cluster])
        own = self._processors[begin : begin + int(self.columns["size"][cluster])]
        holders = own["holder"][(own["causes"] == 0) & (own["holder"] >= 0)]
        counts: Indices = np.bincount(holders, minlength=len(self.slots))[slots]
        return counts

    def parts(self, slot: int) -> dict[int, int]:
        """Return the processors that a job holds on each cluster."""
        status = self.jobs["status"][slot]
        if status == k.RUNNING:
            return {self.jobs["cluster"].item(slot): self.jobs["size"].item(slot)}
        if status == k.COALLOCATED:
            take = self._sliding["take"][self.jobs["sliding"][slot]]
            return {cluster: take.item(cluster) for cluster in np.flatnonzero(take).tolist()}
        return {}

    # Jobs that left -----------------------------------------------------------------------------

    def _kept(self) -> Records:
        """Return the jobs that left and whose rows the kernel still keeps."""
        rows, splits = self.count("finished"), self.count("splits")
        return Records(self._finished[:rows], self._splits[:splits])

    def _drain(self) -> None:
        kept = self._kept()
        if not len(kept):
            return
        records = Records(kept.rows.copy(), kept.takes.copy())
        self._box["finished"] = self._box["splits"] = 0
        self._drained.append(records)
        for consume in self.consumers:
            consume(records)
        if self._watcher is None:
            self._forget()

    def _forget(self) -> None:
        """Keep no more of the jobs that left than is wanted, once all who watch have seen them."""
        while not self.keeping and len(self._drained) > 1:
            if sum(map(len, self._drained[1:])) < CHUNK:
                break
            del self._drained[0]

    def stream_records(self, consume: Callable[[Records], None] | None) -> None:
        """Keep no jobs that left: hand them to a consumer, or to nobody.

        Memory then does not grow with the number of jobs. To be called before any job leaves.
        `records` then knows of none, and `latest` of a few thousand, or of none if nobody wants
        them.

        Parameters
        ----------
        consume : callable or None
            Takes a few thousand jobs at a time, in order of leaving, whenever there are enough and
            at `flush`; one of the `consumers`. None: nobody wants them, which is fastest;
            `statistics` are kept anyway.
        """
        self.keeping = False
        self._box["recording"] = int(consume is not None)
        if consume is not None:
            self.consumers.append(consume)

    def flush(self) -> None:
        """Hand the jobs that left to the `consumers`, at the end of a run."""
        self._drain()

    def count_after(self, warmup: int) -> None:
        """Leave so many jobs that arrive first out of `statistics`: a warm-up.

        To be called before any of them arrives.
        """
        self.sums["warmup"] = warmup

    @property
    def statistics(self) -> Statistics:
        """What has been summed up by now of the jobs that completed, and of the queue."""
        return Statistics.of(self)

    def latest(self, count: int) -> Records:
        """Return the last `count` jobs that left, oldest first, or as many as there are.

        All that left since the `watcher` looked last are there, if there is one.
        """
        return last([*self._drained, self._kept()], count)

    def records(self) -> Records:
        """Return all jobs that left, in order of leaving; none if they are not kept."""
        if not self.keeping:
            return Records(self._finished[:0], self._splits[:0])
        self._drain()
        chunks = self._drained or [self._kept()]
        records = last(chunks, sum(map(len, chunks)))
        self._drained[:] = [records]
        return records

"""Processors that fail, go, and come back: as planned, by a failure model, or as told."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from grid.kernel import access
from grid.kernel import state as k
from grid.platform.changes import FAIL, JOIN, Change, Failures
from grid.streams import stream
from grid.world.storage import Storage
from grid.world.validation import check_failure


class Resources:
    """What a world has to expect of its processors.

    Parameters
    ----------
    storage : Storage
        Of the world; the changes of its platform happen when they are due.
    failures : Failures or None
        How processors fail, beside that.
    seed : int
        Of failures.
    """

    def __init__(self, storage: Storage, failures: Failures | None, seed: int) -> None:
        self._storage = storage
        for change in storage.platform.changes:
            self._plan(change)
        if failures is not None:
            self._follow(failures, seed)

    def fail(self, cluster: int, processor: int, time: float, repaired: float = np.inf) -> None:
        """Have a processor fail at a time (s), and be repaired at another.

        What the job on it has done is lost; it starts again from its queue.

        Parameters
        ----------
        cluster, processor : int
            Index of the cluster, and of the processor in it.
        time, repaired : float
            Not before now, s; infinity: never.

        Raises
        ------
        PlatformError
            If there is no such processor, the times make no sense, or the world is not `tracked`.
        """
        check_failure(self._storage, "failure", cluster, processor, (time, repaired))
        self._schedule(k.FAIL, cluster, processor, time)
        self._schedule(k.REPAIR, cluster, processor, repaired)

    def drain(self, cluster: int, processor: int, time: float, back: float = np.inf) -> None:
        """Have a processor go at a time (s), or when its job has ended, and be back at another.

        Parameters and what is raised are as of `fail`.
        """
        check_failure(self._storage, "drain", cluster, processor, (time, back))
        self._schedule(k.RETIRE, cluster, processor, time)
        self._schedule(k.REPAIR, cluster, processor, back)

    def restore(self, cluster: int, processor: int, time: float) -> None:
        """Have a processor that has gone without an end be back at a time, s.

        Parameters and what is raised are as of `fail`.
        """
        check_failure(self._storage, "return", cluster, processor, (time, np.inf))
        self._schedule(k.REPAIR, cluster, processor, time)

    def held(self, cluster: int) -> npt.NDArray[np.bool_]:
        """Return which processors of a cluster jobs hold, those that are to go included."""
        begin = int(self._storage.state.first_processor[cluster])
        size = self._storage.platform.clusters[cluster].size
        held: npt.NDArray[np.bool_] = (
            self._storage.tables.processors["holder"][begin : begin + size] >= 0
        )
        return held

    def _schedule(
        self, kind: int, cluster: int, processor: int, time: float, count: int = 1
    ) -> None:
        """Have an event of so many processors happen at a time (s); infinity: never."""
        if time < np.inf:
            storage = self._storage
            storage.make_room_for_events(storage.state.events + count)
            storage.grow()
            first = int(storage.state.first_processor[cluster]) + processor
            access.add_events(storage.state.array, storage.tables.events, time, kind, first, count)

    def _plan(self, change: Change) -> None:
        """Have a change of the platform happen when it is due."""
        platform = self._storage.platform
        cluster = platform.index(change.cluster)
        size = platform.clusters[cluster].size
        count = change.processors or size
        back = change.at if change.what == JOIN else change.until
        if change.what == JOIN or change.at == 0.0:
            self._leave_out(cluster, size - count)
        else:
            kind = k.FAIL if change.what == FAIL else k.RETIRE
            self._schedule(kind, cluster, size - count, change.at, count)
        self._schedule(k.REPAIR, cluster, size - count, back, count)

    def _leave_out(self, cluster: int, first: int) -> None:
        """Begin without the processors of a cluster from one on, as every broker knows."""
        storage = self._storage
        state, known, tables = storage.state, storage.known, storage.tables
        begin = int(state.first_processor[cluster])
        end = begin + storage.platform.clusters[cluster].size
        processors = tables.processors[begin + first : end]
        processors["causes"] += 1
        here = processors["holder"] == k.FREE
        processors["holder"][here] = k.DOWN
        count = np.count_nonzero(here)
        below = tables.beliefs["cluster"] == cluster
        state.remaining[cluster] -= count
        state.free[cluster] -= count
        state.up[cluster] -= count
        for name in ("free", "up"):
            known[name][cluster] -= count
            tables.beliefs[name][below] -= count
        if known["up"][cluster] == 0:
            known["load"][cluster] = np.inf

    def _follow(self, failures: Failures, seed: int) -> None:
        """Have every processor fail by a model."""
        storage = self._storage
        state, tables = storage.state, storage.tables
        storage.make_room_for_events(2 * (len(tables.events) + len(tables.processors)))
        state.mean_up, state.mean_down = failures.mean_up_time, failures.mean_down_time
        state.failure_stream = stream(seed, "failures")
        access.plan_failures(state.array, storage.tables.events, tables.processors)

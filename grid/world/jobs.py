"""The jobs that are in a world."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from grid.jobs import BY_RATES, JobArray
from grid.kernel import access
from grid.kernel.state import (
    ASKED,
    COALLOCATED,
    DOWN,
    END,
    FREE,
    GLOBAL,
    KIND_BITS,
    NONE,
    OVERDUE,
    RUNNING,
    VACANT,
)
from grid.world.storage import Storage
from grid.world.validation import check_adoption, check_end, check_preemption, check_withdrawal

Indices = npt.NDArray[np.int64]


class Jobs:
    """The live jobs, known by their slots; indexed by the name of a column.

    Attributes
    ----------
    columns : dict of str to array
        What is known of the job in each slot (dtype `grid.kernel.dtypes.SLOT`); the same dict for
        ever.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self.columns = storage.columns

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        return self.columns[name]

    @property
    def times(self) -> npt.NDArray[np.float64]:
        """Execution times, s, of jobs with a ``times_row``; infinity where they cannot run."""
        return self._storage.times

    @property
    def predicted(self) -> npt.NDArray[np.float64] | None:
        """Execution times expected of the job in each slot, s, if predicted for each cluster."""
        return self._storage.predicted

    def can_run(self, slots: Indices) -> npt.NDArray[np.bool_]:
        """Return whether each job can run on each cluster: shape (jobs, clusters)."""
        rows = self["times_row"][slots]
        able = np.ones((len(slots), self._storage.state.clusters), np.bool_)
        able[rows != BY_RATES] = np.isfinite(self.times[rows[rows != BY_RATES]])
        return able

    @property
    def mouldable(self) -> bool:
        """Some jobs may be moulded, and somebody does."""
        return len(self._storage.sizes) > 0

    def mouldings(self, slot: int) -> tuple[Indices, Indices]:
        """Return how a job may be moulded: rows of `times`, and the processors that each is with.

        Of a job that may not be, that is its own row, or `BY_RATES`, and its size.
        """
        row, sizes = self["times_row"].item(slot), self._storage.sizes
        if row == BY_RATES or not len(sizes):
            return np.array([row]), np.array([self["size"].item(slot)])
        rows = self._rows_beside(row)
        return rows, sizes[rows, 0]

    def _rows_beside(self, row: int) -> Indices:
        """Return the rows of the job that a row of `times` is of, where some may be moulded."""
        of_jobs = self._storage.sizes[:, 1]
        return np.arange(of_jobs[row], np.searchsorted(of_jobs, of_jobs[row], "right"))

    def sizes_of(self, job: np.void) -> list[int]:
        """Return the sizes that a job, by its row, may be moulded to; none: it may not.

        The row is among those that live, or of those that left.
        """
        row, sizes = int(job["times_row"]), self._storage.sizes
        if row == BY_RATES or not len(sizes):
            return []
        found: list[int] = sizes[self._rows_beside(row), 0].tolist()
        return found if len(found) > 1 else []

    def mould(self, slot: int, row: int) -> None:
        """Give a job that waits the size and the execution times of another of its `mouldings`."""
        storage, before = self._storage, self["times_row"].item(slot)
        if row == before:
            return
        if storage.predicted is not None:
            storage.predicted[slot] *= storage.times[row] / storage.times[before]
        box, slots = storage.state.array, storage.tables.slots
        access.mould(box, slots, slot, row, storage.sizes.item(row, 0))

    def preempt(self, slot: int, by: int) -> None:
        """Stop a job that runs by a plan: it waits at its cluster again, for another plan.

        It will run from its beginning; what it has done is lost.

        Parameters
        ----------
        slot : int
        by : int
            Slot of the job that it makes room for, which waits there.

        Raises
        ------
        PlacementError
            If the one does not run so, or the other does not wait there.
        """
        check_preemption(self._storage, slot, by)
        t = self._storage.tables
        access.preempt(t.box, t.slots, t.events, t.processors, t.turns, t.sliding, slot, by)

    def adopt(self, row: JobArray, cluster: int, predict: Callable[[np.void], float]) -> int:
        """Take in a job that somebody outside has started on a cluster, now; return its slot.

        `end` says when it ends. `World.advance` has been to the present instant before.

        Parameters
        ----------
        row : JobArray
            The job, alone, with an infinite run time.
        cluster : int
        predict : callable
            Is asked what run time to expect of it on a cluster of rate 1, s, if anybody is to be.

        Raises
        ------
        PlacementError
            If the cluster has fewer processors free, or the world is not `tracked`.
        """
        storage = self._storage
        check_adoption(storage, row, cluster)
        if storage.state.vacant == NONE:
            storage.grow()
        if storage.usage is not None:
            storage.make_room_for_user()
        asked = storage.state.predicting == ASKED
        t, row = storage.tables, np.ascontiguousarray(row)
        expected = predict(row[0]) if asked else np.nan
        return int(
            access.adopt(
                t.box, t.slots, t.events, t.processors, t.turns, t.sliding, row, cluster, expected
            )
        )

    def end(self, slot: int) -> None:
        """Have a job that runs end now, whenever it was to end.

        That of a job with an infinite run time nobody else says. It ends as `World.advance` goes
        on, before anything else happens.

        Raises
        ------
        PlacementError
            If it does not run, or on several clusters, or the world is not `tracked`.
        """
        check_end(self._storage, slot)
        t = self._storage.tables
        access.end(t.box, t.slots, t.events, slot)

    def withdraw(self, slot: int) -> None:
        """Have a job leave that waits, globally or at a cluster, as if it had not come.

        It is among those that left then, with a finish and without a start. As `World.advance` goes
        on, others have the room that it has held.

        Raises
        ------
        PlacementError
            If it does not wait, or is on its way.
        """
        check_withdrawal(self._storage, slot)
        access.withdraw(self._storage.tables, slot)

    @property
    def there(self) -> Indices:
        """Slots of all jobs that are in the world."""
        return np.flatnonzero(self["status"] != VACANT)

    def retime(self, slots: Indices, runtimes: npt.NDArray[np.float64]) -> bool:
        """Have jobs run for other times, as if they had come with these; tell whether they can.

        They cannot if one has ended by now. They run on one cluster each, or will, with finite run
        times and none that a failure stopped, for times by its rate, up to limits if there are any.

        Parameters
        ----------
        slots : array of int
        runtimes : array, shape (jobs,)
            On a cluster of rate 1, s.
        """
        state, jobs = self._storage.state, self.columns
        jobs["runtime"][slots] = runtimes
        sent = slots[jobs["cluster"][slots] != NONE]
        clusters, rows = jobs["cluster"][sent], jobs["times_row"][sent]
        times = jobs["runtime"][sent] / state.rate[clusters]
        limited = rows != BY_RATES
        limits = self.times[rows[limited], clusters[limited]]
        times[limited] = np.minimum(times[limited], limits)
        jobs["execution_time"][sent] = times + jobs["staging"][sent]
        running = slots[jobs["status"][slots] == RUNNING]
        ends = jobs["start"][running] + jobs["execution_time"][running]
        if (ends <= state.now).any():
            return False
        jobs["end"][running] = ends
        expected = jobs["start"][running] + jobs["predicted_time"][running]
        overruns = (state.relied_on == 1) & (state.now < expected) & (expected < ends)
        # Each has an event with its place in the order of scheduling: it keeps that.
        events = self._storage.tables.events[: state.events]
        turns = jobs["end_event"][running]
        at = np.argsort(events["turn"])
        at = at[np.searchsorted(events["turn"], turns, sorter=at)]
        kinds = np.where(overruns, OVERDUE, END)
        turns = (kinds << KIND_BITS) + (turns & ((1 << KIND_BITS) - 1))
        jobs["end_event"][running] = events["turn"][at] = turns
        events["time"][at] = np.where(overruns, expected, ends)
        events[:] = events[np.lexsort((events["turn"], events["time"]))]  # which is a heap, too
        return True

    def only_on(self, job: np.void) -> list[str]:
        """Return the names of the clusters on which a job can run, if it cannot on all.

        Parameters
        ----------
        job : void
            Its row among those that live, or of those that left.
        """
        row = int(job["times_row"])
        if row == BY_RATES or np.isfinite(self.times[row]).all():
            return []
        names = self._storage.platform.names
        return [name for name, time in zip(names, self.times[row], strict=True) if time < np.inf]

    @property
    def slots(self) -> npt.NDArray[np.void]:
        """A row for each slot (dtype `grid.kernel.dtypes.SLOT`), until there are more."""
        return self._storage.tables.slots

    def waiting(self, cluster: int | None = None) -> Indices:
        """Return the slots of the jobs waiting at a cluster (or globally), in order of service.

        Jobs in queues that the global scheduler visits wait for it, wherever they were submitted:
        `State.waiting` counts them there, but no local scheduler serves them: they wait globally.
        """
        if cluster is None:
            waiting = np.flatnonzero(self["status"] == GLOBAL)
            return waiting[np.argsort(self["serial"][waiting])]
        storage = self._storage
        out = np.empty(storage.state.waiting[cluster], np.int64)
        return out[: access.queued(storage.state.array, storage.tables.slots, cluster, out)]

    def planned(self, waiting: Indices) -> Indices:
        """Return those of a cluster's waiting jobs (slots) that its plan names, in its order."""
        turns = self["first_turn"][waiting] != NONE
        if turns.any():
            return waiting[turns][np.argsort(self["plan_rank"][waiting[turns]])]
        return waiting[self["key"][waiting] < np.inf]

    def turns(self, slot: int) -> list[int]:
        """Return the processors, 0-based in its cluster, that a plan names for a waiting job."""
        turns, turn = self._storage.tables.turns, self["first_turn"].item(slot)
        begin = self._storage.state.first_processor[self["cluster"][slot]]
        found = []
        while turn != NONE:
            found.append(int(turns["processor"][turn] - begin))
            turn = turns["sibling"].item(turn)
        return found

    def holders(self, cluster: int) -> tuple[Indices, Indices]:
        """Return the processors of a cluster that remain, and the slot of each one's job, or FREE.

        The world is `tracked`; processors are 0-based in the cluster.
        """
        state, tables = self._storage.state, self._storage.tables
        begin = state.first_processor[cluster]
        own = tables.processors[begin : begin + state.size[cluster]]
        remain = np.flatnonzero((own["causes"] == 0) & (own["holder"] != DOWN))
        return remain, own["holder"][remain]

    def running(self, cluster: int) -> tuple[Indices, Indices]:
        """Return the slots of the jobs running on a cluster, and their processors there."""
        state, tables = self._storage.state, self._storage.tables
        out = np.empty(state.running_count[cluster], np.int64)
        counts = np.empty_like(out)
        access.running(state.array, tables.slots, tables.sliding, cluster, out, counts)
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
        _, holders = self.holders(cluster)
        found = np.bincount(holders[holders != FREE], minlength=len(self.slots))
        counts: Indices = found[slots]
        return counts

    def parts(self, slot: int) -> dict[int, int]:
        """Return the processors that a job holds on each cluster."""
        status = self["status"][slot]
        if status == RUNNING:
            return {self["cluster"].item(slot): self["size"].item(slot)}
        if status == COALLOCATED:
            take = self._storage.tables.sliding["take"][self["sliding"][slot]]
            return {cluster: take.item(cluster) for cluster in np.flatnonzero(take).tolist()}
        return {}

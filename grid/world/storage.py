"""The kernel's tables in memory, and their growth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from grid.jobs import JOB
from grid.kernel import dtypes
from grid.kernel.dtypes import RELEASE, moment_dtype, reservation_dtype
from grid.kernel.loop import WITHOUT, Kind
from grid.kernel.queueing.fair_share import USAGE, move_rows
from grid.kernel.state import NONE
from grid.kernel.tables import Foresight, Tables
from grid.platform.brokers import Advertising
from grid.platform.multicluster import Platform
from grid.world.layout import free_processors, known_columns, new_state, set_brokers

CHUNK, SPLITS = 4096, 256
"""Finished jobs, and co-allocated ones among them, that the kernel keeps until they are taken out.
"""


class Storage:
    """What the kernel works on, for one platform.

    Parameters
    ----------
    platform : Platform
        Clusters and links.
    latency : float
        Time of a message from one broker to the next, beside the latency of the links, s.
    tracked : bool
        Keep the identity of every processor.
    advertising : Advertising
        How brokers tell what they know.

    Attributes
    ----------
    state : State
        The state record, which is never replaced.
    tables : Tables
        The present ones; another tuple once any of them has been replaced.
    columns : dict of str to array
        Those of the table of slots; the same dict for ever.
    known : dict of str to array
        What the global scheduler knows of each cluster and link
        (`grid.kernel.policies.policy_view.known_dtype`).
    capacity : int
        Clusters and links that there is room for.
    usage : structured array or None
        What users have used (`grid.kernel.queueing.fair_share.USAGE`), where the order of jobs
        depends on it.
    times : array, shape (rows, clusters)
        Execution times of jobs that have a row there (`grid.kernel.execution_times`), s.
    sizes : array, shape (rows, 2)
        Where jobs may be moulded: with how many processors a row's times are reached, and the first
        row of the same job. Else without rows.
    predicted : array, shape (slots, clusters), or None
        Those expected of the job in each slot, where they are more than a run time over rates, s.
    """

    def __init__(
        self, platform: Platform, latency: float, tracked: bool, advertising: Advertising
    ) -> None:
        self.platform = platform
        self.tracked = tracked
        self.state = state = new_state(platform)
        self.known = known_columns(state)
        self.capacity = state.array["free"].shape[1]
        self.columns: dict[str, npt.NDArray[Any]] = {}
        self.usage: npt.NDArray[np.void] | None = None
        self.times: npt.NDArray[np.float64] = np.zeros((0, state.clusters))
        self.sizes: npt.NDArray[np.int64] = np.zeros((0, 2), np.int64)
        self.predicted: npt.NDArray[np.float64] | None = None
        self.tables = Tables(
            box=state.array,
            slots=np.zeros(0, dtypes.SLOT),
            events=np.zeros(0, dtypes.EVENT),
            chunk=np.zeros(0, JOB),
            finished=np.zeros(0, dtypes.FINISHED),
            processors=free_processors(platform) if tracked else np.zeros(0, dtypes.PROCESSOR),
            turns=np.zeros(0, dtypes.TURN),
            sliding=np.zeros(8, dtypes.sliding_dtype(self.capacity)),
            profile=np.zeros(0, dtypes.PROFILE),
            blocks=np.zeros(0, dtypes.PROFILE_BLOCK),
            changes=np.zeros(0, dtypes.RELEASE),
            by_size=np.zeros(0, dtypes.BY_SIZE),
            splits=np.zeros((0, state.clusters), np.int32),
            beliefs=set_brokers(state, platform, latency, advertising),
            news=np.zeros(0, dtypes.NEWS),
            memory=np.zeros(1),
            foresight=_foresight(0, 0, 0, self.capacity),
        )
        self.grow()

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        self.__dict__.update(attributes)
        if self.usage is not None:
            self.state.usage_at = self.usage.ctypes.data
        self.take_times(self.times)
        if self.predicted is not None:
            self.state.predicted_at = self.predicted.ctypes.data

    def kept(self) -> Callable[[], None]:
        """Return what has all tables be as they are now again, whatever the kernel did since."""
        tables, usage, predicted = self.tables, self.usage, self.predicted
        finished = tables.finished[: self.state.finished]
        parts = (*tables._replace(finished=finished)[:-1], *tables.foresight, usage, predicted)
        # As bytes: numpy copies records field by field.
        whole = [part.view(np.uint8) for part in parts if part is not None and part.size]
        copies = [part.copy() for part in whole]

        def back() -> None:
            for part, copy in zip(whole, copies, strict=True):
                part[...] = copy
            self.tables, self.usage, self.predicted = tables, usage, predicted
            self.columns.update({name: tables.slots[name] for name in dtypes.SLOT.names or ()})

        return back

    def take_times(self, times: npt.NDArray[np.float64], limits: bool = False) -> None:
        """Keep a table of execution times, or of the longest, where the kernel finds it."""
        self.times = np.ascontiguousarray(times, np.float64)
        self.state.times_at = self.times.ctypes.data if len(times) else 0
        self.state.partial = int(np.isinf(self.times).any())
        self.state.limited = int(limits)

    @property
    def kind(self) -> Kind:
        """What the loop has to be able to do with these tables."""
        if len(self.tables.foresight.reservations):
            return Kind.FORESEEING
        return Kind.FULL if self.tracked or len(self.tables.profile) else Kind.PLAIN

    def arguments(self) -> Tables:
        """Return the tables as the loop of this kind takes them."""
        left_out: dict[str, Any] = dict.fromkeys(WITHOUT[self.kind])
        return self.tables._replace(**left_out)

    def make_room_to_predict(self) -> None:
        """Have room for an expected time of each slot on each cluster."""
        before = np.zeros((0, self.state.clusters)) if self.predicted is None else self.predicted
        self.predicted = np.zeros((len(self.tables.slots), self.state.clusters))
        self.predicted[: len(before)] = before
        self.state.predicted_at = self.predicted.ctypes.data

    def replace(self, **tables: Any) -> None:
        """Put other tables in the place of those of these names."""
        self.tables = self.tables._replace(**tables)

    def grow(self) -> None:
        """Make room where there is none: twice the slots, and tables that fit them."""
        state, tables = self.state, self.tables
        if state.vacant == NONE:
            slots = _with_vacant(tables.slots, max(64, 2 * len(tables.slots)), NONE)
            state.vacant = len(tables.slots)
            finished = _longer(tables.finished, max(CHUNK, 2 * len(slots)))
            self.replace(slots=slots, finished=finished)
            self.columns.update({name: slots[name] for name in dtypes.SLOT.names or ()})
            if self.predicted is not None:
                self.make_room_to_predict()
        if len(tables.profile):
            self.make_room_to_backfill()
        if self.usage is not None:
            self.make_room_for_user()
        if len(tables.foresight.reservations):
            self.make_foresight()
        self.make_room_for_events(2 * (state.events + len(self.tables.slots) + 2 * self.capacity))
        if state.news + state.clusters > len(tables.news):
            size = max(2 * len(tables.news), 2 * state.clusters)
            self.replace(news=_with_vacant(tables.news, size, state.vacant_news))
            state.vacant_news = len(tables.news)
        self.make_room_for_split()

    def make_room_for_events(self, room: int) -> None:
        """Make room for so many events in all."""
        old = len(self.tables.events)
        if old < room:
            # Twice at least, else each event that is planned would have all of them copied.
            self.replace(events=_longer(self.tables.events, max(room, 2 * old)))

    def make_room_for_turns(self, wanted: int) -> None:
        """Make room for `wanted` more turns of plans."""
        state, turns = self.state, self.tables.turns
        if state.turns + wanted > len(turns):
            size = max(2 * len(turns), state.turns + wanted)
            self.replace(turns=_with_vacant(turns, size, state.vacant_turn))
            state.vacant_turn = len(turns)

    def make_room_for_split(self) -> None:
        """Make room for one more job on several clusters."""
        tables = self.tables
        if self.state.sliding == len(tables.sliding):
            self.replace(sliding=_longer(tables.sliding, 2 * len(tables.sliding)))
        # All that run may end at one instant: once drained, the table has room for twice as many.
        room = max(SPLITS, 2 * len(self.tables.sliding))
        if len(tables.splits) < room:
            self.replace(splits=_longer(tables.splits, room))

    def make_room_to_backfill(self) -> None:
        """Make room for the waiting jobs of each size, and for a profile and what it is made from.

        A profile has a row for each end of a running job, and up to three for each reservation. Its
        blocks, but for the first and the last, are at least half full.
        """
        tables, slots = self.tables, len(self.tables.slots)
        room = 8 * slots
        blocks = np.zeros(room // dtypes.BLOCK, dtypes.PROFILE_BLOCK)
        blocks["first"] = np.arange(0, room, dtypes.BLOCK)
        self.replace(
            profile=np.zeros(room, dtypes.PROFILE),
            blocks=blocks,
            changes=np.zeros(2 * slots, dtypes.RELEASE),
            by_size=_longer(tables.by_size, slots),
        )
        self.state.profile_of = NONE

    def make_room_for_user(self) -> None:
        """Make room for one more user on every cluster, and half the table vacant."""
        state = self.state
        wanted = 2 * (state.usages + state.clusters)
        if wanted > state.usage_room:
            table = np.zeros(1 << (2 * wanted).bit_length(), USAGE)
            move_rows(state.array, table.ctypes.data, len(table))
            self.usage = table

    def make_foresight(self) -> None:
        """Make room for the ends of running jobs and for reservations, twice as much as is used."""
        state, tables = self.state, self.tables
        old, most = tables.foresight, state.most_reservations
        running = state.started - state.completed - state.restarted
        moments = 2 * (max(state.moments, running + 2 * most) + 8)
        new = _foresight(moments, most + 1, len(tables.slots), self.capacity)
        new = new._replace(memory=tables.memory.copy())
        if len(old.reservations):
            profile = np.concatenate([old.profile, new.profile[len(old.profile) :]])
            new = new._replace(reservations=old.reservations, profile=profile)
        self.replace(foresight=new)

    def forget_foresight(self) -> None:
        """Have no job reserve anything."""
        self.replace(foresight=_foresight(0, 0, 0, self.capacity))


def _foresight(moments: int, reservations: int, slots: int, capacity: int) -> Foresight:
    """Return tables of so many rows."""
    return Foresight(
        np.zeros(moments, moment_dtype(capacity)),
        np.zeros(reservations, reservation_dtype(capacity)),
        np.zeros(slots, RELEASE),
        np.zeros(0),
    )


def _longer(table: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    """Return a table with as many rows, those that are new zero."""
    return np.concatenate([table, np.zeros((size - len(table), *table.shape[1:]), table.dtype)])


def _with_vacant(table: npt.NDArray[np.void], size: int, vacant: int) -> npt.NDArray[np.void]:
    """Return a table with as many rows, those that are new in the list of vacant ones, first."""
    old, table = len(table), _longer(table, size)
    table["next"][old:] = np.arange(old + 1, size + 1)
    table["next"][-1] = vacant
    return table

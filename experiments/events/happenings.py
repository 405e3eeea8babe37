"""What happened in a model, in sentences: messages, and the starts and ends of jobs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from agents.messages import Message, ScheduleReport
from agents.model import GridModel
from experiments.live.columns import shorten, shorten_apart
from experiments.show.numbers import counted, duration
from grid.jobs import ANYWHERE
from grid.kernel.state import NONE
from grid.kernel.statistics import TRACE
from grid.world.finished import Records
from grid.world.validation import WITHDRAWN, why_rejected

KEPT = 100
"""Last happenings that are kept."""

NAME = 18
"""Cells that the name of an agent may take in a sentence."""

_ENDS, _MESSAGE, _STARTS = range(3)
"""Order in which things happen at one instant: processors fall free, agents talk, jobs start."""


class Happening(NamedTuple):
    """Something that happened: when (s), its place among what happened then, and in words."""

    time: float
    order: int
    words: str


class Happenings:
    """The last things that happened in a model, seen by looking at it now and then.

    A look costs no more for all that happened since the one before than for the last of it.

    Parameters
    ----------
    model : GridModel

    Attributes
    ----------
    last : list of Happening
        The last `KEPT` of them, oldest first.
    """

    def __init__(self, model: GridModel) -> None:
        self.last: list[Happening] = []
        self._model = model
        self._names = shorten_apart(model.world.platform.names, NAME)
        self._looked = -np.inf
        self._started = self._left = 0
        self._heard: Message | None = None

    def look(self) -> None:
        """See what happened since the last look."""
        new = [*self._ends(), *self._messages(), *self._starts()]
        self._looked = self._model.now
        self.last = sorted([*self.last, *new], key=itemgetter(0, 1))[-KEPT:]

    def _messages(self) -> Iterator[Happening]:
        said = self._model.said
        new = list(takewhile(lambda message: message is not self._heard, reversed(said)))
        self._heard = said[-1] if said else None
        for message in reversed(new[:KEPT]):
            sender, receiver = map(self._short, (message.sender, message.receiver))
            words = message.words()
            if isinstance(message, ScheduleReport):
                words = message.words(duration)  # as the times beside it
            yield Happening(message.sent, _MESSAGE, f"{sender} -> {receiver}: {words}")

    def _short(self, name: str) -> str:
        """Return the name of an agent as sentences have it."""
        platform = self._model.world.platform.names
        return self._names[platform.index(name)] if name in platform else shorten(name, NAME)

    def _ends(self) -> Iterator[Happening]:
        """Yield the jobs that left; those that were not yet seen to start, as started too."""
        world = self._model.world
        left = world.log.count
        records = world.log.latest(min(left - self._left, KEPT))
        self._left = left
        for row in records:
            if np.isnan(row["start"]):
                why = why_rejected(world.storage, row)
                words = f"job {row['number']} {unrun(why)}: {processors(row['size'])}, {why}"
                at = row["finish"] if why == WITHDRAWN else row["arrival"]
                yield Happening(float(at), _ENDS, words)
                continue
            parts = parts_of(records, row)
            if row["start"] > self._looked:
                yield self._start(row, parts)
            yield Happening(float(row["finish"]), _ENDS, self._end(row, parts))

    def _starts(self) -> Iterator[Happening]:
        """Yield the jobs that started and are still running."""
        world = self._model.world
        started = world.state.started
        if started == self._started:
            return
        self._started = started
        starts = world.jobs["start"]
        found: dict[int, dict[int, int]] = {}
        for cluster in np.flatnonzero(world.state.running_count).tolist():
            slots, counts = world.jobs.running(cluster)
            new = starts[slots] > self._looked
            for slot, count in zip(slots[new].tolist(), counts[new].tolist(), strict=True):
                found.setdefault(slot, {})[cluster] = count
        for slot in sorted(found, key=starts.item)[-KEPT:]:
            yield self._start(world.jobs.slots[slot], found[slot])

    def _start(self, job: np.void, parts: dict[int, int]) -> Happening:
        """Tell the start of a job, a row of the world's slots or of those that left."""
        verb = "restarts" if job["restarts"] else "starts"
        origin = int(job["origin"])
        elsewhere = origin != ANYWHERE and origin not in parts
        source = f", submitted at {self._names[origin]}," if elsewhere else ""
        start = float(job["start"])
        words = (
            f"{placement(parts, self._names)} {verb} job {job['number']}{source} on "
            f"{processors(job['size'])}, {duration(start - job['arrival'])} after its submission"
        )
        return Happening(start, _STARTS, words)

    def _end(self, job: np.void, parts: dict[int, int]) -> str:
        return f"{placement(parts, self._names)} finishes job {job['number']}{in_time(job)}"


def unrun(why: str) -> str:
    """Tell that a job leaves that has not run, for a reason."""
    return "leaves" if why == WITHDRAWN else "is rejected"


def processors(count: int) -> str:
    """Return a number of processors in words.

    >>> processors(1), processors(1200)
    ('1 processor', '1,200 processors')
    """
    return counted(count, "processor")


def placement(parts: Mapping[int, int], names: Sequence[str]) -> str:
    """Return where a job runs: the cluster alone, or its processors on each of several."""
    if len(parts) == 1:
        return names[next(iter(parts))]
    return "+".join(f"{names[cluster]}:{count}" for cluster, count in parts.items())


def in_time(job: np.void | Mapping[str, float]) -> str:
    """Return how a job that left kept its deadline, or how long it ran if it had none."""
    early = job["deadline"] - job["finish"]
    if early == np.inf:
        return f" after {duration(job['finish'] - job['start'])}"
    if abs(early) <= TRACE * job["finish"]:
        return ", at its deadline"
    return f", {duration(abs(early))} {'before' if early > 0 else 'after'} its deadline"


def parts_of(records: Records, row: np.void) -> dict[int, int]:
    """Return the processors that a job that left, a row of the records, held on each cluster."""
    if row["split"] == NONE:
        return {int(row["cluster"]): int(row["size"])}
    take = records.takes[row["split"]]
    return {cluster: int(take[cluster]) for cluster in np.flatnonzero(take).tolist()}

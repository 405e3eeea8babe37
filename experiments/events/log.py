"""The event log of a run: every message and everything that happens to jobs, as JSON lines."""

from __future__ import annotations

import json
import math
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from agents.messages import (
    Discovery,
    JobMetadata,
    JobSubmitted,
    JobTransfer,
    Message,
    OfJobs,
    SeedSchedule,
)
from agents.model import GridModel
from experiments.events.job_events import JobEvents
from experiments.events.message_events import MESSAGE, Event
from experiments.run.append_file import Growing
from experiments.run.files import made, true_place, writing
from experiments.run.replacing import is_kept, scratch_in, sync
from grid.errors import GridError

EVENTS = "events.jsonl"
"""File of a result in which its event log is looked for."""

BEGUN, ENDED, PLANNED = "begun", "ended", "planned"
SAID, BEGAN, EXITED, FAILED = "said", "began", "exited", "failed"
HELD, RELEASED, CANCELLED = "held", "released", "cancelled"
DRAINED, RESTORED = "drained", "restored"
OF_REAL_JOBS = SAID, BEGAN, EXITED, FAILED, HELD, RELEASED, CANCELLED, DRAINED, RESTORED
"""Events of sites and people, which only a service of real jobs has."""

_JOB_BY_JOB = JobSubmitted, JobMetadata, JobTransfer
"""Messages that the kernel carries, and tells of for each job."""

KEPT = 1000
"""Lines after which they are written."""


class Lines(Protocol):
    """What lines of text are written to."""

    place: Path

    def write(self, text: str) -> None:
        """Take lines."""

    def flush(self) -> None:
        """Have others see them."""


class EventLog:
    """Writes what happens in a model, as it happens, and changes nothing of it.

    Every line is an object with ``serial`` (from 1), ``time`` (simulated, s) and ``event``. Lines
    are in order of time, and the same for the same seed whatever the step.

    Parameters
    ----------
    model : GridModel
        Before its first step.
    file : Lines
        Where to: of a run, in a folder of its own (`Growing`).
    after : tuple of int and float
        Serial and time of the last line that is there, which these follow.
    **facts
        What the first line says of the run.
    """

    def __init__(
        self, model: GridModel, file: Lines, after: tuple[int, float] = (0, 0.0), **facts: Any
    ) -> None:
        self._model = model
        self.file = file
        self._serial, self._since = after
        self._lines: list[str] = []
        self._jobs = JobEvents(model)
        self._note({"event": BEGUN, **facts})
        self.carried = self._jobs.carried.hear
        model.world.watcher = self
        model.listeners.insert(0, self._hear)

    @property
    def growing(self) -> Growing:
        """The file of a run."""
        assert isinstance(self.file, Growing)
        return self.file

    def close(self) -> None:
        """Write what is left, and whether the run came to its end; watch no longer."""
        self._model.world.watcher = None
        self._model.listeners.remove(self._hear)
        self._see()
        self._note({"event": ENDED, "interrupted": self._model.running})
        self.flush()

    def forget(self) -> None:
        """Leave nothing of the file of a run, which does not go to its place either."""
        self.growing.whole = False
        shutil.rmtree(self.growing.path.parent, ignore_errors=True)

    def look(self) -> None:
        """See what has happened to jobs, and write it now and then."""
        self._see()
        if len(self._lines) >= KEPT:
            self.flush()

    def planned(self, cluster: int, jobs: npt.NDArray[np.int64]) -> None:
        """See a plan."""
        self._see()
        agent = self._model.clusters[cluster]
        numbers = self._model.world.jobs["number"][jobs].tolist()
        plan = {"sender": agent.scheduler.name, "receiver": agent.name, "jobs": numbers}
        if self._model.world.jobs.mouldable:
            plan["sizes"] = self._model.world.jobs["size"][jobs].tolist()
        self._note({"event": PLANNED, **plan, **self._whose(jobs), "cp": agent.scheduler.cp})

    def told(self, event: str, slot: int | None = None, **facts: Any) -> None:
        """See what else happens between brokers."""
        self._see()
        whose = {} if slot is None else self._of(slot)
        if slots := facts.pop("slots", ()):
            numbers = self._model.world.jobs["number"][[*slots]].tolist()
            whose = {"jobs": numbers, **self._whose(slots)}
        self._note({"event": event, **facts, **whose})

    def _hear(self, message: Message) -> None:
        if isinstance(message, _JOB_BY_JOB):
            return
        self._see()
        facts = message.facts()
        if isinstance(message, Discovery) and hasattr(message, "slot"):
            facts |= self._of(message.slot)
        elif isinstance(message, OfJobs):
            facts |= self._whose(message.slots)
        elif isinstance(message, SeedSchedule):
            facts |= self._whose(message.slots)
            for space, told in zip(message.spaces, facts["spaces"], strict=True):
                told |= self._whose(space.slots)
        self._note({"event": MESSAGE, **facts})

    def _of(self, slot: int) -> Event:
        """Return what is said of the job in a slot."""
        return self._jobs.identities.of(self._model.world.jobs.slots[slot]).facts()

    def _whose(self, slots: Iterable[int]) -> Event:
        """Return what is said of the jobs in some slots, beside their numbers."""
        return self._jobs.identities.facts(self._model.world.jobs.slots, slots)

    def _see(self) -> None:
        for event in self._jobs.since():
            self._note(event)

    def _note(self, event: Event) -> None:
        self._serial += 1
        line = {"serial": self._serial, "time": max(self._since, self._model.now), **event}
        self._lines.append(_json(line) + "\n")

    def flush(self) -> None:
        """Write what is left."""
        lines, self._lines = self._lines, []
        with writing(self.file.place, "events", "file"):
            self.file.write("".join(lines))
            self.file.flush()


def _json(thing: Any) -> str:
    """Return JSON of what a message may hold, a user's own message too."""
    try:
        return json.dumps(thing, allow_nan=False)
    except (TypeError, ValueError):  # most lines need no closer look
        return json.dumps(_plain(thing))


def _plain(thing: Any) -> Any:
    """Return the nearest that JSON has: null for a number that is none, words for what it lacks."""
    if isinstance(thing, np.ndarray | np.generic):
        thing = thing.tolist()
    if isinstance(thing, Mapping):
        return {str(key): _plain(value) for key, value in thing.items()}
    if isinstance(thing, set | frozenset):
        thing = sorted(thing, key=str)
    if isinstance(thing, list | tuple):
        return [_plain(each) for each in thing]
    if isinstance(thing, float):
        return thing if math.isfinite(thing) else None
    return thing if isinstance(thing, int | str | None) else str(thing)


@contextmanager
def event_log(
    model: GridModel, path: str | os.PathLike[str] | None, keep: bool = False, **facts: Any
) -> Iterator[EventLog | None]:
    """Have a model's event log written, if a path is given, and put there once it is closed.

    Parameters
    ----------
    model : GridModel
        Before its first step.
    path : path, optional
        Its folder is made if it is not there; a file there is replaced.
    keep : bool
        Leave what a process that is killed has written: a checkpoint goes on with it.
    **facts
        What the first line says of the run.

    Raises
    ------
    GridError
        If the file cannot be written; then nothing has changed.
    """
    if path is None:
        yield None
        return
    with ExitStack() as stack:
        with writing(path, "events", "file"):
            place = true_place(path).absolute()
            stack.enter_context(made(place.parent))
            scratch = scratch_in(place.parent, keep)
            file = Growing(scratch / place.name, place)
        yield stack.enter_context(_ended(EventLog(model, file, **facts)))


@contextmanager
def resumed_log(log: EventLog) -> Iterator[None]:
    """Have the event log of a model that was pickled with it written on.

    Raises
    ------
    GridError
        If the file is no longer there, or not as it was.
    """
    file = log.growing
    # Once the run is over, it is at its place.
    source = file.path if file.path.is_file() else file.place
    with writing(file.place, "events", "file"):
        scratch = source.parent if source == file.path else scratch_in(source.parent, kept=True)
        try:
            file.go_on(scratch / file.place.name, source)
        except (GridError, OSError):
            if source == file.place:
                shutil.rmtree(scratch, ignore_errors=True)
            raise
    with _ended(log):
        yield


@contextmanager
def _ended(log: EventLog) -> Iterator[EventLog]:
    """Have a log say in the end that it ends, also if that is an error, and put it in its place."""
    try:
        yield log
    except BaseException:
        with suppress(GridError):
            _end(log)
        raise
    _end(log)


def _end(log: EventLog) -> None:
    """Close a log and put it in its place; leave nothing if not all could be written."""
    file = log.growing
    scratch, there = file.path.parent, False
    try:
        with writing(file.place, "events", "file"):
            if file.whole:
                log.close()
                file.sync()
                file.path.replace(file.place)
                there = True
                sync(file.place.parent)
    finally:
        with suppress(OSError):  # of a full disk, which was told before
            file.close()
        if there or not is_kept(scratch):
            shutil.rmtree(scratch, ignore_errors=True)

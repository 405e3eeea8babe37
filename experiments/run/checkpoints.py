"""Checkpoints of a run: what is under way, on the disk, so that another process can go on with it.

A checkpoint is a line of JSON, which says of what it is, and a pickle.
"""

from __future__ import annotations

import io
import json
import os
import pickle
import platform
import sys
import time
import zlib
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from agents.importing import importable_from
from agents.messages import Message, SeedSchedule
from agents.model import GridModel
from agents.wiring import reconnect
from experiments.events.log import EventLog
from experiments.run.files import made, writing
from experiments.run.observed import Observed
from experiments.run.replacing import sync
from experiments.run.shapes import Shape, check_shape
from experiments.run.summary import version
from experiments.run.writing import NewResult
from experiments.scenario.scenario import Scenario
from grid.errors import GridError
from grid.sources import sources_digest
from grid.strict import json_of
from grid.world.finished import Records
from grid.world.pickling import Pickler

MAGIC = b"metasched checkpoint "
_DIGITS = 8


class SeedSchedules:
    """A list for each cluster of the seed schedules that it is sent.

    Parameters
    ----------
    model : GridModel
    """

    def __init__(self, model: GridModel) -> None:
        self.seeds: list[list[dict[str, Any]]] = [[] for _ in model.clusters]
        self._index = {cluster.name: cluster.index for cluster in model.clusters}

    def note(self, message: Message) -> None:
        """Take a message."""
        if isinstance(message, SeedSchedule) and message.receiver in self._index:
            self.seeds[self._index[message.receiver]] += [
                {
                    "job": job,
                    "start": placement.start,
                    "finish": finish,
                    "resources": list(placement.resources),
                }
                for job, placement, finish in zip(
                    message.jobs, message.schedule, message.finishes, strict=True
                )
            ]


@dataclass(frozen=True)
class Saving:
    """Where checkpoints go, and how often.

    Parameters
    ----------
    path : path
        A file there is replaced, by each checkpoint once it is complete.
    every : float
        Wall time between two of them, s.
    """

    path: str | os.PathLike[str]
    every: float = 600.0


@dataclass(kw_only=True)
class UnderWay:
    """A run under way: all that a checkpoint holds.

    Attributes
    ----------
    scenario : Scenario
        As it was asked for.
    seed : int
    model : GridModel
    observed : Observed
    new : NewResult or None
        The files of the result.
    log : EventLog or None
    seeds : SeedSchedules or None
        If the scenario's outputs hold them.
    wall : float
        Time that the run has taken, s, until the checkpoint.
    saving : Saving or None
    due : float
        When the next checkpoint is, s on the clock of this process.
    """

    scenario: Scenario
    seed: int
    model: GridModel
    observed: Observed
    new: NewResult | None = None
    log: EventLog | None = None
    seeds: SeedSchedules | None = None
    wall: float = 0.0
    saving: Saving | None = None
    due: float = np.inf

    @property
    def folder(self) -> str | None:
        """Where the files of the result go."""
        return None if self.new is None else str(self.new.folder)

    def add(self, records: Records) -> None:
        """Take jobs that left; end a step that takes too long for a checkpoint."""
        self.observed.add(records)
        if time.monotonic() >= self.due:
            self.model.stop()

    def save(self) -> None:
        """Write a checkpoint.

        Raises
        ------
        GridError
            If something of the run cannot be pickled, or the file not be written; then the
            checkpoint before is still there.
        """
        assert self.saving is not None
        if self.log is not None:
            self.log.flush()
        path = Path(self.saving.path)
        try:
            with writing(path, "checkpoint", "file"), made(path.parent):
                if self.log is not None:
                    self.log.growing.sync()
                if self.new is not None:
                    self.new.jobs.sync()
                _write(path, self)
        except (pickle.PicklingError, TypeError, AttributeError, RecursionError) as error:
            raise GridError(f"checkpoint: {_culprit(self.model) or error}") from None
        self.due = time.monotonic() + self.saving.every


@cache
def _product() -> str:
    """Return what has to be the same for a run to go on as it was."""
    sources = sources_digest(Path(__file__).resolve().parents[2])
    python, libraries = (
        platform.python_version(),
        f"Mesa {version_of('mesa')}, NumPy {np.__version__}",
    )
    return f"metasched {version()}, sources {sources}, Python {python}, {libraries}"


def _write(path: Path, thing: UnderWay) -> None:
    """Write a checkpoint beside the one before, and put it in its place."""
    new = path.with_name(f".{path.name}.new")
    head = {"product": _product(), "path": sys.path}
    try:
        with new.open("wb") as file:
            summed = _Summed(file)
            summed.write(MAGIC + json.dumps(head).encode() + b"\n")
            Pickler(summed, pickle.HIGHEST_PROTOCOL).dump(thing)
            file.write(f"{summed.crc:0{_DIGITS}x}".encode())
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
    with suppress(OSError):  # where folders cannot be opened, this is not needed
        sync(path.parent)


class _Summed:
    """A file of which the check sum is known."""

    def __init__(self, file: BinaryIO) -> None:
        self.crc = 0
        self._file = file

    def write(self, data: Any) -> int:
        """Write bytes."""
        self.crc = zlib.crc32(data, self.crc)
        return self._file.write(data)


def read(path: str | os.PathLike[str]) -> UnderWay:
    """Read a checkpoint. Like any pickle it can run code: read only those that you trust.

    Raises
    ------
    GridError
        If there is none, it is damaged, or it is of other code than this.
    """
    head, pickled = _parts(path)
    if head.product != (product := _product()):
        raise GridError(f"{path}: found a checkpoint of {head.product}; accepted: of {product}")
    for folder in reversed(head.path):
        if folder not in sys.path:
            importable_from(Path(folder))  # where a user's modules are
    try:
        found = pickle.loads(pickled)
    except (ImportError, AttributeError) as error:
        raise GridError(
            f"{path}: {error}; accepted: the modules of the run where they were"
        ) from None
    except (pickle.UnpicklingError, EOFError) as error:
        raise GridError(f"{path}: {error}; accepted: a checkpoint") from None
    if not isinstance(found, UnderWay):
        raise GridError(f"{path}: found {type(found).__name__}; accepted: a run under way")
    reconnect(found.model, found.model.scheduler, found.model.clusters)
    return found


class _Head(Shape):
    product: str
    path: list[str]


def _parts(path: str | os.PathLike[str]) -> tuple[_Head, memoryview]:
    """Return the head of a checkpoint, and its pickle as it is."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(len(MAGIC))
            if data != MAGIC:
                raise GridError(f"{path}: found another kind of file; accepted: a checkpoint")
            data += file.read()
    except OSError as error:
        raise GridError(f"{path}: {error.strerror}; accepted: a checkpoint") from None
    whole = memoryview(data)[:-_DIGITS]
    if f"{zlib.crc32(whole):0{_DIGITS}x}".encode() != data[-_DIGITS:]:
        raise GridError(f"{path}: found a damaged file; accepted: a checkpoint, whole")
    line, _, _ = data[len(MAGIC) : -_DIGITS].partition(b"\n")
    head = json_of(line.decode(errors="replace"), str(path), "a checkpoint")
    check_shape(_Head, head, str(path))
    return _Head(**head), whole[len(MAGIC) + len(line) + 1 :]


class _Alone(Pickler):
    """Pickles an attribute of an agent without the grid around it."""

    def __init__(self, model: GridModel) -> None:
        super().__init__(io.BytesIO())
        self._around = {id(each) for each in (model, model.world, *model.agents)}

    def persistent_id(self, thing: Any) -> Any:
        """Leave the grid out."""
        return True if id(thing) in self._around else None


def _why_not(model: GridModel, thing: Any) -> str | None:
    try:
        _Alone(model).dump(thing)
    except Exception as error:  # of whatever a user's object does when it is pickled
        return str(error)
    return None


def _culprit(model: GridModel) -> str | None:
    """Return which scheduler has what cannot be pickled, in words; None if it is none of theirs."""
    for agent in (model.scheduler, *(cluster.scheduler for cluster in model.clusters)):
        kind = type(agent)
        if (why := _why_not(model, kind)) is not None:
            return (
                f"scheduler {agent.name}: {kind.__name__} cannot be pickled: {why}; "
                "accepted: a class of a module"
            )
        for name, thing in vars(agent).items():
            if (why := _why_not(model, thing)) is not None:
                return (
                    f"scheduler {agent.name}: attribute {name} of {kind.__name__} cannot be "
                    f"pickled: {why}; accepted: what can be, or a __getstate__ without it"
                )
    return None

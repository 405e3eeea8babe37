"""Reading back the event log of a run."""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Mapping
from pathlib import Path
from typing import Any

from experiments.events.identity import Identity, identity
from experiments.events.log import BEGUN, ENDED
from experiments.events.message_events import Event
from experiments.events.shapes import check_event
from grid.errors import GridError
from grid.reading import not_utf8
from grid.strict import json_of

WRITTEN = "what `metasched run --events` writes"
_NO_EVENT = f"no event of this run; accepted: {WRITTEN}"

LONGEST_LINE = 1 << 28
"""Characters of an event at most; a longer line is taken for one that is cut off."""


def events_of(path: Path, summary: Mapping[str, Any], command: str) -> Iterator[Event]:
    """Yield the events of a run, from the first to the last.

    Parameters
    ----------
    path : Path
        Its event log.
    summary : mapping
        Of its result.
    command : str
        Of metasched, which can be told of another path.

    Raises
    ------
    GridError
        If there is no event log, or it is of another run or not whole.
    """
    if not os.path.isfile(path):
        raise GridError(
            f"{path}: no such file; accepted: the event log of this run, which the same `metasched "
            f"run` writes with --events FILE; `metasched {command} --events FILE` takes it"
        )
    event: Event = {}
    for event in events_of_file(path):
        if (event["event"] == BEGUN) != (event["serial"] == 1):
            raise GridError(f"{path}:{event['serial']}: {_NO_EVENT}")
        if event["event"] == BEGUN:
            run = {name: event[name] for name in ("scenario", "seed")}
            if run != {name: summary[name] for name in run}:
                raise GridError(
                    f"{path}: of {run['scenario']}, seed {run['seed']}; accepted: the event log of "
                    f"{summary['scenario']}, seed {summary['seed']}"
                )
        yield event
    if event.get("event") != ENDED:
        raise GridError(
            f"{path}: found no end of the run; accepted: its whole event log, which `metasched run "
            "--events FILE` writes"
        )


def fared_otherwise(job: int, folder: str | os.PathLike[str]) -> str:
    """Return why an event log is refused that is not that of the run in a folder."""
    return (
        f"of a run in which job {job} fared otherwise; accepted: the event log of the run in "
        f"{folder}"
    )


def submitted(event: Event, before: Container[Identity], path: Path) -> Identity:
    """Return which job is submitted.

    Raises
    ------
    GridError
        If nothing tells it from one that was submitted before.
    """
    job = identity(event)
    if job in before:
        raise GridError(
            f"{path}:{event['serial']}: job {job}: found a second one that nothing tells from the "
            "first; accepted: the log that a run writes now"
        )
    return job


def events_of_file(path: Path) -> Iterator[Event]:
    """Yield the events of a log, of whatever run or service, which follow each other.

    Raises
    ------
    GridError
        If it cannot be read, or a line is not as it was written.
    """
    last = 0.0
    for number, line in enumerate(_lines(path), 1):
        where = f"{path}:{number}"
        if not line.endswith("\n"):
            raise GridError(f"{where}: cut off; accepted: {WRITTEN}")
        event: Event = json_of(line, where, WRITTEN)
        check_event(event, where)
        if event["serial"] != number:
            raise GridError(f"{where}: serial: found {event['serial']}; accepted: {number}")
        if event["time"] < last:
            raise GridError(f"{where}: time: found {event['time']}; accepted: from {last} on")
        last = event["time"]
        yield event


def _lines(path: Path) -> Iterator[str]:
    try:
        with path.open(encoding="utf-8") as file:
            while line := file.readline(LONGEST_LINE):
                yield line
    except OSError as error:
        raise GridError(f"{path}: {error.strerror or error}; accepted: {WRITTEN}") from None
    except UnicodeDecodeError as error:
        raise GridError(f"{path}: {not_utf8(error, path)}; accepted: {WRITTEN}") from None

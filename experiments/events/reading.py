"""Reading back the event log of a run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from experiments.events.carried import Event
from experiments.events.log import BEGUN, ENDED
from grid.errors import GridError


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
    if not path.is_file():
        raise GridError(
            f"{path}: no such file; accepted: the event log of this run, which the same `metasched "
            f"run` writes with --events {path}; where else it is, `metasched {command} --events` "
            "says"
        )
    event: Event = {}
    for event in _read(path):
        if event["event"] == BEGUN:
            run = {name: event.get(name) for name in ("scenario", "seed")}
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


def _read(path: Path) -> Iterator[Event]:
    """Yield the events of a log."""
    with path.open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            try:
                event = json.loads(line)
                yield {"serial": event["serial"], "time": event["time"], **event}
            except (json.JSONDecodeError, KeyError, TypeError, RecursionError):
                what = "no event" if line.endswith("\n") else "cut off"
                raise GridError(
                    f"{path}:{number}: {what}; accepted: what `metasched run --events` writes"
                ) from None

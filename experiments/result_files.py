"""Reading back the files of a result."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from experiments.checked import checked
from experiments.files import JOBS, SUMMARY, TIMELINE
from experiments.parameters import Parameters
from grid import topology
from grid.errors import GridError
from grid.platform import Platform

COLUMNS = ("job", "arrival", "size", "start", "finish", "placement")


class Row(NamedTuple):
    """A job as ``jobs.csv`` has it; a rejected one has no start, no finish and no placement."""

    job: int
    arrival: float
    size: int
    start: float | None
    finish: float | None
    placement: dict[str, int]


@dataclass(frozen=True)
class ResultFiles:
    """What a result's folder holds.

    Attributes
    ----------
    folder : Path
    summary : dict
    rows : list of Row
    platform : Platform
    parameters : Parameters
    """

    folder: Path
    summary: dict[str, Any]
    rows: list[Row]
    platform: Platform
    parameters: Parameters

    @classmethod
    def read(cls, folder: str | os.PathLike[str]) -> ResultFiles:
        """Read a folder that ``metasched run --out`` wrote.

        Raises
        ------
        GridError
            If a file is missing, or is none that a run writes; the message says where.
        """
        folder = Path(folder)
        summary = _summary(folder / SUMMARY)
        where = str(folder / SUMMARY)
        return cls(
            folder,
            summary,
            _rows(folder / JOBS),
            _platform(summary["platform"], where),
            checked(summary["parameters"], where),
        )


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise GridError(f"{path}: {reason}; accepted: a file of `metasched run --out`") from None


def _summary(path: Path) -> dict[str, Any]:
    try:
        summary = json.loads(_text(path))
    except (json.JSONDecodeError, RecursionError) as error:
        raise GridError(f"{path}: {error}; accepted: JSON") from None
    shape: dict[str, Any] = {
        "scenario": str,
        "seed": int,
        "jobs": dict,
        "metrics": dict,
        "clusters": list,
        "links": list,
        "parameters": dict,
        "platform": dict,
        "rejected_jobs": list,
        "rejections": dict,
        "simulated_s": (int, float),
        "workload": (str, list, type(None)),
    }
    for key, kind in shape.items():
        if not isinstance(summary, dict) or not isinstance(summary.get(key, ...), kind):
            raise GridError(
                f"{path}: {key}: missing, or of another kind; accepted: a run's summary"
            )
    if summary["seed"] < 0:
        raise GridError(f"{path}: seed: found {summary['seed']}; accepted: 0 or more")
    found: dict[str, Any] = summary
    return found


def _platform(tables: dict[str, Any], where: str) -> Platform:
    links = [
        {**link, "capacity": math.inf} if isinstance(link, dict) and link.get("capacity", 0) is None
        else link
        for link in tables.get("links", [])
    ]  # fmt: skip
    return Platform.from_dict({**tables, "links": links}, where)


def _rows(path: Path) -> list[Row]:
    try:
        header, *lines = [*csv.reader(_text(path).splitlines())] or [[]]
    except csv.Error as error:
        raise GridError(f"{path}: {error}; accepted: a file of `metasched run --out`") from None
    if tuple(header) != COLUMNS:
        raise GridError(f"{path}:1: found {','.join(header)!r}; accepted: {','.join(COLUMNS)}")
    rows = []
    for number, cells in enumerate(lines, 2):
        place = f"{path}:{number}"
        if len(cells) != len(COLUMNS):
            raise GridError(f"{place}: {len(cells)} cells; accepted: {len(COLUMNS)}")
        job, arrival, size, start, finish, placement = cells
        rows.append(
            Row(
                _read(int, job, f"{place}: job", "a whole number"),
                _read(_seconds, arrival, f"{place}: arrival", "seconds"),
                _read(int, size, f"{place}: size", "a whole number"),
                _read(_seconds, start, f"{place}: start", "seconds") if start else None,
                _read(_seconds, finish, f"{place}: finish", "seconds") if finish else None,
                _read(_placement, placement, f"{place}: placement", "C1:5, or C1:5+C3:4"),
            )
        )
    return rows


def _read(kind: Callable[[str], Any], text: str, place: str, accepted: str) -> Any:
    try:
        return kind(text)
    except ValueError:
        raise GridError(f"{place}: found {text!r}; accepted: {accepted}") from None


def _seconds(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError
    return value


def _placement(text: str) -> dict[str, int]:
    """Return the processors on each cluster; a name may hold any sign but must be there."""
    parts: dict[str, int] = {}
    for part in text.split("+") if text else ():
        name, separator, count = part.rpartition(":")
        if not separator or name in parts:
            raise ValueError
        parts[name] = int(count)
    return parts


def read_timeline(files: ResultFiles) -> pd.DataFrame:
    """Read the intervals of a run (`Result.timeline`).

    Raises
    ------
    GridError
        If the file is missing, or none that a run writes.
    """
    path = files.folder / TIMELINE
    names = [node for node, _ in topology.uplinks(files.platform.graph)]
    columns = ["from", "to", "waiting"]
    columns += [f"{kind} {name}" for name in names for kind in ("demand", "saturated")]
    try:
        table = pd.read_csv(io.StringIO(_text(path)))
        if [*table.columns] != columns:
            raise GridError(f"{path}:1: found other columns; accepted: {', '.join(columns)}")
        return table.astype(np.float64)
    except ValueError as error:
        line = " ".join(str(error).split())
        raise GridError(f"{path}: {line}; accepted: a file of `metasched run --out`") from None

"""Reading back the files of a result."""

from __future__ import annotations

import csv
import io
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from agents.registry import GLOBAL, LOCAL
from experiments.run.files import ELECTRICITY, JOBS, REPLICATIONS, SUMMARY, TIMELINE, USERS
from experiments.run.replacing import recover
from experiments.run.shapes import GREATEST, LARGEST, SummaryShape, check_shape
from experiments.run.whose import WHOSE
from experiments.scenario.checked import checked, kinds_for
from experiments.scenario.parameters import Parameters, with_settings
from grid.errors import GridError, blaming
from grid.foreign import plain, quoted
from grid.metrics.energy import NAMES
from grid.metrics.performance import weights_per_cluster
from grid.platform import topology
from grid.platform.multicluster import Platform
from grid.strict import json_of, text_of

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("job", "arrival", "size", "start", "finish", "placement")
STEP_OF_ELECTRICITY = ("from", "to", "energy_kwh ")
"""How the head of its file begins: the names of columns are those of numbers and clusters."""
OF_USERS = ("user", "jobs", "mean_wait", "mean_bounded_slowdown", "work")

WRITTEN = "a file of `metasched run --out`"
FOLDER = "a folder that `metasched run --out` wrote"

_WHOLE = re.compile(r"-?[0-9]{1,19}")
_REAL = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?")


class Row(NamedTuple):
    """A job as ``jobs.csv`` has it; a rejected one has no start, no finish and no placement."""

    job: int
    arrival: float
    size: int
    start: float | None
    finish: float | None
    placement: dict[str, int]
    whose: Mapping[str, str] = MappingProxyType({})  # columns of `experiments.run.whose`


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
        if not os.path.isdir(folder):  # of a name that is too long, pathlib raises
            found = "found a file" if os.path.exists(folder) else "no such folder"
            raise GridError(f"{folder}: {found}; accepted: {FOLDER}")
        try:
            recover(folder)
        except OSError as error:
            raise GridError(
                f"{folder}: a run was killed while it put results there, and they cannot be put "
                f"there now: {error.strerror}; accepted: a folder that can be written to"
            ) from None
        if (folder / REPLICATIONS[0]).exists() and not (folder / SUMMARY).exists():
            raise GridError(
                f"{folder}: found replications, whose numbers are in {REPLICATIONS[1]}, and no "
                f"single run; accepted: {FOLDER} without --replications"
            )
        summary = _summary(folder / SUMMARY)
        where = str(folder / SUMMARY)
        platform = platform_of(summary["platform"], where)
        parameters = parameters_of(summary, where)
        known = {*parameters.model_fields_set} & {*summary["parameters"]}
        summary["parameters"] |= parameters.model_dump(mode="json", include=known)  # 5, not 5.0
        with blaming(f"{where}: parameters"):
            weights_per_cluster(parameters.weights, platform.names)
        return cls(folder, summary, _rows(folder / JOBS), platform, parameters)


def _summary(path: Path) -> dict[str, Any]:
    summary: dict[str, Any] = json_of(text_of(path, WRITTEN, any_length=True), str(path))
    check_shape(SummaryShape, summary, str(path))
    return summary


def parameters_of(summary: dict[str, Any], where: str) -> Parameters:
    """Return the parameters but those of users' policies; no code of users is imported.

    Raises
    ------
    GridError
        If one is unknown or out of range.
    """
    given = summary["parameters"]
    if summary["global"] not in GLOBAL or summary["local"] not in LOCAL:
        known = with_settings(kinds_for(())).model_fields
        given = {name: value for name, value in given.items() if name in known}
    return checked(given, where, imports=False)


def platform_of(tables: dict[str, Any], where: str) -> Platform:
    """Return a platform of `Scenario.to_dict`, in which links without a limit have none.

    Raises
    ------
    GridError
        If it is none.
    """
    links = tables.get("links")
    if isinstance(links, list):
        unlimited = {"capacity": math.inf}
        links = [
            {**link, **unlimited}
            if isinstance(link, dict) and link.get("capacity", 0) is None
            else link
            for link in links
        ]
    return Platform.from_dict({**tables, "links": links}, where)


def _cells(
    path: Path, columns: Sequence[str], also: Sequence[str] = ()
) -> Iterator[tuple[str, list[str]]]:
    """Yield the head of a table, and its rows, as texts, each with its place.

    They have these columns, and may have others, in their order.
    """
    reader = csv.reader(
        io.StringIO(text_of(path, WRITTEN, any_length=True), newline=""), strict=True
    )
    try:
        header = next(reader, [])
        if header != [*columns, *(name for name in also if name in header)]:
            accepted = plain(", ".join(columns), 200)
            raise GridError(f"{path}:1: found other columns; accepted: {accepted}")
        yield f"{path}:1", header
        for cells in reader:
            place = f"{path}:{reader.line_num}"
            if len(cells) != len(header):
                raise GridError(f"{place}: {len(cells)} cells; accepted: {len(header)}")
            yield place, cells
    except csv.Error as error:
        raise GridError(f"{path}:{reader.line_num}: {error}; accepted: {WRITTEN}") from None


def _rows(path: Path) -> list[Row]:
    rows = []
    lines = _cells(path, COLUMNS, WHOSE)
    names = next(lines)[1][len(COLUMNS) :]
    for place, (job, arrival, size, start, finish, placement, *whose) in lines:
        if any(ran := (start, finish, placement)) and not all(ran):
            raise GridError(
                f"{place}: found {quoted(','.join(ran))}; accepted: start, finish and placement, "
                "or none of them"
            )
        rows.append(
            Row(
                _read(_whole, job, f"{place}: job", "a whole number of 64 bits"),
                _read(_seconds, arrival, f"{place}: arrival", "seconds"),
                _read(_processors, size, f"{place}: size", "a whole number from 1"),
                _read(_seconds, start, f"{place}: start", "seconds") if start else None,
                _read(_seconds, finish, f"{place}: finish", "seconds") if finish else None,
                _read(_placement, placement, f"{place}: placement", "C1:5, or C1:5+C3:4"),
                dict(zip(names, whose, strict=True)),
            )
        )
    return rows


def read_users(files: ResultFiles) -> list[dict[str, float]]:
    """Read the users of a run, a mapping of columns to numbers for each; none if there is no file.

    Raises
    ------
    GridError
        If the file is none that a run writes.
    """
    path = files.folder / USERS
    if not path.exists():
        return []
    return [
        {
            name: _read(_seconds, cell, f"{place}: {name}", "a number")
            for name, cell in zip(OF_USERS, cells, strict=True)
        }
        for place, cells in islice(_cells(path, OF_USERS), 1, None)
    ]


def _read(kind: Callable[[str], Any], text: str, place: str, accepted: str) -> Any:
    try:
        return kind(text)
    except ValueError:
        raise GridError(f"{place}: found {quoted(text)}; accepted: {accepted}") from None


def _whole(text: str) -> int:
    """Return a whole number of 64 bits, written as a run writes it."""
    if not _WHOLE.fullmatch(text) or abs(value := int(text)) > LARGEST:
        raise ValueError
    return value


def _processors(text: str) -> int:
    value = _whole(text)
    if value < 1:
        raise ValueError
    return value


def _seconds(text: str) -> float:
    if not _REAL.fullmatch(text) or not abs(value := float(text)) <= GREATEST:
        raise ValueError
    return value


def _placement(text: str) -> dict[str, int]:
    """Return the processors on each cluster; a name may hold any sign but must be there."""
    parts: dict[str, int] = {}
    for part in text.split("+") if text else ():
        name, separator, count = part.rpartition(":")
        if not separator or name in parts:
            raise ValueError
        parts[name] = _processors(count)
    return parts


def measured_links(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the links of a summary; none if the global scheduler took no account of links."""
    kinds = "mean_demand", "saturated"
    return [link for link in summary["links"] if all(link[kind] is not None for kind in kinds)]


def read_timeline(files: ResultFiles) -> pd.DataFrame:
    """Read the intervals of a run (`Result.timeline`).

    Raises
    ------
    GridError
        If the file is missing, or none that a run writes.
    """
    names = [node for node, _ in topology.uplinks(files.platform.graph)]
    columns = ["from", "to", "waiting"]
    if measured_links(files.summary):
        columns += [f"{kind} {name}" for name in names for kind in ("demand", "saturated")]
    return _intervals(files.folder / TIMELINE, columns)


def read_electricity(files: ResultFiles) -> pd.DataFrame:
    """Read what electricity came to in each interval; empty if the run does not tell it.

    Raises
    ------
    GridError
        If the file is missing, or none that a run writes.
    """
    columns = ["from", "to"]
    for cluster in files.summary["clusters"]:
        told = [name for name in NAMES if cluster.get(name) is not None]
        columns += [f"{name} {cluster['name']}" for name in told]
    path = files.folder / ELECTRICITY
    if len(columns) == 2:
        import pandas as pd

        return pd.DataFrame(columns=columns, dtype=np.float64)
    return _intervals(path, columns, first=None, least=-np.inf)


def _intervals(
    path: Path, columns: list[str], first: float | None = 0.0, least: float = 0.0
) -> pd.DataFrame:
    """Read numbers of intervals that follow each other.

    Parameters
    ----------
    path : Path
    columns : list of str
    first : float, optional
        Where the first of them begins, s; by default anywhere from 0.
    least : float
        What no other number is below.
    """
    import pandas as pd

    rows = [
        [
            _read(_seconds, cell, f"{place}: {name}", "a number")
            for name, cell in zip(columns, cells, strict=True)
        ]
        for place, cells in islice(_cells(path, columns), 1, None)
    ]
    table = pd.DataFrame(rows, columns=columns, dtype=np.float64)
    usable = table >= [0.0, 0.0, *(least for _ in columns[2:])]
    begun = table["from"].iat[0] if first is None and len(table) else first
    usable["from"] &= table["from"] == table["to"].shift(fill_value=begun)
    usable["to"] &= table["to"] >= table["from"]
    wrong = np.argwhere(~usable.to_numpy())
    if len(wrong):
        row, column = wrong[0].tolist()
        ended = table["to"].iat[row - 1] if row else 0.0
        accepted = {
            "from": f"{ended}, where the interval before ends",
            "to": f"a number from {table['from'].iat[row]}, where the interval begins",
        }
        raise GridError(
            f"{path}:{row + 2}: {columns[column]}: found {table.iat[row, column]}; accepted: "
            + accepted.get(columns[column], "a number from 0")
        )
    return table

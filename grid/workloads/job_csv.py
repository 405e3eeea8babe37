"""Jobs as comma-separated values, in and out of any tool.

The header names the columns in any order: `arrival`, `size` and `runtime` always, the others of
`COLUMNS` where wanted. Times are in seconds, bandwidth in Mbit/s, deadlines absolute; origins are
names of clusters; components are written ``8+3+2``, are unordered unless `request` says otherwise,
and make a column `size`, their sum, needless; users and applications are whole numbers; an empty
cell says nothing of the job.
"""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from grid.errors import WorkloadError
from grid.jobs import (
    ANYWHERE,
    LONGEST,
    MAX_COMPONENTS,
    REQUEST_KINDS,
    TOTAL,
    UNKNOWN,
    UNORDERED,
    WIDEST,
    JobArray,
    job_table,
)
from grid.workloads.cleaning import clean
from grid.workloads.files import number, quoted, read_lines, seconds, whole
from grid.workloads.table import Table

COLUMNS = (
    "job",
    "arrival",
    "size",
    "runtime",
    "requested_time",
    "origin",
    "components",
    "request",
    "computation_fraction",
    "ppbw",
    "deadline",
    "user",
    "application",
)
REQUIRED = ("arrival", "size", "runtime")


def read_csv(path: str | os.PathLike[str], clusters: Sequence[str]) -> Table:
    """Read jobs from a CSV file, plain or gzip (``.gz``).

    Jobs are sorted by arrival, those of one instant in the order of the file. Without a column
    `job` they are numbered from 1 in that order. A run time of 0 and a requested time below the
    run time are treated as in a log (`grid.workloads.cleaning`).

    Parameters
    ----------
    path : path
        The file.
    clusters : sequence of str
        Names of the clusters of the platform, which `origin` uses.

    Raises
    ------
    WorkloadError
        If the file cannot be read or a cell cannot be used: named as ``FILE:LINE`` and column.
    """
    path = Path(path)
    (header, *rows), (_, *lines) = _rows(path)
    jobs = job_table(len(rows))
    columns = dict(zip(header, zip(*rows, strict=True), strict=True))
    for name, cells in columns.items():
        parse, accepted = _cell(name, clusters)
        filled = [row for row, cell in enumerate(cells) if cell]
        wanted = "components" if "size" not in columns else "size"
        if name in (*REQUIRED, "job", wanted) and len(filled) < len(rows):
            empty = cells.index("")
            raise WorkloadError(f"{path}:{lines[empty]}: {name} is empty; accepted: {accepted}")
        values = []
        for row in filled:
            try:
                values.append(parse(cells[row]))
            except ValueError:
                raise WorkloadError(
                    f"{path}:{lines[row]}: {name} is {quoted(cells[row])}; accepted: {accepted}"
                ) from None
        if values:
            jobs["number" if name == "job" else name][filled] = values
    if "size" not in columns:
        jobs["size"] = jobs["components"].sum(axis=1)
    unsaid = np.array([not cell for cell in columns.get("request", [""] * len(rows))])
    jobs["request"][unsaid & (jobs["components"][:, 0] > 0)] = UNORDERED
    _check_components(path, jobs, lines)
    jobs, cleaning = clean(jobs)
    return Table(jobs[np.argsort(jobs["arrival"], kind="stable")], cleaning)


def write_csv(stream: TextIO, jobs: JobArray, clusters: Sequence[str]) -> None:
    """Write jobs so that `read_csv` gives them back exactly.

    Optional columns in which no job says anything are left out.

    Examples
    --------
    >>> import sys
    >>> jobs = job_table(2)
    >>> jobs["size"], jobs["runtime"], jobs["origin"] = 4, [60, 0.1], [-1, 1]
    >>> write_csv(sys.stdout, jobs, ["C1", "C2"])
    job,arrival,size,runtime,origin
    1,0.0,4,60.0,
    2,0.0,4,0.1,C2
    """
    components = [[str(n) for n in row if n] for row in jobs["components"].tolist()]
    kinds = jobs["request"].tolist()
    cells: dict[str, list[Any]] = {
        "job": jobs["number"].tolist(),
        "origin": ["" if index == ANYWHERE else clusters[index] for index in jobs["origin"]],
        "components": ["+".join(row) for row in components],
        "request": [
            "" if kind == (UNORDERED if row else TOTAL) else REQUEST_KINDS[kind]
            for kind, row in zip(kinds, components, strict=True)
        ],
    }
    for name, neutral in (("computation_fraction", 1.0), ("ppbw", 0.0)):
        cells[name] = ["" if value == neutral else value for value in jobs[name].tolist()]
    for name in ("user", "application"):
        cells[name] = ["" if value == UNKNOWN else value for value in jobs[name].tolist()]
    for name in ("requested_time", "deadline"):
        cells[name] = ["" if math.isinf(value) else value for value in jobs[name].tolist()]
    for name in REQUIRED:
        cells[name] = jobs[name].tolist()
    written = [
        name
        for name in COLUMNS
        if name in (*REQUIRED, "job") or any(cell != "" for cell in cells[name])
    ]
    writer = csv.writer(stream, lineterminator="\n")  # writes floats so that they read back
    writer.writerow(written)
    writer.writerows(zip(*(cells[name] for name in written), strict=True))


def _rows(path: Path) -> tuple[list[list[str]], list[int]]:
    """Return the rows that are not blank, the header first and checked, and the line of each."""
    reader = csv.reader(read_lines(path), strict=True)
    rows, lines = [], []
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                rows.append([cell.strip() for cell in row])
                lines.append(reader.line_num)
    except csv.Error as error:
        raise WorkloadError(
            f"{path}:{reader.line_num}: found {error}; accepted: comma-separated cells"
        ) from error
    if len(rows) < 2:
        raise WorkloadError(
            f"{path}: empty workload: found no job; accepted: a header and at least one job"
        )
    _check_header(f"{path}:{lines[0]}", rows[0])
    columns = len(rows[0])
    for row, line in zip(rows, lines, strict=True):
        if len(row) != columns:
            raise WorkloadError(
                f"{path}:{line}: found {len(row)} cells; accepted: {columns}, as in the header"
            )
    return rows, lines


def _check_header(where: str, header: list[str]) -> None:
    for name in header:
        if name not in COLUMNS:
            raise WorkloadError(
                f"{where}: unknown column {quoted(name)}; accepted: {', '.join(COLUMNS)}"
            )
        if header.count(name) > 1:
            raise WorkloadError(
                f"{where}: column {name} found {header.count(name)} times; accepted: once"
            )
    for name in REQUIRED:
        if name not in header and not (name == "size" and "components" in header):
            raise WorkloadError(
                f"{where}: no column {name} among {', '.join(header)}; accepted: a header "
                f"with {', '.join(REQUIRED)}"
            )


def _check_components(path: Path, jobs: JobArray, lines: list[int]) -> None:
    total = jobs["components"].sum(axis=1)
    wrong = (total != 0) & (total != jobs["size"])
    if wrong.any():
        row = int(np.argmax(wrong))
        raise WorkloadError(
            f"{path}:{lines[row]}: components sum to {total[row]}; accepted: the size, "
            f"{jobs['size'][row]}"
        )
    nameless = (total == 0) & (jobs["request"] != TOTAL)
    if nameless.any():
        row = int(np.argmax(nameless))
        raise WorkloadError(
            f"{path}:{lines[row]}: request is {REQUEST_KINDS[jobs['request'][row]]} and components "
            "is empty; accepted: components such as 8+3+2"
        )


def _cell(name: str, clusters: Sequence[str]) -> tuple[Callable[[str], Any], str]:
    """Return what reads a cell of a column, raising ValueError, and what it accepts."""
    match name:
        case "job":
            return whole, "a whole number"
        case "size":
            return lambda cell: _within(whole(cell), 1, math.inf), "a whole number from 1"
        case "user" | "application":
            return lambda cell: _within(whole(cell), 0, math.inf), "a whole number from 0"
        case "origin":
            return list(clusters).index, f"one of {', '.join(clusters)}, or nothing"
        case "request":
            return REQUEST_KINDS.index, f"one of {', '.join(REQUEST_KINDS)}"
        case "components":
            return _components, f"processors such as 8+3+2, at most {MAX_COMPONENTS} components"
        case "computation_fraction":
            return lambda cell: _within(number(cell), 0.0, 1.0), "a number from 0 to 1"
        case "ppbw":
            return lambda cell: _within(number(cell), 0.0, WIDEST), f"Mbit/s, from 0 to {WIDEST:g}"
        case _:
            return lambda cell: _within(
                seconds(cell), 0.0, math.inf
            ), f"seconds, from 0 to {LONGEST:g}"


def _within(value: float, least: float, most: float) -> float:
    if not least <= value <= most:
        raise ValueError(value)
    return value


def _components(cell: str) -> list[float]:
    parts = [_within(whole(part), 1, math.inf) for part in cell.split("+")]
    _within(len(parts), 1, MAX_COMPONENTS)
    return parts + [0] * (MAX_COMPONENTS - len(parts))

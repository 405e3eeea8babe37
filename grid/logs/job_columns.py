"""Jobs as columns of text: what a table of jobs may say, whatever file holds it.

The columns come in any order: `arrival`, `size` and `runtime` always, the others of `COLUMNS`
where wanted. Times are in seconds, bandwidth in Mbit/s, deadlines absolute; origins are names of
clusters; components are written ``8+3+2``, are unordered unless `request` says otherwise, and make
a column `size`, their sum, needless. Ordered ones are those of the first cluster, of the second and
so on, 0 where the job has none, such as ``0+20``. Users and applications are whole numbers, and
`recorded_wait` is how long the job waited in truth; an empty cell says nothing of the job. Columns
such as ``runtime@C1``, one for each cluster, say how long jobs run there; then a column `runtime`
is needless, and the shortest of them stands for it. A column `problem_size` makes that of
applications one of names, and `sizes` has those that a job may be moulded to: see
`grid.logs.time_columns`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from grid.errors import WorkloadError
from grid.foreign import plain, quoted
from grid.jobs import (
    ANYWHERE,
    LONGEST,
    MAX_COMPONENTS,
    ORDERED,
    REQUEST_KINDS,
    TOTAL,
    UNKNOWN,
    UNORDERED,
    WIDEST,
    JobArray,
    job_table,
)
from grid.logs.files import WHOLE_NUMBER, number, seconds, whole
from grid.logs.log import Log
from grid.logs.time_columns import (
    ON_CLUSTER,
    PROBLEM_SIZE,
    SIZES,
    Work,
    execution_times,
    is_of_times,
    tells_times,
    work_of,
)
from grid.names import meant
from grid.workloads.communication import COMMUNICATION
from grid.workloads.execution_times import ExecutionTimes

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
    "recorded_wait",
)
ALL_COLUMNS = (*COLUMNS, PROBLEM_SIZE, SIZES)
REQUIRED = ("arrival", "size", "runtime")


def parsed(
    columns: Mapping[str, Sequence[str]], place: Callable[[int], str], clusters: Sequence[str]
) -> JobArray:
    """Return the jobs that columns of text speak of, before cleaning, in their order.

    Without a column `job` they are numbered from 1 in that order.

    Parameters
    ----------
    columns : mapping of str to sequence of str
        By their names, which `check_header` accepts; all of one length.
    place : callable
        Where a row comes from, by its index: what begins a message.
    clusters : sequence of str
        Names of the clusters, which `origin` uses.

    Raises
    ------
    WorkloadError
        If a cell cannot be used.
    """
    rows = len(next(iter(columns.values())))
    jobs = job_table(rows)
    for name, cells in columns.items():
        parse, accepted = _cell(name, clusters)
        filled = [row for row, cell in enumerate(cells) if cell]
        wanted = "components" if "size" not in columns else "size"
        if name in (*REQUIRED, "job", wanted) and len(filled) < rows:
            empty = next(row for row, cell in enumerate(cells) if not cell)
            raise WorkloadError(f"{place(empty)}: {name} is empty; accepted: {accepted}")
        values = []
        for row in filled:
            try:
                values.append(parse(cells[row]))
            except ValueError:
                raise WorkloadError(
                    f"{place(row)}: {name} is {quoted(cells[row])}; accepted: {accepted}"
                ) from None
        if values:
            jobs["number" if name == "job" else name][filled] = values
    if "size" not in columns:
        jobs["size"] = jobs["components"].sum(axis=1)
    unsaid = np.array([not cell for cell in columns.get("request", [""] * rows)], bool)
    jobs["request"][unsaid & jobs["components"].any(axis=1)] = UNORDERED
    _check_zeros(jobs, columns.get("components", ()), place)
    _check_components(jobs, place)
    return jobs


def log_of(
    path: Path,
    format: str,
    columns: Mapping[str, Sequence[str]],
    place: Callable[[int], str],
    clusters: Sequence[str] | None,
    foreign: bool,
    head: str = "",
) -> Log:
    """Return the log that columns of text are.

    Parameters and errors are those of `parsed` and `grid.logs.time_columns`; if `foreign`, origins
    may also be others than the clusters. None: any clusters; `head` says where the names stand.
    """
    where = f"{path}{head}"
    sites = origins(columns) if clusters is None else tuple(clusters)
    if foreign:
        sites = tuple(dict.fromkeys([*sites, *origins(columns)]))
    plain_columns = {
        name: cells for name, cells in columns.items() if not is_of_times(name, columns)
    }
    jobs = parsed(plain_columns, place, sites)
    times = execution_times(columns, where, place, clusters)
    work = work_of(columns, jobs["size"].tolist(), where, place)
    if times is not None:
        jobs["times_row"] = np.arange(len(jobs))
        if "runtime" not in columns:
            jobs["runtime"] = times.shortest
    names = {}
    if work is not None:
        _check_sizes(work, jobs, place)
        jobs["application"], jobs["problem_size"] = work.application, work.problem_size
        names = dict(enumerate(work.applications))
    return Log(
        path,
        format,
        jobs,
        sites=sites,
        from_first=False,
        communication=tuple(name for name in COMMUNICATION if name in columns),
        times=times,
        work=None if "runtime" in columns else work,
        applications=names,
        numbered=("application",) if names else (),
    )


def origins(columns: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the names that a column `origin` has, as they first come."""
    return tuple(dict.fromkeys(name for name in columns.get("origin", ()) if name))


def cells(
    jobs: JobArray,
    clusters: Sequence[str],
    times: ExecutionTimes | None = None,
    applications: Mapping[int, str] | None = None,
) -> dict[str, list[Any]]:
    """Return the columns that make the same jobs when read, ``""`` where nothing is said.

    Optional columns in which no job says anything are left out.
    """
    names = (applications or {}) if jobs["problem_size"].any() else {}  # which alone may be read
    kinds = jobs["request"].tolist()
    components = [
        _written(row, kind) for row, kind in zip(jobs["components"].tolist(), kinds, strict=True)
    ]
    found: dict[str, list[Any]] = {
        "job": jobs["number"].tolist(),
        "origin": ["" if index == ANYWHERE else clusters[index] for index in jobs["origin"]],
        "components": ["+".join(row) for row in components],
        "request": [
            "" if kind == (UNORDERED if row else TOTAL) else REQUEST_KINDS[kind]
            for kind, row in zip(kinds, components, strict=True)
        ],
    }
    for name, neutral in (("computation_fraction", 1.0), ("ppbw", 0.0)):
        found[name] = ["" if value == neutral else value for value in jobs[name].tolist()]
    for name in ("user", "application", "recorded_wait"):
        found[name] = ["" if value == UNKNOWN else value for value in jobs[name].tolist()]
    found["application"] = [names.get(value, value) for value in found["application"]]
    for name in ("requested_time", "deadline"):
        found[name] = ["" if math.isinf(value) else value for value in jobs[name].tolist()]
    for name in REQUIRED:
        found[name] = jobs[name].tolist()
    always = (*REQUIRED, "job")
    told = {
        name: found[name]
        for name in COLUMNS
        if name in always or any(cell != "" for cell in found[name])
    }
    if jobs["problem_size"].any():
        told[PROBLEM_SIZE] = [value or "" for value in jobs["problem_size"].tolist()]
    if times is not None:
        seconds = times.seconds[jobs["times_row"]]
        for index, name in enumerate(times.clusters):
            told[ON_CLUSTER + name] = [
                "" if math.isinf(time) else time for time in seconds[:, index].tolist()
            ]
    return told


def _written(components: Sequence[int], kind: int) -> list[str]:
    """Return the components to write: no zeros but those that put ordered ones on clusters."""
    count = max((index for index, n in enumerate(components, 1) if n), default=0)
    return [str(n) for n in components[:count] if n or kind == ORDERED]


def check_header(where: str, header: list[str]) -> None:
    """Refuse names of columns that are unknown, there twice, or lack one that is required.

    No name begins with a digit: where one does, the header is missing.

    Raises
    ------
    WorkloadError
        After `where`.
    """
    if any(name[:1].isdecimal() for name in header):
        raise WorkloadError(
            f"{where}: no header: found {quoted(','.join(header))}; accepted: a header with "
            f"{', '.join(REQUIRED)}"
        )
    for name in header:
        if name not in ALL_COLUMNS and not name.startswith(ON_CLUSTER):
            known = meant(name, ALL_COLUMNS, f"accepted: {', '.join(ALL_COLUMNS)}, runtime@CLUSTER")
            if len(header) == 1 and (other := [each for each in ";\t|" if each in name]):
                known = f"accepted: columns between commas, not {quoted(other[0])}"
            raise WorkloadError(f"{where}: unknown column {quoted(name)}; {known}")
        if header.count(name) > 1:
            raise WorkloadError(
                f"{where}: column {name} found {header.count(name)} times; accepted: once"
            )
    for name in REQUIRED:
        needless = {"size": "components" in header, "runtime": any(map(tells_times, header))}
        if name not in header and not needless.get(name, False):
            raise WorkloadError(
                f"{where}: no column {name} among {plain(', '.join(header), 200)}; accepted: a "
                f"header with {', '.join(REQUIRED)}"
            )


def _check_zeros(jobs: JobArray, components: Sequence[str], place: Callable[[int], str]) -> None:
    for row, cell in enumerate(components):
        kind = jobs["request"][row]
        if cell and kind != ORDERED and 0 in map(whole, cell.split("+")):
            raise WorkloadError(
                f"{place(row)}: components is {quoted(cell)}, with a 0, and request is "
                f"{REQUEST_KINDS[kind]}; accepted: processors such as 8+3+2; 0 if request is "
                "ordered, for a cluster that the job does not use"
            )


def _check_sizes(work: Work, jobs: JobArray, place: Callable[[int], str]) -> None:
    for row in np.flatnonzero(jobs["components"].any(axis=1)).tolist() if work.sizes else ():
        if work.sizes[row]:
            raise WorkloadError(
                f"{place(row)}: {SIZES} of a job with components; accepted: one of the two"
            )


def _check_components(jobs: JobArray, place: Callable[[int], str]) -> None:
    total = jobs["components"].sum(axis=1)
    wrong = (total != 0) & (total != jobs["size"])
    if wrong.any():
        row = int(np.argmax(wrong))
        raise WorkloadError(
            f"{place(row)}: components sum to {total[row]}; accepted: the size, {jobs['size'][row]}"
        )
    nameless = (total == 0) & (jobs["request"] != TOTAL)
    if nameless.any():
        row = int(np.argmax(nameless))
        raise WorkloadError(
            f"{place(row)}: request is {REQUEST_KINDS[jobs['request'][row]]} and components "
            "is empty; accepted: components such as 8+3+2"
        )


def _cell(name: str, clusters: Sequence[str]) -> tuple[Callable[[str], Any], str]:
    """Return what reads a cell of a column, raising ValueError, and what it accepts."""
    match name:
        case "job":
            return whole, WHOLE_NUMBER
        case "size":
            return lambda cell: _within(whole(cell), 1, math.inf), f"{WHOLE_NUMBER}, from 1"
        case "user" | "application":
            return lambda cell: _within(
                whole(cell), 0, math.inf
            ), f"{WHOLE_NUMBER}, from 0, or nothing"
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
        case "deadline":  # negative if it was over before the first arrival
            return lambda cell: _within(
                seconds(cell), -LONGEST, LONGEST
            ), f"seconds, from {-LONGEST:g} to {LONGEST:g}, or nothing"
        case _:
            unsaid = "" if name in REQUIRED else ", or nothing"
            return lambda cell: _within(
                seconds(cell), 0.0, math.inf
            ), f"seconds, from 0 to {LONGEST:g}{unsaid}"


def _within(value: float, least: float, most: float) -> float:
    if not least <= value <= most:
        raise ValueError(value)
    return value


def _components(cell: str) -> list[float]:
    parts = [_within(whole(part), 0, math.inf) for part in cell.split("+")]
    _within(len(parts), 1, MAX_COMPONENTS)
    _within(sum(parts), 1, math.inf)
    return parts + [0] * (MAX_COMPONENTS - len(parts))

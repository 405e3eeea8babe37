"""Workloads of the simulator Batsim, in JSON.

Each job names a profile. Known are those that tell how long a job takes: a delay, and the computing
ones, homogeneous, homogeneous in total, or with a list of operations for each processor, which take
their operations over the speed of a processor; and sequences of these. What they communicate is
left out. Jobs of other profiles have no known run time.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TextIO

import numpy as np

from grid.errors import WorkloadError
from grid.foreign import quoted
from grid.jobs import FILED, LONGEST
from grid.logs.files import LARGEST_WHOLE, WHOLE_NUMBER, opened_text
from grid.logs.log import RECORD, Log
from grid.platform.topology import number
from grid.strict import whole
from grid.workloads.table import Table

SPEED = 1e9
"""Operations a second of a processor, where nobody says: 1 Gflop/s."""

LEFT_OUT = "communication of its profile: left out"
NUMBERED = f"id is not {WHOLE_NUMBER}: numbered by its place"
COUNT = f"{WHOLE_NUMBER}, from 1"

DELAY = ("delay", "DelayProfile")
HOMOGENEOUS = ("parallel_homogeneous", "ptask_homogeneous", "ParallelTaskHomogeneousProfile")
TOTAL = ("parallel_homogeneous_total", "ptask_homogeneous_total")
SPREAD = "DefinedAmountsSpreadUniformly"
PARALLEL = ("parallel", "ptask", "ParallelTaskProfile")
SEQUENCE = ("composed", "sequence", "SequentialCompositionProfile")
"""Names of the types of profiles, in older and newer Batsim."""

LARGEST = 2**28
"""Characters of a file, all of which may be on one line: those of some three million jobs."""

DEEPEST = 50
"""How many sequences may lie within each other."""


class _Work(NamedTuple):
    """What a profile takes on a number of processors: seconds, operations of one, and whether."""

    delay: float = 0.0
    operations: float = 0.0
    communicates: bool = False
    unknown: str = ""


def batsim_log(path: Path, speed: float | None = None) -> Log:
    """Read a workload of Batsim, plain or packed.

    Parameters
    ----------
    path : Path
        The file.
    speed : float, optional
        Operations a second (flop/s) of a processor of rate 1, for profiles that compute; by default
        `SPEED`.

    Raises
    ------
    WorkloadError
        If the file cannot be read, is no such workload, or a job cannot be used: named by its place
        in the list.
    """
    mapping = _mapping(path)
    jobs, profiles = mapping["jobs"], mapping["profiles"]
    given = SPEED if speed is None else speed
    records = np.zeros(len(jobs), RECORD)
    for name in ("user", "application", "recorded_wait", *FILED):
        records[name] = -1
    works: dict[tuple[str, int], _Work] = {}
    rules: dict[str, list[int]] = {}
    for place, job in enumerate(jobs):
        where = f"{path}: jobs[{place}]"
        if not isinstance(job, dict):
            raise WorkloadError(f"{where}: {quoted(job)}; accepted: an object")
        row = records[place]
        row["arrival"] = _seconds(job, "subtime", where)
        row["size"] = size = _size(job, where)
        walltime = _seconds(job, "walltime", where, least=-LONGEST) if "walltime" in job else -1.0
        row["requested_time"] = math.inf if walltime < 0 else walltime
        name = str(job.get("profile"))
        work = _work(profiles, name, size, f"{where}: profile", works)
        row["runtime"] = -1.0 if work.unknown else work.delay + work.operations / given
        if work.unknown:
            unknown = f"profile of type {quoted(work.unknown)}: run time not known"
            rules.setdefault(unknown, []).append(place)
        elif work.operations:
            computed = f"computation of its profile: run time at {given:g} flop/s"
            rules.setdefault(computed, []).append(place)
        if work.communicates and not work.unknown:
            rules.setdefault(LEFT_OUT, []).append(place)
        if not row["runtime"] <= LONGEST:
            raise WorkloadError(
                f"{where}: profile {quoted(name)} takes {row['runtime']:g} s; accepted: up to "
                f"{LONGEST:g} s"
            )
    numbers = [_number(job.get("id")) for job in jobs]
    if None in numbers:
        rules[NUMBERED] = [*range(len(jobs))]
        numbers = [*range(1, len(jobs) + 1)]
    records["number"] = numbers
    machine = mapping.get("nb_res")
    processors = _count(machine)
    note = ""
    if processors is None and machine is not None:
        note = f"nb_res {quoted(machine)}; accepted: {COUNT}"
    return Log(
        path,
        "batsim",
        records,
        processors=processors,
        rules=rules,
        from_first=False,
        notes=(note,) if note else (),
        size_note=note and f"those of the largest usable job, for the file says {note}",
    )


def has_repeated_numbers(table: Table) -> bool:
    """Return whether jobs have the same number, as an id cannot be."""
    return len(np.unique(table.jobs["number"])) < len(table.jobs)


def write_batsim(stream: TextIO, table: Table) -> None:
    """Write jobs so that `batsim_log` gives them back: each run time is a profile, a delay.

    The file names no user, application, deadline, origin or communication. An id is one job's, so
    that jobs are numbered from 1 on where some have the same number.

    Examples
    --------
    >>> import sys
    >>> from grid.jobs import job_table
    >>> jobs = job_table(1)
    >>> jobs["size"], jobs["runtime"] = 4, 60
    >>> write_batsim(sys.stdout, Table(jobs, processors=8))
    {"nb_res": 8,
    "jobs": [
    {"id": 1, "subtime": 0.0, "res": 4, "profile": "60.0"}
    ],
    "profiles": {
    "60.0": {"type": "delay", "delay": 60.0}
    }}
    """
    jobs = table.jobs
    stream.write(f'{{"nb_res": {table.machine},\n"jobs": [\n')
    columns = ("arrival", "size", "requested_time", "runtime")
    ids = range(1, len(jobs) + 1) if has_repeated_numbers(table) else jobs["number"].tolist()
    separator = ""
    for job, arrival, size, walltime, runtime in zip(
        ids, *(jobs[name].tolist() for name in columns), strict=True
    ):
        known = {} if walltime == math.inf else {"walltime": walltime}
        row = {"id": job, "subtime": arrival, **known, "res": size, "profile": repr(runtime)}
        stream.write(separator + json.dumps(row, allow_nan=False))
        separator = ",\n"
    stream.write('\n],\n"profiles": {\n')
    separator = ""
    for runtime in np.unique(jobs["runtime"]).tolist():
        stream.write(f'{separator}"{runtime!r}": {{"type": "delay", "delay": {runtime!r}}}')
        separator = ",\n"
    stream.write("\n}}\n")


def _mapping(path: Path) -> Mapping[str, Any]:
    accepted = "accepted: a Batsim workload in JSON"
    try:
        with opened_text(path) as file:
            text = file.read(LARGEST + 1)
        if len(text) > LARGEST:
            raise ValueError(f"found more than {LARGEST:,} characters, the most that are read")
        mapping = json.loads(text, parse_int=whole, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:  # also a number of too many digits
        if isinstance(error, WorkloadError):
            raise
        raise WorkloadError(f"{path}: {error}; {accepted}") from None
    if not isinstance(mapping, dict):
        raise WorkloadError(f"{path}: found {quoted(mapping)}; {accepted}")
    for key, kind, name in (("jobs", list, "a list"), ("profiles", dict, "an object")):
        if not isinstance(mapping.get(key), kind):
            raise WorkloadError(f"{path}: no {key}; {accepted}, with {name} {key!r}")
    if not mapping["jobs"]:
        raise WorkloadError(f"{path}: empty workload: found no job; accepted: at least one")
    return mapping


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"found {text}")


def _seconds(job: Mapping[str, Any], key: str, where: str, least: float = 0.0) -> float:
    value = number(job.get(key))
    if not least <= value <= LONGEST:
        raise WorkloadError(
            f"{where}: {key} is {quoted(job.get(key))}; accepted: seconds from {least:g} to "
            f"{LONGEST:g}"
        )
    return value


def _size(job: Mapping[str, Any], where: str) -> int:
    size = _count(job.get("res"))
    if size is None:
        raise WorkloadError(f"{where}: res is {quoted(job.get('res'))}; accepted: {COUNT}")
    return size


def _count(given: object) -> int | None:
    value = number(given)
    return int(value) if 1 <= value < LARGEST_WHOLE and value.is_integer() else None


def _number(identity: object) -> int | None:
    """Return the number that a job's id is, perhaps after the name of a workload (``w0!7``)."""
    match = re.fullmatch(r"(?:[^!]*!)?(-?\d{1,18})", str(identity), re.ASCII)
    value = int(match[1]) if match and not isinstance(identity, bool) else LARGEST_WHOLE
    return value if abs(value) < LARGEST_WHOLE else None


def _work(
    profiles: Mapping[str, Any],
    name: str,
    size: int,
    where: str,
    works: dict[tuple[str, int], _Work],
    depth: int = 0,
) -> _Work:
    """Return what a profile takes, and keep it in `works`."""
    if (name, size) not in works:
        profile = profiles.get(name)
        if not isinstance(profile, dict):
            raise WorkloadError(
                f"{where} is {quoted(name)}; accepted: one of the profiles of the file"
            )
        if profile.get("type") in SEQUENCE:
            names = profile.get("seq")
            if not isinstance(names, list):
                raise WorkloadError(
                    f"{where} {quoted(name)}: seq is {quoted(names)}; accepted: a list"
                )
            if depth == DEEPEST:
                raise WorkloadError(
                    f"{where} {quoted(name)}: in {DEEPEST} sequences or in itself; accepted: less"
                )
            parts = [_work(profiles, str(n), size, where, works, depth + 1) for n in names]
            works[name, size] = _sequence(profile, parts, f"{where} {quoted(name)}")
        else:
            works[name, size] = _single(profile, size, f"{where} {quoted(name)}")
    return works[name, size]


def _single(profile: Mapping[str, Any], size: int, at: str) -> _Work:
    kind = profile.get("type")
    if kind in DELAY:
        return _Work(delay=_amount(profile.get("delay"), f"{at}: delay"))
    if kind not in (*HOMOGENEOUS, *TOTAL, *PARALLEL):
        return _Work(unknown=str(kind))
    cpu, com = (profile.get(key) or 0 for key in ("cpu", "com"))
    communicates = any(com) if isinstance(com, list) else bool(com)
    if kind in PARALLEL:
        parts = cpu if isinstance(cpu, list) else [cpu]
        return _Work(0.0, max((_amount(n, f"{at}: cpu") for n in parts), default=0), communicates)
    operations = _amount(cpu, f"{at}: cpu")
    if kind in TOTAL or profile.get("generation_strategy") == SPREAD:
        operations /= size
    return _Work(0.0, operations, communicates)


def _sequence(profile: Mapping[str, Any], parts: Sequence[_Work], at: str) -> _Work:
    times = _amount(profile.get("repeat", profile.get("nb", 1)), f"{at}: repeat")
    return _Work(
        times * math.fsum(part.delay for part in parts),
        times * math.fsum(part.operations for part in parts),
        any(part.communicates for part in parts),
        next((part.unknown for part in parts if part.unknown), ""),
    )


def _amount(given: object, where: str) -> float:
    value = number(given)
    if not 0 <= value < math.inf:
        raise WorkloadError(f"{where} is {quoted(given)}; accepted: a number from 0")
    return value

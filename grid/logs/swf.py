"""Logs in the formats of the Parallel (SWF) and the Grid Workloads Archive (GWF)."""

from __future__ import annotations

import math
import os
import re
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import NamedTuple, TextIO
from zoneinfo import ZoneInfo

import numpy as np

from grid.foreign import quoted
from grid.jobs import UNKNOWN
from grid.logs.fields import PARTITION, Fields, numbered, read_fields, unix_clock
from grid.logs.log import Log
from grid.workloads.table import Table

HEADER = re.compile(r"[;#\s]*(\w+)\s*:\s*(.*)")
NUMBER = re.compile(r"(-?\d{1,15}(?:\.\d+)?)\b\D*(?:[(\[;].*)?")
"""A number, and words without one: with another one, as in 1,024 or 2 x 32, it may be neither."""
KEYS = {
    "MaxProcs": "a whole number from 1",
    "UnixStartTime": "seconds since 1970, from 1 to 4e9",
    "TimeZone": "seconds within a day, beside UnixStartTime (else UTC)",
    "TimeZoneString": "a zone of this machine, beside UnixStartTime (else TimeZone, or UTC)",
}
"""What is used of the head, and as what."""

MADE = ("Version", "MaxJobs", "MaxRecords")
"""What any log can be given anew."""

EARLIEST, LATEST = 1, 4e9
"""Unix times (s) that are taken for the start of a log: the years 1970 to 2096."""

LONGEST_OFFSET = 86_399
"""Most seconds of a time zone before or after UTC."""


class _Head(NamedTuple):
    """What a head tells, as `Log` has it: ``header`` are the lines that told it, by their keys."""

    processors: int | None
    start: datetime | None
    header: dict[str, str]
    remarks: int
    notes: tuple[str, ...]
    size_note: str


def read_swf(path: str | os.PathLike[str]) -> Table:
    """Read and clean a log in SWF, plain or packed.

    The size of a job is field 5 (allocated processors), else field 8 (requested); what else
    becomes of records is told by `grid.logs.cleaning`. Its user is field 12, its application
    field 14, its wait field 3. Jobs are sorted by submit time, those of one instant in the order of
    the file, and the first of them arrives at 0.

    Parameters
    ----------
    path : path
        The file. Blanks or tabs part the fields, ``;`` begins a comment.

    Raises
    ------
    WorkloadError
        If the file cannot be read, a line is no record (named as ``FILE:LINE``), or no record is
        usable.
    """
    return swf_log(Path(path)).cleaned()


def swf_log(path: Path, partition_field: int = PARTITION) -> Log:
    """Read a log in SWF, as `read_swf` does, and leave its records as they are."""
    fields = read_fields(path, ";", True, partition_field)
    return _log_of(path, "swf", fields)


def gwf_log(path: Path, partition_field: int = PARTITION) -> Log:
    """Read a log in GWF, whose head and first fields mean what they mean in SWF.

    Users (field 12) and applications (field 14) may be named; then they are numbered as they first
    come. The structure of jobs is not read.

    Parameters
    ----------
    path : Path
        The file, plain or packed. Blanks or tabs part the fields, ``#`` begins a comment.
    partition_field : int
        The field that names the partition or site of a record: 16 its partition, 17 the site where
        it was submitted, 18 that where it ran.

    Raises
    ------
    WorkloadError
        If the file cannot be read, holds no record, or a line is none (named as ``FILE:LINE``).
    """
    fields = read_fields(path, "#", False, partition_field)
    return _log_of(path, "gwf", fields)


def _log_of(path: Path, format: str, fields: Fields) -> Log:
    """Return the log of SWF or GWF that fields were read of; both have the same head."""
    head = _understood(*_header(fields.comments))
    start = head.start or unix_clock(fields.records["arrival"])
    return Log(
        path,
        format,
        fields.records,
        fields.requested_size,
        partition=fields.partition,
        partitions=fields.partitions,
        filed={"partition": fields.partitions},
        numbered=fields.numbered,
        applications=fields.applications,
        unused=fields.unused,
        **head._replace(start=start)._asdict(),
    )


def write_swf(stream: TextIO, table: Table) -> None:
    """Write jobs so that `read_swf` gives them back, if the first arrives at 0.

    What SWF has no field for is left out.

    Examples
    --------
    >>> import sys
    >>> from grid.jobs import job_table
    >>> jobs = job_table(1)
    >>> jobs["size"], jobs["runtime"] = 4, 0.5
    >>> write_swf(sys.stdout, Table(jobs))
    ; Version: 2.2
    ; MaxJobs: 1
    ; MaxRecords: 1
    1 0 -1 0.5 4 -1 -1 4 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1
    """
    jobs = table.jobs
    stream.write(f"; Version: 2.2\n; MaxJobs: {len(jobs)}\n; MaxRecords: {len(jobs)}\n")
    if table.processors is not None:
        stream.write(f"; MaxProcs: {table.processors}\n")
    if table.start is not None:
        stream.write(f"; UnixStartTime: {_plain(table.start.timestamp())}\n")
        if isinstance(table.start.tzinfo, ZoneInfo):
            stream.write(f"; TimeZoneString: {table.start.tzinfo.key}\n")
        elif offset := table.start.utcoffset():
            stream.write(f"; TimeZone: {_plain(offset.total_seconds())}\n")
    requested = np.where(np.isinf(jobs["requested_time"]), UNKNOWN, jobs["requested_time"])
    columns = (jobs["number"], jobs["arrival"], jobs["runtime"], jobs["size"], requested)
    partition = np.array([*numbered(table.filed.get("partition", ())), UNKNOWN], np.int64)
    known = np.minimum(jobs["partition"], len(partition) - 1)  # of unknown ones the last
    others = (jobs["user"], jobs["application"], jobs["recorded_wait"], partition[known])
    for number, submit, run, size, time, user, application, wait, part in zip(
        *(column.tolist() for column in (*columns, *others)), strict=True
    ):
        stream.write(
            f"{number} {_plain(submit)} {_plain(wait)} {_plain(run)} {size} -1 -1 {size} "
            f"{_plain(time)} -1 -1 {user} -1 {application} -1 {part} -1 -1\n"
        )


def _plain(value: float) -> str:
    """Return a number that reads back exactly, without a point where it is whole."""
    return str(int(value)) if value.is_integer() else repr(value)


def _header(comments: list[str]) -> tuple[dict[str, str], dict[str, str], int]:
    """Return those of `KEYS` before the first record, and how many lines say anything else.

    The first of each key counts; in between is what a later one says that differs.
    """
    found: dict[str, str] = {}
    again: dict[str, str] = {}
    remarks = 0
    for line in comments:
        match = HEADER.match(line)
        if match and match[1] in KEYS:
            text = match[2].partition("#")[0].strip()
            if found.setdefault(match[1], text) != text:
                again.setdefault(match[1], text)
        elif line.strip(";# \t") and not (match and match[1] in MADE):
            remarks += 1
    return found, again, remarks


def _understood(said: dict[str, str], again: dict[str, str], remarks: int) -> _Head:
    """Return what `KEYS` tell; the clock at time 0 is in the time zone, if one is named."""
    size = _number(said, "MaxProcs", 1)
    processors = int(size) if size is not None and size.is_integer() else None
    seconds = _number(said, "UnixStartTime", EARLIEST, LATEST)
    offset, zone = _number(said, "TimeZone", -LONGEST_OFFSET, LONGEST_OFFSET), _zone(said)
    start = None
    if seconds is not None:
        by_offset = UTC if offset is None else timezone(timedelta(seconds=offset))
        start = datetime.fromtimestamp(seconds, UTC).astimezone(zone or by_offset)
    usable = {
        "MaxProcs": processors is not None,
        "UnixStartTime": start is not None,
        "TimeZone": start is not None and (offset is not None or zone is not None),
        "TimeZoneString": start is not None and zone is not None,
    }
    used = {key: text for key, text in said.items() if usable[key]}
    if zone is not None:
        used.pop("TimeZone", None)
    notes = {
        key: f"{key} {quoted(said[key])}; accepted: {KEYS[key]}" for key in said if not usable[key]
    }
    twice = {
        key: f"{key} {quoted(text)} after {quoted(said[key])}; accepted: the first"
        for key, text in again.items()
    }
    size_note = ""
    if "MaxProcs" in notes:
        size_note = f"those of the largest usable job, for the head says {notes['MaxProcs']}"
    elif "MaxProcs" in twice:
        size_note = f"the head says {twice['MaxProcs']}"
    return _Head(processors, start, used, remarks, (*notes.values(), *twice.values()), size_note)


def _zone(said: dict[str, str]) -> ZoneInfo | None:
    try:
        return ZoneInfo(said["TimeZoneString"])
    except (KeyError, ValueError, OSError):  # not said, or no zone of this machine
        return None


def _number(said: dict[str, str], key: str, least: float, most: float = math.inf) -> float | None:
    match = NUMBER.fullmatch(said.get(key, ""))
    return float(match[1]) if match and least <= float(match[1]) <= most else None

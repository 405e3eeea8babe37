"""Records of a line each, whose fields blanks part: what SWF and GWF have in common."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from grid.errors import WorkloadError
from grid.foreign import quoted
from grid.jobs import FILED, LONGEST, UNKNOWN, JobArray
from grid.logs.files import LARGEST_WHOLE, WHOLE_NUMBER, number, opened_text, seconds, whole
from grid.logs.log import RECORD
from grid.reading import line_blocks

FIELDS = 18
"""Fields that a record has at least; what stands after them may name its partition."""

NUMBER, SUBMIT, WAIT, RUNTIME, ALLOCATED, REQUESTED, REQUESTED_TIME = 0, 1, 2, 3, 4, 7, 8
USER, EXECUTABLE = 11, 13
PARTITION = 16
"""The field that names the partition of a record, counted from 1."""

UNUSED = {
    5: "CPU times",
    6: "memory",
    9: "memory",
    10: "status",
    12: "groups",
    14: "queues",
}
"""Fields that have no meaning here, and what they tell."""
AFTER = {16: "preceding jobs", 17: "think times"}
SITES = {16: "sites", 17: "sites"}
"""Likewise of SWF, and of GWF."""

USED = (NUMBER, SUBMIT, WAIT, RUNTIME, ALLOCATED, REQUESTED, REQUESTED_TIME)
PEOPLE = (USER, EXECUTABLE)
WHOLE = (NUMBER, ALLOCATED, REQUESTED, *PEOPLE)
TIMES = (SUBMIT, WAIT, RUNTIME, REQUESTED_TIME)

UNSAID = frozenset({"", "-1"})
"""Names of what is not known."""

UNIX_TIMES = 5e8
"""Times later than that (s) are counted from 1970: no log is of the time before 1986."""

MOST_COMMENTS = 10_000
"""Lines of comments at the head of a file that are looked into, at least."""


class Fields(NamedTuple):
    """What a file holds.

    Attributes
    ----------
    records : JobArray
    requested_size : int array
        What each asked for.
    partition : int array
        The partition of each by its place among the `partitions`.
    partitions : tuple of str
    comments : list of str
        Those before the first record.
    numbered : tuple of str
        Columns of the records that stand for names.
    applications : dict of int to str
        Those that have names, by number.
    unused : tuple of str
        What fields without meaning tell of any record.
    """

    records: JobArray
    requested_size: npt.NDArray[np.int64]
    partition: npt.NDArray[np.int64]
    partitions: tuple[str, ...]
    comments: list[str]
    numbered: tuple[str, ...]
    applications: dict[int, str]
    unused: tuple[str, ...]


def read_fields(
    path: Path, comment: str, whole_line: bool, partition_field: int = PARTITION
) -> Fields:
    """Read the records of a file.

    Parameters
    ----------
    path : Path
        The file.
    comment : str
        What begins a comment.
    whole_line : bool
        All fields are numbers. Else only those of `USED` are, and users and applications may be
        named: then they are numbered as they first come.
    partition_field : int
        The field that names the partition, from 1. One after the 18th may be any text, of which a
        list in braces counts by its first entry, and a line may lack it.

    Raises
    ------
    WorkloadError
        If the file cannot be read, holds no record, no record has the field of the partition, or a
        line is none (named as ``FILE:LINE``).
    """
    numeric = tuple(range(FIELDS)) if whole_line else USED
    comments: list[str] = []
    parts: list[npt.NDArray[np.void]] = []
    requested: list[npt.NDArray[np.int64]] = []
    people: list[tuple[str, str]] = []
    names: list[str] = []
    numbers: list[npt.NDArray[np.float64]] = []
    unused = UNUSED | (AFTER if whole_line else SITES)
    unused.pop(partition_field - 1, None)
    held: set[int] = set()
    most, later = FIELDS, False
    with opened_text(path) as file:
        first = 1
        for lines in line_blocks(file, path):
            told = enumerate(lines) if any(lines) else ()  # of millions of empty lines, in no time
            data = next((i for i, line in told if _split(line, comment)), None)
            if not parts and len(comments) < MOST_COMMENTS:
                comments += lines[:data]
            if data is not None:
                later |= any(each not in UNSAID for each in _split(lines[data], comment)[FIELDS:])
                column = _columns(path, lines, first, comment, numeric)
                parts.append(_records(column))
                requested.append(column[REQUESTED].astype(np.int64))
                if whole_line:
                    held |= {each for each in unused if (column[each] != UNKNOWN).any()}
                if whole_line and partition_field <= FIELDS:
                    numbers.append(column[partition_field - 1])
                else:
                    rows = [row for row in (_split(line, comment) for line in lines) if row]
                    if min(map(len, rows)) < FIELDS:
                        _refuse(path, lines, first, comment, numeric)
                    if not whole_line:
                        people += [(row[USER], row[EXECUTABLE]) for row in rows]
                        held |= {
                            each for each in unused if any(row[each] not in UNSAID for row in rows)
                        }
                    most = max(most, *map(len, rows))
                    names += [_first_entry(row, partition_field) for row in rows]
            first += len(lines)
    if not parts:
        raise WorkloadError(f"{path}: empty workload: found no record; accepted: at least one")
    if partition_field > most:
        raise WorkloadError(
            f"{path}: partition_field: found {partition_field}; accepted: from 1 to {most}, the "
            "most fields that a record has"
        )
    records = np.concatenate(parts)
    named: dict[str, dict[int, str]] = {}
    for column_name, texts in zip(("user", "application"), zip(*people, strict=True), strict=False):
        numbers_ = numbered(texts)
        records[column_name] = numbers_
        if not are_numbers(texts):
            of = dict(zip(numbers_, texts, strict=True))
            named[column_name] = {number: of[number] for number in sorted({*of} - {UNKNOWN})}
    if names:
        partition, partitions = placed(names)
    else:
        values, place = np.unique(np.concatenate(numbers), return_inverse=True)
        known = values >= 0
        partition = np.where(known, np.cumsum(known) - 1, UNKNOWN)[place]
        partitions = tuple(f"{value:.15g}" for value in values[known])
    records["partition"] = partition
    more = (f"fields after the {FIELDS}th",) if later else ()
    return Fields(
        records,
        np.concatenate(requested),
        partition,
        partitions,
        comments,
        tuple(named),
        named.get("application", {}),
        tuple(dict.fromkeys(what for each, what in unused.items() if each in held)) + more,
    )


def _records(column: dict[int, npt.NDArray[np.float64]]) -> JobArray:
    records = np.zeros(len(column[NUMBER]), RECORD)
    for name, field in (
        ("number", NUMBER),
        ("arrival", SUBMIT),
        ("size", ALLOCATED),
        ("runtime", RUNTIME),
    ):
        records[name] = column[field]
    time = column[REQUESTED_TIME]
    records["requested_time"] = np.where(time < 0, np.inf, time)
    records["recorded_wait"] = np.where(column[WAIT] < 0, UNKNOWN, column[WAIT])
    for name, field in (("user", USER), ("application", EXECUTABLE)):
        ids = column.get(field, -np.ones(1))
        records[name] = np.where(ids < 0, UNKNOWN, ids)
    for name in FILED:
        records[name] = UNKNOWN
    return records


def unix_clock(arrivals: npt.NDArray[np.float64]) -> datetime | None:
    """Return the clock at time 0 if known submit times are Unix times, all too late for others."""
    known = arrivals[arrivals >= 0]
    return datetime.fromtimestamp(0, UTC) if len(known) and known.min() >= UNIX_TIMES else None


def are_numbers(names: Iterable[str]) -> bool:
    """Tell whether all names that are known are whole numbers."""
    return all(name.isascii() and name.isdecimal() and len(name) < 16 for name in {*names} - UNSAID)


def numbered(names: Sequence[str]) -> list[int]:
    """Return a number for each name: itself if all are whole numbers, else as they first come.

    Examples
    --------
    >>> numbered(["7", "-1", "3"])
    [7, -1, 3]
    >>> numbered(["root", "", "U7", "root"])
    [0, -1, 1, 0]
    """
    known = dict.fromkeys(name for name in names if name not in UNSAID)
    if are_numbers(known):
        ids = {name: int(name) for name in known}
    else:
        ids = {name: place for place, name in enumerate(known)}
    return [ids.get(name, UNKNOWN) for name in names]


def placed(names: Sequence[str]) -> tuple[npt.NDArray[np.int64], tuple[str, ...]]:
    """Return the place of each name, or `UNKNOWN`, among the known ones as they first come.

    Examples
    --------
    >>> places, names = placed(["gpu", "", "long", "gpu"])
    >>> places.tolist(), names
    ([0, -1, 1, 0], ('gpu', 'long'))
    """
    known = tuple(dict.fromkeys(name for name in names if name not in UNSAID))
    place = {name: index for index, name in enumerate(known)}
    return np.array([place.get(name, UNKNOWN) for name in names], np.int64), known


def _columns(
    path: Path, lines: list[str], first: int, comment: str, numeric: tuple[int, ...]
) -> dict[int, npt.NDArray[np.float64]]:
    """Return the numeric fields of all records, each as a column, checked."""
    try:
        table = np.loadtxt(lines, comments=comment, usecols=numeric, ndmin=2)
    except ValueError as error:
        _refuse(path, lines, first, comment, numeric)
        raise WorkloadError(f"{path}: {error}") from error
    column = dict(zip(numeric, table.T, strict=True))
    exact = all(
        ((column[field] == np.rint(column[field])) & (np.abs(column[field]) < LARGEST_WHOLE)).all()
        for field in WHOLE
        if field in column
    )
    short = all((column[field] <= LONGEST).all() for field in TIMES)
    if not (exact and short and np.isfinite(table).all()):
        _refuse(path, lines, first, comment, numeric)
    return column


def _split(line: str, comment: str) -> list[str]:
    return line.partition(comment)[0].split()


def _first_entry(row: list[str], field: int) -> str:
    """Return a field (from 1) of a record, the first entry of a list in braces; empty: it has none.

    Examples
    --------
    >>> _first_entry(["7", "{1241,1242}"], 2)
    '1241'
    """
    text = row[field - 1] if field <= len(row) else ""
    return text[1:].rstrip("}").partition(",")[0] if text.startswith("{") else text


def _refuse(
    path: Path, lines: list[str], first: int, comment: str, numeric: tuple[int, ...]
) -> None:
    """Raise the error of the first line that is no record.

    Only lines known to be bad are read so, for this is ten times slower than `numpy.loadtxt`.
    """
    for line_number, line in enumerate(lines, first):
        fields = _split(line, comment)
        if not fields:
            continue
        if len(fields) < FIELDS:
            raise WorkloadError(
                f"{path}:{line_number}: found {len(fields)} fields, {quoted(line.strip())}; "
                f"accepted: a record of at least {FIELDS} fields, or a comment after {comment!r}"
            )
        for index in numeric:
            read, accepted = (whole, WHOLE_NUMBER) if index in WHOLE else (number, "a number")
            if index in TIMES:
                read, accepted = seconds, f"a number of seconds up to {LONGEST:g}"
            try:
                read(fields[index])
            except ValueError:
                raise WorkloadError(
                    f"{path}:{line_number}: field {index + 1} is {quoted(fields[index])}; "
                    f"accepted: {accepted}"
                ) from None

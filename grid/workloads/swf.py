"""Logs in the Standard Workload Format of the Parallel Workloads Archive."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import numpy.typing as npt

from grid.errors import WorkloadError
from grid.jobs import LONGEST, UNKNOWN, job_table
from grid.workloads.cleaning import clean
from grid.workloads.files import LARGEST_WHOLE, number, quoted, read_lines, seconds, whole
from grid.workloads.table import Table

FIELDS = 18
"""Numbers in a record; what stands after them on a line is not SWF and not read."""

NUMBER, SUBMIT, RUNTIME, ALLOCATED, REQUESTED, REQUESTED_TIME = 0, 1, 3, 4, 7, 8
USER, EXECUTABLE = 11, 13
WHOLE = (NUMBER, ALLOCATED, REQUESTED, USER, EXECUTABLE)
TIMES = (SUBMIT, RUNTIME, REQUESTED_TIME)


def read_swf(path: str | os.PathLike[str]) -> Table:
    """Read and clean a log in SWF, plain or gzip (``.gz``).

    The size of a job is field 5 (allocated processors), else field 8 (requested); what else
    becomes of records is told by `grid.workloads.cleaning`. Its user is field 12, its application
    field 14. Jobs are sorted by submit time, those of one instant in the order of the file, and the
    first of them arrives at 0.

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
    path = Path(path)
    fields = _records(path, read_lines(path))
    records = job_table(len(fields))
    records["number"] = fields[:, NUMBER]
    records["arrival"] = fields[:, SUBMIT]
    records["size"] = fields[:, ALLOCATED]
    records["runtime"] = fields[:, RUNTIME]
    requested_time = fields[:, REQUESTED_TIME]
    records["requested_time"] = np.where(requested_time < 0, np.inf, requested_time)
    for name, field in (("user", USER), ("application", EXECUTABLE)):
        records[name] = np.where(fields[:, field] < 0, UNKNOWN, fields[:, field])
    jobs, cleaning = clean(records, fields[:, REQUESTED].astype(np.int64))
    if not len(jobs):
        raise WorkloadError(
            f"{path}: empty workload: found {len(fields)} records, none usable; accepted: at "
            "least one with a submit time, a size and a run time"
        )
    jobs = jobs[np.argsort(jobs["arrival"], kind="stable")]
    jobs["arrival"] -= jobs["arrival"][0]
    return Table(jobs, cleaning)


def _records(path: Path, lines: list[str]) -> npt.NDArray[np.float64]:
    """Return the fields of each record: shape (records, FIELDS)."""
    if not any(_fields(line) for line in lines):
        raise WorkloadError(f"{path}: empty workload: found no record; accepted: at least one")
    try:
        records = np.loadtxt(lines, comments=";", usecols=range(FIELDS), ndmin=2)
    except ValueError as error:
        _refuse(path, lines)
        raise WorkloadError(f"{path}: {error}") from error
    counts = records[:, WHOLE]
    exact = (counts == np.rint(counts)) & (np.abs(counts) < LARGEST_WHOLE)
    short = (records[:, TIMES] <= LONGEST).all()
    if not (np.isfinite(records).all() and exact.all() and short):
        _refuse(path, lines)
    return records


def _fields(line: str) -> list[str]:
    return line.partition(";")[0].split()


def _refuse(path: Path, lines: list[str]) -> None:
    """Raise the error of the first line that is no record.

    Only a file known to be bad is read so, for this is ten times slower than `numpy.loadtxt`.
    """
    for line_number, line in enumerate(lines, 1):
        fields = _fields(line)
        if not fields:
            continue
        if len(fields) < FIELDS:
            raise WorkloadError(
                f"{path}:{line_number}: found {len(fields)} fields, {quoted(line.strip())}; "
                f"accepted: a record of at least {FIELDS} numbers, or a comment after ';'"
            )
        for index, text in enumerate(fields[:FIELDS]):
            read, accepted = (whole, "a whole number") if index in WHOLE else (number, "a number")
            if index in TIMES:
                read, accepted = seconds, f"a number of seconds up to {LONGEST:g}"
            try:
                read(text)
            except ValueError:
                raise WorkloadError(
                    f"{path}:{line_number}: field {index + 1} is {quoted(text)}; accepted: "
                    f"{accepted}"
                ) from None

"""From one format of workloads to another."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from experiments.run.files import check_file, check_not_read, new_file
from experiments.show.numbers import counted
from grid.errors import WorkloadError
from grid.jobs import JOB, JobArray, job_table
from grid.logs.batsim import has_repeated_numbers
from grid.logs.calendar import SITES_CLOCK
from grid.logs.fields import are_numbers
from grid.logs.formats import FORMATS, by_name, named
from grid.logs.log import Log
from grid.workloads.table import Table


def format_to_write(path: Path, given: str | None, source: Path) -> str:
    """Return the format in which to write a file, before any work is done.

    Raises
    ------
    GridError
        If it is not known, cannot be written, or the file cannot be or is that which is read.
    """
    check_not_read(path, [str(source)])
    name = given if given is not None else by_name(path)
    if name is None:
        suffixes = ", ".join(each.suffix for each in FORMATS.values() if each.write)
        raise WorkloadError(
            f"{path}: no format has such names; accepted: {suffixes}, packed (.gz, .bz2, .xz) or "
            "not, or --to with the name of a format"
        )
    name = named(name, written=True)
    check_file(path, "workload")
    return name


def write(path: Path, format: str, table: Table) -> None:
    """Write jobs to a file, packed as its name says: all of them, or nothing is changed.

    A file that is there is replaced.

    Raises
    ------
    GridError
        If the file cannot be written.
    """
    writer = FORMATS[format].write
    assert writer is not None
    with new_file(path, "workload") as new, new.open("xb") as raw:
        with _packed(raw, path.suffix.lower()) as stream:
            writer(stream, table)
        raw.flush()
        os.fsync(raw.fileno())


@contextmanager
def _packed(raw: BinaryIO, suffix: str) -> Iterator[BinaryIO]:
    """Give what packs what is written to it; the same bytes for the same jobs."""
    if suffix == ".gz":
        with gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed:
            yield cast(BinaryIO, packed)
    elif suffix == ".bz2":
        with bz2.open(raw, "wb") as packed_bz2:
            yield cast(BinaryIO, packed_bz2)
    elif suffix == ".xz":
        with lzma.open(raw, "wb") as packed_xz:
            yield cast(BinaryIO, packed_xz)
    else:
        yield raw


def table_for(log: Log, format: str) -> Table:
    """Return the usable jobs of a log as they are to be written.

    SWF keeps submit times beside the clock at time 0. Elsewhere, and where they are counted from
    1970, the first job arrives at 0, as in a run.
    """
    clock = log.start is not None and log.start.timestamp() == 0
    return (log if format != "swf" or clock else replace(log, from_first=False)).cleaned()


def said(jobs: JobArray) -> dict[str, int]:
    """Return, by column, how many jobs say something there, if any does."""
    neutral = job_table(1)[0]
    found = {}
    for name in JOB.names or ():
        if name == "times_row":
            continue  # it is said of all of them: `Table.times`
        other = np.asarray(jobs[name] != neutral[name])
        if count := int((other.any(axis=1) if other.ndim > 1 else other).sum()):
            found["job" if name == "number" else name] = count
    return found


def _other_requests(log: Log) -> int:
    """Return how many jobs got another size than they asked for."""
    if log.requested_size is None:
        return 0
    size, asked = log.records["size"], log.requested_size
    return int((log.usable & (size > 0) & (asked > 0) & (size != asked)).sum())


def lost(log: Log, table: Table, format: str) -> Iterator[str]:
    """Yield, in words, what a log says that is not in the file it was written to.

    Examples
    --------
    >>> jobs = job_table(3)
    >>> jobs["size"], jobs["runtime"], jobs["user"] = 1, 60.0, [7, -1, 8]
    >>> log = Log(Path("log.csv"), "csv", jobs, processors=64)
    >>> list(lost(log, Table(jobs, processors=64), "csv"))
    ['processors of the machine, 64, left out: no place for it']
    >>> list(lost(log, Table(jobs, processors=64), "batsim"))
    ['user of 2 jobs left out: no place for it']
    """
    no_place = "left out: no place for it"
    for column, count in said(table.jobs).items():
        if column not in FORMATS[format].holds:
            yield f"{column} of {counted(count, 'job')} {no_place}"
    if log.processors is not None and "processors" not in FORMATS[format].tells:
        yield f"processors of the machine, {log.processors:,}, {no_place}"
    elif log.processors is None and format == "batsim":
        size = f"the size of the largest job, {table.machine:,}"
        yield f"nb_res: {size}, for the machine's is not known"
    if format == "batsim" and has_repeated_numbers(table):
        yield "id: jobs numbered from 1 on, for some have the same number"
    if table.start is not None and "start" not in FORMATS[format].tells:
        yield f"date of the first job, {table.start:%Y-%m-%d %H:%M:%S %Z}, {no_place}"
    elif table.start is not None and table.start.tzinfo is SITES_CLOCK:
        yield "UnixStartTime: the site's clock taken as UTC, for its time zone is not known"
    if table.times is not None and "times" not in FORMATS[format].tells:
        yield f"execution times on each cluster {no_place}"
    for note in log.notes:
        yield f"not used of the head: {note}"
    if table.applied is not None and format != "swf":
        moved = table.applied.zero - float(table.jobs["arrival"][0])
        if moved:
            yield f"submit times less {moved:.15g} s: the first job arrives at 0"
    if log.remarks:
        yield f"{counted(log.remarks, 'other line')} at the head left out: no meaning here"
    if count := _other_requests(log):
        yield f"requested size of {counted(count, 'job')} left out: that which was allocated counts"
    renamed = () if are_numbers(table.filed.get("partition", ())) else ("partition",)
    holds = FORMATS[format].holds
    named = "problem_size" in holds and table.jobs["problem_size"].any()  # whose names are written
    for name in (*log.numbered, *renamed):
        if name in holds and not (named and name == "application"):
            yield f"names of {name}s: numbered 0, 1, ... as they first come"
    if log.unused:
        yield f"{', '.join(log.unused)} left out: no meaning here"

"""From one format of workloads to another."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from experiments.files import check_file, new_file
from grid.errors import WorkloadError
from grid.jobs import JOB, job_table
from grid.workloads.formats import FORMATS, by_name, named
from grid.workloads.table import Table


def format_to_write(path: Path, given: str | None) -> str:
    """Return the format in which to write a file, before any work is done.

    Raises
    ------
    GridError
        If it is not known, cannot be written, or the file cannot be.
    """
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


def lost(table: Table, format: str) -> dict[str, int]:
    """Return what a format has no place for, and of how many jobs it is said.

    Examples
    --------
    >>> jobs = job_table(3)
    >>> jobs["size"], jobs["runtime"], jobs["user"] = 1, 60.0, [7, -1, 8]
    >>> lost(Table(jobs), "batsim"), lost(Table(jobs), "swf")
    ({'user': 2}, {})
    """
    neutral = job_table(1)[0]
    found = {}
    for name in JOB.names or ():
        column = "job" if name == "number" else name
        if column in FORMATS[format].holds:
            continue
        said = np.asarray(table.jobs[name] != neutral[name])
        count = int((said.any(axis=1) if said.ndim > 1 else said).sum())
        if count:
            found[column] = count
    return found

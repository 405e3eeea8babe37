"""Formats of workload files: how each is told, read and written."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TextIO

from grid.errors import WorkloadError
from grid.foreign import quoted
from grid.jobs import FILED
from grid.logs.batsim import batsim_log, write_batsim
from grid.logs.fields import FIELDS, PARTITION
from grid.logs.files import bare_name, opened, refuse_foreign
from grid.logs.job_columns import ALL_COLUMNS, COLUMNS
from grid.logs.job_csv import csv_log, write_csv
from grid.logs.live import MAGIC, live_log
from grid.logs.log import SAID, Log
from grid.logs.parquet import parquet_log, write_parquet
from grid.logs.sacct import sacct_log
from grid.logs.swf import gwf_log, swf_log, write_swf
from grid.logs.time_columns import PROBLEM_SIZE, tells_times
from grid.names import meant
from grid.workloads.table import Table

HEAD = 65_536
"""Bytes of a file that tell its format."""

Reader = Callable[[Path, Sequence[str] | None, float | None, int, bool], Log]
Writer = Callable[[BinaryIO, Table], None]


@dataclass(frozen=True)
class Format:
    """A format.

    Attributes
    ----------
    title : str
        What people call it.
    suffix : str
        How names of its files end; empty: in any way.
    read : callable
        Reads a file; it is also given the names of the clusters, None for any, the speed of a
        processor (flop/s), None if nobody says, the field that names partitions, and whether
        origins may be others than the clusters.
    write : callable or None
        Writes to a stream of bytes.
    holds : tuple of str
        Columns of jobs (`ALL_COLUMNS`) that it has a place for.
    tells : tuple of str
        What it has a place for of ``processors``, ``start`` and ``times`` of
        `grid.workloads.table.Table`.
    """

    title: str
    suffix: str
    read: Reader
    write: Writer | None = None
    holds: tuple[str, ...] = ()
    tells: tuple[str, ...] = ()


def _text(write: Callable[[TextIO, Table], None]) -> Writer:
    def write_bytes(stream: BinaryIO, table: Table) -> None:
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
        write(text, table)
        text.flush()
        text.detach()

    return write_bytes


_OF_SWF = tuple("job" if name == "number" else name for name in SAID if name not in FILED[1:])
_OF_TABLES = (*COLUMNS, PROBLEM_SIZE)
FORMATS = {
    "swf": Format(
        "Standard Workload Format",
        ".swf",
        lambda path, clusters, speed, field, _: swf_log(path, field),
        _text(write_swf),
        _OF_SWF,
        ("processors", "start"),
    ),
    "gwf": Format(
        "Grid Workload Format",
        ".gwf",
        lambda path, clusters, speed, field, _: gwf_log(path, field),
    ),
    "sacct": Format("Slurm, sacct -P", "", lambda path, *_: sacct_log(path)),
    "live": Format("jobs of metasched serve", ".db", lambda path, *_: live_log(path)),
    "batsim": Format(
        "Batsim",
        ".json",
        lambda path, clusters, speed, *_: batsim_log(path, speed),
        _text(write_batsim),
        ("job", "arrival", "size", "runtime", "requested_time"),
        ("processors",),
    ),
    "csv": Format(
        "table of jobs, CSV",
        ".csv",
        lambda path, clusters, _, __, foreign: csv_log(path, clusters, foreign),
        _text(
            lambda stream, table: write_csv(
                stream, table.jobs, table.sites, table.times, table.applications
            )
        ),
        _OF_TABLES,
        ("times",),
    ),
    "parquet": Format(
        "table of jobs, Parquet",
        ".parquet",
        lambda path, clusters, _, __, foreign: parquet_log(path, clusters, foreign),
        write_parquet,
        _OF_TABLES,
        ("times",),
    ),
}
"""By their names."""

WITH_FIELDS = ("swf", "gwf")
"""Those whose fields are told by their numbers."""


def read(
    path: Path,
    format: str | None = None,
    clusters: Sequence[str] | None = None,
    speed: float | None = None,
    partition_field: int = PARTITION,
    foreign: bool = False,
) -> Log:
    """Read a workload file of any format.

    Parameters
    ----------
    path : Path
        The file, plain or packed.
    format : str, optional
        Its format; by default what the end of its name says, else its first lines.
    clusters : sequence of str, optional
        Names of the clusters that origins may be; by default any.
    speed : float, optional
        Speed of a processor of rate 1, flop/s, for workloads that say what jobs compute.
    partition_field : int
        Field that names the partition of a record of SWF and GWF, from 1.
    foreign : bool
        Origins may also be others than the clusters.

    Raises
    ------
    WorkloadError
        If the format is unknown or the file cannot be used.
    """
    name = named(format) if format else format_of(path)
    if partition_field != PARTITION and name not in WITH_FIELDS:
        raise WorkloadError(
            f"partition_field: found {partition_field} for {path}, of format {name}; accepted: "
            f"with {' and '.join(WITH_FIELDS)} only"
        )
    try:
        return FORMATS[name].read(path, clusters, speed, partition_field, foreign)
    except WorkloadError as error:
        if FORMATS[name].suffix != ".parquet":
            refuse_foreign(path, str(error))
        raise
    except MemoryError:
        raise WorkloadError(
            f"{path}: more than there is memory for; accepted: fewer jobs"
        ) from None


def named(name: str, written: bool = False) -> str:
    """Return the name of a format, if it is one, and one that can be written if that is asked."""
    accepted = [each for each, found in FORMATS.items() if found.write or not written]
    if written and name in FORMATS and name not in accepted:
        raise WorkloadError(f"format {name}: cannot be written; accepted: {', '.join(accepted)}")
    if name not in accepted:
        raise WorkloadError(f"format {quoted(name)}: unknown; {meant(name, accepted)}")
    return name


def by_name(path: Path) -> str | None:
    """Return the format that the end of a file's name says, whether it is packed or not.

    Examples
    --------
    >>> by_name(Path("KTH.swf.gz"))
    'swf'
    """
    suffix = Path(bare_name(path)).suffix
    return next(
        (name for name, each in FORMATS.items() if each.suffix and each.suffix == suffix), None
    )


def format_of(path: Path) -> str:
    """Return the format of a file, by its name or by how it begins.

    Raises
    ------
    WorkloadError
        If neither tells.
    """
    name = by_name(path)
    if name is not None:
        return name
    with opened(path) as file:
        head = file.read(HEAD)
    for magic, name in ((b"PAR1", "parquet"), (MAGIC, "live")):
        if head.startswith(magic):
            return name
    lines = [line.strip() for line in head.decode("utf-8-sig", "replace").splitlines()]
    found = _by_lines([line for line in lines if line])
    if found is None:
        suffixes = ", ".join(each.suffix for each in FORMATS.values() if each.suffix)
        raise WorkloadError(
            f"{path}: unknown kind of workload; accepted: {suffixes}, packed or not, or another "
            "name with the content of one of these, or of sacct -P"
        )
    return found


def _by_lines(lines: list[str]) -> str | None:
    """Return the format that a file's first lines which are not blank tell, if they do."""
    first = lines[0] if lines else ""
    if first.startswith("{"):
        return "batsim"
    if {"JobID", "JobIDRaw"} & set(first.split("|")):
        return "sacct"
    names = [cell.strip() for cell in first.split(",")]
    if "," in first and all(name in ALL_COLUMNS or tells_times(name) for name in names):
        return "csv"
    if first.startswith(";"):
        return "swf"
    fields = next((line for line in lines if not line.startswith("#")), "").split()
    if len(fields) < FIELDS or not re.fullmatch(r"[-+.\d]+", "".join(fields[:5])):
        return None
    return "gwf" if first.startswith("#") else "swf"

"""Jobs in Parquet files: the columns of `grid.logs.job_columns`, each of its type."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from grid.errors import WorkloadError
from grid.foreign import one_line
from grid.logs.files import opened
from grid.logs.job_columns import cells, check_header, log_of
from grid.logs.log import Log
from grid.workloads.table import Table

WHOLE = ("job", "size", "user", "application")
TEXT = ("origin", "components", "request")

INDEX = re.compile(r"__index_level_\d+__")
"""Columns in which pandas keeps an index without a name; it says nothing of a job."""

MAGIC = b"PAR1"
"""How files begin."""

LARGEST = 2**28
"""Bytes of a file."""

MOST_ROWS = 10_000_000
"""Jobs of a file, whose cells are all in memory at once; a few bytes may stand for any number."""


def parquet_log(path: Path, clusters: Sequence[str] | None, foreign: bool = False) -> Log:
    """Read jobs from a Parquet file, and leave them as they are; null says nothing of a job.

    Parameters
    ----------
    path : Path
        The file.
    clusters : sequence of str or None
        Names of the clusters, which `origin` uses; None: any.
    foreign : bool
        Origins may also be others.

    Raises
    ------
    WorkloadError
        If the file cannot be read or a value cannot be used: named by its row, from 1.
    """
    import pyarrow
    from pyarrow import parquet

    with opened(path) as file:
        content = io.BytesIO()
        content.write(file.read(len(MAGIC)))
        if content.getvalue() == MAGIC:
            content.write(file.read(LARGEST))
    try:
        if content.getbuffer().nbytes > LARGEST:
            raise ValueError(f"found more than {LARGEST:,} bytes, the most that are read")
        opened_table = parquet.ParquetFile(content)
        if opened_table.metadata.num_rows > MOST_ROWS:
            raise ValueError(f"found more than {MOST_ROWS:,} rows, the most that are read")
        table = opened_table.read()
        named = [
            (name, column)
            for name, column in zip(table.column_names, table.columns, strict=True)
            if not INDEX.fullmatch(name)
        ]
        columns = {
            name: ["" if value is None else str(value) for value in column.to_pylist()]
            for name, column in named
        }
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise WorkloadError(
            f"{path}: {one_line(str(error), 200)}; accepted: a Parquet file"
        ) from None
    check_header(str(path), [name for name, _ in named])
    if not table.num_rows:
        raise WorkloadError(f"{path}: empty workload: found no job; accepted: at least one")
    place = lambda row: f"{path}: row {row + 1}"  # noqa: E731
    return log_of(path, "parquet", columns, place, clusters, foreign)


def write_parquet(stream: BinaryIO, table: Table) -> None:
    """Write jobs so that `parquet_log` gives them back exactly."""
    import pyarrow
    from pyarrow import parquet

    arrays = {}
    told = cells(table.jobs, table.sites, table.times, table.applications)
    for name, values in told.items():
        kind = pyarrow.int64() if name in WHOLE else pyarrow.float64()
        known = [None if value == "" else value for value in values]
        texts = name in TEXT or (name == "application" and any(isinstance(v, str) for v in known))
        arrays[name] = pyarrow.array(known, pyarrow.string() if texts else kind)
    parquet.write_table(pyarrow.table(arrays), stream)

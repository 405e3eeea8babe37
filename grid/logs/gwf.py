"""Logs in the Grid Workload Format of the Grid Workloads Archive."""

from __future__ import annotations

from pathlib import Path

from grid.logs.fields import PARTITION, read_fields
from grid.logs.log import Log
from grid.logs.swf import log_of


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
    return log_of(path, "gwf", fields)

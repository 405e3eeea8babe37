"""Logs in the Grid Workload Format of the Grid Workloads Archive."""

from __future__ import annotations

from pathlib import Path

from grid.workloads.fields import read_fields, unix_clock
from grid.workloads.log import Log


def gwf_log(path: Path) -> Log:
    """Read a log in GWF, whose first fields mean what they mean in SWF.

    Users (field 12) and applications (field 14) may be named; then they are numbered as they first
    come. Sites and the structure of jobs are not read.

    Parameters
    ----------
    path : Path
        The file, plain or packed. Blanks or tabs part the fields, ``#`` begins a comment.

    Raises
    ------
    WorkloadError
        If the file cannot be read, holds no record, or a line is none (named as ``FILE:LINE``).
    """
    fields = read_fields(path, "#", whole_line=False)
    start = unix_clock(fields.records["arrival"])
    return Log(
        path,
        "gwf",
        fields.records,
        fields.requested_size,
        start=start,
        partition=fields.partition,
        partitions=fields.partitions,
    )

"""Jobs as comma-separated values, in and out of any tool.

The header names the columns, which are those of `grid.logs.job_columns`.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TextIO

from grid.errors import WorkloadError
from grid.jobs import JobArray
from grid.logs.files import opened_lines
from grid.logs.job_columns import cells, check_header, log_of
from grid.logs.log import Log
from grid.workloads.execution_times import ExecutionTimes
from grid.workloads.table import Table

MOST_LINES = 1000
"""Lines over which the quotes of one row may spread."""


def read_csv(path: str | os.PathLike[str], clusters: Sequence[str]) -> Table:
    """Read jobs from a CSV file, plain or packed.

    Jobs are sorted by arrival, those of one instant in the order of the file. Without a column
    `job` they are numbered from 1 in that order. A run time of 0 and a requested time below the
    run time are treated as in a log (`grid.logs.cleaning`).

    Parameters
    ----------
    path : path
        The file.
    clusters : sequence of str
        Names of the clusters of the platform, which `origin` uses.

    Raises
    ------
    WorkloadError
        If the file cannot be read or a cell cannot be used: named as ``FILE:LINE`` and column.
    """
    return csv_log(Path(path), clusters).cleaned()


def csv_log(path: Path, clusters: Sequence[str] | None, foreign: bool = False) -> Log:
    """Read jobs as `read_csv` does, and leave them as they are; None: any clusters.

    If `foreign`, origins may also be others than the clusters.
    """
    (header, *rows), (head, *lines) = _rows(path)
    columns = dict(zip(header, zip(*rows, strict=True), strict=True))
    at = f":{head}"
    return log_of(path, "csv", columns, lambda row: f"{path}:{lines[row]}", clusters, foreign, at)


def write_csv(
    stream: TextIO,
    jobs: JobArray,
    clusters: Sequence[str],
    times: ExecutionTimes | None = None,
    applications: Mapping[int, str] | None = None,
) -> None:
    """Write jobs so that `read_csv` gives them back exactly.

    Optional columns in which no job says anything are left out.

    Examples
    --------
    >>> import sys
    >>> from grid.jobs import job_table
    >>> jobs = job_table(2)
    >>> jobs["size"], jobs["runtime"], jobs["origin"] = 4, [60, 0.1], [-1, 1]
    >>> write_csv(sys.stdout, jobs, ["C1", "C2"])
    job,arrival,size,runtime,origin
    1,0.0,4,60.0,
    2,0.0,4,0.1,C2
    """
    columns = cells(jobs, clusters, times, applications)
    writer = csv.writer(stream, lineterminator="\n")  # writes floats so that they read back
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))


def _rows(path: Path) -> tuple[list[list[str]], list[int]]:
    """Return the rows that are not blank, the header first and checked, and the line of each."""
    taken = number = 0

    def lines_of_a_row(lines: Iterable[str]) -> Iterator[str]:
        nonlocal taken, number
        for number, line in enumerate(lines, 1):
            if not line and not taken:  # quickly, for there may be millions
                continue
            taken += 1
            if taken > MOST_LINES:
                number -= 1  # the last one that was still taken
                raise csv.Error(f"a row of more than {MOST_LINES} lines")
            yield line + "\n"

    rows, numbers = [], []
    with opened_lines(path) as lines:
        reader = csv.reader(lines_of_a_row(lines), strict=True)
        try:
            for row in reader:
                taken = 0
                if any(cell.strip() for cell in row):
                    rows.append([cell.strip() for cell in row])
                    numbers.append(number)
        except csv.Error as error:
            raise WorkloadError(
                f"{path}:{number}: found {error}; accepted: comma-separated cells"
            ) from error
    if rows:
        check_header(f"{path}:{numbers[0]}", rows[0])
    if len(rows) < 2:
        raise WorkloadError(
            f"{path}: empty workload: found no job; accepted: a header and at least one job"
        )
    columns = len(rows[0])
    for row, line in zip(rows, numbers, strict=True):
        if len(row) != columns:
            raise WorkloadError(
                f"{path}:{line}: found {len(row)} cells; accepted: {columns}, as in the header"
            )
    return rows, numbers

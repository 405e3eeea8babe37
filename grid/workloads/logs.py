"""Reading logs by the names of their files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from grid.errors import WorkloadError
from grid.workloads.cleaning import NUMBER_SHARED, combined
from grid.workloads.files import quoted
from grid.workloads.job_csv import read_csv
from grid.workloads.sites import merge_sites
from grid.workloads.swf import read_swf
from grid.workloads.table import Table


def read_log(path: str | os.PathLike[str], clusters: Sequence[str]) -> Table:
    """Read a workload file: ``.swf`` or ``.csv``, either also with ``.gz``.

    Parameters
    ----------
    path : path
        The file.
    clusters : sequence of str
        Names of the clusters of the platform.

    Raises
    ------
    WorkloadError
        If the name ends otherwise or the file cannot be used.
    """
    name = Path(path).name.lower().removesuffix(".gz")
    if name.endswith(".swf"):
        return read_swf(path)
    if name.endswith(".csv"):
        return read_csv(path, clusters)
    raise WorkloadError(
        f"{os.fspath(path)}: unknown kind of workload; accepted: .swf, .swf.gz, .csv, .csv.gz"
    )


def read_site_logs(paths: Mapping[str, str | os.PathLike[str]], clusters: Sequence[str]) -> Table:
    """Read one log a site and merge them (`merge_sites`).

    Parameters
    ----------
    paths : mapping of str to path
        The file of each cluster by its name.
    clusters : sequence of str
        Names of the clusters of the platform, in order.

    Raises
    ------
    WorkloadError
        If a name is not that of a cluster or a file cannot be used.
    """
    logs = {}
    for name, path in paths.items():
        if name not in clusters:
            raise WorkloadError(
                f"log of site {quoted(name)}: unknown cluster; accepted: {', '.join(clusters)}"
            )
        logs[list(clusters).index(name)] = read_log(path, clusters)
    jobs, shared = merge_sites({index: log.jobs for index, log in logs.items()})
    cleaning = combined(log.cleaning for log in logs.values())
    return Table(jobs, cleaning.also(NUMBER_SHARED, shared))

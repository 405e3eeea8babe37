"""Logs as the jobs of a run, one file or one for each site."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from grid.errors import WorkloadError
from grid.foreign import plain
from grid.logs.cleaning import RAISED, TOGETHER, merged
from grid.logs.fields import PARTITION
from grid.logs.formats import read
from grid.logs.partitions import assign_partitions
from grid.logs.sites import begun_later, count_elsewhere, file_together, merge_sites, raised
from grid.logs.time_columns import Evaluate
from grid.workloads.communication import assign_communication
from grid.workloads.execution_times import stacked
from grid.workloads.table import Table


def read_log(
    path: str | os.PathLike[str],
    clusters: Sequence[str],
    speed: float | None = None,
    evaluate: Evaluate | None = None,
    kills: bool = False,
    computation_fraction: float = 1.0,
    bisection_bandwidth: float = 0.0,
    only_recorded: bool = False,
    partition_field: int = PARTITION,
    partitions: Mapping[str, str] | None = None,
    site: str | None = None,
) -> Table:
    """Read a workload file of any of the formats that `grid.logs.formats` knows.

    Parameters
    ----------
    path : path
        The file, plain or packed.
    clusters : sequence of str
        Names of the clusters of the platform.
    speed : float, optional
        Speed of a processor of rate 1, flop/s, for workloads that say what jobs compute.
    evaluate : callable, optional
        Takes the application, the processors and the problem size of a job that names them, and
        returns how long it runs on each cluster, s.
    kills : bool
        Jobs are killed at the requested time.
    computation_fraction, bisection_bandwidth
        What jobs communicate (`assign_communication`), unless columns of the file tell.
    only_recorded : bool
        Jobs of which the file does not tell how long they waited are left out.
    partition_field : int
        Field that names the partition of a record of SWF and GWF, from 1.
    partitions : mapping of str to str, optional
        Cluster of each partition, from which jobs then come (`assign_partitions`).
    site : str, optional
        Cluster that all its jobs are submitted at (`merge_sites`): those whose own origin is
        another are counted.

    Raises
    ------
    WorkloadError
        If neither the name nor the content tells a format, or the file cannot be used.
    """
    log = read(Path(path), None, clusters, speed, partition_field, foreign=site is not None)
    if partitions:
        log = assign_partitions(log, partitions, clusters)
    if evaluate is not None:
        log = log.evaluated(clusters, evaluate)
    if site is not None:
        log = count_elsewhere(log, site, clusters)
    table = log.cleaned(kills, only_recorded)
    if computation_fraction == 1 and bisection_bandwidth == 0:
        return table
    jobs = assign_communication(
        table.jobs, computation_fraction, bisection_bandwidth, table.communication
    )
    return replace(table, jobs=jobs)


def read_site_logs(
    paths: Mapping[str, str | os.PathLike[str]],
    clusters: Sequence[str],
    speed: float | None = None,
    evaluate: Evaluate | None = None,
    kills: bool = False,
    computation_fraction: float = 1.0,
    bisection_bandwidth: float = 0.0,
    only_recorded: bool = False,
    partition_field: int = PARTITION,
) -> Table:
    """Read one log a site and merge them (`merge_sites`).

    Parameters
    ----------
    paths : mapping of str to path
        The file of each cluster by its name.
    clusters : sequence of str
        Names of the clusters of the platform, in order.
    speed, evaluate, kills, computation_fraction, bisection_bandwidth
        As for `read_log`.
    only_recorded, partition_field
        As for `read_log`.

    Raises
    ------
    WorkloadError
        If a name is not that of a cluster or a file cannot be used.
    """
    logs = {}
    for name, path in paths.items():
        if name not in clusters:
            raise WorkloadError(
                f"workload {plain(name)}={os.fspath(path)}: unknown cluster; accepted: "
                + ", ".join(clusters)
            )
        logs[list(clusters).index(name)] = read_log(
            path,
            clusters,
            speed,
            evaluate,
            kills,
            computation_fraction,
            bisection_bandwidth,
            only_recorded,
            partition_field,
            site=name,
        )
    filed = file_together(logs.values())
    parts, times = stacked(
        [log.jobs for log in logs.values()], [log.times for log in logs.values()]
    )
    of_sites = dict(zip(logs, parts, strict=True))
    jobs = merge_sites(of_sites)
    numbers = {
        (what, site): RAISED.format(what=what, site=clusters[site], above=above)
        for what in ("user", "application")
        for site, above in raised(of_sites, what).items()
        if above and not (what == "application" and logs[site].applications)  # which have names
    }
    starts = {site: log.start for site, log in logs.items() if log.start is not None}
    together = {
        site: TOGETHER.format(site=clusters[site], first=clusters[first], later=_told(later))
        for site, (first, later) in begun_later(starts).items()
    }
    of_all = [log.applied for log in logs.values() if log.applied is not None]
    later = [float(log.jobs["arrival"][0] - jobs["arrival"][0]) for log in logs.values()]
    names = {site: clusters[site] for site in logs}
    applied = replace(merged(of_all, later, names), raised=numbers, together=together)
    machines = {clusters[site]: log.machine for site, log in logs.items()}
    size_notes = [
        log.size_note if len(logs) == 1 else f"{clusters[site]}: {log.size_note}"
        for site, log in logs.items()
        if log.size_note
    ]
    applications = {
        above + number: name
        for site, above in raised(of_sites, "application").items()
        for number, name in logs[site].applications.items()
    }
    return Table(
        jobs,
        applied.cleaning(jobs),
        max(machines.values()),
        start=starts.popitem()[1] if len(logs) == len(starts) == 1 else None,
        applied=applied,
        size_note="; ".join(size_notes),
        machines=machines,
        times=times,
        applications=applications,
        filed=filed,
    )


def _told(later: timedelta) -> str:
    """Return a time in its largest unit of which it is two or more.

    >>> _told(timedelta(days=1550, hours=15)), _told(timedelta(seconds=90))
    ('1,550.6 d', '90 s')
    """
    seconds = later.total_seconds()
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:g} s"

"""Logs of several sites as one workload."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np

from grid.errors import require
from grid.jobs import ANYWHERE, UNKNOWN, JobArray
from grid.logs.cleaning import ORIGIN
from grid.logs.log import Log
from grid.workloads.table import Table


def merge_sites(sites: Mapping[int, JobArray]) -> JobArray:
    """Return the jobs of all sites in order of arrival.

    The origin of each job is its site, and its times stay. Jobs of one instant come in the order of
    their sites' indices, then as in their log.

    Job numbers stay as they are, though two sites may use the same. Users and applications of
    different sites are never the same: those of each site follow on those of the one before.

    Parameters
    ----------
    sites : mapping of int to JobArray
        The jobs of each cluster by its index, in order of arrival; at least one job each.

    Raises
    ------
    WorkloadError
        If a site is missing or has no job.
    """
    require(bool(sites), "logs of sites", len(sites), "at least one")
    parts = []
    for index in sorted(sites):
        require(len(sites[index]) > 0, f"jobs of site {index}", 0, "at least one")
        part = sites[index].copy()
        part["origin"] = index
        parts.append(part)
    for name in ("user", "application"):
        for part, above in zip(parts, raised(sites, name).values(), strict=True):
            part[name][part[name] != UNKNOWN] += above
    jobs = np.concatenate(parts)
    return jobs[np.argsort(jobs["arrival"], kind="stable")]


def count_elsewhere(log: Log, site: str, clusters: Sequence[str]) -> Log:
    """Return a log with a rule for those of its jobs whose own origin is another site.

    Parameters
    ----------
    log : Log
    site : str
        The one that `merge_sites` has all jobs submitted at.
    clusters : sequence of str
        Names that origins are indices of.
    """
    if "origin" not in (log.records.dtype.names or ()):
        return log
    origin = log.records["origin"]
    other = (origin != ANYWHERE) & (origin != list(clusters).index(site))
    rule = ORIGIN.format(site=site)
    return replace(log, rules={**log.rules, rule: np.flatnonzero(log.usable & other)})


def raised(sites: Mapping[int, JobArray], name: str) -> dict[int, int]:
    """Return what is added to the users' or applications' numbers of each site.

    Parameters
    ----------
    sites : mapping of int to JobArray
        As for `merge_sites`.
    name : str
        ``user`` or ``application``.
    """
    found, above = {}, 0
    for index in sorted(sites):
        found[index] = above
        if (sites[index][name] != UNKNOWN).any():
            above += int(sites[index][name].max()) + 1
    return found


def begun_later(starts: Mapping[int, datetime]) -> dict[int, tuple[int, timedelta]]:
    """Return by how much logs began later than the earliest of them, and which that is.

    Parameters
    ----------
    starts : mapping of int to datetime
        When the first job of each site came, with a time zone.

    Examples
    --------
    >>> from datetime import UTC
    >>> begun_later({0: datetime(2003, 1, 2, tzinfo=UTC), 1: datetime(2003, 1, 1, tzinfo=UTC)})
    {0: (1, datetime.timedelta(days=1))}
    """
    first = min(starts, key=starts.__getitem__, default=0)
    return {
        site: (first, start - starts[first])
        for site, start in starts.items()
        if start != starts[first]
    }


def file_together(tables: Iterable[Table]) -> dict[str, tuple[str, ...]]:
    """Have equal names of what jobs are filed under be equal numbers in all tables; return them."""
    known: dict[str, dict[str, int]] = {}
    for table in tables:
        for name, texts in table.filed.items():
            places = known.setdefault(name, {})
            numbers = [places.setdefault(text, len(places)) for text in texts]
            table.jobs[name] = np.array([*numbers, UNKNOWN])[table.jobs[name]]
    return {name: tuple(places) for name, places in known.items()}

"""Partitions, or sites, of one log as clusters that its jobs were submitted through."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from grid.errors import WorkloadError
from grid.foreign import plain, quoted
from grid.jobs import ANYWHERE, JOB
from grid.logs.log import Log

LISTED = 8
"""Partitions that a message names, those with most jobs."""


class Partition(NamedTuple):
    """A partition of a log.

    Attributes
    ----------
    name : str
    jobs : int
        Records of it.
    largest : int
        Processors of the largest of these.
    """

    name: str
    jobs: int
    largest: int


def partitions_of(log: Log) -> list[Partition]:
    """Return the partitions that records of a log name, those with most jobs first."""
    if log.partition is None:
        return []
    # The last one is that of records without a partition, whose place is -1.
    jobs, largest = np.zeros((2, len(log.partitions) + 1), np.int64)
    np.add.at(jobs, log.partition, 1)
    np.maximum.at(largest, log.partition, log.sizes)
    found = map(Partition, log.partitions, jobs.tolist(), largest.tolist())
    return sorted(found, key=lambda each: -each.jobs)


def assign_partitions(log: Log, mapping: Mapping[str, str], clusters: Sequence[str]) -> Log:
    """Return a log whose jobs have the cluster of their partition as their origin.

    Parameters
    ----------
    log : Log
    mapping : mapping of str to str
        Name of the cluster of each partition, or of a range such as ``"1-99"`` of those whose names
        are whole numbers; a partition's own name goes before a range. Jobs of others have no
        origin.
    clusters : sequence of str
        Names of the clusters of the platform.

    Raises
    ------
    WorkloadError
        If the log has no such partition, two ranges hold the same one, or the platform has no such
        cluster.
    """
    there = partitions_of(log)
    ranges: dict[str, str] = {}
    for name, cluster in mapping.items():
        within = [] if name in log.partitions else _within(name, log.partitions)
        if name not in log.partitions and not within:
            accepted = (
                f"those of {log.path}: {_listed(there)}"
                if there
                else f"none, for {log.path} has none"
            )
            raise WorkloadError(f"partitions: found {quoted(name)}; accepted: {accepted}")
        for each in within:
            if each in ranges:
                raise WorkloadError(
                    f"partitions: {name}: found {quoted(each)} in another range too; accepted: "
                    "ranges that do not overlap"
                )
            ranges[each] = cluster
        if cluster not in clusters:
            raise WorkloadError(
                f"partitions: {name}: found {quoted(cluster)}; accepted: {', '.join(clusters)}"
            )
    assert log.partition is not None
    fields = [(name, log.records.dtype[name]) for name in log.records.dtype.names or ()]
    records = np.zeros(len(log.records), [*fields, ("origin", JOB["origin"])])
    for name, _ in fields:
        records[name] = log.records[name]
    # The last one is that of records without a partition.
    mapping = ranges | dict(mapping)
    homes = [mapping.get(name) for name in (*log.partitions, "")]
    records["origin"] = np.array(
        [ANYWHERE if home is None else list(clusters).index(home) for home in homes]
    )[log.partition]
    left = [plain(each.name) for each in there if each.name not in mapping]
    more = [f"{len(left) - LISTED} more"] if len(left) > LISTED else []
    told = f" ({', '.join([*left[:LISTED], *more])})" if left else ""
    elsewhere = np.flatnonzero(log.usable & (records["origin"] == ANYWHERE))
    rules = {**log.rules, f"partition of no cluster{told}: without an origin": elsewhere}
    return replace(log, records=records, rules=rules, sites=tuple(clusters))


def _within(text: str, names: Sequence[str]) -> list[str]:
    """Return those of the names that are whole numbers in a range, both of whose ends count.

    Examples
    --------
    >>> _within("2-10", ["1", "2", "10", "gpu"])
    ['2', '10']
    """
    ends = re.fullmatch(r"(\d{1,15})-(\d{1,15})", text, re.ASCII)
    if ends is None:
        return []
    low, high = int(ends[1]), int(ends[2])
    whole = (name for name in names if re.fullmatch(r"\d{1,15}", name, re.ASCII))
    return [name for name in whole if low <= int(name) <= high]


def _listed(partitions: Sequence[Partition]) -> str:
    more = len(partitions) - LISTED
    told = [f"{plain(each.name)} with {each.jobs:,} jobs" for each in partitions[:LISTED]]
    return ", ".join([*told, f"{more} more"] if more > 0 else told)

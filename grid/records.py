"""Records of jobs that left the grid: by cluster, summed, and as a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from grid.finished import Records
from grid.kernel.state import NONE
from grid.kernel.statistics import SLOWDOWN_BOUND
from grid.platform import Platform

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


def jobs_table(records: Records, platform: Platform) -> pd.DataFrame:
    """Return one row for each job that left, by arrival and then job number.

    Parameters
    ----------
    records : Records
        Of the run, in any order.
    platform : Platform
        Where it ran.

    Returns
    -------
    DataFrame
        job, arrival (s), size (processors), start, finish (s), placement (``C1:5``; co-allocated
        ``C1:5+C3:4``), cluster (name; empty if co-allocated), origin (name; empty if submitted
        to the global scheduler), execution_time, predicted_time, wait, turnaround (s),
        bounded_slowdown, deadline (s, absolute; inf without one), over_deadline (s), restarts. A
        rejected job has NaN for its times and an empty placement.
    """
    records = records[np.lexsort((records["number"], records["arrival"]))]
    names = np.array([*platform.names, ""], object)  # index -1 means no cluster: the last
    columns = {
        "job": records["number"],
        "arrival": records["arrival"],
        "size": records["size"],
        "start": records["start"],
        "finish": records["finish"],
        "placement": _placements(records, platform),
        "cluster": names[records["cluster"]],
        "origin": names[records["origin"]],
        "execution_time": records["execution_time"],
        "predicted_time": records["predicted_time"],
        "wait": records["start"] - records["arrival"],
        "turnaround": records["finish"] - records["arrival"],
        "bounded_slowdown": bounded_slowdown(records),
        "deadline": records["deadline"],
        "over_deadline": np.maximum(records["finish"] - records["deadline"], 0.0),
        "restarts": records["restarts"],
    }
    return pd.DataFrame(columns)


def _placements(records: Records, platform: Platform) -> npt.NDArray[np.object_]:
    """Return the placement of each job in words; each different part is put into words once."""
    clusters = len(platform.clusters)
    of_jobs = parts(records)
    kinds, kind = np.unique(of_jobs.processors * clusters + of_jobs.cluster, return_inverse=True)
    names = [f"{platform.names[each % clusters]}:{each // clusters}" for each in kinds.tolist()]
    words = np.array(names, object)[kind] if names else np.empty(0, object)
    text = np.full(len(records), "", object)
    jobs, first, lengths = np.unique(of_jobs.job, return_index=True, return_counts=True)
    text[jobs] = words[first]
    for index in np.flatnonzero(lengths > 1).tolist():
        text[jobs[index]] = "+".join(words[first[index] : first[index] + lengths[index]])
    return text


def bounded_slowdown(records: Records) -> Floats:
    """Return turnaround over run time, of at least `SLOWDOWN_BOUND` and never below 1."""
    turnaround = records["finish"] - records["arrival"]
    slowdown: Floats = turnaround / np.maximum(records["execution_time"], SLOWDOWN_BOUND)
    return np.maximum(slowdown, 1.0)


def completed(records: Records) -> Records:
    """Return the rows of the jobs that were not rejected."""
    done = ~np.isnan(records["start"])
    return records if done.all() else records[done]


class Parts(NamedTuple):
    """The parts of jobs on clusters, each of shape (parts,): whole jobs, then co-allocated ones."""

    job: Integers  # row of the job
    cluster: Integers
    processors: Integers


def parts(records: Records) -> Parts:
    """Return the parts of the completed jobs; those of one job follow each other by cluster."""
    whole = np.flatnonzero(records["cluster"] != NONE)
    split = np.flatnonzero(records["split"] != NONE)
    take = records.takes[records["split"][split]]
    row, cluster = np.nonzero(take)
    return Parts(
        np.concatenate([whole, split[row]]),
        np.concatenate([records["cluster"][whole], cluster]),
        np.concatenate([records["size"][whole], take[row, cluster]]),
    )


def by_cluster(done: Records, platform: Platform) -> Iterator[Records]:
    """Yield the completed jobs of each cluster; a co-allocated job is among those of several."""
    of_jobs = parts(done)
    job = of_jobs.job[np.argsort(of_jobs.cluster, kind="stable")]
    ends = np.cumsum(np.bincount(of_jobs.cluster, minlength=len(platform.clusters)))
    yield from map(done.__getitem__, np.split(job, ends[:-1]))


class Totals(NamedTuple):
    """Sums over the jobs of each group on each cluster, of shape (groups, clusters)."""

    jobs: Integers
    work: Floats  # processor-seconds
    over_deadline: Floats  # s
    first: Floats  # s, first start; 0 without jobs, as the last finish
    last: Floats  # s


def totals(done: Records, platform: Platform, group: Integers, groups: int) -> Totals:
    """Sum over completed jobs, of which each belongs to a group."""
    clusters = len(platform.clusters)
    of_jobs = parts(done)
    cell = group[of_jobs.job] * clusters + of_jobs.cluster
    shape = groups, clusters

    def total(values: Floats) -> Floats:
        return np.asarray(np.bincount(cell, values, groups * clusters), np.float64).reshape(shape)

    start, finish = done["start"][of_jobs.job], done["finish"][of_jobs.job]
    late = np.maximum(finish - done["deadline"][of_jobs.job], 0.0)
    jobs = np.bincount(cell, minlength=groups * clusters).reshape(shape)
    first, last = np.full(shape, np.inf), np.full(shape, -np.inf)
    np.minimum.at(first.reshape(-1), cell, start)
    np.maximum.at(last.reshape(-1), cell, finish)
    return Totals(
        jobs,
        total((finish - start) * of_jobs.processors),
        total(late),
        np.where(jobs > 0, first, 0.0),
        np.where(jobs > 0, last, 0.0),
    )


def idle_totals(makespans: Floats, work: Floats, platform: Platform) -> Floats:
    """Return the total idle-time of clusters, processor-seconds; rounding makes none negative."""
    return np.maximum(platform.sizes * makespans - work, 0.0)

"""What a run came to: its jobs as a table, and the numbers by which schedules are judged.

Everything is worked out from the records of the jobs that left (`finished_dtype`). Rejected jobs
count nowhere but in the table. A co-allocated job counts for each cluster that it used, with its
processors there. A number that nothing defines, such as the mean wait of no jobs, is None.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from grid.performance import Weights, check_idle, combine
from grid.platform import Platform

Records = npt.NDArray[np.void]
"""A row for each job that left, of dtype `grid.kernel.state.finished_dtype`."""

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

SLOWDOWN_BOUND = 10.0
"""Shorter jobs count as this long in the bounded slowdown, s."""


# Jobs ---------------------------------------------------------------------------------------------


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
        to the global scheduler), execution_time, wait, turnaround (s), bounded_slowdown, deadline
        (s, absolute; inf without one), over_deadline (s), restarts. A rejected job has NaN for
        its times and an empty placement.
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
        "wait": records["start"] - records["arrival"],
        "turnaround": records["finish"] - records["arrival"],
        "bounded_slowdown": _bounded_slowdown(records),
        "deadline": records["deadline"],
        "over_deadline": np.maximum(records["finish"] - records["deadline"], 0.0),
        "restarts": records["restarts"],
    }
    return pd.DataFrame(columns)


class _Parts(NamedTuple):
    """The parts of jobs on clusters, each of shape (parts,): whole jobs, then co-allocated ones."""

    job: Integers  # row of the job
    cluster: Integers
    processors: Integers


def _parts(records: Records, clusters: int) -> _Parts:
    """Return the parts of the completed jobs; those of one job follow each other by cluster."""
    alone = records["cluster"] >= 0
    whole = np.flatnonzero(alone)
    # A row's `take` means something only if its job ran on several clusters.
    split = np.flatnonzero(~alone & ~np.isnan(records["start"]))
    take = records["take"][split, :clusters]
    row, cluster = np.nonzero(take)
    return _Parts(
        np.concatenate([whole, split[row]]),
        np.concatenate([records["cluster"][whole], cluster]),
        np.concatenate([records["size"][whole], take[row, cluster]]),
    )


def _placements(records: Records, platform: Platform) -> npt.NDArray[np.object_]:
    """Return the placement of each job in words; each different part is put into words once."""
    clusters = len(platform.clusters)
    parts = _parts(records, clusters)
    kinds, kind = np.unique(parts.processors * clusters + parts.cluster, return_inverse=True)
    names = [f"{platform.names[each % clusters]}:{each // clusters}" for each in kinds.tolist()]
    words = np.array(names, object)[kind] if names else np.empty(0, object)
    text = np.full(len(records), "", object)
    jobs, first, lengths = np.unique(parts.job, return_index=True, return_counts=True)
    text[jobs] = words[first]
    for index in np.flatnonzero(lengths > 1).tolist():
        text[jobs[index]] = "+".join(words[first[index] : first[index] + lengths[index]])
    return text


def _bounded_slowdown(records: Records) -> Floats:
    turnaround = records["finish"] - records["arrival"]
    slowdown: Floats = turnaround / np.maximum(records["execution_time"], SLOWDOWN_BOUND)
    return np.maximum(slowdown, 1.0)


def _completed(records: Records) -> Records:
    done = ~np.isnan(records["start"])
    return records if done.all() else records[done]


# Numbers of a run ---------------------------------------------------------------------------------


def job_metrics(records: Records, platform: Platform) -> dict[str, float | None]:
    """Return the numbers of a whole run.

    Parameters
    ----------
    records : Records
        Of the run, in any order.
    platform : Platform
        Where it ran.

    Returns
    -------
    dict
        Of the completed jobs:

        - mean_wait, p95_wait, max_wait: from arrival to (last) start, s;
        - mean_turnaround: from arrival to finish, s;
        - mean_bounded_slowdown, p95_bounded_slowdown: of max(1, turnaround / max(execution time,
          10 s)), with the execution time that the job has where its links are not shared;
        - over_deadline: time after the deadline, s, summed over the jobs;
        - deadlines_met: share of the jobs with a deadline that finished by it;
        - makespan: from the first start to the last finish, s (`muscle`, section 1);
        - work: processor-seconds from (last) start to finish;
        - idle_time_total: all processors x makespan - work, processor-seconds;
        - idle_time_mean: the same per processor, s;
        - utilization: work over all processors x (last finish - first arrival);
        - throughput: jobs per second from the first arrival to the last finish.
    """
    done = _completed(records)
    if not len(done):
        return dict.fromkeys(_METRICS) | {"over_deadline": 0.0, "work": 0.0}
    processors = int(platform.sizes.sum())
    wait = done["start"] - done["arrival"]
    slowdown = _bounded_slowdown(done)
    late = np.maximum(done["finish"] - done["deadline"], 0.0)
    bound = done["deadline"] < np.inf
    makespan = float(done["finish"].max() - done["start"].min())
    work = float(((done["finish"] - done["start"]) * done["size"]).sum())
    idle = max(0.0, processors * makespan - work)
    span = _span(done)
    values = (
        float(wait.mean()),
        float(np.percentile(wait, 95)),
        float(wait.max()),
        float((done["finish"] - done["arrival"]).mean()),
        float(slowdown.mean()),
        float(np.percentile(slowdown, 95)),
        float(late.sum()),
        _ratio((late[bound] == 0).sum(), bound.sum()),
        makespan,
        work,
        idle,
        idle / processors,
        _ratio(work, processors * span),
        _ratio(len(done), span),
    )
    return dict(zip(_METRICS, values, strict=True))


_METRICS = (
    "mean_wait",
    "p95_wait",
    "max_wait",
    "mean_turnaround",
    "mean_bounded_slowdown",
    "p95_bounded_slowdown",
    "over_deadline",
    "deadlines_met",
    "makespan",
    "work",
    "idle_time_total",
    "idle_time_mean",
    "utilization",
    "throughput",
)


def cluster_metrics(records: Records, platform: Platform) -> list[dict[str, Any]]:
    """Return the numbers of a whole run for each cluster, in the platform's order.

    Parameters
    ----------
    records : Records
        Of the run, in any order.
    platform : Platform
        Where it ran.

    Returns
    -------
    list of dict
        name, size, rate, jobs, mean_wait, over_deadline, makespan, work, idle_time_total,
        idle_time_mean, utilization: as in `job_metrics`, of the jobs, processors, first start and
        last finish of the cluster. The time of its utilization is the whole grid's, so that the
        mean of all clusters, weighted by size, is the grid's own.
    """
    done = _completed(records)
    totals = _totals(done, platform, np.zeros(len(done), np.int64), 1)
    span = _span(done)
    makespans = (totals.last - totals.first)[0]
    idle = _idle(makespans, totals.work[0], platform)
    rows = []
    for index, cluster in enumerate(platform.clusters):
        jobs, work = int(totals.jobs[0, index]), float(totals.work[0, index])
        ran = jobs > 0
        rows.append(
            {
                "name": cluster.name,
                "size": cluster.size,
                "rate": cluster.rate,
                "jobs": jobs,
                "mean_wait": _ratio(totals.wait[0, index], jobs),
                "over_deadline": float(totals.over_deadline[0, index]),
                "makespan": float(makespans[index]) if ran else None,
                "work": work,
                "idle_time_total": float(idle[index]) if ran else None,
                "idle_time_mean": float(idle[index]) / cluster.size if ran else None,
                "utilization": _ratio(work, cluster.size * span),
            }
        )
    return rows


def _span(done: Records) -> float:
    """Return the time from the first arrival to the last finish, s."""
    return float(done["finish"].max() - done["arrival"].min()) if len(done) else 0.0


def _ratio(part: float, whole: float) -> float | None:
    return float(part / whole) if whole > 0 else None


# Comprehensive performance ------------------------------------------------------------------------


class Rounds(NamedTuple):
    """The performance of each round of a run.

    Attributes
    ----------
    dispatched : array, shape (rounds,)
        When, s.
    jobs : array, shape (rounds, clusters)
        Jobs of the round that each cluster ran.
    cps : array, shape (rounds, clusters)
        CP of each cluster, s (`muscle`, eq. 1): 0 without jobs, NaN if it is not known.
    """

    dispatched: Floats
    jobs: Integers
    cps: Floats

    def mcp(self) -> Floats:
        """Return MCP of each round (`muscle`, eq. 7), shape (rounds,); NaN if a CP is."""
        total = self.jobs.sum(axis=1)
        mean: Floats = (self.cps * self.jobs).sum(axis=1) / np.maximum(total, 1)
        return mean

    def pb(self) -> Floats:
        """Return PB of each round (`muscle`, eq. 8), shape (rounds,); NaN if a CP is."""
        squares = (self.cps - self.mcp()[:, None]) ** 2
        spread: Floats = np.sqrt(squares.sum(axis=1) / max(self.cps.shape[1] - 1, 1))
        return spread if self.cps.shape[1] > 1 else np.zeros(len(spread))


def round_performance(
    records: Records, platform: Platform, weights: Sequence[Weights], idle: str
) -> Rounds:
    """Return the realised performance of each round of a run in mode `batch`.

    All jobs of a round arrive at the instant of its dispatch, when the clusters are idle: so a
    round is the completed jobs of one arrival time. Over-deadline, makespan and idle-time of each
    cluster count from the dispatch to the cluster's last finish.

    Parameters
    ----------
    records : Records
        Of complete rounds, in any order.
    platform : Platform
        Where they ran.
    weights : sequence of Weights, one for each cluster
    idle : {"total", "mean"}
        Reading of idle-time.

    Raises
    ------
    GridError
        For an unknown `idle`.
    """
    done = _completed(records)
    dispatched, group = np.unique(done["arrival"], return_inverse=True)
    totals = _totals(done, platform, group, len(dispatched))
    makespans = np.where(totals.jobs > 0, totals.last - dispatched[:, None], 0.0)
    return Rounds(dispatched, totals.jobs, _cps(totals, makespans, platform, weights, idle))


def run_performance(
    records: Records, platform: Platform, weights: Sequence[Weights], idle: str
) -> Rounds:
    """Return the performance of a whole run as one round; no round if no job was completed.

    The makespan of each cluster is that of `cluster_metrics`, from its own first start.

    Parameters
    ----------
    records, platform, weights, idle
        As for `round_performance`.

    Raises
    ------
    GridError
        For an unknown `idle`.
    """
    done = _completed(records)
    dispatched = done["arrival"].min(keepdims=True) if len(done) else done["arrival"]
    totals = _totals(done, platform, np.zeros(len(done), np.int64), len(dispatched))
    makespans = totals.last - totals.first
    return Rounds(dispatched, totals.jobs, _cps(totals, makespans, platform, weights, idle))


class _Totals(NamedTuple):
    """Sums over the jobs of each group on each cluster, of shape (groups, clusters)."""

    jobs: Integers
    work: Floats  # processor-seconds
    wait: Floats  # s
    over_deadline: Floats  # s
    first: Floats  # s, first start; 0 without jobs, as the last finish
    last: Floats  # s


def _totals(done: Records, platform: Platform, group: Integers, groups: int) -> _Totals:
    """Sum over completed jobs, of which each belongs to a group."""
    clusters = len(platform.clusters)
    parts = _parts(done, clusters)
    cell = group[parts.job] * clusters + parts.cluster
    shape = groups, clusters

    def total(values: Floats) -> Floats:
        return np.asarray(np.bincount(cell, values, groups * clusters), np.float64).reshape(shape)

    start, finish = done["start"][parts.job], done["finish"][parts.job]
    late = np.maximum(finish - done["deadline"][parts.job], 0.0)
    jobs = np.bincount(cell, minlength=groups * clusters).reshape(shape)
    first, last = np.full(shape, np.inf), np.full(shape, -np.inf)
    np.minimum.at(first.reshape(-1), cell, start)
    np.maximum.at(last.reshape(-1), cell, finish)
    return _Totals(
        jobs,
        total((finish - start) * parts.processors),
        total(start - done["arrival"][parts.job]),
        total(late),
        np.where(jobs > 0, first, 0.0),
        np.where(jobs > 0, last, 0.0),
    )


def _idle(makespans: Floats, work: Floats, platform: Platform) -> Floats:
    """Return the total idle-time of clusters, processor-seconds; rounding makes none negative."""
    return np.maximum(platform.sizes * makespans - work, 0.0)


def _cps(
    totals: _Totals, makespans: Floats, platform: Platform, weights: Sequence[Weights], idle: str
) -> Floats:
    check_idle(idle)
    idle_times = _idle(makespans, totals.work, platform)
    if idle == "mean":
        idle_times = idle_times / platform.sizes
    by_metric = np.array(weights, np.float64).T
    cps: Floats = combine.py_func(totals.over_deadline, makespans, idle_times, by_metric)
    return cps

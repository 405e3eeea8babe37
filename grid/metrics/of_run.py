"""What a run came to: the numbers by which schedules are judged.

Everything is worked out from sums over the jobs that left (`grid.metrics.job_totals`). Rejected
jobs count nowhere but in the run's `deadlines_met`: who rejects a job does not meet its deadline.
Those of a warm-up do not count at all. A co-allocated job counts for each cluster that it
used, with its processors there. A number that nothing defines, such as the mean wait of no jobs,
is None.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from grid.metrics.job_totals import Tally
from grid.world.statistics import means


def job_metrics(tally: Tally) -> dict[str, float | None]:
    """Return the numbers of a whole run.

    Parameters
    ----------
    tally : Tally
        Of all jobs that left, in one group.

    Returns
    -------
    dict
        Of the completed jobs that count:

        - mean_wait, p95_wait, max_wait: from arrival to (last) start, s;
        - mean_turnaround: from arrival to finish, s;
        - mean_bounded_slowdown, p95_bounded_slowdown: of max(1, turnaround / max(execution time,
          10 s)), with the execution time that the job has where its links are not shared and its
          data are there;
        - over_deadline: time after the deadline, s, summed over the jobs; None if none has one;
        - deadlines_met: share of the jobs with a deadline, rejected ones among them, that finished
          by it;
        - mean_prediction_error: of abs(predicted - actual) / actual execution time, where links are
          not shared; a job that takes no time counts for nothing;
        - prediction_accuracy: mean of the smaller over the larger of the two, 1 if all are exact;
        - makespan: from the first start to the last finish, s (`muscle`, section 1);
        - work: processor-seconds from (last) start to finish;
        - idle_time_total: all processors x makespan - work, processor-seconds;
        - idle_time_mean: the same per processor, s;
        - coallocated: share of the jobs that ran on several clusters;
        - mean_penalty: mean of actual over dedicated execution time of those (`beosim`, 4.2),
          staging apart, but for jobs that take no time; None if no job was split, 1 if those
          that were take no time;
        - migrated: share of the jobs that ran elsewhere than on the cluster they were submitted
          through, wholly or in part; None if none was submitted through one;
        - mean_staging: of the execution time of those, what they waited for their data, s;
        - utilization: work of any completed jobs over all processors, from the first arrival of
          these, or the first after the warm-up, to the last finish of any; what failures threw
          away is no work, nor what jobs do that have not finished, and processors that are down
          count;
        - throughput: jobs per second from the first of their arrivals to the last finish;
        - gini_wait, gini_slowdown: Gini coefficients (`grid.metrics.fairness.gini`) of the mean
          wait and of the mean bounded slowdown of each user; None if no job names its user.

        Percentiles are exact up to `grid.metrics.percentiles.EXACT` jobs, and within
        `grid.metrics.percentiles.ERROR` beyond.
    """
    sums = tally.grid[0]
    processors = int(tally.platform.sizes.sum())
    numbers = _service(sums) | _usage(sums, processors, _length(tally))
    numbers["deadlines_met"] = _ratio(sums["met"], sums["due"] + sums["due_rejected"])
    of_all = means(sums)
    return numbers | {
        "coallocated": of_all["coallocated"],
        "mean_penalty": of_all["mean_penalty"] if of_all["coallocated"] else None,
        "migrated": _ratio(sums["migrated"], sums["of_clusters"]),
        "mean_staging": _ratio(sums["staging"], sums["migrated"]),
        "p95_wait": tally.wait.at(95),
        "p95_bounded_slowdown": tally.bounded_slowdown.at(95),
        "throughput": _ratio(sums["jobs"], sums["last_finish"] - sums["first_arrival"]),
        "gini_wait": tally.users.gini("wait"),
        "gini_slowdown": tally.users.gini("bounded_slowdown"),
    }


def _service(sums: Any) -> dict[str, float | None]:
    """Return how completed jobs were served, of the grid or of one cluster."""
    of_jobs = means(sums)
    return {
        "mean_wait": of_jobs["mean_wait"],
        "max_wait": float(sums["max_wait"]) if sums["jobs"] else None,
        "mean_turnaround": of_jobs["mean_turnaround"],
        "mean_bounded_slowdown": of_jobs["mean_bounded_slowdown"],
        "over_deadline": float(sums["over_deadline"]) if sums["due"] else None,
        "deadlines_met": _ratio(sums["met"], sums["due"]),
        "mean_prediction_error": _ratio(sums["prediction_error"], sums["timed"]),
        "prediction_accuracy": _ratio(sums["prediction_accuracy"], sums["timed"]),
    }


def _usage(sums: Any, processors: int, period: float) -> dict[str, float | None]:
    """Return how processors were used, of the grid or of one cluster, in a period of time (s)."""
    makespan, work = float(sums["last_finish"] - sums["first_start"]), float(sums["work"])
    idle = max(0.0, processors * makespan - work)  # rounding makes it no less
    ran = sums["jobs"] > 0
    return {
        "makespan": makespan if ran else None,
        "work": work,
        "idle_time_total": idle if ran else None,
        "idle_time_mean": idle / processors if ran else None,
        "utilization": _ratio(sums["held"], processors * period),
    }


def cluster_metrics(tally: Tally) -> list[dict[str, Any]]:
    """Return the numbers of a whole run for each cluster, in the platform's order.

    Parameters
    ----------
    tally : Tally
        Of all jobs that left, in one group.

    Returns
    -------
    list of dict
        name, size, rate, jobs, mean_wait, max_wait, mean_turnaround, mean_bounded_slowdown,
        over_deadline, deadlines_met, mean_prediction_error, prediction_accuracy, makespan, work,
        idle_time_total, idle_time_mean, utilization: as in `job_metrics`, of the jobs, processors,
        first start and last finish of the cluster.
        The time of its utilization is the whole grid's, so that the mean of all clusters, weighted
        by size, is the grid's own.
    """
    return [
        {
            "name": cluster.name,
            "size": cluster.size,
            "rate": cluster.rate,
            "jobs": int(sums["jobs"]),
            **_service(sums),
            **_usage(sums, cluster.size, _length(tally)),
        }
        for cluster, sums in zip(tally.platform.clusters, tally.clusters[0], strict=True)
    ]


def origin_metrics(tally: Tally) -> list[dict[str, Any]]:
    """Return the numbers of a whole run by the cluster that jobs were submitted through.

    Parameters
    ----------
    tally : Tally
        Of all jobs that left.

    Returns
    -------
    list of dict
        name (that of the cluster; "" of the grid as a whole), jobs, mean_wait, max_wait,
        mean_turnaround, mean_bounded_slowdown, over_deadline, deadlines_met,
        mean_prediction_error, prediction_accuracy, rejected, migrated: as in `job_metrics`, of the
        jobs submitted there, wherever they ran. In the platform's order, without those of which no
        job counts; none at all if no job that counts has an origin.
    """
    names = [*tally.platform.names, ""]
    rows = [
        {
            **_of_jobs(name, sums),
            "rejected": int(sums["rejected"]),
            "migrated": _ratio(sums["migrated"], sums["of_clusters"]),
        }
        for name, sums in zip(names, tally.origins, strict=True)
        if sums["jobs"] or sums["rejected"]
    ]
    return rows if any(row["name"] for row in rows) else []


def class_metrics(tally: Tally, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return the numbers of a whole run for each service class.

    Parameters
    ----------
    tally : Tally
        Of all jobs that left, those of each class in a group.
    names : sequence of str
        Of the classes.

    Returns
    -------
    list of dict
        name, jobs, mean_wait, max_wait, mean_turnaround, mean_bounded_slowdown, over_deadline,
        deadlines_met, mean_prediction_error, prediction_accuracy: as in `job_metrics`, of the jobs
        of the class.
    """
    return [_of_jobs(name, sums) for name, sums in zip(names, tally.grid, strict=True)]


def _of_jobs(name: str, sums: Any) -> dict[str, Any]:
    """Return the numbers of some jobs, to whom those that were rejected belong."""
    return {
        "name": name,
        "jobs": int(sums["jobs"]),
        **_service(sums),
        "deadlines_met": _ratio(sums["met"], sums["due"] + sums["due_rejected"]),
    }


def application_metrics(tally: Tally, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return how good predictions were for each application, those with the most jobs first.

    Parameters
    ----------
    tally : Tally
        Of all jobs that left, those of each application in a group.
    names : sequence of str
        Of the applications.

    Returns
    -------
    list of dict
        name, jobs, mean_prediction_error, prediction_accuracy: as in `job_metrics`, of the jobs of
        the application; without those of which no job has ended.
    """
    rows = [
        {
            "name": name,
            "jobs": int(sums["jobs"]),
            "mean_prediction_error": _ratio(sums["prediction_error"], sums["timed"]),
            "prediction_accuracy": _ratio(sums["prediction_accuracy"], sums["timed"]),
        }
        for name, sums in zip(names, tally.grid, strict=True)
        if sums["jobs"]
    ]
    return sorted(rows, key=lambda row: -row["jobs"])


def period(tally: Tally) -> tuple[float, float]:
    """Return from when to when a run is judged: from the first arrival of a completed job, s.

    Or from the first arrival after the warm-up, if there is one, completed or not; to the last
    finish.
    """
    sums, begun = tally.grid[0], tally.counted_from
    begin = sums["first_arrival"] if begun == -math.inf else begun
    return float(begin), float(sums["ended"])


def _length(tally: Tally) -> float:
    """Return how long that is, s."""
    begin, end = period(tally)
    return end - begin


def _ratio(part: float, whole: float) -> float | None:
    return float(part / whole) if 0 < whole < math.inf else None

"""What a run came to: its jobs as a table, and the numbers by which schedules are judged.

Everything is worked out from the records of the jobs that left (`grid.finished`). Rejected jobs
count nowhere but in the table. A co-allocated job counts for each cluster that it used, with its
processors there. A number that nothing defines, such as the mean wait of no jobs, is None.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from grid.finished import Records
from grid.jobs import ANYWHERE
from grid.kernel.state import NONE
from grid.platform import Platform
from grid.records import bounded_slowdown, by_cluster, completed, idle_totals, totals


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
        - mean_prediction_error: of |predicted - actual| / actual execution time, where links are
          not shared;
        - prediction_accuracy: mean of the smaller over the larger of the two, 1 if all are exact;
        - makespan: from the first start to the last finish, s (`muscle`, section 1);
        - work: processor-seconds from (last) start to finish;
        - idle_time_total: all processors x makespan - work, processor-seconds;
        - idle_time_mean: the same per processor, s;
        - coallocated: share of the jobs that ran on several clusters;
        - mean_penalty: mean of actual over dedicated execution time of those (`beosim`, 4.2),
          staging apart, 1 if there are none;
        - migrated: share of the jobs that ran elsewhere than on the cluster they were submitted
          through, wholly or in part; None if none was submitted through one;
        - mean_staging: of the execution time of those, what they waited for their data, s;
        - utilization: work over all processors x (last finish - first arrival); what failures
          threw away is no work, and processors that are down count;
        - throughput: jobs per second from the first arrival to the last finish.
    """
    done = completed(records)
    numbers = _service(done) | _coallocation(done) | _migration(done)
    if not len(done):
        return numbers | dict.fromkeys(_OF_THE_GRID) | {"work": 0.0}
    processors = int(platform.sizes.sum())
    makespan = float(done["finish"].max() - done["start"].min())
    work = float(((done["finish"] - done["start"]) * done["size"]).sum())
    idle = max(0.0, processors * makespan - work)
    span = _span(done)
    values = (
        float(np.percentile(done["start"] - done["arrival"], 95)),
        float(np.percentile(bounded_slowdown(done), 95)),
        makespan,
        work,
        idle,
        idle / processors,
        _ratio(work, processors * span),
        _ratio(len(done), span),
    )
    return numbers | dict(zip(_OF_THE_GRID, values, strict=True))


_OF_THE_GRID = (
    "p95_wait",
    "p95_bounded_slowdown",
    "makespan",
    "work",
    "idle_time_total",
    "idle_time_mean",
    "utilization",
    "throughput",
)


def _service(done: Records) -> dict[str, float | None]:
    """Return how completed jobs were served, of the grid or of one cluster."""
    wait = done["start"] - done["arrival"]
    late = np.maximum(done["finish"] - done["deadline"], 0.0)
    bound = done["deadline"] < np.inf
    return {
        "mean_wait": _ratio(wait.sum(), len(done)),
        "max_wait": float(wait.max()) if len(done) else None,
        "mean_turnaround": _ratio((done["finish"] - done["arrival"]).sum(), len(done)),
        "mean_bounded_slowdown": _ratio(bounded_slowdown(done).sum(), len(done)),
        "over_deadline": float(late.sum()),
        "deadlines_met": _ratio((late[bound] == 0).sum(), bound.sum()),
        **_prediction(done),
    }


def _coallocation(done: Records) -> dict[str, float | None]:
    """Return how many jobs were split, and what that cost them; no time costs nothing."""
    split = done[done["split"] != NONE]
    timed = split[split["execution_time"] > split["staging"]]
    staging = timed["staging"]
    actual = timed["finish"] - timed["start"] - staging
    penalties = actual / (timed["execution_time"] - staging)
    return {
        "coallocated": _ratio(len(split), len(done)),
        "mean_penalty": float(penalties.mean()) if len(timed) else 1.0,
    }


def _migration(done: Records) -> dict[str, float | None]:
    """Return how many jobs with an origin ran elsewhere, and how long their data took."""
    of_clusters = done[done["origin"] != ANYWHERE]
    migrated = of_clusters[of_clusters["cluster"] != of_clusters["origin"]]
    return {
        "migrated": _ratio(len(migrated), len(of_clusters)),
        "mean_staging": _ratio(migrated["staging"].sum(), len(migrated)),
    }


def _prediction(done: Records) -> dict[str, float | None]:
    """Return how good predictions were; a job that takes no time counts for nothing."""
    timed = done[done["execution_time"] > 0]
    predicted, actual = timed["predicted_time"], timed["execution_time"]
    lesser, greater = np.minimum(predicted, actual), np.maximum(predicted, actual)
    return {
        "mean_prediction_error": _ratio(((greater - lesser) / actual).sum(), len(timed)),
        "prediction_accuracy": _ratio((lesser / greater).sum(), len(timed)),
    }


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
        name, size, rate, jobs, mean_wait, max_wait, mean_turnaround, mean_bounded_slowdown,
        over_deadline, deadlines_met, mean_prediction_error, prediction_accuracy, makespan, work,
        idle_time_total, idle_time_mean, utilization: as in `job_metrics`, of the jobs, processors,
        first start and last finish of the cluster.
        The time of its utilization is the whole grid's, so that the mean of all clusters, weighted
        by size, is the grid's own.
    """
    done = completed(records)
    sums = totals(done, platform, np.zeros(len(done), np.int64), 1)
    span = _span(done)
    makespans = (sums.last - sums.first)[0]
    idle = idle_totals(makespans, sums.work[0], platform)
    rows = []
    served = map(_service, by_cluster(done, platform))
    for index, (cluster, service) in enumerate(zip(platform.clusters, served, strict=True)):
        jobs, work = int(sums.jobs[0, index]), float(sums.work[0, index])
        ran = jobs > 0
        rows.append(
            {
                "name": cluster.name,
                "size": cluster.size,
                "rate": cluster.rate,
                "jobs": jobs,
                **service,
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

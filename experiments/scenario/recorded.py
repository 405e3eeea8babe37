"""Jobs that start when they did in truth, and the platform that has room for them then."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from agents.disciplines import RecordedScheduler
from agents.schedulers import GlobalScheduler, LocalScheduler
from experiments.scenario.parameters import Parameters
from experiments.show.numbers import counted
from grid.errors import WorkloadError, require
from grid.jobs import ANYWHERE, JobArray
from grid.platform.multicluster import MAX_SIZE, Platform
from grid.workloads.execution_times import ExecutionTimes
from grid.workloads.source import Workload
from grid.workloads.synthetic import BatchWorkload
from grid.workloads.table import Table


def chosen(policies: Iterable[type[LocalScheduler]]) -> dict[str, bool]:
    """Return what parameters of logs have to be where one of some local schedulers is as it was."""
    recorded = any(issubclass(each, RecordedScheduler) for each in policies)
    return {"only_recorded": True} if recorded else {}


def as_it_was(
    workload: Workload | BatchWorkload,
    platform: Platform,
    parameters: Parameters,
    policy: type[GlobalScheduler],
) -> tuple[Table, Platform]:
    """Return jobs that start when they did in truth, and a platform that has room for them then.

    Logs may have more processors in use at an instant than their machine has, such as where its
    clock is coarse. Then a cluster is given those, and the table says so.

    Raises
    ------
    WorkloadError
        If they cannot have started so: what is run differs from what was recorded.
    """
    several = len(platform.clusters) > 1
    if not isinstance(workload, Table) or (workload.jobs["recorded_wait"] < 0).any():
        raise WorkloadError("workload: synthetic; accepted: a log, under local scheduler recorded")
    if several and not policy.stays_home:
        raise WorkloadError(
            "local scheduler recorded: found several clusters; accepted: global scheduler home, "
            "for jobs ran where the log says"
        )
    changing = bool(platform.changes) or parameters.mean_up_time > 0
    where = "local scheduler recorded"
    for name, found, wanted in (
        ("load_factor", parameters.load_factor, 1.0),
        ("latency", parameters.latency, 0.0),
    ):
        require(found == wanted, name, found, f"{wanted:g}, under {where}")
    if changing:
        raise WorkloadError(f"changes of the platform: found some; accepted: none, under {where}")
    jobs = workload.jobs
    if several and (jobs["origin"] == ANYWHERE).any():
        raise WorkloadError(
            f"{where}: found {counted(int((jobs['origin'] == ANYWHERE).sum()), 'job')} without an "
            "origin; accepted: jobs of which the log says where they ran"
        )
    cluster = jobs["origin"] if several else np.zeros(len(jobs), int)
    tables, raised = platform.to_dict(), {}
    for index, (name, size) in enumerate(zip(platform.names, platform.sizes.tolist(), strict=True)):
        of = jobs[cluster == index]
        early, most = beyond(of, _times(of, workload.times, index, platform.rates[index]), size)
        if not early:
            continue
        in_use = f"{where}: processors of {name} in use at once"
        require(most <= MAX_SIZE, in_use, most, f"at most {MAX_SIZE}")
        tables["clusters"][index]["size"] = most
        raised[name] = early, size, most
    if not raised:
        return workload, platform
    whole = Platform.from_dict(tables)
    larger = dataclasses.replace(whole, speed=platform.speed, notes=platform.notes)
    return dataclasses.replace(workload, raised=raised), larger


def beyond(jobs: JobArray, times: npt.NDArray[np.float64], size: int) -> tuple[int, int]:
    """Return how many jobs begin while more processors are in use than a machine has, and the most.

    Parameters
    ----------
    jobs : JobArray
        All that run there, whose waits are known.
    times : float array
        How long each runs, s.
    size : int
        Processors of the machine.

    Examples
    --------
    >>> from grid.jobs import job_table
    >>> jobs = job_table(3)
    >>> jobs["arrival"], jobs["recorded_wait"], jobs["size"] = [0, 1, 2], [0, 9, 3], 4
    >>> beyond(jobs, np.array([10.0, 10.0, 10.0]), 8)
    (0, 8)
    >>> beyond(jobs, np.array([11.0, 10.0, 10.0]), 8)
    (1, 12)
    """
    if not len(jobs):
        return 0, 0
    start = jobs["arrival"] + jobs["recorded_wait"]
    at = np.concatenate((start, start + times))
    change = np.concatenate((jobs["size"], -jobs["size"]))
    order = np.lexsort((change, at))  # ends first, as in a run
    busy = np.cumsum(change[order])
    begins = change[order] > 0
    return int((busy[begins] > size).sum()), int(busy.max())


def _times(
    jobs: JobArray, times: ExecutionTimes | None, cluster: int, rate: float
) -> npt.NDArray[np.float64]:
    """Return how long jobs run on a cluster, s."""
    by_rate: npt.NDArray[np.float64] = jobs["runtime"] / rate
    row = jobs["times_row"]
    if times is None:
        return by_rate
    return np.where(row < 0, by_rate, times.seconds[np.maximum(row, 0), cluster])

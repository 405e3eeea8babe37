"""Jobs that start when they did in truth, and the platform that has room for them then."""

from __future__ import annotations

import dataclasses
import json
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

ROUNDING = 1e-6
"""Time by which a job may end after another begins on its processors, s: as sums are rounded."""

BEGAN_BEYOND = (
    "began while more than the {size:,} processors of {cluster} were in use, with theirs: "
    "{cluster} is given the most that were, {most:,}"
)

Pair = tuple[type[GlobalScheduler], type[LocalScheduler]]


def chosen(policies: Iterable[Pair]) -> dict[str, bool]:
    """Return what parameters of logs have to be where jobs of some policies start as recorded."""
    recorded = any(
        issubclass(local, RecordedScheduler) and not policy.starts_jobs
        for policy, local in policies
    )
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
    where = "local scheduler recorded"
    for name, found, wanted in (
        ("load_factor", parameters.load_factor, 1.0),
        ("latency", parameters.latency, 0.0),
        ("kill_at_request", parameters.kill_at_request, False),
        ("mean_up_time", parameters.mean_up_time, 0),
    ):
        require(found == wanted, name, found, f"{json.dumps(wanted)}, under {where}")
    if platform.changes:
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
        times = _times(of, workload.times, index, platform.rates[index])
        if workload.times is None or parameters.speeds:
            _check_times(of, times, name)
        early, most = beyond(of, times, size)
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
    rules = {
        BEGAN_BEYOND.format(cluster=name, size=size, most=most): jobs_
        for name, (jobs_, size, most) in raised.items()
    }
    cleaning = dataclasses.replace(workload.cleaning, rules=workload.cleaning.rules | rules)
    return dataclasses.replace(workload, raised=raised, cleaning=cleaning), larger


def beyond(jobs: JobArray, times: npt.NDArray[np.float64], size: int) -> tuple[int, int]:
    """Return how many jobs begin while more processors are in use than a machine has, and the most.

    Those that begin at an instant are all in use then.

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
    >>> jobs["arrival"] = jobs["recorded_wait"] = 0
    >>> beyond(jobs, np.array([10.0, 10.0, 10.0]), 8)
    (3, 12)
    """
    if not len(jobs):
        return 0, 0
    start = jobs["arrival"] + jobs["recorded_wait"]
    at = np.concatenate((start, start + times - ROUNDING))
    change = np.concatenate((jobs["size"], -jobs["size"]))
    order = np.lexsort((change, at))  # ends first, as in a run
    busy = np.cumsum(change[order])
    last = np.searchsorted(at[order], start, side="right") - 1
    return int((busy[last] > size).sum()), int(busy.max())


def _check_times(jobs: JobArray, times: npt.NDArray[np.float64], cluster: str) -> None:
    """Raise `WorkloadError` unless jobs run as long as they did where they were recorded."""
    other = np.abs(times - jobs["runtime"]) > 1e-9 * jobs["runtime"]
    if other.any():
        which = int(other.argmax())
        raise WorkloadError(
            f"local scheduler recorded: job {jobs['number'][which]} would run for "
            f"{times[which]:.15g} s on {cluster}; accepted: {jobs['runtime'][which]:.15g} s, as in "
            "the log (rate 1, or speeds of the site's own)"
        )


def _times(
    jobs: JobArray, times: ExecutionTimes | None, cluster: int, rate: float
) -> npt.NDArray[np.float64]:
    """Return how long jobs run on a cluster, s."""
    by_rate: npt.NDArray[np.float64] = jobs["runtime"] / rate
    row = jobs["times_row"]
    if times is None:
        return by_rate
    return np.where(row < 0, by_rate, times.seconds[np.maximum(row, 0), cluster])

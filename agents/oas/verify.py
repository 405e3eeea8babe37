"""Whether a schedule is right, in exact rationals and with nothing that solvers use."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from agents.numbers import is_real, is_whole
from agents.oas.instance import Instance, exact, told
from agents.oas.model import link_demand, run_time, slots
from agents.oas.schedule import Run, printed
from grid.errors import GridError


class ScheduleError(GridError):
    """A schedule that breaks the rules of the model; the message says where."""


def verify(
    instance: Instance | Mapping[str, Any], schedule: Any, slot: float | Fraction | None = None
) -> None:
    """Check that a schedule runs each job once, for as long as it takes, on what there is.

    At no time are there more tasks on a cluster than nodes, or is there more demand on a link
    (eq. 4) than bandwidth. Nothing is rounded in these checks: a number is what its shortest
    decimal spells, as in JSON. A finish is the least such float that is no earlier than the start
    and the execution time, or than the end of the last slot that the job needs.

    Parameters
    ----------
    instance : Instance or dict
        A dict is read as `Instance.from_dict` does.
    schedule : Answer, dict, or list of Run or dict
        An answer, or its JSON object, knows its slot; else runs, or objects with `job`, `start`,
        `finish` and `nodes`.
    slot : float, optional
        Seconds, if starts and finishes are on slots.

    Raises
    ------
    ScheduleError
        If anything is wrong; the message names the job or the cluster.
    GridError
        For an instance that is none.
    """
    if not isinstance(instance, Instance):
        instance = Instance.from_dict(instance)
    if isinstance(schedule, Mapping):
        slot, schedule = schedule.get("slot", slot), schedule.get("schedule")
    elif hasattr(schedule, "schedule"):
        slot, schedule = schedule.slot, schedule.schedule
    if not isinstance(schedule, Sequence) or isinstance(schedule, str):
        raise ScheduleError(f"schedule: found {told(schedule)}; accepted: a list of runs")
    runs = [_run(index, each, instance) for index, each in enumerate(schedule)]
    _check_jobs(runs, instance)
    for run in runs:
        _check_times(run, instance, None if slot is None else exact(slot))
    _check_resources(runs, instance)


def _run(index: int, given: Any, instance: Instance) -> Run:
    """Return a run of which each field is of its kind."""
    where = f"schedule[{index}]"
    if isinstance(given, Run):
        given = given.to_dict()
    if not isinstance(given, Mapping) or not {"job", "start", "finish", "nodes"} <= set(given):
        accepted = "an object with job, start, finish and nodes"
        raise ScheduleError(f"{where}: found {told(given)}; accepted: {accepted}")
    job, nodes = given["job"], given["nodes"]
    if not is_whole(job) or job >= len(instance.jobs):
        accepted = f"the index of a job, from 0 to {len(instance.jobs) - 1}"
        raise ScheduleError(f"{where}.job: found {told(job)}; accepted: {accepted}")
    for name in ("start", "finish"):
        if not is_real(given[name]) or not 0 <= given[name] < math.inf:
            raise ScheduleError(
                f"job {job}: {name}: found {told(given[name])}; accepted: seconds, at least 0"
            )
    if (
        not isinstance(nodes, Sequence)
        or len(nodes) != len(instance.clusters)
        or not all(map(is_whole, nodes))
    ):
        accepted = f"a whole number for each of the {len(instance.clusters)} clusters"
        raise ScheduleError(f"job {job}: nodes: found {told(nodes)}; accepted: {accepted}")
    return Run(job, given["start"], given["finish"], tuple(nodes))


def _check_jobs(runs: Sequence[Run], instance: Instance) -> None:
    """Raise unless each job is there once, with a node for each task."""
    seen: set[int] = set()
    for run in runs:
        if run.job in seen:
            raise ScheduleError(f"job {run.job}: found twice; accepted: once")
        seen.add(run.job)
        tasks = instance.jobs[run.job].tasks
        if sum(run.nodes) != tasks:
            raise ScheduleError(
                f"job {run.job}: nodes: found {sum(run.nodes)} in all; accepted: {tasks}, one for "
                "each task"
            )
    for job in range(len(instance.jobs)):
        if job not in seen:
            raise ScheduleError(f"job {job}: not found; accepted: each job once")


def _check_times(run: Run, instance: Instance, slot: Fraction | None) -> None:
    """Raise unless a job holds its nodes for as long as it takes."""
    seconds = run_time(instance, run.job, run.nodes)
    if slot is None:
        finish = printed(exact(run.start) + seconds)
    else:
        first = round(exact(run.start) / slot)
        if run.start != printed(first * slot):
            raise ScheduleError(
                f"job {run.job}: start: found {run.start!r}; accepted: a multiple of the slot, "
                f"{float(slot)!r}"
            )
        finish = printed((first + slots(seconds, slot)) * slot)
    if run.finish != finish:
        raise ScheduleError(
            f"job {run.job}: finish: found {run.finish!r}; accepted: {finish!r}, as it starts at "
            f"{run.start!r} and takes {float(seconds)!r}"
            + ("" if slot is None else f", in slots of {float(slot)!r}")
        )


def _check_resources(runs: Sequence[Run], instance: Instance) -> None:
    """Raise if at some time there are too many tasks on a cluster or too much is on its link."""
    changes = sorted(
        ((time, sign, run) for run in runs for time, sign in ((run.start, 1), (run.finish, -1))),
        key=lambda change: change[:2],
    )
    for k, cluster in enumerate(instance.clusters):
        held, load = 0, Fraction(0)
        for time, sign, run in changes:
            if not run.nodes[k]:
                continue
            held += sign * run.nodes[k]
            load += sign * link_demand(instance.jobs[run.job], run.nodes[k])
            what = f"clusters[{k}] at {time!r} s, when job {run.job} starts"
            if held > cluster.nodes:
                raise ScheduleError(f"{what}: found {held} nodes held; accepted: {cluster.nodes}")
            if load > cluster.link_mbps:
                raise ScheduleError(
                    f"{what}: found {float(load)!r} Mbit/s on its link; accepted: at most "
                    f"{float(cluster.link_mbps)!r}"
                )

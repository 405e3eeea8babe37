"""The workload that a scenario's parameters describe, synthetic or from logs."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from agents.pace.evaluation import Evaluator
from agents.slurm.controller import SlurmSettings
from experiments.scenario.dates import window_of
from experiments.scenario.parameters import Parameters
from experiments.show.numbers import counted
from grid.distributions import (
    BoundedPareto,
    Deterministic,
    Exponential,
    Hyperexponential,
    LogUniformSizes,
    NormalSizes,
    RuntimeDistribution,
    SizeDistribution,
    UniformSizes,
)
from grid.errors import WorkloadError, require
from grid.foreign import plain
from grid.jobs import ANYWHERE, UNKNOWN, JobArray
from grid.logs.calendar import clock_at
from grid.logs.workload import read_log, read_site_logs
from grid.names import meant
from grid.platform.multicluster import Platform
from grid.workloads.communication import COMMUNICATION, assign_communication
from grid.workloads.component_sizes import favouring_powers_of_two
from grid.workloads.deadlines import ServiceClass, assign_deadlines
from grid.workloads.execution_times import at_speeds
from grid.workloads.lublin import lublin_jobs
from grid.workloads.origins import assign_origins
from grid.workloads.per_cluster import OwnJobs, PerClusterWorkload
from grid.workloads.source import Workload
from grid.workloads.synthetic import BatchWorkload, SyntheticWorkload, arrival_rate
from grid.workloads.table import Table
from grid.workloads.transform import moved, scale_load, window

Duration = float
"""Rough simulated time that a workload will take, s."""

STEPS = 400
"""Steps that a run has, roughly, when its step is chosen automatically."""

SIZES = {"uniform": UniformSizes, "normal": NormalSizes, "log-uniform": LogUniformSizes}


Source = str | Path | Sequence[str]
"""A log, or ``name=path`` for each of several sites."""


ORIGINS = ("local_share", "queue_shares")
"""Parameters of how many jobs are submitted through clusters."""
TOLD = dict(zip(("computation_fraction", "bsbw"), COMMUNICATION, strict=True))
"""Parameters of what jobs communicate, and the columns of a log that tell it instead."""

ALL_READ = ("kill_at_request", "computation_fraction", "bsbw", "only_recorded", "partition_field")
READ = (*ALL_READ, "partitions")
"""Parameters that say how logs are read: all, and one that is not of a single site."""


def read_source(source: Source, platform: Platform, parameters: Parameters) -> Table:
    """Read a log, or one for each site, as parameters say.

    Raises
    ------
    WorkloadError
        If a file cannot be used.
    """
    try:
        return _read(source, platform, parameters)
    except WorkloadError as error:
        known, count = f"accepted: {', '.join(platform.names)}", parameters.clusters
        if count == "auto" or not str(error).endswith(known):
            raise
        raise WorkloadError(f"{error} (clusters = {count} replaces those of the file)") from None


def _read(source: Source, platform: Platform, parameters: Parameters) -> Table:
    one = isinstance(source, (str, Path))
    how = (getattr(parameters, name) for name in (READ if one else ALL_READ))
    times_on = Evaluator(platform)
    if isinstance(source, (str, Path)):
        return read_log(source, platform.names, platform.speed, times_on, *how)
    return read_site_logs(site_paths(source), platform.names, platform.speed, times_on, *how)


def paths_of(source: Source) -> list[str]:
    """Return the files of a workload."""
    return [str(source)] if isinstance(source, (str, Path)) else [*site_paths(source).values()]


def site_paths(source: Sequence[str]) -> dict[str, str]:
    """Return the log of each site by its name.

    Raises
    ------
    WorkloadError
        If an entry is no ``name=path``, or names a site for the second time.
    """
    paths: dict[str, str] = {}
    for entry in source:
        site, equals, path = entry.partition("=")
        several = re.search(r",\w+=", path) and not os.path.exists(path)
        if not (site and path) or several:
            lacks = "file" if equals and site else f"cluster, among {counted(len(source), 'log')}"
            found = "several in one" if several else f"no {lacks}"
            raise WorkloadError(
                f"workload {entry}: found {found}; accepted: cluster=file for each of several logs"
                + (", each as a workload of its own" if several else "")
            )
        if site in paths:
            raise WorkloadError(
                f"workload {entry}: a second log of {site}; accepted: one for each cluster"
            )
        paths[site] = path
    return paths


def build_workload(
    source: Source | None,
    parameters: Parameters,
    platform: Platform,
    seed: int,
    read: Callable[[Source, Platform, Parameters], Table] = read_source,
) -> tuple[Workload | BatchWorkload, Duration]:
    """Return the workload, and roughly how long it will take.

    Parameters
    ----------
    source : path, sequence of ``name=path``, or None
        A log, or one for each site; None for synthetic jobs.
    parameters : Parameters
    platform : Platform
    seed : int
    read : callable
        Reads logs.

    Raises
    ------
    WorkloadError
        If a file or a parameter cannot be used.
    """
    if source is not None:
        table = read(source, platform, parameters)
        return _from_log(table, source, parameters, platform, seed)
    if parameters.workload_model != "laws":
        return _from_model(parameters, platform, seed)
    sizes, runtimes = _sizes(parameters), _runtimes(parameters)
    clusters = len(platform.clusters)
    mix: dict[str, Any] = {
        "count": parameters.jobs + parameters.warmup,
        "sizes": sizes,
        "runtimes": runtimes,
        "classes": deadline_classes(parameters) if parameters.assign_deadlines else (),
        "origins": _origins(parameters, clusters),
        "composition": parameters.composition,
        "request": parameters.request,
        "slowest_rate": float(platform.rates.min()),
        "seed": seed,
        "computation_fraction": parameters.computation_fraction,
        "bisection_bandwidth": parameters.bsbw,
    }
    if parameters.mode == "per-cluster":
        _check_fits(parameters.max_size, parameters.called("max_size"), platform)
        count = clusters * parameters.jobs_per_cluster
        mix |= {"count": count, "origins": (), "composition": ()}
        own = dict(_own_jobs(parameters, platform))
        workload = PerClusterWorkload(
            clusters=clusters, interarrival=parameters.interarrival, own=own, **mix
        )
        return workload, workload.duration
    _check_components(parameters, platform)
    full_rate = arrival_rate(
        1.0,
        sizes,
        runtimes,
        platform.sizes.tolist(),
        platform.rates.tolist(),
        parameters.composition,
    )
    if parameters.mode == "batch":
        # Rounds leave clusters idle towards their ends: they take about twice the work.
        return (
            BatchWorkload(mean_batch=parameters.queue, **mix),
            2 * parameters.jobs / full_rate,
        )
    rate = parameters.load * full_rate
    return SyntheticWorkload(rate=rate, **mix), parameters.jobs / rate


def _from_model(parameters: Parameters, platform: Platform, seed: int) -> tuple[Table, Duration]:
    require(parameters.mode == "open", "workload_model", parameters.workload_model, "in mode open")
    jobs = lublin_jobs(parameters.jobs + parameters.warmup, parameters.max_size, seed)
    work, last = float(jobs["size"] @ jobs["runtime"]), float(jobs["arrival"].max())
    speed = float(platform.sizes @ platform.rates)
    jobs = scale_load(jobs, parameters.load * speed * last / work)
    jobs = assign_communication(jobs, parameters.computation_fraction, parameters.bsbw)
    return _completed(Table(jobs), parameters, platform, seed)


def _from_log(
    table: Table, source: Source, parameters: Parameters, platform: Platform, seed: int
) -> tuple[Table, Duration]:
    jobs, cleaning = table.jobs, table.cleaning
    clock = table.start
    one = str(source) if isinstance(source, (str, Path)) else ""
    asked = parameters.window_start, parameters.window_end
    begin, end = window_of(jobs["arrival"], clock, *asked, one)
    if begin != 0 or end < math.inf:
        zero = float(jobs["arrival"][0]) + begin
        jobs = window(jobs, max(begin, 0.0), end)
        jobs = moved(jobs, min(begin, 0.0))
        clock = None if clock is None else clock_at(clock, zero)
        if table.applied is not None:
            cleaning = table.applied.cleaning(jobs, begin, end)
    if parameters.load_factor != 1:
        jobs, clock = scale_load(jobs, parameters.load_factor), None
    if parameters.mode == "per-cluster" and len(jobs):
        largest = jobs[jobs["size"].argmax()]
        log: object = source
        if not isinstance(source, (str, Path)):
            log = site_paths(source)[platform.names[largest["origin"]]]
        _check_fits(largest["size"].item(), f"{log}: size of job {largest['number']}", platform)
    cut = Table(
        jobs,
        cleaning,
        table.machine,
        clock,
        size_note=table.size_note,
        machines=table.machines,
        times=table.times,
        applications=table.applications,
        filed=table.filed,
        communication=table.communication,
    )
    return _completed(cut, parameters, platform, seed)


def _completed(
    table: Table, parameters: Parameters, platform: Platform, seed: int
) -> tuple[Table, Duration]:
    """Return given jobs with the origins and deadlines that they lack."""
    jobs = table.jobs
    unread = no_occasion(table, parameters, platform)
    placed, drawn, times = 0, 0, table.times
    if _draws_origins(jobs, parameters):
        clusters = len(platform.clusters)
        jobs = assign_origins(jobs, _origins(parameters, clusters), seed)
        placed = int((jobs["origin"] != ANYWHERE).sum())
    if parameters.speeds:
        jobs, found = at_speeds(jobs, parameters.speeds, platform.names, platform.rates)
        times = times if found is None else found
    if parameters.assign_deadlines:
        drawn = int((jobs["deadline"] == math.inf).sum())
        slowest = float(platform.rates.min())
        jobs = assign_deadlines(jobs, slowest, deadline_classes(parameters), seed, times)
    last = float(jobs["arrival"].max()) if len(jobs) else 0.0
    longest = float(jobs["runtime"].max()) if len(jobs) else 0.0
    completed = replace(
        table, jobs=jobs, drawn=drawn, origins_drawn=placed, times=times, unread=unread
    )
    return completed, last + longest


def _draws_origins(jobs: JobArray, parameters: Parameters) -> bool:
    """Tell whether jobs, of which none says where it was submitted, are given origins."""
    shares = parameters.local_share > 0 or bool(parameters.queue_shares)
    return shares and bool((jobs["origin"] == ANYWHERE).all())


def no_occasion(table: Table, parameters: Parameters, platform: Platform) -> tuple[str, ...]:
    """Return the parameters that jobs, as they are given, give no occasion for."""
    jobs = table.jobs
    found = [] if np.isfinite(jobs["requested_time"]).any() else ["kill_at_request"]
    sites = [at for at, name in enumerate(platform.names) if name in parameters.speeds]
    if not (np.isin(jobs["origin"], sites).any() or _draws_origins(jobs, parameters)):
        found.append("speeds")
    slurm, filed = parameters.of(SlurmSettings), table.filed.get("partition", ())
    if not slurm.slurm_partitions.keys() & {each for name in filed for each in name.split(",")}:
        found.append("slurm_partitions")
    found += [] if (jobs["qos"] != UNKNOWN).any() else ["slurm_qos"]
    found += [name for name, column in TOLD.items() if column in table.communication]
    demand = parameters.bsbw or TOLD["bsbw"] in table.communication
    found += [] if demand else ["lslt"]
    anywhere = not parameters.speeds and (
        table.times is None or np.isfinite(table.times.seconds).all()
    )
    fit = anywhere and jobs["size"].max(initial=0) <= platform.sizes.max()
    found += ["coallocate"] if fit else []
    nowhere = (jobs["origin"] == ANYWHERE).all() and not _draws_origins(jobs, parameters)
    found += ["aging"] if nowhere else []
    return (*found, *(ORIGINS if (jobs["origin"] != ANYWHERE).any() else ()))


def _check_fits(size: int, what: str, platform: Platform) -> None:
    """Refuse a job that is larger than all clusters together, on which no policy could run it."""
    processors = int(platform.sizes.sum())
    require(size <= processors, what, size, f"at most {processors}, all processors of the grid")


def _check_components(parameters: Parameters, platform: Platform) -> None:
    """Refuse components of which there are more than clusters, or that are larger than these."""
    if not parameters.composition:
        return
    clusters, largest = len(platform.clusters), int(platform.sizes.max())
    require(
        not any(parameters.composition[clusters:]),
        "composition: components of a job",
        len(parameters.composition),
        f"at most {clusters}, one for each cluster",
    )
    require(
        parameters.max_size <= largest,
        parameters.called("max_size"),
        parameters.max_size,
        f"at most {largest}, processors of the largest cluster, on which a component has to fit",
    )


def _own_jobs(parameters: Parameters, platform: Platform) -> Iterator[tuple[int, OwnJobs]]:
    """Yield which clusters, by index, have jobs of their own, and what these are like."""
    for name, own in parameters.own_jobs.items():
        where = f"own_jobs: {plain(name, 100)}"
        if name not in platform.names:
            raise WorkloadError(f"{where}: unknown cluster; {meant(name, platform.names)}")
        given = own.model_dump(exclude_none=True)
        theirs = parameters.model_copy(update=given)
        require(
            not ("mean_runtime" in given and parameters.runtimes == "bounded-pareto"),
            f"{where}: mean_runtime",
            own.mean_runtime,
            "none, where runtimes is bounded-pareto",
        )
        require(
            theirs.min_size <= theirs.max_size,
            f"{where}: min_size",
            theirs.min_size,
            f"at most max_size, {theirs.max_size}",
        )
        _check_fits(theirs.max_size, f"{where}: max_size", platform)
        laws = OwnJobs(theirs.interarrival, _sizes(theirs), _runtimes(theirs))
        yield platform.names.index(name), laws


def _origins(parameters: Parameters, clusters: int) -> tuple[float, ...]:
    """Return the share of the jobs that users submit through each cluster."""
    if not parameters.queue_shares:
        return (parameters.local_share / clusters,) * clusters
    require(
        len(parameters.queue_shares) == clusters,
        "queue_shares",
        len(parameters.queue_shares),
        f"{clusters} percentages, one for each cluster",
    )
    return tuple(percent / 100.0 for percent in parameters.queue_shares)


def _sizes(parameters: Parameters) -> SizeDistribution:
    if parameters.sizes == "powers-of-two":
        return favouring_powers_of_two(parameters.q, parameters.min_size, parameters.max_size)
    return SIZES[parameters.sizes](parameters.min_size, parameters.max_size)


def _runtimes(parameters: Parameters) -> RuntimeDistribution:
    if parameters.runtimes == "exponential":
        return Exponential(parameters.mean_runtime)
    if parameters.runtimes == "hyperexponential":
        return Hyperexponential(parameters.mean_runtime, parameters.runtime_cv)
    if parameters.runtimes == "deterministic":
        return Deterministic(parameters.mean_runtime)
    return BoundedPareto(parameters.min_runtime, parameters.max_runtime, parameters.pareto_exponent)


def deadline_classes(parameters: Parameters) -> tuple[ServiceClass, ...]:
    """Return the service classes, or the one range of deadline ratios as one class."""
    if parameters.service_classes:
        return tuple(ServiceClass(**dict(each)) for each in parameters.service_classes)
    low, high = parameters.min_deadline_ratio, parameters.max_deadline_ratio
    return (ServiceClass("all", 1.0, low, high),)


def step_of(parameters: Parameters, duration: Duration) -> float:
    """Return the observation interval of a run, s."""
    if parameters.step != "auto":
        return float(parameters.step)
    return float(f"{max(duration / STEPS, 1e-3):.1g}")  # round, which is easier to read

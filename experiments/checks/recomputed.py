"""The numbers of a summary worked out a second time, job by job, as their definitions say."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from experiments.scenario.parameters import Parameters
from grid.platform.multicluster import Platform

EXACT = 1_000_000
"""Jobs at most, of which percentiles are exact."""
TRACE = 1e-12
"""A job is not late by so small a share of its finish: that is rounding."""
BOUND = 10.0
"""Shorter jobs count as this long in the bounded slowdown, s."""


class Done(NamedTuple):
    """A job that was completed; times in s."""

    arrival: float
    size: int
    start: float
    finish: float
    placement: dict[str, int]
    dedicated: float  # how long it runs where links are not shared
    staging: float  # how long it waits for its data before
    deadline: float
    origin: str | None
    batch: int | None
    service_class: str | None = None
    user: int | None = None

    @property
    def late(self) -> float:
        """Time after the deadline, s."""
        late = self.finish - self.deadline
        return late if late > TRACE * self.finish else 0.0

    @property
    def slowdown(self) -> float:
        """Bounded slowdown."""
        return max(1.0, (self.finish - self.arrival) / max(self.dedicated, BOUND))


Numbers = dict[str, tuple[Any, float]]
"""A number by its path in the summary, and the size of the numbers that it comes of."""


def metrics_of(
    ran: Sequence[Done],
    platform: Platform,
    parameters: Parameters,
    whole: set[int],
    counted_from: float,
    due_rejected: Mapping[str | None, int],
) -> Numbers:
    """Return the numbers of a summary that follow from the jobs that left.

    Parameters
    ----------
    ran : sequence of Done
        All that were completed.
    platform : Platform
    parameters : Parameters
        Weights and the reading of idle-time are among them.
    whole : set of int
        In mode `batch` the rounds that are complete.
    counted_from : float
        Jobs that arrived before belong to the warm-up, s; minus infinity: there is none.
    due_rejected : mapping of str or None to int
        Jobs after the warm-up that had a deadline and were rejected, by service class.
    """
    numbers: Numbers = {}
    done = [job for job in ran if job.arrival >= counted_from]
    first = min((job.arrival for job in done), default=math.inf)
    span = max(job.finish for job in done) - first if done else 0.0
    begun = first if counted_from == -math.inf else counted_from
    period = begun, max((job.finish for job in ran), default=0.0)
    processors = sum(cluster.size for cluster in platform.clusters)
    _put(numbers, "metrics/", _service(done) | _usage(done, None, processors))
    numbers["metrics/utilization"] = _utilization(ran, None, processors, period), 0.0
    due = [job for job in done if job.deadline < math.inf]
    numbers["metrics/deadlines_met"] = _met(due, sum(due_rejected.values())), 0.0
    split = [job for job in done if len(job.placement) > 1]
    timed = [job for job in split if job.dedicated > 0]
    penalties = [max(1.0, (job.finish - job.start - job.staging) / job.dedicated) for job in timed]
    numbers["metrics/coallocated"] = len(split) / len(done) if done else None, 0.0
    numbers["metrics/mean_penalty"] = (_mean(penalties) or 1.0) if split else None, 0.0
    settled = [job for job in done if job.origin is not None]
    migrated = [job for job in settled if {*job.placement} != {job.origin}]
    numbers["metrics/migrated"] = len(migrated) / len(settled) if settled else None, 0.0
    numbers["metrics/mean_staging"] = _mean([job.staging for job in migrated]), 0.0
    finish = max((job.finish for job in done), default=0.0)
    if len(done) <= EXACT:
        waits, slowdowns = [job.start - job.arrival for job in done], [job.slowdown for job in done]
        numbers["metrics/p95_wait"] = _percentile(waits), finish
        numbers["metrics/p95_bounded_slowdown"] = _percentile(slowdowns), 0.0
    numbers["metrics/throughput"] = len(done) / span if span else None, 0.0
    for index, cluster in enumerate(platform.clusters):
        here = [job for job in done if cluster.name in job.placement]
        place = f"clusters/{index}/"
        _put(numbers, place, _service(here) | _usage(here, cluster.name, cluster.size))
        used = _utilization(ran, cluster.name, cluster.size, period)
        numbers[place + "utilization"] = used, 0.0
        for name, value in (("name", cluster.name), ("size", cluster.size), ("jobs", len(here))):
            numbers[place + name] = value, 0.0
        numbers[place + "rate"] = cluster.rate, 0.0
    _put_performance(numbers, done, platform, parameters, whole)
    return numbers


def classes_of(
    ran: Sequence[Done],
    names: Sequence[str],
    counted_from: float,
    due_rejected: Mapping[str | None, int],
) -> Numbers:
    """Return the numbers of the service classes of a summary; parameters as of `metrics_of`."""
    numbers: Numbers = {}
    for index, name in enumerate(names):
        of = [job for job in ran if job.service_class == name and job.arrival >= counted_from]
        met = _met(of, due_rejected.get(name, 0))
        _put(numbers, f"classes/{index}/", _service(of) | {"deadlines_met": (met, 0.0)})
        numbers[f"classes/{index}/name"] = name, 0.0
        numbers[f"classes/{index}/jobs"] = len(of), 0.0
    return numbers


def origins_of(
    ran: Sequence[Done],
    gone: Sequence[tuple[str | None, bool]],
    clusters: Sequence[str],
    counted_from: float,
) -> Numbers:
    """Return the numbers of a summary by the cluster that jobs were submitted through.

    Parameters
    ----------
    ran : sequence of Done
        All that were completed.
    gone : sequence of tuple
        Of each job after the warm-up that was rejected its origin, and whether it had a deadline.
    clusters : sequence of str
        Their names.
    counted_from : float
        Jobs that arrived before belong to the warm-up, s.
    """
    done = [job for job in ran if job.arrival >= counted_from]
    there = {job.origin for job in done} | {origin for origin, _ in gone}
    if there <= {None}:
        return {}
    numbers: Numbers = {}
    for index, name in enumerate(each for each in (*clusters, None) if each in there):
        of = [job for job in done if job.origin == name]
        rejected = [due for origin, due in gone if origin == name]
        moved = [job for job in of if {*job.placement} != {name}]
        due = [job for job in of if job.deadline < math.inf]
        values = _service(of) | {
            "name": (name or "", 0.0),
            "jobs": (len(of), 0.0),
            "rejected": (len(rejected), 0.0),
            "deadlines_met": (_met(due, sum(rejected)), 0.0),
            "migrated": (len(moved) / len(of) if of and name else None, 0.0),
        }
        _put(numbers, f"origins/{index}/", values)
        if name is not None:
            numbers[f"metrics/wait_origins/{name}"] = values["mean_wait"]
            numbers[f"metrics/slowdown_origins/{name}"] = values["mean_bounded_slowdown"]
    return numbers


def _met(due: Sequence[Done], rejected: int) -> float | None:
    """Return the share of jobs with a deadline that met it; those that were rejected did not."""
    return _mean([float(job.late == 0) for job in due] + [0.0] * rejected)


def _put(numbers: Numbers, place: str, values: Numbers) -> None:
    for name, value in values.items():
        numbers[place + name] = value


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _percentile(values: Sequence[float]) -> float | None:
    """Return the 95th percentile, interpolated between the two values next to it."""
    if not values:
        return None
    ordered = sorted(values)
    rank = 0.95 * (len(ordered) - 1)
    below = int(rank)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (rank - below) * (ordered[above] - ordered[below])


def _service(done: Sequence[Done]) -> Numbers:
    """Return how jobs were served."""
    waits = [job.start - job.arrival for job in done]
    late = [job.late for job in done]
    due = [job for job in done if job.deadline < math.inf]
    finish = max((job.finish for job in done), default=0.0)
    return {
        "mean_wait": (_mean(waits), finish),
        "max_wait": (max(waits, default=None), finish),
        "mean_turnaround": (_mean([job.finish - job.arrival for job in done]), finish),
        "mean_bounded_slowdown": (_mean([job.slowdown for job in done]), 0.0),
        "over_deadline": (math.fsum(late) if due else None, finish),
        "deadlines_met": (_mean([float(job.late == 0) for job in due]), 0.0),
    }


def _held(job: Done, cluster: str | None) -> int:
    """Return the processors that a job held: of one cluster, or of all."""
    return job.size if cluster is None else job.placement.get(cluster, 0)


def _utilization(
    ran: Sequence[Done], cluster: str | None, processors: int, period: tuple[float, float]
) -> float | None:
    """Return the share of processors that jobs held in a period (s)."""
    begun, ended = period
    if not begun < ended:
        return None
    held = math.fsum(
        (job.finish - max(job.start, begun)) * _held(job, cluster)
        for job in ran
        if job.finish > begun
    )
    return held / (processors * (ended - begun))


def _usage(done: Sequence[Done], cluster: str | None, processors: int) -> Numbers:
    """Return how processors were used: of one cluster, or of all."""
    work = math.fsum((job.finish - job.start) * _held(job, cluster) for job in done)
    finish = max((job.finish for job in done), default=0.0)
    scale = processors * finish
    idle = makespan = None
    if done:
        makespan = finish - min(job.start for job in done)
        idle = max(0.0, processors * makespan - work)
    return {
        "makespan": (makespan, finish),
        "work": (work, scale),
        "idle_time_total": (idle, scale),
        "idle_time_mean": (None if idle is None else idle / processors, finish),
    }


class _Performance(NamedTuple):
    """Comprehensive performance of each cluster, MCP and PB (`muscle`, eqs. 1, 7 and 8), s."""

    cps: list[float]
    mcp: float
    pb: float


def _performance(
    done: Sequence[Done], dispatched: float | None, platform: Platform, parameters: Parameters
) -> _Performance:
    """Judge jobs as one round, whose makespans count from the dispatch, or from first starts."""
    cps, counts = [], []
    for index, cluster in enumerate(platform.clusters):
        here = [job for job in done if cluster.name in job.placement]
        counts.append(len(here))
        if not here:
            cps.append(0.0)
            continue
        since = min(job.start for job in here) if dispatched is None else dispatched
        makespan = max(job.finish for job in here) - since
        work = math.fsum((job.finish - job.start) * job.placement[cluster.name] for job in here)
        idle = max(0.0, cluster.size * makespan - work)
        if parameters.idle == "mean":
            idle /= cluster.size
        over = math.fsum(job.late for job in here)
        weights: Any = parameters.weights
        w_over, w_makespan, w_idle = weights[index] if isinstance(weights[0], tuple) else weights
        total = w_over + w_makespan + w_idle
        cps.append((w_over * over + w_makespan * makespan + w_idle * idle) / total)
    jobs = sum(counts)
    mcp = math.fsum(cp * n for cp, n in zip(cps, counts, strict=True)) / jobs if jobs else 0.0
    spread = math.fsum((cp - mcp) ** 2 for cp in cps)
    return _Performance(cps, mcp, math.sqrt(spread / (len(cps) - 1)) if len(cps) > 1 else 0.0)


def _put_performance(
    numbers: Numbers,
    done: Sequence[Done],
    platform: Platform,
    parameters: Parameters,
    whole: set[int],
) -> None:
    overall = [_performance(done, None, platform, parameters)] if done else []
    rounds = overall
    if any(job.batch is not None for job in done):
        of_round: dict[int, list[Done]] = {}
        for job in done:
            if job.batch is not None and job.batch in whole:
                of_round.setdefault(job.batch, []).append(job)
        rounds = [_performance(of, of[0].arrival, platform, parameters) for of in of_round.values()]
        numbers["metrics/rounds"] = len(rounds), 0.0
    finish = max((job.finish for job in done), default=0.0)
    scale = max((cluster.size for cluster in platform.clusters), default=1) * finish
    for suffix, judged in (("", rounds), ("_overall", overall)):
        numbers[f"metrics/mcp{suffix}"] = _mean([each.mcp for each in judged]), scale
        numbers[f"metrics/pb{suffix}"] = _mean([each.pb for each in judged]), scale
        for index in range(len(platform.clusters)):
            cp = _mean([each.cps[index] for each in judged])
            numbers[f"clusters/{index}/cp{suffix}"] = cp, scale

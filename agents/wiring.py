"""How a model's schedulers and brokers are made, and the world told whom to ask."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any
from weakref import WeakKeyDictionary

import mesa
import numpy as np

from agents.a4.broker import A4Broker, hierarchy
from agents.cluster import ClusterAgent
from agents.error_context import compiled, made
from agents.numbers import is_whole
from agents.protocols import Grid
from agents.schedulers import GlobalScheduler, LocalScheduler, PlanningScheduler, Scheduler
from agents.selection import MOST_JUMPS
from grid.errors import GridError
from grid.foreign import quoted
from grid.jobs import LONGEST
from grid.kernel.policies.decisions import (
    known_address,
    place_address,
    priority_address,
)
from grid.kernel.state import SERVICES
from grid.names import lack_of
from grid.platform.multicluster import Platform
from grid.platform.topology import number
from grid.workloads.synthetic import BatchWorkload
from grid.world.policies import Addresses
from grid.world.validation import check_memory


class _Numbers(WeakKeyDictionary[Any, Any]):
    """Numbers of agents yet to come, by model; those of Mesa 3.3 itself keep every model alive."""

    def __getitem__(self, model: Any) -> Any:
        return self.setdefault(model, count(1))


if hasattr(mesa.Agent, "_ids"):
    mesa.Agent._ids = _Numbers(mesa.Agent._ids)


def check_arguments(
    platform: object,
    workload: object,
    makers: Sequence[object],
    seed: object,
    times: Sequence[object],
) -> None:
    """Refuse what no model can be made of; its times are interval, latency, round threshold, s."""
    source = isinstance(workload, BatchWorkload) or callable(getattr(workload, "chunks", None))
    maker, (interval, latency, threshold) = "what makes one, as its class", times
    valid = {
        "platform": (platform, "a Platform", isinstance(platform, Platform)),
        "workload": (workload, "a Workload or a BatchWorkload", source),
        "global_scheduler": (makers[0], maker, callable(makers[0])),
        "local_scheduler": (makers[1], maker, callable(makers[1])),
        "seed": (seed, "a whole number from 0", is_whole(seed)),
        "interval": (interval, "seconds, above 0", number(interval) > 0),
        "latency": (latency, "seconds, from 0", 0 <= number(latency) < math.inf),
        "round_threshold": (
            threshold,
            "seconds, from 0",
            threshold is None or number(threshold) >= 0,
        ),
    }
    for name, (found, accepted, good) in valid.items():
        if not good:
            raise GridError(f"{name}: found {quoted(found)}; accepted: {accepted}")


def brokers_of(
    model: Grid, scheduler: GlobalScheduler
) -> tuple[A4Broker, list[A4Broker], list[A4Broker]]:
    """Make the brokers: the global scheduler's, those of clusters, those between.

    Raises
    ------
    GridError
        If the class that the global scheduler names for them is none of brokers.
    """
    kind: Any = scheduler.broker_class
    good = isinstance(kind, type) and issubclass(kind, A4Broker)
    _check(scheduler, "broker_class", good, "a subclass of agents.a4.A4Broker")
    return hierarchy(model, partial(made, kind))


def receivers(scheduler: GlobalScheduler, clusters: Sequence[ClusterAgent]) -> dict[str, Scheduler]:
    """Return schedulers by the names of the brokers that messages for them go to, and their own.

    Raises
    ------
    GridError
        If a cluster is named as a scheduler is.
    """
    own: dict[str, Scheduler] = {each.scheduler.name: each.scheduler for each in clusters}
    for cluster in clusters:
        if cluster.name == scheduler.name or cluster.name in own:
            what = "the global" if cluster.name == scheduler.name else "a local"
            raise GridError(
                f"clusters: found one named {cluster.name}, as {what} scheduler is; accepted: "
                "another name"
            )
    local: dict[str, Scheduler] = {each.name: each.scheduler for each in clusters}
    return {scheduler.name: scheduler} | scheduler.delegates() | own | local


def connect_global(model: Grid, scheduler: GlobalScheduler) -> None:
    """Have the world ask the global scheduler."""
    world = model.world
    _check_jumps(scheduler)
    _check_penalty(scheduler)
    world.policies.place, world.policies.visit = scheduler.answer, scheduler.chosen
    world.policies.set_global(
        scheduler,
        _addresses(model, scheduler),
        model.told_by(scheduler, _memory, scheduler),
        scheduler.stream,
        _reservations(model, scheduler),
    )
    world.policies.limit_size(scheduler.largest_job())
    world.policies.notify(scheduler.collects)
    if scheduler.queues:
        _check_decides(scheduler, GlobalScheduler, "visit", "chosen")
    if not scheduler.collects:
        _check_decides(scheduler, GlobalScheduler, "place", "answer")


def _check_decides(scheduler: Scheduler, base: type, method: str, caller: str) -> None:
    """Raise `GridError` for a scheduler without a method that the world will ask for."""
    own = any(
        name in vars(scheduler) or getattr(type(scheduler), name) is not getattr(base, name)
        for name in (method, caller)
    )
    if not (own or scheduler.compiled(method)):
        raise GridError(lack_of(type(scheduler), method))


def _check_jumps(scheduler: GlobalScheduler | LocalScheduler) -> None:
    """Raise `GridError` for a `max_jumps` of its own that is no number of jobs, or unread."""
    jumps = scheduler.max_jumps
    good = jumps == math.inf or (_is_number(jumps, 0, MOST_JUMPS) and jumps % 1 == 0)
    accepted = f"a whole number from 0 to {MOST_JUMPS}, or math.inf"
    _check(scheduler, "max_jumps", good, accepted)


def _check(scheduler: GlobalScheduler | LocalScheduler, name: str, good: bool, of: str) -> None:
    """Raise `GridError` unless what a scheduler says of itself is good."""
    if not good:
        found = quoted(getattr(scheduler, name))
        raise GridError(f"{type(scheduler).__name__}: {name}: found {found}; accepted: {of}")


def _is_number(value: object, least: float, most: float = LONGEST) -> bool:
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return is_number and bool(least <= value <= most)  # type: ignore[operator]


def _check_penalty(scheduler: GlobalScheduler) -> None:
    given = scheduler.penalty
    good = _is_number(given, 1.0) or _is_number(given, 0.0, 0.0)
    _check(scheduler, "penalty", good, "a number from 1, or 0: links decide")


def _check_shares(scheduler: LocalScheduler, ranks: bool) -> None:
    good = _is_number(scheduler.half_life, 0.0, LONGEST if ranks else 0.0)
    order = "seconds, above 0, or 0: `priority` decides"
    accepted = order if ranks else "0, of a scheduler that plans, or whose service is timed"
    _check(scheduler, "half_life", good, accepted)
    shares = scheduler.shares
    good = isinstance(shares, Mapping) and all(
        isinstance(user, int | np.integer) and _is_number(share, 1e-6, 1e6)
        for user, share in shares.items()
    )
    _check(scheduler, "shares", good, "numbers from 1e-06 to 1e+06 by the number of a user")
    by_use = not shares or scheduler.half_life > 0
    _check(scheduler, "shares", by_use, "none, of a scheduler whose half_life is 0")


def _memory(scheduler: GlobalScheduler) -> Any:
    """Return what a compiled `place` gets as its memory; one that returns none forgot to."""
    memory = scheduler.memory()
    check_memory(memory)
    return memory


def _reservations(model: Grid, scheduler: GlobalScheduler) -> int:
    """Return how many of the first waiting jobs have reservations.

    Raises
    ------
    GridError
        If the scheduler says so of jobs that are not offered one by one, or would learn too late
        what is free.
    """
    chosen, selection = scheduler.selection, scheduler.job_selection
    if not selection.reservations:
        return 0
    if scheduler.collects or scheduler.queues or scheduler.only_chooses:
        if not chosen:
            return 0  # as of all policies that select jobs in their own way, or none
        raise GridError(
            f"{type(scheduler).__name__}: selection: found {chosen!r}; accepted: none, of a "
            "scheduler that collects jobs, visits queues or sends each job on at once"
        )
    if not model.world.state.at_once.all():
        by_class = f"{type(scheduler).__name__}: " if chosen else ""
        raise GridError(
            f"{by_class}selection: found {selection.selection!r}, of a scheduler that brokers "
            "tell late, by latency (of links, too), loss, or periodic advertisements; accepted: "
            "fpfs, fcfs, or knowledge = truth"
        )
    return selection.reservations


def _addresses(model: Grid, scheduler: GlobalScheduler) -> Addresses:
    """Return the addresses of the compiled decisions of a global scheduler."""

    def address(method: str, compile_: Callable[..., int]) -> int:
        function = scheduler.compiled(method)
        if not function:
            return 0
        return model.told_by(scheduler, compiled, function, compile_, model.world.capacity)

    place = address("place", place_address)
    largest = address("largest", partial(known_address, name="largest")) if place else 0
    return Addresses(place, largest, address("visit", partial(known_address, name="visit")))


def reconnect(model: Grid, scheduler: GlobalScheduler, clusters: Sequence[ClusterAgent]) -> None:
    """Have the world of a model that was pickled ask, and tell, those of this process."""
    world = model.world
    world.policies.set_addresses(_addresses(model, scheduler))
    for cluster in clusters:
        connect_local(model, cluster.index, cluster.scheduler)
    world.watcher = world.watcher


def connect_local(model: Grid, cluster: int, scheduler: LocalScheduler) -> None:
    """Have the world ask a local scheduler."""
    address, priority = 0, scheduler.compiled("priority")
    if priority:
        address = model.told_by(scheduler, compiled, priority, priority_address)
    service, planned = scheduler.service, isinstance(scheduler, PlanningScheduler)
    if service not in SERVICES or (planned and service != "head"):
        raise GridError(
            f"{type(scheduler).__name__}: service: found {service!r}; accepted: "
            + ("head, of a scheduler that plans" if planned else ", ".join(SERVICES))
        )
    _check_jumps(scheduler)
    free = service == "fpfs" or scheduler.max_jumps == math.inf
    _check(scheduler, "max_jumps", free, "math.inf, of a scheduler whose service is not fpfs")
    _check_shares(scheduler, ranks=not planned and service != "timed")
    if planned:
        _check_decides(scheduler, PlanningScheduler, "plan", "replan")
    elif not scheduler.half_life:
        _check_decides(scheduler, LocalScheduler, "priority", "rank")
    model.world.policies.set_local(
        cluster,
        address,
        planned,
        service,
        scheduler.max_jumps,
        scheduler.half_life,
        scheduler.shares,
        planned and scheduler.plans_at_ends,
    )

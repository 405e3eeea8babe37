"""What schedulers in Python answer, put as the kernel understands it, or refused in one line."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

from numba.core.dispatcher import Dispatcher

from agents.view import Job, KnownCluster
from grid.errors import GridError, PlacementError
from grid.kernel.state import NONE, REJECT, START
from grid.world.world import World

Answer = KnownCluster | Mapping[str, int] | int | None
"""What `place` may return: a cluster to send the job to; how many processors it shall hold from now
on, by name of cluster; None to let it wait; or `REJECT`, since it can never start."""


def start_of(world: World, slot: int, answer: object) -> int:
    """Return START, and what the job of a slot takes of each cluster in `world.take`; or REJECT."""
    if type(answer) is int and answer == REJECT:
        return REJECT
    sizes = {cluster.name: cluster.size for cluster in world.platform.clusters}
    if not isinstance(answer, Mapping) or not all(
        name in sizes and _is_count(count, sizes[name]) for name, count in answer.items()
    ):
        most = ", ".join(f"{name}: at most {size}" for name, size in sizes.items())
        number = world.jobs["number"][slot]
        raise PlacementError(
            f"placement of job {number}: {_shown(answer)}; accepted: one of self.clusters, "
            f"a mapping of names to whole numbers of processors ({most}), None, or REJECT"
        )
    world.take[:] = 0
    for name, count in answer.items():
        world.take[world.platform.index(name)] = count
    return START


def queue_of(answer: Any, clusters: int) -> int:
    """Return the queue that `visit` named, or NONE."""
    if answer is None:
        return NONE
    if not _is_count(answer, clusters):
        raise PlacementError(
            f"queue to visit: {_shown(answer)}; accepted: an index from 0 to {clusters}, of a "
            "queue with jobs, or None"
        )
    return int(answer)


def rank_of(world: World, slot: int, answer: float) -> float:
    """Return the rank that `priority` gave the job of a slot."""
    if not isinstance(answer, Real) or isinstance(answer, bool):
        number = world.jobs["number"][slot]
        raise PlacementError(f"priority of job {number}: {_shown(answer)}; accepted: a number")
    try:
        return float(answer)
    except OverflowError:  # an integer beyond all floats still has its rank
        return math.inf if answer > 0 else -math.inf


def _is_count(count: Any, most: int) -> bool:
    """Tell whether a count of processors is one, from 0 to the most there are; True is none."""
    return isinstance(count, Integral) and not isinstance(count, bool) and 0 <= int(count) <= most


def _shown(answer: object) -> str:
    """Return an answer as one line."""
    return " ".join(repr(answer).split())


def compiled_method(of: type, method: str) -> Dispatcher | None:
    """Return a class's compiled version of a decision, a static method or not, if it has one.

    Raises
    ------
    GridError
        For one that takes what the compiled ones take, and is not compiled.
    """
    function = inspect.getattr_static(of, method, None)
    if isinstance(function, staticmethod):
        function = function.__func__
    if inspect.isfunction(function) and [*inspect.signature(function).parameters][:1] == ["known"]:
        raise GridError(
            f"{of.__name__}: {method}: found {method}{inspect.signature(function)}, not compiled; "
            "accepted: with @numba.njit, or one whose first parameter is self"
        )
    return function if isinstance(function, Dispatcher) else None


def slots_of(jobs: Sequence[Job], order: Any) -> list[int]:
    """Return the slots of jobs in the order of a plan, which has each of them once.

    Raises
    ------
    PlacementError
        If it has not.
    """
    if not isinstance(order, Iterable) or isinstance(order, set | frozenset):  # of no order
        raise PlacementError(f"plan: {order!r}; accepted: a sequence of the jobs given")
    left = {job: job.slot for job in jobs}
    chosen = []
    for job in order:
        if not isinstance(job, Job) or job not in left:
            raise PlacementError(f"plan: {job!r}; accepted: each of the jobs given, once")
        chosen.append(left.pop(job))
    if left:
        raise PlacementError(f"plan without {next(iter(left))!r}; accepted: all the jobs given")
    return chosen

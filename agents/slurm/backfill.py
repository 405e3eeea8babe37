"""Slurm's two loops over the waiting jobs: the main one, and backfilling.

The main loop goes through the jobs in order of priority. The first job of a partition that cannot
start for want of processors ends it for that partition, and for its nodes.

Backfilling plans each job in order, at the earliest time at which it delays none that was planned
before it. It reserves whole nodes, for the time limit of the job; those start that are planned for
now.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

import numpy as np

from agents.slurm.conf import Scheduling
from agents.slurm.nodes import Counts, Mask, Occupied
from agents.slurm.preemption import Room
from agents.slurm.qos import InUse
from agents.slurm.waiting import Waiting


class Span(NamedTuple):
    """Nodes that may be used from a time to another, s."""

    begin: float
    end: float
    mask: Mask


class Space:
    """Which nodes may be used when: the table in which backfilling reserves.

    Parameters
    ----------
    begin, end : float
        Of the time that is planned, s.
    nodes : int
    """

    def __init__(self, begin: float, end: float, nodes: int) -> None:
        self.spans = [Span(begin, end, np.ones(nodes, np.bool_))]

    def reserve(self, begin: float, end: float, mask: Mask) -> None:
        """Take nodes out of the table from a time to another, s."""
        spans: list[Span] = []
        for span in self.spans:
            low, high = max(span.begin, begin), min(span.end, end)
            if low >= high:
                spans.append(span)
                continue
            if span.begin < low:
                spans.append(span._replace(end=low))
            spans.append(Span(low, high, span.mask & ~mask))
            if high < span.end:
                spans.append(span._replace(begin=high))
        self.spans = spans

    def usable(self, begin: float, end: float) -> tuple[Mask, float]:
        """Return the nodes that may be used all the time, and when that may be others, s.

        That is infinity where the table ends.
        """
        masks, later = [], math.inf
        for span in self.spans:
            if span.end <= begin:
                continue
            if span.begin > end:
                break
            if later == math.inf and span is not self.spans[-1]:
                later = span.end
            masks.append(span.mask)
        if not masks:
            return np.ones_like(self.spans[0].mask), later
        return functools.reduce(np.logical_and, masks), later


Chosen = tuple[Waiting, Counts]
"""A job that starts, and how many processors of each node it gets."""


def reserves(job: Waiting, now: float, options: Scheduling) -> bool:
    """Tell whether a job holds others back: it has waited for long enough, and matters enough."""
    old = now - job.since >= options.bf_min_age_reserve
    return old and job.priority >= options.bf_min_prio_reserve


def serve_in_order(
    jobs: Iterable[Waiting],
    there: Occupied,
    space: Space,
    in_use: InUse,
    options: Scheduling,
    depth: int,
    room: Room,
) -> list[Chosen]:
    """Start jobs in order until one of a partition cannot: the main loop; return them.

    Parameters
    ----------
    jobs : iterable of Waiting
        In order of priority.
    there : Occupied
        Jobs that start are added.
    space : Space
        What maintenance leaves.
    in_use : InUse
        What counts for limits; those that start are added, too.
    options : Scheduling
    depth : int
        Most jobs that are tried.
    room : Room
        What they may have by preempting others.
    """
    started: list[Chosen] = []
    open_nodes = np.ones(len(there.free), np.bool_)
    failed: set[str] = set()
    tried: Counter[str] = Counter()
    for job in islice(jobs, depth):
        name = job.partition.name
        if name in failed or not _may_start(job, there, in_use):
            continue
        tried[name] += 1
        if 0 < options.partition_job_depth < tried[name]:
            continue
        usable, _ = space.usable(there.now, there.now + job.limit)
        mask = job.mask & open_nodes & usable
        alloc = there.fits(mask, job.size, *job.nodes)
        if alloc is None:
            alloc = room.make(job, mask)
        if alloc is not None:
            there.take(alloc, there.now + job.limit)
            in_use.take(job.counted)
            started.append((job, alloc))
            if len(started) == options.sched_max_job_start:
                break
        elif reserves(job, there.now, options):
            failed.add(name)
            open_nodes = open_nodes & ~job.mask
    return started


def _may_start(job: Waiting, there: Occupied, in_use: InUse) -> bool:
    """Tell whether nothing but a lack of processors keeps a job from starting."""
    return job.able and job.since <= there.now and in_use.allows(job.counted)


def backfill(
    jobs: Iterable[Waiting],
    there: Occupied,
    space: Space,
    in_use: InUse,
    options: Scheduling,
    room: Room,
) -> tuple[list[Chosen], float]:
    """Start jobs that delay none of higher priority; return them, and the next planned start, s.

    Parameters are those of `serve_in_order`; `space` gets the reservations. The whole nodes of a
    job that preempts others are reserved, too: no other starts there meanwhile.
    """
    started: list[Chosen] = []
    following = math.inf
    users: Counter[int] = Counter()
    parts: Counter[str] = Counter()
    both: Counter[tuple[int, str]] = Counter()
    reserved: Counter[str] = Counter()
    tested = 0
    for job in jobs:
        name, of_both = job.partition.name, (job.user, job.partition.name)
        if not _may_start(job, there, in_use):
            continue
        for count, key, most in (
            (users, job.user, options.bf_max_job_user),
            (parts, name, options.bf_max_job_part),
            (both, of_both, options.bf_max_job_user_part),
        ):
            count[key] += 1  # type: ignore[index]
            if 0 < most < count[key]:  # type: ignore[index]
                break
        else:
            if tested == options.bf_max_job_test:
                break
            tested += 1
            found = _planned(job, there, space, room.candidates(job))
            if found is None:
                continue
            start, alloc = found
            if start <= there.now:
                if (alloc > there.free).any():
                    made = room.make(job, alloc > 0)
                    assert made is not None  # since it would fit there without all of them
                    alloc = made
                    _reserve(space, there.now, job.limit, alloc, options)
                there.take(alloc, there.now + job.limit)
                in_use.take(job.counted)
                started.append((job, alloc))
                if len(started) == options.bf_max_job_start:
                    break
                continue
            following = min(following, start)
            few = options.bf_job_part_count_reserve
            if not reserves(job, there.now, options) or 0 < few <= reserved[name]:
                continue
            if start > there.now + options.bf_window:
                continue
            reserved[name] += 1
            _reserve(space, start, job.limit, alloc, options)
    return started, following


def _reserve(space: Space, start: float, limit: float, alloc: Counts, options: Scheduling) -> None:
    """Reserve the nodes of a job from its start on, for its time limit, s."""
    step = options.bf_resolution
    space.reserve(start // step * step, (start + limit) // step * step, alloc > 0)


def _planned(
    job: Waiting, there: Occupied, space: Space, preemptible: list[int]
) -> tuple[float, Counts] | None:
    """Return when a job can start beside what is reserved, s, and what it gets then; None: never.

    "Never" is within the time that is planned. If the job does not fit now, it is planned as if
    those were gone that it may preempt.
    """
    without = there.without(preemptible) if preemptible else there
    after, before = there.now, None
    found: tuple[float, Counts] | None = None
    while True:
        usable, later = space.usable(after, after + job.limit)
        mask = job.mask & usable
        if before is None or not np.array_equal(mask, before):
            found = _soonest(job, mask, there, without) if mask.any() else None
        before = mask
        if found is not None:
            start = max(found[0], after)
            free, _ = space.usable(start, start + job.limit)
            if start <= later and free[found[1] > 0].all():
                return start, found[1]
            if after < start <= later:
                later = start  # something is reserved there that begins meanwhile
        if later == math.inf:
            return None
        after = later


def _soonest(
    job: Waiting, mask: Mask, there: Occupied, without: Occupied
) -> tuple[float, Counts] | None:
    """Return when a job can start on some nodes, s, at least without others, and what it gets."""
    found = None if without is there else there.fits(mask, job.size, *job.nodes)
    if found is not None:
        return there.now, found
    return without.earliest(mask, job.size, *job.nodes)

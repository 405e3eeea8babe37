"""Preemption by requeueing: which jobs are preempted."""

from __future__ import annotations

import numpy as np
import pytest

from agents.slurm.conf import Partition, Preemption
from agents.slurm.nodes import Occupied
from agents.slurm.preemption import Candidate, Room
from agents.slurm.qos import InUse, Qos
from agents.slurm.waiting import Waiting

NODES = 14


def waiting(slot, size, tier, nodes=NODES, **more):
    part = Partition(f"of tier {tier}", tier=tier)
    return Waiting(slot, size, 600.0, 0, part, np.ones(nodes, bool), 0.0, 0, **more)


def preempted(settings, size, *running, tier=9, now=1000.0, nodes=NODES):
    """Return whom a job preempts, of some that hold so many nodes one beside the other.

    Each is a tier, its nodes, and since when it runs, s.
    """
    held, jobs, begin = np.zeros((len(running), nodes), int), [], 0
    for slot, (lower, count, start) in enumerate(running):
        held[slot, begin : begin + count] = 1
        jobs.append(Candidate(waiting(slot, count, lower, nodes), start))
        begin += count
    free, ones = 1 - held.sum(axis=0), np.ones(nodes, int)
    there = Occupied(now, free, ones, np.full(len(running), now + 60), held, 0.0)
    room = Room(settings, jobs, there, InUse(()))
    job = waiting(99, size, tier, nodes)
    alloc = room.make(job, job.mask)
    assert (alloc is None) == (not room.preempted)
    assert set(room.preempted.values()) <= {99}
    assert (there.free >= 0).all()
    if alloc is not None:
        assert alloc.sum() == size
        assert (alloc <= there.free).all()
        assert all((held[slot][alloc > 0] > 0).any() for slot in room.preempted)
    return [*room.preempted]


def test_jobs_of_the_lowest_tier_go_first_then_those_of_fewer_nodes():
    assert preempted(Preemption(), 1, (3, 1, 0), (2, 1, 0), (4, 12, 0)) == [1]
    assert preempted(Preemption(), 1, (2, 3, 0), (2, 2, 0), (2, 9, 0)) == [1]
    assert preempted(Preemption(), 1, (2, 7, 0), (2, 7, 0)) == [0]


def test_no_job_of_the_same_tier_or_a_higher_one_goes():
    assert preempted(Preemption(), 2, (9, 7, 0), (10, 7, 0)) == []
    assert preempted(Preemption(), 8, (9, 7, 0), (2, 7, 0)) == []


def test_fewer_go_than_come_first_in_order():
    """The example of Slurm's documentation: of jobs of 2, 4 and 8 nodes, for one of 8 nodes."""
    running = (2, 2, 0), (2, 4, 0), (2, 8, 0)
    assert preempted(Preemption(), 8, *running) == [2]
    assert preempted(Preemption(strict_order=True), 8, *running) == [2]


def test_strict_order_keeps_to_tiers():
    # All have to go until the last one, of 8 nodes, is put first. Beside it, of the others the one
    # goes that is most in the way, or the first in order that suffices.
    running = (2, 1, 0), (3, 2, 0), (4, 3, 0), (5, 8, 0)
    assert preempted(Preemption(), 10, *running) == [2, 3]
    assert preempted(Preemption(strict_order=True), 10, *running) == [1, 3]


def test_the_youngest_first():
    running = (2, 1, 30), (3, 1, 50), (2, 12, 40)
    assert preempted(Preemption(), 1, *running) == [0]
    assert preempted(Preemption(youngest_first=True), 1, *running) == [1]


def test_who_has_not_run_for_long_enough_is_exempt():
    running = (2, 1, 900), (2, 1, 800), (2, 12, 901)
    assert preempted(Preemption(exempt_time=100), 1, *running) == [0]
    assert preempted(Preemption(exempt_time=101), 1, *running) == [1]
    assert preempted(Preemption(exempt_time=201), 1, *running) == []


@pytest.mark.parametrize("options", [{}, {"strict_order": True}, {"reorder_count": 0}])
def test_who_goes_holds_what_the_job_gets(options):
    random = np.random.default_rng(8)
    for _ in range(300):
        running, left = [], NODES
        while left > 0:
            count = int(random.integers(1, min(left, 5) + 1))
            running.append((int(random.integers(1, 12)), count, 0.0))
            left -= count
        able = sum(count for tier, count, _ in running if tier < 9)
        size = int(random.integers(1, NODES + 1))
        assert bool(preempted(Preemption(**options), size, *running)) == (size <= able)


def test_quality_counts_of_who_is_preempted():
    """What a preempted job had counts no longer for limits."""
    limited = Qos("limited", all_jobs=1)
    low, job = waiting(0, 4, 1, 4, qos=limited), waiting(1, 4, 2, 4, qos=Qos("free"))
    there = Occupied(
        0.0, np.zeros(4, int), np.ones(4, int), np.array([60.0]), np.ones((1, 4), int), 0.0
    )
    in_use = InUse([low.counted])
    room = Room(Preemption(), [Candidate(low, -1.0)], there, in_use)
    assert not in_use.allows(low.counted)
    assert room.make(job, job.mask).tolist() == [1, 1, 1, 1]
    assert in_use.allows(low.counted)

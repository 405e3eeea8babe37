"""Decisions in three tiers: the kernel's own functions, a user's compiled ones, and Python."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grid.errors import PlacementError, WorkloadError
from grid.jobs import job_table
from grid.kernel import state as k
from grid.kernel.compile import compiled
from grid.kernel.policies.decisions import place_address, priority_address
from grid.platform.multicluster import Platform
from grid.world.world import World
from tests.grid.plain_cases import (
    SEND,
    SEND_WHEN_FREE,
    SPLIT,
    START_THEN_SEND,
    START_WHEN_FREE,
    Case,
    cases,
    place_by_memory,
    rank_by_request,
    rows,
    rules,
    table,
)

CAPACITY = k.CAPACITIES[0]


@pytest.fixture(scope="module", params=["built-in", "plain njit"])
def tier(request):
    """Addresses of a compiled `place` and a compiled `priority`."""
    compile_ = compiled() if request.param == "built-in" else numba.njit
    return (
        place_address(compile_(place_by_memory), CAPACITY),
        priority_address(compile_(rank_by_request)),
    )


def outcome(world):
    """Return all that a run leaves."""
    records = world.log.records()
    counts = [
        getattr(world.state, name) for name in ("completed", "rejected", "restarted", "instants")
    ]
    arrays = (world.busy_area(), world.known["work"], world.known["at"], world.state.demand)
    # The placement of a job that was not co-allocated says nothing.
    return rows(world), records["execution_time"].tolist(), counts, world.messages, [
        array.tolist() for array in arrays
    ]  # fmt: skip


anything = [SEND, SEND_WHEN_FREE, START_WHEN_FREE, SPLIT, START_THEN_SEND]


@pytest.mark.thorough
@settings(max_examples=100)
@given(cases(anything, slides=True, tracked=True), st.booleans(), st.data())
def test_all_tiers_give_the_same_run(tier, case, in_order, data):
    case.in_order = in_order
    case.fail_at_random(data.draw)
    python = repr(outcome(case.run(case.world())))
    assert repr(outcome(case.run(case.world(*tier)))) == python
    assert repr(outcome(case.run(case.world(tier[0])))) == python
    assert repr(outcome(case.run(case.world(rank_at=tier[1])))) == python


def test_a_policy_that_goes_by_what_brokers_tell_is_asked_when_they_tell():
    def place(job):
        return 0 if world.known["free"][0] >= world.jobs["size"][job] else k.WAIT

    world = World(Platform.star([1]), latency=1.0, place=place, rank=lambda job: 0.0)
    world.submit(table([0.0, 3.0], 1, 10.0))
    world.advance(np.inf)
    # The first is there from 1 to 11, which is known at 12, and the second there at 13.
    assert [row[4:] for row in rows(world)] == [(1.0, 11.0), (13.0, 23.0)]


# Rounds ------------------------------------------------------------------------------------------


def collecting():
    world = World(Platform.star([4, 2]), rank=lambda job: 0.0)
    world.policies.set_global(rules(collects=True))
    world.policies.notify(True)
    world.submit(table([0.0, 0.0, 0.0, 5.0], [1, 3, 1, 1], 10.0))
    return world


def test_rounds():
    world = collecting()
    assert (world.advance(np.inf), world.now) == (k.COLLECTED, 0.0)
    jobs = world.collected()
    assert world.jobs["number"][jobs].tolist() == [1, 2, 3]
    world.send(jobs[[2, 1]], np.array([0, 0]))
    assert (world.advance(np.inf), world.now) == (k.COLLECTED, 5.0)
    jobs = world.collected()
    assert world.jobs["number"][jobs].tolist() == [1, 4]
    world.send(jobs, np.array([1, 1]))
    assert world.advance(np.inf) == k.OVER
    assert [row[:2] + row[4:] for row in sorted(rows(world))] == [
        (1, 1, 5.0, 15.0), (2, 0, 0.0, 10.0), (3, 0, 0.0, 10.0), (4, 1, 5.0, 15.0)
    ]  # fmt: skip


@pytest.mark.parametrize("cluster", [-1, 2, 1])
def test_rounds_send_to_clusters_that_can_hold_the_job(cluster):
    world = collecting()
    world.advance(np.inf)
    jobs = world.collected()
    with pytest.raises(PlacementError, match=r"job 2 \(size 3\)"):
        world.send(jobs[[0, 1]], np.array([0, cluster]))
    assert world.state.waiting[-1] == 3


def test_rounds_send_jobs_that_wait():
    world = collecting()
    world.advance(np.inf)
    jobs = world.collected()
    with pytest.raises(PlacementError):
        world.send(jobs[[0, 0]], np.array([0, 0]))
    world.send(jobs[:1], np.array([0]))
    for wrong in (int(jobs[0]), 40, -1, 10**6):
        with pytest.raises(PlacementError):
            world.send(np.array([wrong]), np.array([0]))
    assert world.state.waiting[-1] == 2


def test_case_is_not_trivial():
    """The tiers are compared on runs in which something happens: one of them, looked at."""
    jobs = table([0.0, 1.0, 2.0], [3, 2, 3], 4.0, requested_time=[1, 2, 3])
    case = Case(Platform.star([3, 2]), jobs, [SEND, SPLIT, SEND_WHEN_FREE], [0, 1, 0], spans=True)
    assert [row[1:] for row in sorted(rows(case.run(case.world())))] == [
        (0, (0, 0), 0, 0.0, 4.0), (1, (0, 0), 0, 1.0, 5.0), (0, (0, 0), 0, 4.0, 8.0)
    ]  # fmt: skip


def test_news_may_be_too_old_for_a_start():
    """With latency a policy sees free processors that are taken: the job waits, and comes again."""

    def first_fit(slot):
        size = world.jobs["size"][slot]
        for cluster in range(world.clusters):
            if world.known["free"][cluster] >= size:
                world.take[:] = 0
                world.take[cluster] = size
                return k.START
        return k.WAIT

    world = World(Platform.star([4, 4]), latency=2.0, place=first_fit)
    jobs = job_table(6)
    jobs["size"], jobs["runtime"] = 3, 10.0
    jobs["arrival"] = [0.0, 0.5, 1.0, 1.5, 3.0, 9.0]
    world.submit(jobs)
    assert world.advance(np.inf) == k.OVER
    assert world.state.completed == 6
    assert world.state.refused > 0
    records = world.log.records()
    for time in records["start"]:
        running = (records["start"] <= time) & (time < records["finish"])
        assert np.bincount(records["cluster"][running]).max() == 1


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("size", 0),
        ("arrival", np.nan),
        ("runtime", -1.0),
        ("runtime", np.inf),
        ("deadline", np.nan),
        ("origin", 2),
        ("origin", -2),
    ],
)
def test_rows_that_the_kernel_cannot_take_are_refused(column, value):
    world = World(Platform.star([4, 4]), place=lambda slot: 0)
    jobs = job_table(3)
    jobs["size"] = 1
    jobs[column][1] = value
    world.submit(jobs)
    with pytest.raises(WorkloadError, match=f"job 2: {column}"):
        world.advance(np.inf)


def test_jobs_out_of_order_are_refused():
    world = World(Platform.star([4, 4]), place=lambda slot: 0)
    jobs = job_table(2)
    jobs["size"], jobs["arrival"] = 1, [2.0, 1.0]
    world.submit(jobs)
    with pytest.raises(WorkloadError, match="order"):
        world.advance(np.inf)

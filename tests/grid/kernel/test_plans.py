"""Clusters that serve their queues by plans: orders, and sets of processors."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grid.errors import PlacementError
from grid.kernel import state as k
from grid.platform.multicluster import Platform
from grid.world.world import World
from tests.grid.plain_cases import SEND, START_WHEN_FREE, Case, cases, table


@pytest.mark.thorough
@settings(max_examples=200)
@given(cases([SEND, START_WHEN_FREE]), st.booleans(), st.data())
def test_orders_that_change(case, tracked, data):
    case.replan_at_random(data.draw, sets=False)
    case.tracked = tracked
    case.check()


@pytest.mark.thorough
@settings(max_examples=300)
@given(cases([SEND, START_WHEN_FREE], tracked=True), st.data())
def test_processor_sets_that_change(case, data):
    case.replan_at_random(data.draw, sets=True)
    case.check()


def planned(sizes, runtimes, tracked=True, cluster_sizes=(4, 4)):
    """Return a World whose jobs wait for a plan of the first cluster at time 0."""
    world = World(Platform.star(cluster_sizes), tracked=tracked, place=lambda job: 0)
    world.policies.set_local(0, planned=True)
    world.submit(table([0.0] * len(sizes), sizes, runtimes))
    assert world.advance(0.0) == k.LANDED
    assert world.wanting_plans().tolist() == [0]
    return world


def starts(world):
    assert world.advance(np.inf) == k.OVER
    return {int(row["number"]): float(row["start"]) for row in world.log.records()}


def test_processors_serve_their_turns():
    world = planned([2, 2, 1, 3], [5, 3, 2, 1])
    # Processor 0: 1, 3; processor 1: 1, 4; processor 2: 2, 4; processor 3: 2, 4.
    world.plan(0, world.jobs.waiting(0), [[0, 1], [2, 3], [0], [1, 2, 3]])
    assert starts(world) == {1: 0.0, 2: 0.0, 3: 5.0, 4: 5.0}


def test_an_order_blocks_at_its_head():
    world = planned([3, 2, 1], [5, 3, 2])
    world.plan(0, world.jobs.waiting(0))
    assert starts(world) == {1: 0.0, 2: 5.0, 3: 5.0}


def test_jobs_left_out_wait_for_another_plan():
    world = planned([1, 1, 1], [5, 5, 5])
    one, two, three = world.jobs.waiting(0).tolist()
    world.plan(0, [three], [[3]])
    assert starts(world) == {3: 0.0}
    assert world.state.waiting[0] == 2
    assert sorted(world.jobs.waiting(0).tolist()) == [one, two]
    world.plan(0, [two], [[1]])
    assert starts(world) == {3: 0.0, 2: 5.0}
    world.plan(0, [])
    assert starts(world) == {3: 0.0, 2: 5.0}
    world.plan(0, [one])
    assert starts(world) == {3: 0.0, 2: 5.0, 1: 10.0}


def test_a_job_that_lands_asks_for_a_plan():
    world = World(Platform.star([4]), place=lambda job: 0)
    world.policies.set_local(0, planned=True)
    world.submit(table([0.0, 0.0, 1.0], 1, 5))
    counts = []
    while world.advance(np.inf) == k.LANDED:
        assert world.wanting_plans().tolist() == [0]
        counts.append(int(world.state.waiting[0]))
        world.plan(0, world.jobs.waiting(0))
    assert counts == [2, 1]


def test_no_processor_serves_two_jobs_at_once():
    rng = np.random.default_rng(5)
    sizes = rng.integers(1, 9, 300)
    jobs = table(np.sort(rng.uniform(0, 900, 300)), sizes, rng.uniform(1, 20, 300))
    case = Case(Platform.star([8]), jobs, [SEND] * 300, [0] * 300, tracked=True)
    case.planned, case.with_sets, chosen = (0,), True, {}
    planner = case.planner()

    def remembering():
        def plan(cluster, waiting):
            pairs = planner(cluster, waiting)
            chosen.update({job["number"]: processors for job, processors in pairs})
            return pairs

        return plan

    case.planner = remembering
    world = case.run(case.world())
    assert world.state.completed == 300
    held = [[] for _ in range(8)]
    for row in world.log.records():
        for processor in chosen[int(row["number"])]:
            held[processor].append((float(row["start"]), float(row["finish"])))
    for spans in held:
        spans.sort()
        assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans))


@pytest.mark.parametrize(
    ("resources", "found"),
    [
        ([[0, 1], [2]], "job 2 (size 2) on processors [2]"),
        ([[0, 1], [2, 2]], "job 2 (size 2) on processors [2, 2]"),
        ([[0, 1, 2], [2, 3]], "job 1 (size 2) on processors [0, 1, 2]"),
        ([[0, 4], [2, 3]], "job 1 (size 2) on processors [0, 4]"),
        ([[0, -1], [2, 3]], "job 1 (size 2) on processors [0, -1]"),
    ],
)
def test_wrong_processors(resources, found):
    world = planned([2, 2], [1, 1])
    with pytest.raises(PlacementError) as error:
        world.plan(0, world.jobs.waiting(0), resources)
    assert found in str(error.value)
    assert "C1" in str(error.value)
    assert "\n" not in str(error.value)
    world.plan(0, world.jobs.waiting(0), [[0, 1], [2, 3]])
    assert starts(world) == {1: 0.0, 2: 0.0}


def test_wrong_jobs():
    world = World(Platform.star([4, 4]), place=lambda job: int(world.jobs["number"][job] > 2))
    for cluster in (0, 1):
        world.policies.set_local(cluster, planned=True)
    world.submit(table([0.0, 0.0, 0.0], 1, 5))
    assert world.advance(0.0) == k.LANDED
    one, two = world.jobs.waiting(0).tolist()
    (three,) = world.jobs.waiting(1).tolist()
    for order in ([one, one], [three], [one, three], [-1], [10**6], [one, two + 40]):
        with pytest.raises(PlacementError, match=r"plan of C1: .*each once"):
            world.plan(0, order)
    world.plan(0, [one, two])
    world.plan(1, [three])
    world.wanting_plans()
    world.advance(1.0)
    with pytest.raises(PlacementError, match="plan of C1"):
        world.plan(0, [one])  # it runs


def test_processors_of_an_untracked_world():
    world = planned([1], [1], tracked=False)
    with pytest.raises(PlacementError, match=r"C1.*untracked"):
        world.plan(0, world.jobs.waiting(0), [[0]])


def test_planning_again_and_again_takes_no_more_room():
    world = planned([8] * 20, [1] * 20, cluster_sizes=(8,))
    order, sets = world.jobs.waiting(0), [list(range(8))] * 20
    for _ in range(10):
        world.plan(0, order, sets)
    tracemalloc.start()
    try:
        for _ in range(200):
            world.plan(0, order, sets)
        assert tracemalloc.get_traced_memory()[0] < 200_000
    finally:
        tracemalloc.stop()

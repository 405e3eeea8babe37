"""Jobs that span clusters: shared links, sliding ends."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grid.bandwidth import bandwidth_shares, link_demand
from grid.kernel import state as k
from grid.platform import topology
from grid.platform.multicluster import Cluster, Platform
from grid.platform.topology import CENTRE, Link, network
from grid.world.storage import SPLITS
from grid.world.world import World
from tests.grid.plain_cases import (
    SEND,
    SEND_WHEN_FREE,
    SPLIT,
    START_WHEN_FREE,
    cases,
    rows,
    rules,
    table,
)


@pytest.mark.thorough
@settings(max_examples=200)
@given(cases([SPLIT], slides=True), st.booleans())
def test_split_jobs(case, in_order):
    case.in_order = in_order
    case.check(rel=1e-9)


@pytest.mark.thorough
@settings(max_examples=200)
@given(cases([SPLIT, SEND, SEND_WHEN_FREE, START_WHEN_FREE], slides=True), st.booleans())
def test_split_and_single_jobs(case, in_order):
    case.in_order = in_order
    case.check(rel=1e-9)


def started(platform, takes, fraction, ppbw, runtime=10.0):
    """Return a World whose jobs start at time 0 as `takes` says, all in one instant."""
    takes = np.array(takes)

    def place(job):
        world.take[: len(platform.clusters)] = takes[world.jobs["number"][job] - 1]
        return k.START

    world = World(platform, place=place)
    world.policies.set_global(rules(spans=True))
    zeros = np.zeros(len(takes))
    jobs = table(zeros, takes.sum(axis=1), runtime, computation_fraction=fraction, ppbw=ppbw)
    world.submit(jobs)
    world.advance(0.0)
    return world


def hilly():
    """Return five clusters on a tree three links deep."""
    links = [Link("A", "S1", 300), Link("B", "S1", 120), Link("S1", "S2", 200), Link("C", "S2", 90)]
    links += [Link("S2", CENTRE, 260), Link("D", CENTRE, math.inf), Link("E", "D", 75)]
    names = ["A", "B", "C", "D", "E"]
    return Platform(
        tuple(Cluster(name, 500) for name in names), network(names, links, ["S1", "S2"])
    )


@pytest.mark.parametrize(
    "platform", [Platform.star([500] * 4, capacity=[20, 60, 90, math.inf]), hilly()]
)
def test_shares_of_many_jobs_on_the_links(platform):
    rng = np.random.default_rng(3)
    count, clusters = 40, len(platform.clusters)
    takes = np.zeros((count, clusters), int)
    for take in takes:
        take[rng.choice(clusters, 2, replace=False)] = rng.integers(1, 5, 2)
    ppbw = 10 ** rng.uniform(0, 1.5, count)
    world = started(platform, takes, 0.25, ppbw)
    demand = link_demand(takes, ppbw, topology.sides(platform.graph))
    assert world.state.demand == pytest.approx(demand.sum(axis=0), rel=1e-12)
    ratios = bandwidth_shares(demand, topology.capacities(platform.graph))
    assert len(np.unique(ratios)) > 2
    # A quarter of each run time computes, and the rest is stretched by the ratio.
    ends = {
        int(s["number"]): float(s["end"]) for s in world.jobs.slots if s["status"] == k.COALLOCATED
    }
    expected = 10 * (0.25 + 0.75 / ratios)
    assert [ends[n + 1] for n in range(count)] == pytest.approx(expected.tolist(), rel=1e-9)


def test_ends_slide_both_ways():
    platform = Platform.star([4, 4], capacity=10.0)
    takes = {1: [1, 1], 2: [1, 1]}

    def place(job):
        world.take[:2] = takes[int(world.jobs["number"][job])]
        return k.START

    world = World(platform, place=place)
    # Each needs 10 Mbit/s of 10. The second arrives when the first has 10 s of 20 left.
    world.submit(table([0.0, 10.0], 2, [20.0, 4.0], computation_fraction=0.0, ppbw=10.0))
    world.advance(np.inf)
    assert [row[4:] for row in rows(world)] == [(10.0, 18.0), (0.0, 24.0)]


def test_a_job_that_uses_no_link_keeps_its_end():
    platform = Platform.star([4, 4], capacity=1.0)
    world = started(platform, [[2, 2], [1, 1], [1, 1]], [1.0, 0.5, 0.5], [1000.0, 0.0, 1000.0])
    world.advance(np.inf)
    assert [row[0] for row in rows(world)] == [1, 2, 3]
    assert rows(world)[0][5] == 10.0
    assert rows(world)[1][5] == 10.0


def test_a_tiny_demand_beside_a_huge_one_is_not_forgotten():
    platform = Platform.star([8, 8, 8], capacity=1000.0)
    takes, ppbw = [[1, 1, 0], [0, 1, 1]], [2000.0, 1e-10]
    world = started(platform, takes, 0.5, ppbw, [100.0, 10.0])
    world.advance(np.inf)
    # The links of the first and the second cluster are equally full: both jobs get half.
    assert [row[5] for row in rows(world)] == pytest.approx([15.0, 150.0])


def test_hundreds_at_once():
    count = 300
    platform = Platform.star([count, count], capacity=1000.0)
    world = started(platform, [[1, 1]] * count, 0.5, 20.0)
    assert world.state.running_count.tolist() == [count, count]
    assert world.state.demand == pytest.approx([20.0 * count] * 2)
    assert len(world.jobs.running(0)[0]) == count
    world.advance(np.inf)
    assert world.state.completed == count
    assert world.log.records().takes.tolist() == [[1, 1]] * count
    # 1000 of 6000 Mbit/s: half of the 10 s computing, the other half six times as long.
    assert [row[5] for row in rows(world)] == pytest.approx([35.0] * count)
    assert world.state.demand.tolist() == [0.0, 0.0]


def test_placements_are_those_of_the_row_alone():
    takes = {1: [1, 1], 2: [2, 0], 3: [0, 0]}

    def place(job):
        number = int(world.jobs["number"][job])
        if world.now == 0 and number == 2:
            return 0
        world.take[:2] = takes[number]
        return k.START

    world = World(Platform.star([4, 4]), tracked=True, place=place, rank=lambda job: 0.0)
    world.submit(table([0.0, 0.0, 1.0], [2, 2, 9], [100.0, 10.0, 1.0], ppbw=1.0))
    world.resources.fail(
        1, 0, 2.0
    )  # the row that the first job's placement was written to goes to another
    world.advance(np.inf)
    records = world.log.records()
    splits = dict(zip(records["number"].tolist(), records["split"].tolist(), strict=True))
    assert splits == {1: 0, 2: k.NONE, 3: k.NONE}
    assert records.takes.tolist() == [[1, 1]]


def test_more_split_jobs_than_the_kernel_keeps():
    count = 1000
    jobs = np.arange(count)
    takes = np.stack([1 + jobs % 3, jobs % 4, jobs % 2], axis=1)

    def place(job):
        world.take[:3] = takes[world.jobs["number"][job] - 1]
        return k.START

    world = World(Platform.star([9, 9, 9], capacity=math.inf), place=place)
    world.policies.set_global(rules(spans=True))
    world.submit(table(10.0 * (jobs // 4), takes.sum(axis=1), 1.0))  # three of four are split
    for until in (400.0, 1500.0, np.inf):
        world.advance(until)
        done = world.state.completed
        records = world.log.latest(count)
        number, split = records["number"], records["split"]
        assert number.tolist() == list(range(1, done + 1))
        spread = (takes[:done] > 0).sum(axis=1) > 1
        assert split[spread].tolist() == list(range(spread.sum()))
        assert (split[~spread] == k.NONE).all()
        assert records.takes.tolist() == takes[:done][spread].tolist()
        few = world.log.latest(7)
        assert few["number"].tolist() == number[-7:].tolist()
        of_few = few["split"] != k.NONE
        assert few.takes[few["split"][of_few]].tolist() == takes[done - 7 : done][of_few].tolist()
        if until == 1500.0:
            world.log.records()
    assert done == count
    assert spread.sum() > 2 * SPLITS


def test_who_turns_to_collecting_while_split_jobs_run():
    world = started(Platform.star([4, 4], capacity=math.inf), [[1, 1], [2, 1]], 0.5, 1.0)
    world.policies.set_global(rules(collects=True))
    world.submit(table([5.0], [1], 1.0))
    assert world.advance(np.inf) == k.OVER
    assert world.log.records()["finish"].tolist() == [10.0, 10.0]
    assert len(world.collected()) == 1

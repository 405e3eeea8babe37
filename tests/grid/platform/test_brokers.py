"""The hierarchy of brokers: what each believes, how old it is, and what gets lost."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grid.distributions import Exponential, UniformSizes
from grid.errors import PlatformError
from grid.kernel import state as k
from grid.platform.brokers import Advertising, Broker, chains
from grid.platform.multicluster import Platform
from grid.workloads.synthetic import SyntheticWorkload
from grid.world.world import World

BROKERS = (Broker("coast"), Broker("west", "coast"), Broker("north", "west"))
ABOVE = ("north", "west", "coast", "north")
LINKS = (0.0, 0.5, 0.25, 0.0)


def tree(latencies=LINKS):
    """Return four clusters whose messages take four, three, two and four hops."""
    star = Platform.star([8, 6, 4, 8], latency=latencies)
    pairs = zip(star.clusters, ABOVE, strict=True)
    clusters = tuple(replace(cluster, broker=above) for cluster, above in pairs)
    return Platform(clusters, star.graph, BROKERS)


def world_of(platform, latency=0.0, advertising=None, jobs=400, rate=0.8, seed=1, place=None):
    """Return a world in which jobs go to each cluster in turn."""
    if place is None:
        turn = iter(range(10**9))

        def place(slot):
            size = world.jobs["size"][slot]
            fitting = np.flatnonzero(platform.sizes >= size)
            return int(fitting[next(turn) % len(fitting)])

    world = World(platform, latency, False, place, lambda slot: 0.0, advertising, seed=seed)
    workload = SyntheticWorkload(
        count=jobs, rate=rate, sizes=UniformSizes(1, 4), runtimes=Exponential(10.0), seed=seed
    )
    world.arrivals.feed(workload.chunks())
    return world


def truth(world):
    return (
        world.state.free.tolist(),
        world.state.up.tolist(),
        world.state.waiting[: world.clusters].tolist(),
    )


@pytest.mark.thorough
@pytest.mark.parametrize("latency", [0.0, 0.75])
def test_each_broker_believes_what_was_true_as_long_ago_as_the_way_takes(latency):
    platform = tree()
    # Times at which nothing happens: the truth at all earlier ones is looked up.
    times = [0.1 + 0.37 * step for step in range(900)]
    world = world_of(platform, latency, jobs=300)
    way = {}
    for row, belief in enumerate(world.tables.beliefs):
        first = int(world.state.first_belief[belief["cluster"]])
        way[row] = sum(world.tables.beliefs["delay"][first : row + 1])
    shadow = world_of(platform, latency, jobs=300)
    for time in times[100:]:
        world.advance(time)
        for row, belief in enumerate(world.tables.beliefs):
            if row % 3 != int(time * 100) % 3:
                continue
            replay = shadow if way[row] == 0 else world_of(platform, latency, jobs=300)
            replay.advance(time - way[row])
            free, up, waiting = truth(replay)
            c = belief["cluster"]
            assert (belief["free"], belief["up"], belief["waiting"]) == (free[c], up[c], waiting[c])
            break
    known = [world.known[name].tolist() for name in ("free", "up", "waiting")]
    roots = world.tables.beliefs[world.tables.beliefs["above"] == k.NONE]
    assert known == [roots[name].tolist() for name in ("free", "up", "waiting")]


def test_what_is_left_is_the_work_of_the_jobs_that_are_there():
    world = world_of(tree([0.0] * 4), latency=0.0)
    for time in np.arange(5.0, 200.0, 5.0):
        world.advance(time)
        jobs = world.jobs.slots
        there = np.isin(jobs["status"], (k.LOCAL, k.RUNNING))
        for belief in world.tables.beliefs:
            mine = jobs[there & (jobs["cluster"] == belief["cluster"])]
            left = float((mine["execution_time"] * mine["size"]).sum())
            assert belief["left"] == pytest.approx(left, abs=1e-9)


def test_zero_latency_is_full_knowledge_job_by_job():
    """A hierarchy without latency, and the truth with latency, place each job as a star does."""

    def least(world):
        def place(slot):
            fitting = world.known["size"] >= world.jobs["size"][slot]
            load = np.where(fitting, world.known["work"] / world.known["size"], np.inf)
            return int(load.argmin())

        return place

    runs = []
    flat = Platform.star([8, 6, 4, 8])
    deep = tree([0.0] * 4)
    for platform, advertising in (
        (flat, None),
        (deep, None),
        (deep, Advertising(truth=True)),
        (deep, Advertising("both", 3.0)),
    ):
        world = world_of(platform, 0.0, advertising)
        world.policies.place = least(world)
        assert world.advance(math.inf) == k.OVER
        records = world.log.records()
        runs.append([records[name].tobytes() for name in ("number", "start", "cluster")])
    assert runs.count(runs[0]) == 4


def test_truth_is_known_at_once_whatever_the_latency():
    world = world_of(tree(), 2.0, Advertising(truth=True))
    for time in np.arange(1.0, 300.0, 1.7):
        world.advance(time)
        known = [world.known[name].tolist() for name in ("free", "up", "waiting")]
        assert known == list(truth(world))
    assert world.messages["advertisement"] == 0
    assert world.messages["transfer"] > 200


@pytest.mark.sampled(2)
@pytest.mark.parametrize("loss", [0.0, 0.2, 0.4])
@pytest.mark.parametrize(("latency", "period"), [(0.0, 4.0), (0.5, 4.0)])
def test_mean_age_of_periodic_news_is_its_closed_form(loss, latency, period):
    """News of T x Geometric(q) apart: mean age T (2 - q) / (2 q) and the way, q = (1 - p)^hops."""
    platform = tree([0.0] * 4)
    world = world_of(platform, latency, Advertising("periodic", period, loss), jobs=60_000)
    world.advance(200.0)
    ages = [
        world.now - world.known["at"]
        for time in np.arange(200.1, 60_000.0, (1 + 5**0.5) / 2)
        if world.advance(time) == k.TIME
    ]
    mean = np.mean(ages, axis=0)
    hops = np.array([4, 3, 2, 4])
    q = (1.0 - loss) ** hops
    expected = period * (2.0 - q) / (2.0 * q) + hops * latency
    assert mean == pytest.approx(expected, rel=0.15 if loss else 0.02)
    if loss == 0.0:
        assert world.state.lost == 0


@pytest.mark.parametrize("loss", [0.0, 0.4])
def test_brokers_that_tell_at_once_and_periodically_come_to_an_end(loss):
    world = world_of(tree(), 0.0, Advertising("both", 7.0, loss), jobs=50)
    assert world.advance(1e9) == k.OVER
    assert world.state.completed == 50


@pytest.mark.parametrize("when", ["change", "periodic", "both"])
def test_nothing_but_advertisements_is_lost_for_good(when):
    world = world_of(tree(), 0.5, Advertising(when, 7.0, 0.4), jobs=300)
    assert world.advance(math.inf) == k.OVER
    assert world.state.completed == 300
    assert world.state.lost > 100
    assert world.state.in_flight == 0
    assert world.state.news == 0
    if when != "change":  # what was lost was told again
        assert world.known["free"].tolist() == world.state.free.tolist()
        assert world.known["work"] == pytest.approx(np.zeros(4), abs=1e-9)
        assert world.known["unfinished"].tolist() == [0] * 4


def test_what_is_lost_is_sent_again_after_twice_the_time_of_its_hop():
    """Whether that is the latency of brokers or of links."""
    outcomes = set()
    for latency, links in ((8.0, 0.0), (2.0, 6.0), (0.0, 8.0)):
        platform = Platform.star([8, 6, 4, 8], latency=links)
        world = world_of(platform, latency, Advertising("both", 7.0, 0.4), jobs=100)
        assert world.advance(math.inf) == k.OVER
        assert world.state.lost > 50
        outcomes.add(world.log.records().rows.tobytes())
    assert len(outcomes) == 1


@settings(max_examples=30)
@given(
    st.sampled_from(["change", "periodic", "both"]),
    st.sampled_from([0.0, 0.3]),
    st.lists(st.floats(0.0, 400.0), max_size=30),
)
def test_stops_change_nothing(when, loss, stops):
    def run(stops):
        world = world_of(tree(), 0.5, Advertising(when, 6.0, loss), jobs=100)
        for stop in sorted(stops):
            world.advance(stop)
        world.advance(math.inf)
        return (
            [
                world.log.records()[name].tobytes()
                for name in ("number", "start", "finish", "cluster")
            ],
            world.messages,
            world.state.lost,
            world.known["at"].tolist(),
        )

    assert run(stops) == run([])


@pytest.mark.parametrize("when", ["periodic", "both"])
@pytest.mark.parametrize("loss", [0.0, 0.4])
def test_a_run_ends_though_news_is_always_on_its_way(when, loss):
    """A message takes longer than the time between two of them."""
    world = world_of(tree(), 3.0, Advertising(when, period=1.0, loss=loss), jobs=40)
    while world.advance(world.now + 10.0) != k.OVER:
        assert world.now < 5000.0
    assert world.state.completed == 40
    assert world.state.in_flight == 0
    assert (world.known["at"] >= world.state.touched_at).all()


def test_a_run_of_which_nothing_more_can_be_told_ends():
    """A job that no decision ever starts keeps nobody telling the same for ever."""
    world = world_of(tree(), 0.5, Advertising("both", 1.0, 0.3), jobs=5, place=lambda slot: k.WAIT)
    assert world.advance(math.inf) == k.OVER
    assert world.state.completed == 0
    assert world.now < 100


@pytest.mark.parametrize(
    ("clusters", "brokers", "words"),
    [
        ([("C1", "A")], [Broker("A", "B"), Broker("B", "A")], "cycle A - B - A"),
        ([("C1", "A")], [Broker("A", "A")], "cycle A - A"),
        ([("C1", "A")], [Broker("A", "Z")], "broker A: unknown parent 'Z'; accepted: none"),
        ([("C1", "")], [Broker("A")], "cluster C1: without a broker; accepted: A"),
        ([("C1", "A")], [Broker("A", ["Z"])], "broker A: unknown parent .'Z'.; accepted"),
        ([("C1", {})], [Broker("A")], "cluster C1: unknown broker {}"),
        ([("C1", "Z")], [Broker("A")], "cluster C1: unknown broker 'Z'; accepted: A"),
        ([("C1", "Z")], [], "cluster C1: unknown broker 'Z'; accepted: none"),
        ([("C1", "A")], [Broker("A"), Broker("A")], "broker A: a name used twice"),
        ([("A", "A")], [Broker("A")], "broker A: a name used twice"),
    ],
)
def test_brokers_that_form_no_tree_are_refused(clusters, brokers, words):
    with pytest.raises(PlatformError, match=words) as caught:
        chains(clusters, brokers)
    assert "accepted" in str(caught.value)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"when": "often"}, "advertise: found 'often'; accepted: change, periodic, both"),
        ({"period": 0.0}, "period: found 0.0"),
        ({"period": math.nan}, "period: found nan"),
        ({"period": math.inf}, "period: found inf"),
        ({"loss": 1.0}, "loss: found 1.0"),
        ({"loss": -0.1}, "loss: found -0.1"),
        ({"loss": math.nan}, "loss: found nan"),
    ],
)
def test_impossible_advertising_is_refused(values, words):
    with pytest.raises(PlatformError, match=words):
        Advertising(**values)


def test_a_platform_of_brokers_is_written_and_read_back():
    platform = tree()
    again = Platform.from_dict(platform.to_dict())
    assert again.brokers == BROKERS
    assert again.clusters == platform.clusters
    assert again.chains == [[2, 1, 0], [1, 0], [0], [2, 1, 0]]

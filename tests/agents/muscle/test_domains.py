"""MUSCLE over MUSCLE: brokers below the global one that schedule the clusters below them."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from agents.messages import JobsReturned, ScheduleReport, SeedSchedule, TransferOrder
from agents.muscle.domain import Domain, domain_brokers
from agents.muscle.scheduler import MuscleSettings
from grid.errors import GridError
from grid.platform.brokers import Advertising, Broker
from grid.platform.changes import Change, Failures
from grid.platform.multicluster import Platform
from tests.agents.small_grids import (
    LINKS,
    OUTCOME,
    RATES,
    SIZES,
    done,
    heard,
    model_of,
    ran,
    table,
    workload,
)


def grid(brokers, above, sizes=SIZES, rates=RATES, **options):
    """Return a platform of brokers (name, parent) and the broker above each cluster."""
    flat = Platform.star(sizes, rates, **options)
    clusters = tuple(
        replace(one, broker=name) for one, name in zip(flat.clusters, above, strict=True)
    )
    return Platform(clusters, flat.graph, tuple(Broker(*each) for each in brokers))


def levels(count):
    return {"settings": [MuscleSettings(levels=count)]}


def outcome(model):
    return {name: done(model)[name].tolist() for name in OUTCOME}


ONE_DOMAIN = grid([("all",)], ["all"] * 3)
TREE = grid(
    [("north",), ("west", "north"), ("east", "north"), ("south",)],
    ["west", "west", "east", "south", "north"],
    (8, 6, 4, 5, 3),
    (1.0, 1.3, 0.7, 1.0, 2.0),
    latency=(*LINKS, 0.3, 0.1),
)


@pytest.mark.thorough
@pytest.mark.parametrize("local", ["titan", "fcfs", "easy"])
@pytest.mark.parametrize("failures", [None, Failures(400.0, 15.0)])
def test_one_domain_of_all_clusters_allocates_as_the_global_scheduler_would(local, failures):
    """Without latency it knows, and gets, at each instant what that has."""
    jobs = workload(count=80, share=0.5)
    flat, above = (
        ran("muscle", local, jobs, ONE_DOMAIN, failures=failures, **levels(count))
        for count in (1, 2)
    )
    assert outcome(above) == outcome(flat)
    assert above.messages_posted > flat.messages_posted


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", range(12))
def test_no_job_is_lost_and_steps_change_nothing(case):
    draw = random.Random(case)
    mode = draw.choice(["open", "batch"])
    failures = draw.choice([None, Failures(draw.choice([300.0, 3000.0]), 15.0)])
    advertising = Advertising(draw.choice(["both", "periodic"]), 10.0, draw.choice([0.0, 0.2]))
    threshold = draw.choice([None, 0.0, 30.0])
    latency, count = draw.choice([0.0, 0.2, 5.0]), draw.randint(1, 3)
    named = draw.choice([(), ("east",), ("west", "south")]) if count > 1 else ("west", "east")
    local = draw.choice(["titan", "fcfs", "conservative"])
    outcomes = []
    for interval in (7.0, 1e6):
        jobs = workload(mode, share=0.5, count=60, clusters=5)
        model = ran(
            "muscle", local, jobs, TREE, latency=latency, failures=failures, interval=interval,
            advertising=advertising, round_threshold=threshold,
            settings=[MuscleSettings(levels=count, domains=named)],
        )  # fmt: skip
        jobs = done(model)
        assert jobs["number"].tolist() == sorted({*jobs["number"].tolist()})
        assert len(jobs) == 60
        assert (jobs["start"] >= jobs["arrival"]).all()
        assert not model.scheduler.below
        held_at_once(jobs, model.world.platform.sizes, failures)
        outcomes.append((outcome(model), model.messages, model.messages_lost))
    assert outcomes[0] == outcomes[1]


def held_at_once(jobs, sizes, failures):
    """Assert that no more processors are held than there are; of a failed job, its last run is."""
    for cluster, size in enumerate(sizes.tolist()):
        mine = jobs[jobs["cluster"] == cluster]
        changes = sorted(
            [(end, -n) for end, n in zip(mine["finish"], mine["size"], strict=True)]
            + [(start, n) for start, n in zip(mine["start"], mine["size"], strict=True)]
        )
        held = np.cumsum([n for _, n in changes])
        assert held.max(initial=0) <= size


@pytest.mark.parametrize("count", [2, 3])
def test_messages_go_straight_up_and_down(count):
    """A hop takes 1 s, and that to a cluster its link besides."""
    model = model_of(jobs=workload(count=40, clusters=5), platform=TREE, latency=1.0,
                     **levels(count))  # fmt: skip
    messages = heard(model)
    model.run()
    parents = {"north": "MUSCLE", "south": "MUSCLE", "west": "north", "east": "north"}
    places = {"C1": "west", "C2": "west", "C3": "east", "C4": "south", "C5": "north"}
    above = parents | places
    if count == 2:
        above |= {"C1": "north", "C2": "north", "C3": "north"}  # who schedules them
    links = dict(zip(places, (*LINKS, 0.3, 0.1), strict=True))
    hops = {"C1": 2.0, "C2": 2.0, "C3": 2.0} if count == 2 else {}
    found = set()
    for message in messages:
        if isinstance(message, SeedSchedule | ScheduleReport):
            low, high = message.receiver, message.sender
            if isinstance(message, ScheduleReport):
                low, high = high, low
            assert above[low] == high
            expected = hops.get(low, 1.0) + links.get(low, 0.0)
            assert message.due - message.sent == pytest.approx(expected)
            found.add((type(message), low))
        if isinstance(message, TransferOrder):
            assert message.receiver == "MUSCLE"
            depth = 2.0 if message.sender in ("west", "east") else 1.0
            assert message.due - message.sent == pytest.approx(depth)
    domains = {"north", "south"} | ({"west", "east"} if count == 3 else set())
    assert {low for kind, low in found if kind is SeedSchedule} >= domains
    assert {low for kind, low in found if kind is ScheduleReport} >= domains


def test_an_order_takes_its_time_to_the_global_broker():
    """A job that users submit: to the domain and back 2 s, 1 s and the link to the cluster."""
    platform = grid([("all",)], ["all"], (4,), (1.0,))
    model = ran("muscle", "fcfs", table((0.0, 1, 10.0)), platform, latency=1.0, **levels(2))
    # The seed schedule to the domain, its order, and the job, which has two hops to go.
    assert done(model)["start"].tolist() == [1.0 + 1.0 + 2.0]
    flat = ran("muscle", "fcfs", table((0.0, 1, 10.0)), platform, latency=1.0, **levels(1))
    assert done(flat)["start"].tolist() == [2.0]


def test_what_no_cluster_of_a_domain_can_hold_goes_to_another():
    """The larger domain shrinks for good while a job is on its way there."""
    platform = replace(
        grid([("x",), ("y",)], ["x", "y"], (8, 6), (1.0, 1.0)),
        changes=(Change("C1", "fail", 0.5, processors=6),),
    )
    model = model_of(
        "muscle", "fcfs", table((0.0, 5, 10.0)), platform, latency=1.0,
        advertising=Advertising("change"), **levels(2),
    )  # fmt: skip
    messages = heard(model)
    model.run()
    assert [message.jobs for message in messages if isinstance(message, JobsReturned)] == []
    assert done(model)["cluster"].tolist() == [1]  # its cluster gave it back

    late = replace(platform, changes=(Change("C1", "fail", 9.0, processors=6),))
    model = model_of("muscle", "fcfs", table((9.5, 5, 10.0)), late, latency=1.0, **levels(2))
    messages = heard(model)
    model.run()
    # The domain hears at 10, when the job is on its way to it; the global broker at 11.
    (back,) = [message for message in messages if isinstance(message, JobsReturned)]
    assert (back.sender, back.receiver, back.jobs, back.sent) == ("x", "MUSCLE", (1,), 10.5)
    assert back.known == {0: (2, 9.0)}
    assert done(model)["cluster"].tolist() == [1]


def test_a_domain_is_as_fast_as_its_clusters_by_processors():
    platform = grid([("x",), ("y",)], ["x", "x", "y"], (6, 2, 4), (1.0, 2.0, 1.0))
    model = model_of(jobs=table((0.0, 2, 12.0), (0.0, 3, 12.0)), platform=platform, **levels(2))
    messages = heard(model)
    model.run()
    planned = {
        job: finish - placed.start
        for message in messages
        if isinstance(message, SeedSchedule) and message.sender == "MUSCLE"
        for job, placed, finish in zip(
            message.jobs, message.schedule, message.finishes, strict=True
        )
    }
    on_x = {1: (6 * 12.0 + 2 * 6.0) / 8, 2: 12.0}  # the second is too large for the fast cluster
    sent = {m.receiver: m.jobs for m in messages if isinstance(m, SeedSchedule)}
    for job in sent["x"]:
        assert planned[job] == pytest.approx(on_x[job])


def test_brokers_that_schedule():
    assert domain_brokers(TREE, 1) == {}
    assert domain_brokers(TREE, 2) == {0: -1, 3: -1}
    assert domain_brokers(TREE, 3) == {0: -1, 3: -1, 1: 0, 2: 0}
    assert domain_brokers(TREE, 1, ["east"]) == {2: -1}
    assert domain_brokers(TREE, 2, ["east"]) == {0: -1, 3: -1, 2: 0}
    model = model_of(platform=TREE, jobs=workload(clusters=5), **levels(3))
    domains = {each.name: each for each in model.agents if isinstance(each, Domain)}
    assert domains.keys() == {"MUSCLE north", "MUSCLE west", "MUSCLE east", "MUSCLE south"}
    of = {name: [m.clusters.tolist() for m in each.members] for name, each in domains.items()}
    assert of["MUSCLE north"] == [[0, 1], [2], [4]]
    assert of["MUSCLE west"] == [[0], [1]]
    assert [m.clusters.tolist() for m in model.scheduler.members] == [[0, 1, 2, 4], [3]]


@pytest.mark.parametrize(
    ("platform", "settings", "words"),
    [
        (TREE, {"levels": 4}, "levels: found 4; accepted: 1 to 3"),
        (Platform.star([4]), {"levels": 2}, "levels: found 2; accepted: 1, for no broker"),
        (TREE, {"domains": ("nowhere",)}, "domains: found 'nowhere'; accepted: north, west, east"),
        (Platform.star([4]), {"domains": ("x",)}, "domains: found 'x'; accepted: none, for the"),
        (TREE, {"levels": 2, "coallocate": True}, "coallocate: found true; accepted: false where"),
        (
            grid([("x",), ("empty",)], ["x"] * 3), {"levels": 2},
            "levels: broker empty: found no cluster below it",
        ),
        (
            grid([("x",), ("empty",)], ["x"] * 3), {"domains": ("empty",)},
            "domains: broker empty: found no cluster below it",
        ),
        (TREE, {"domains": ("east", "east")}, "domains: found 'east' twice; accepted: each"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_in_one_line(platform, settings, words):
    with pytest.raises(GridError, match=words) as caught:
        model_of(platform=platform, settings=[MuscleSettings(**settings)])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("arrival", "runtime"), [(0.0, 3997.0), (3900.0, 97.0)])
def test_the_age_of_what_brokers_believe(arrival, runtime):
    """Of news of each 10 s the age rises from the time of the hops by 10 s, again and again.

    That is so from the beginning, whenever the first job comes.
    """
    platform = grid([("north",), ("west", "north")], ["west"], (4,), (1.0,))
    model = ran(
        "muscle", "fcfs", table((arrival, 1, runtime)), platform, latency=1.0,
        advertising=Advertising("periodic", 10.0), **levels(3),
    )  # fmt: skip
    by_level = {each.hops: each.mean_age for each in (model.broker, *model.brokers)}
    news = model.brokers[1].news
    for hops, age in by_level.items():
        assert age == pytest.approx(5.0 + 3.0 - hops, abs=0.05)
    assert news == model.now // 10.0
    ages = [by_level[hops] for hops in range(3)]
    assert all(upper > lower for upper, lower in pairwise(ages))


def test_who_knows_the_present_state_has_no_age():
    model = ran(jobs=workload(clusters=5), platform=replace(TREE), advertising=Advertising(
        truth=True), **levels(3))  # fmt: skip
    assert [each.mean_age for each in (model.broker, *model.brokers)] == [0.0] * 5

"""Brokers asked for clusters: who answers, what is offered, and how many messages it takes."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from agents.a4.broker import Belief
from agents.a4.discovery import offers
from grid.platform.brokers import Advertising, Broker
from grid.platform.multicluster import Platform
from tests.agents.small_grids import done, model_of, ran, table, workload

BROKERS = (Broker("coast"), Broker("west", "coast"))
ABOVE = ("west", "west", "coast")
PAIRS = pytest.mark.parametrize(
    ("global_", "local"), [("muscle", "titan"), ("a4", "fcfs"), ("dll", "sjf")]
)


def tree(latency=0.0, rates=(1.0, 1.3, 0.7)):
    star = Platform.star((8, 6, 4), rates, latency=latency)
    pairs = zip(star.clusters, ABOVE, strict=True)
    clusters = tuple(replace(cluster, broker=above) for cluster, above in pairs)
    return Platform(clusters, star.graph, BROKERS)


def test_brokers_know_who_is_above_them_and_how_far():
    model = model_of("dll", "fcfs", platform=tree(), latency=0.5)
    first, second, third = (cluster.broker for cluster in model.clusters)
    assert [broker.name for broker in first.above] == ["west", "coast", "DLL"]
    assert [broker.name for broker in third.above] == ["coast", "DLL"]
    assert [broker.hops for broker in (first, second, third)] == [3, 3, 2]
    assert [broker.latency for broker in (first, second, third)] == [1.5, 1.5, 1.0]
    assert [(b.name, b.hops, b.latency) for b in model.brokers] == [
        ("coast", 1, 0.5),
        ("west", 2, 1.0),
    ]
    assert [belief.cluster for belief in model.brokers[1].believes()] == [0, 1]
    assert [belief.cluster for belief in model.broker.believes()] == [0, 1, 2]
    assert first.believes() == [Belief(0, 8, 8, 0, 0.0, 0.0)]


def test_the_first_broker_that_knows_enough_answers():
    # C1 is full till 100 s, with 800 processor-seconds left; C2 holds one processor till 30/1.3 s.
    jobs = table((0, 8, 100.0, math.inf, 0), (0, 6, 30.0, math.inf, 1), (90, 1, 1.0))

    model = model_of("a4", "fcfs", jobs, tree(), interval=1.0)
    model.step()
    assert [cluster.busy for cluster in model.clusters] == [8, 6, 0]
    own = model.clusters[0].broker

    def asked(size, runtime, deadline):
        """Return who answers, and the offers."""
        for broker in (own, *own.above):
            times = runtime / model.world.platform.rates
            if (answer := offers(broker, size, times, deadline)) is not None:
                return broker.name, answer

    name, easy = asked(2, 10.0, math.inf)
    assert name == "C1"
    assert easy[0].finish == pytest.approx(1.0 + 99.0 + 10.0 + 1.0, rel=0.05)
    name, tight = asked(2, 13.0, 45.0)
    assert name == "west"
    assert [offer.cluster for offer in tight] == [1, 0]
    assert tight[0].finish == pytest.approx(0.0 + 30 / 1.3 + 13 / 1.3)
    name, tighter = asked(2, 7.0, 12.0)
    assert name == "coast"
    assert tighter[0].cluster == 2
    assert tighter[0].finish == pytest.approx(1.0 + 10.0)
    assert asked(2, 7.0, 2.0)[0] == "A4"
    assert asked(9, 7.0, math.inf) == ("A4", ())


@pytest.mark.sampled(9)
@pytest.mark.parametrize("loss", [0.0, 0.3])
@pytest.mark.parametrize("when", ["change", "periodic", "both"])
@PAIRS
def test_every_job_is_done_whatever_brokers_lose(global_, local, when, loss):
    for mode in ("open", "batch"):
        outcomes = []
        for interval in (3.0, 1e6):
            model = model_of(
                global_, local, workload(mode, share=0.6, count=40), tree(0.1), latency=0.4,
                advertising=Advertising(when, 5.0, loss), interval=interval,
            )  # fmt: skip
            model.run()
            jobs = done(model)
            assert len(jobs) == 40
            outcomes.append((jobs["start"].tolist(), model.messages, model.world.state.lost))
        assert outcomes[0] == outcomes[1]
        assert (model.world.state.lost > 0) == (loss > 0)


@PAIRS
def test_without_latency_a_hierarchy_changes_nothing(global_, local):
    flat = replace(tree(), clusters=[replace(c, broker="") for c in tree().clusters], brokers=())
    jobs = [done(ran(global_, local, workload(count=60), grid)) for grid in (flat, tree())]
    for name in ("number", "cluster", "start"):
        same = jobs[0][name].tolist() == jobs[1][name].tolist()
        assert same or global_ == "a4"  # which asks the brokers between, if there are some


def test_the_truth_is_what_there_is_without_latency():
    """Reports that are there at once give MUSCLE what it has in a grid without latency."""
    slow = ran("muscle", "titan", platform=tree(), latency=2.0, advertising=Advertising(truth=True))
    told = ran("muscle", "titan", platform=tree(), latency=2.0)
    assert done(slow)["start"].tolist() != done(told)["start"].tolist()
    assert slow.world.messages["advertisement"] == 0
    for known in slow.scheduler.clusters:
        assert known.age == 0.0


def test_a4_sends_each_job_to_the_first_offer():
    model = model_of("a4", "fcfs", workload(share=0.5, count=80), tree(), latency=0.3)
    model.run()
    jobs = done(model)
    assert len(jobs) == 80
    assert len(set(jobs["cluster"].tolist())) == 3
    through = jobs["origin"] >= 0
    assert (jobs["origin"] == jobs["cluster"])[through].mean() > 0.3
    assert 0 < model.discovery_messages < 80 * 6


@pytest.mark.parametrize("arrival", [0.0, 1000.0])
@pytest.mark.parametrize("latency", [0.0, 0.5])
def test_jobs_that_ask_at_once_are_not_all_offered_the_same_cluster(latency, arrival):
    """Also where the news of clusters is old: what was sent since has not run since then."""
    for gap in (0.0, 0.01):
        jobs = table(*[(arrival + gap * each, 1, 10.0) for each in range(30)])
        used = done(ran("a4", "fcfs", jobs, Platform.star([5, 5, 5]), latency=latency))["cluster"]
        assert np.bincount(used).tolist() == [10, 10, 10]


@pytest.mark.parametrize(
    ("deadline", "climbs", "cluster"), [(30.0, 0, 0), (19.0, 1, 1), (14.0, 2, 2), (5.0, 3, 2)]
)
def test_a_question_and_its_answer_take_their_time(deadline, climbs, cluster):
    """On an empty grid a job starts later by the time of two messages for each hop it climbs."""
    jobs, latency = table((0, 4, 20.0, deadline, 0)), 0.5
    model = ran("a4", "fcfs", jobs, tree(rates=(1.0, 1.3, 2.0)), latency=latency, interval=0.3)
    (job,) = done(model)
    assert job["cluster"] == cluster
    assert model.discovery_messages == 2 * climbs
    told = ordered = 3 * latency
    moved = 0.0 if cluster == 0 else (3 + (3, 3, 2)[cluster]) * latency
    assert job["start"] == pytest.approx(told + 2 * climbs * latency + ordered + moved)


@pytest.mark.parametrize(("arrival", "chosen"), [(3.5, 0), (2.0, 1)])
def test_an_answer_is_what_its_broker_believes_when_the_question_comes(arrival, chosen):
    """A full C2 is heard of above it 1 s later; a question that comes before knows nothing."""
    # The first job is known at 3 s, ordered at 6 s and runs on C2; west hears of it at 7 s.
    jobs = table((0, 6, 50.0, math.inf, 1), (arrival, 2, 20.0, arrival + 23.0, 0))
    # Asked at C1 3 s after its arrival, where it would be 2 s late or more; at west 1 s later.
    model = ran("a4", "fcfs", jobs, tree(rates=(0.9, 1.3, 0.7)), latency=1.0)
    assert done(model)["cluster"].tolist() == [1, chosen]


def test_a_job_without_an_offer_asks_again_for_the_news_that_came_meanwhile():
    """What is told of the repair comes while the question, or its answer, is under way."""
    for repaired in np.arange(5.0, 14.0, 0.5):
        jobs = table((4.0, 8, 5.0, math.inf, 0))
        model = model_of("a4", "fcfs", jobs, tree(), latency=1.0, tracked=True)
        model.world.resources.fail(0, 0, 0.0, repaired=float(repaired))
        model.run()
        assert model.completed == 1, repaired
        assert done(model)["start"][0] >= repaired

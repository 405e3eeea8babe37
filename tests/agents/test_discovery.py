"""Brokers asked for clusters: who answers, what is offered, and how many messages it takes."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from agents.discovery import discover
from grid.brokers import Advertising, Broker
from grid.platform import Platform

from .small_grids import done, model_of, ran, table, workload

BROKERS = (Broker("coast"), Broker("west", "coast"))
ABOVE = ("west", "west", "coast")
PAIRS = pytest.mark.parametrize(
    ("global_", "local"), [("muscle", "titan"), ("a4", "fcfs"), ("dll", "sjf")]
)


def tree(latency=0.0):
    star = Platform.star((8, 6, 4), (1.0, 1.3, 0.7), latency=latency)
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
    assert first.believes() == [(0, 8, 8, 0, 0.0, 0.0)]


def test_the_first_broker_that_knows_enough_answers():
    # C1 is full till 100 s, with 800 processor-seconds left; C2 holds one processor till 30/1.3 s.
    jobs = table((0, 8, 100.0, math.inf, 0), (0, 6, 30.0, math.inf, 1), (90, 1, 1.0))

    model = model_of("a4", "fcfs", jobs, tree(), interval=1.0)
    model.step()
    assert [cluster.busy for cluster in model.clusters] == [8, 6, 0]
    own = model.clusters[0].broker
    easy = discover(model, own, 2, 10.0, math.inf)
    assert (easy.broker, easy.hops) == ("C1", 0)
    assert easy.offers[0].finish == pytest.approx(1.0 + 99.0 + 10.0 + 1.0, rel=0.05)
    tight = discover(model, own, 2, 13.0, 45.0)
    assert (tight.broker, tight.hops) == ("west", 2)
    assert [offer.cluster for offer in tight.offers] == [1, 0]
    assert tight.offers[0].finish == pytest.approx(0.0 + 30 / 1.3 + 13 / 1.3)
    tighter = discover(model, own, 2, 7.0, 12.0)
    assert (tighter.broker, tighter.hops) == ("coast", 4)
    assert tighter.offers[0].cluster == 2
    assert tighter.offers[0].finish == pytest.approx(1.0 + 10.0)
    hopeless = discover(model, own, 2, 7.0, 2.0)
    assert (hopeless.broker, hopeless.hops) == ("A4", 6)
    assert model.discovery_messages == 12 + 0
    too_large = discover(model, own, 9, 7.0, math.inf)
    assert (too_large.offers, too_large.broker) == ((), "A4")


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
            outcomes.append((jobs["start"].tolist(), model.messages, model.world.count("lost")))
        assert outcomes[0] == outcomes[1]
        assert (model.world.count("lost") > 0) == (loss > 0)


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
    choices = []
    place = model.scheduler.place

    def watched(job):
        answer = place(job)
        free = [cluster.free for cluster in model.clusters]
        choices.append((job.origin, answer.index, free))
        return answer

    model.scheduler.place = watched
    model.run()
    assert len(choices) == 80
    assert len({index for _, index, _ in choices}) == 3
    stayed = np.mean([origin == index for origin, index, _ in choices if origin >= 0])
    assert stayed > 0.3
    assert 0 < model.discovery_messages < 80 * 6

"""What brokers note of clusters that are not below them, and questions that go down."""

from __future__ import annotations

import math

import numpy as np
import pytest

from agents.a4 import A4Broker, Belief, DiscoveryScheduler
from agents.a4.broker import FRESH, table_of
from agents.a4.discovery import DiscoverySettings
from agents.a4.questions import CapabilityTable, ResourceAnswer, ResourceQuestion
from grid.platform.brokers import Advertising
from tests.agents.a4.test_discovery import tree
from tests.agents.small_grids import done, model_of, ran, table, workload

ALL = [(d, t) for d in ("up", "down") for t in ("below", "push", "pull", "both")]


def asking(discovery="up", tables="below", *given, **named):
    return model_of("a4", "fcfs", *given, settings=[DiscoverySettings(discovery, tables)], **named)


def belief(cluster, at, free=1):
    return Belief(cluster, free, 8, 0, 0.0, at)


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("discovery", "tables"), ALL)
@pytest.mark.parametrize("loss", [0.0, 0.3])
@pytest.mark.parametrize("when", ["change", "periodic"])
def test_every_job_is_done_whatever_brokers_tell(discovery, tables, loss, when):
    advertising = Advertising(when, period=20.0, loss=loss)
    jobs = workload(share=0.7, count=60)
    model = asking(discovery, tables, jobs, tree(), latency=0.5, advertising=advertising)
    asked = []
    model.listeners.append(asked.append)
    model.run()
    assert model.completed == 60
    for question in asked:
        if isinstance(question, ResourceQuestion):
            down = [to for one, to in zip(question.way, question.way[1:]) if to.parent is one]  # noqa: B905
            assert len(set(down)) == len(down)  # nobody is asked twice by who is above


@pytest.mark.parametrize("tables", ["below", "both"])
def test_who_knows_the_truth_is_not_corrected(tables):
    """Without latency the global broker, which all jobs are submitted to, knows all."""
    starts = [
        done(ran_with)["start"].tolist()
        for discovery in ("up", "down")
        for ran_with in [asking(discovery, tables, workload(), tree())]
        if ran_with.run() is None
    ]
    assert starts[0] == starts[1]


def test_who_is_asked_downwards_knows_better():
    """A full C2 is heard of above it 1 s later than a question there; C2 itself knows."""
    jobs = table((0, 6, 50.0, math.inf, 1), (2.0, 2, 20.0, 25.0, 0))
    chosen = {}
    for discovery in ("up", "down"):
        model = asking(discovery, "below", jobs, tree(rates=(0.9, 1.3, 0.7)), latency=1.0)
        said = []
        model.listeners.append(said.append)
        model.run()
        chosen[discovery] = done(model)["cluster"].tolist()
        questions = [each for each in said if isinstance(each, ResourceQuestion)]
        ways = [f"{each.sender} {each.receiver}" for each in questions if each.job == 2]
    assert chosen == {"up": [1, 1], "down": [1, 0]}
    assert ways == ["C1 west", "west C2", "C2 west", "west coast", "coast A4"]
    assert [each.content().get("down", False) for each in questions if each.job == 2] == [
        *(False, True, False, False, False)
    ]


@pytest.mark.parametrize("arrival", [0.0, 1000.0])
def test_who_has_answered_reckons_with_the_job_however_old_the_news_is(arrival):
    """C1 is full, and west sends two jobs to C2 before it hears of the first."""
    jobs = [(0, 8, 100.0, math.inf), (10, 6, 10.0, 50.0), (10.5, 6, 10.0, 50.0)]
    rows = [(arrival + at, size, time, arrival + end, 0) for at, size, time, end in jobs]
    model = asking("up", "pull", table(*rows), tree(rates=(1.0, 1.0, 1.0)), latency=1.0)
    said = []
    model.listeners.append(said.append)
    model.run()
    answers = [each.found for each in said if isinstance(each, ResourceAnswer)]
    assert [(each.broker, each.offers[0].cluster) for each in answers] == [("west", 1)] * 2
    first, second = (each.offers[0].finish for each in answers)
    assert second == pytest.approx(first + 10.0)


def test_an_answer_from_below_takes_the_way_back_and_no_more():
    """On an idle grid the question climbs to west, goes down to C2 and back by west."""
    jobs = table((0, 4, 20.0, 19.0, 0))
    model = asking("down", "below", jobs, tree(rates=(1.0, 1.3, 2.0)), latency=0.5, interval=0.3)
    model.run()
    (job,) = done(model)
    assert job["cluster"] == 1
    assert model.discovery_messages == 4
    assert job["start"] == pytest.approx(3 * 0.5 + 4 * 0.5 + 3 * 0.5 + 6 * 0.5)


def test_a_table_has_the_newest_of_what_is_believed_noted_and_told():
    model = asking("up", "pull", platform=tree(), latency=0.5)
    west, coast = model.brokers[1], model.brokers[0]
    assert (west.name, coast.name) == ("west", "coast")
    assert table_of(west) == west.believes()
    west.note([belief(2, 3.0), belief(0, -1.0)])
    west.note([belief(2, 2.0, free=9)])  # older
    assert west.noted[2] == belief(2, 3.0)
    model.world.wait(5.0)
    assert [each.cluster for each in table_of(west)] == [0, 1, 2]
    assert table_of(west)[0] == west.believes()[0]
    assert table_of(west, [belief(1, 4.0)])[1] == belief(1, 4.0)
    assert west.noted_age == pytest.approx((2.0 + 6.0) / 2)
    model.world.wait(3.0 + FRESH * 60.0 + 1.0)
    assert [each.cluster for each in table_of(west)] == [0, 1]
    own = model.clusters[0].broker
    own.note([belief(0, 1e9)])
    assert own.noted == {}


def test_an_answer_leaves_in_tables_what_it_tells():
    """The second job is answered by C1's own broker, from the answer to the first."""
    jobs = table((0, 4, 20.0, 14.0, 0), (20, 4, 20.0, 36.0, 0))
    model = asking("up", "pull", jobs, tree(rates=(1.0, 1.3, 2.0)), latency=0.5)
    model.run()
    assert done(model)["cluster"].tolist() == [2, 2]
    assert model.discovery_messages == 4  # to coast and back
    assert model.clusters[0].broker.noted.keys() == {1, 2}
    assert model.brokers[1].noted.keys() == {0, 1, 2}
    assert not model.clusters[2].broker.noted


@pytest.mark.parametrize(("when", "rounds"), [("periodic", 2), ("change", 3)])
def test_who_is_above_tells_what_is_not_below(when, rounds):
    jobs = table((0, 1, 1.0, math.inf, 0), (7, 1, 1.0, math.inf, 0), (13, 1, 1.0, math.inf, 0))
    advertising = Advertising(when, period=10.0)
    model = asking("up", "push", jobs, tree(), latency=0.5, advertising=advertising)
    said = []
    model.listeners.append(said.append)
    model.run()
    told = [each for each in said if isinstance(each, CapabilityTable)]
    ways = {(each.sender, each.receiver) for each in told}
    # Those directly below the global one, which knows no others, are told nothing.
    assert ways == {("coast", "west"), ("coast", "C3"), ("west", "C1"), ("west", "C2")}
    assert len(told) == 4 * rounds == model.discovery_messages
    for each in told:
        below = {of.cluster for of in each.broker.believes()}
        assert not below & {of.cluster for of in each.beliefs}
        assert each.content() == {"clusters": len(each.beliefs)}
    assert {of for each in model.clusters for of in each.broker.noted} == {0, 1, 2}


class Liar(A4Broker):
    """Believes whatever chance says, and never twice the same."""

    draws = np.random.default_rng(7)

    def believes(self):
        found = super().believes()
        return [
            each._replace(
                free=int(self.draws.integers(0, 9)),
                waiting=int(self.draws.integers(0, 3)),
                left=float(self.draws.uniform(0, 500)),
            )
            for each in found
        ]


class AmongLiars(DiscoveryScheduler):
    """A4 among brokers that lie."""

    broker_class = Liar


@pytest.mark.parametrize(("discovery", "tables"), ALL)
def test_whatever_brokers_say_questions_come_to_an_end(discovery, tables):
    jobs = workload(share=1.0, count=80)
    settings = [DiscoverySettings(discovery, tables)]
    model = model_of(AmongLiars, "fcfs", jobs, tree(), latency=0.2, settings=settings)
    model.run()
    assert model.completed == 80


def test_by_default_brokers_ask_upwards_and_note_nothing():
    named = ran("a4", "fcfs", workload(share=0.5), tree(), latency=0.5)
    chosen = asking("up", "below", workload(share=0.5), tree(), latency=0.5)
    chosen.run()
    assert done(named)["start"].tolist() == done(chosen)["start"].tolist()
    assert not any(broker.noted for broker in (chosen.broker, *chosen.brokers))

"""Brokers of a user's own class, as a global scheduler asks for them."""

from __future__ import annotations

import math

import pytest

from agents.a4 import A4Broker, Belief, DiscoveryScheduler
from agents.muscle import MuscleScheduler
from grid.errors import GridError
from grid.platform.multicluster import Platform
from tests.agents.small_grids import model_of, table


class Telling(A4Broker):
    """Remembers what it sent."""

    def __init__(self, *given, **named):
        super().__init__(*given, **named)
        self.kinds = []

    def send(self, kind, to, **content):
        self.kinds.append(kind.__name__)
        return super().send(kind, to, **content)


class Shy(A4Broker):
    """Says that C1 is about to be down."""

    def believes(self):
        return [each._replace(up=0) if each.cluster == 0 else each for each in super().believes()]


class TellingMuscle(MuscleScheduler):
    broker_class = Telling


class ShyDiscovery(DiscoveryScheduler):
    broker_class = Shy


HIERARCHY = {
    "brokers": [{"name": "north"}],
    "clusters": [
        {"name": "C1", "size": 8, "broker": "north"},
        {"name": "C2", "size": 4, "broker": "north"},
    ],
}


SMALL = table(*[(0.0, 2, 10.0)] * 6)


def run(global_scheduler, local_scheduler, jobs=SMALL):
    model = model_of(
        global_scheduler,
        local_scheduler,
        jobs,
        Platform.from_dict(HIERARCHY),
    )
    model.run()
    assert model.completed == 6
    return model


def test_all_brokers_are_of_the_class():
    model = run(TellingMuscle, "titan")
    brokers = [model.broker, *model.brokers, *(cluster.broker for cluster in model.clusters)]
    assert len(brokers) == 4
    assert {type(broker) for broker in brokers} == {Telling}
    assert "SeedSchedule" in model.broker.kinds
    assert "ScheduleReport" in model.clusters[0].broker.kinds


@pytest.mark.parametrize(("scheduler", "used"), [(DiscoveryScheduler, {0, 1}), (ShyDiscovery, {1})])
def test_what_brokers_believe_decides_where_jobs_go(scheduler, used):
    model = run(scheduler, "fcfs")
    assert set(model.world.log.records()["cluster"].tolist()) == used


@pytest.mark.parametrize("kind", ["A4Broker", None, lambda *_: None, MuscleScheduler])
def test_what_is_no_broker_is_refused_by_name(kind):
    class Mine(DiscoveryScheduler):
        broker_class = kind

    with pytest.raises(GridError, match=r"^Mine: broker_class: found .*; accepted: a subclass of"):
        model_of(Mine)


@pytest.mark.parametrize(
    "told",
    [
        None,
        [None],
        [(0, 8, 8, 0, 0.0, 0.0)],
        [Belief(2, 8, 8, 0, 0.0, 0.0)],
        [Belief(0, 8, -8, 0, 0.0, 0.0)],
        [Belief(0, 8, 8.5, 0, 0.0, 0.0)],
        [Belief(0, 8, 8, 0, math.nan, 0.0)],
        [Belief(0, 8, 8, 0, -1.0, 0.0)],
        [Belief(0, 8, 8, 0, 0.0, math.inf)],
        [Belief(0, 8, 8, 0, "0", 0.0)],
    ],
)
def test_what_cannot_be_true_is_not_believed(told):
    class Wrong(A4Broker):
        def believes(self):
            return told

    class Asking(DiscoveryScheduler):
        broker_class = Wrong

    said = r"Wrong of A4: believes: found .*; accepted: a list of Belief, of clusters 0 to 1, "
    with pytest.raises(GridError, match=said):
        run(Asking, "fcfs")


@pytest.mark.parametrize("returned", [None, 1, "yes"])
@pytest.mark.parametrize("kind", ["ResourceQuestion", "ResourceAnswer"])
def test_a_broker_that_does_not_tell_what_arrives_is_refused(kind, returned):
    class Wrong(A4Broker):
        def pass_on(self, message, to, **content):
            there = super().pass_on(message, to, **content)
            return returned if message.__name__ == kind else there

    class Asking(DiscoveryScheduler):
        broker_class = Wrong

    found = rf"Wrong of \w+: pass_on: found {returned!r}; accepted: true if the message"
    with pytest.raises(GridError, match=found):
        run(Asking, "fcfs", table((0.0, 8, 10.0, 1.0, 1)))  # C2 is too small, and asks above


def test_what_rounding_makes_of_no_work_is_believed():
    assert Belief(0, 8, 8, 0, -1e-6, 0.0).possible(1)


def test_a_broker_that_forgot_super_is_told_by_name():
    class Forgetful(A4Broker):
        def __init__(self, *given):
            pass

    class Asking(DiscoveryScheduler):
        broker_class = Forgetful

    with pytest.raises(GridError, match=r"^Forgetful: accepted: an __init__ that calls super"):
        run(Asking, "fcfs")

"""Schedulers on two levels while processors fail, are drained and join."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from agents.disciplines import FcfsScheduler
from agents.messages import ScheduleReport
from agents.muscle.scheduler import MuscleScheduler
from agents.schedulers import GlobalScheduler, PlanningScheduler
from grid.platform.brokers import Advertising
from grid.platform.changes import Change, Failures
from grid.platform.multicluster import Platform

from .a4.test_discovery import tree
from .small_grids import FAR, LINKS, PLATFORM, done, heard, model_of, table, workload

CHANGES = (
    Change("C1", "drain", 20.0, 90.0),
    Change("C2", "fail", 30.0, 80.0, 4),
    Change("C2", "fail", 60.0, 70.0),
    Change("C3", "join", 50.0),
)
PAIRS = pytest.mark.parametrize(
    ("global_", "local"),
    [("muscle", "titan"), ("muscle", "fcfs"), ("dll", "titan"), ("wrand", "sjf"), ("a4", "fcfs")],
)


@pytest.mark.sampled(7)
@PAIRS
@pytest.mark.parametrize("mode", ["open", "batch"])
@pytest.mark.parametrize("loss", [0.0, 0.2])
def test_no_job_is_lost_while_resources_change(global_, local, mode, loss):
    outcomes = []
    for interval in (7.0, 1e6):
        model = model_of(
            global_, local, workload(mode, share=0.5, count=60), replace(FAR, changes=CHANGES),
            latency=0.2, failures=Failures(300.0, 15.0), interval=interval,
            advertising=Advertising("both", 10.0, loss),
        )  # fmt: skip
        model.run()
        jobs = done(model)
        assert len(jobs) == 60
        assert (jobs["start"] >= jobs["arrival"]).all()
        outcomes.append((jobs["start"].tolist(), jobs["restarts"].tolist(), model.messages))
    assert outcomes[0] == outcomes[1]
    assert sum(outcomes[0][1]) > 0


@pytest.mark.sampled(16)
@PAIRS
@pytest.mark.parametrize(
    ("changes", "advertising"),
    [
        ((Change("C1", "drain", 20.0, 1e6), Change("C2", "join", 40.0)), Advertising("change")),
        ((Change("C2", "fail", 30.0, processors=2),), Advertising("change")),
        ((Change("C3", "join", 1e6),), Advertising("periodic", 1e4)),
    ],
)
@pytest.mark.parametrize("interval", [7.0, 1e9])
def test_nothing_waits_for_what_is_planned_or_told(global_, local, changes, advertising, interval):
    """A round only does for what schedulers tell of the one before; the run ends with its jobs."""
    model = model_of(
        global_, local, workload("batch", share=0.5), replace(FAR, changes=changes), latency=0.2,
        advertising=advertising, interval=interval,
    )  # fmt: skip
    model.run()
    jobs = done(model)
    rounds = np.unique(jobs["arrival"])
    assert len(jobs) == 60
    assert len(rounds) > 2
    for before, after in itertools.pairwise(rounds):
        told = 0.2 + max(LINKS) if global_ == "muscle" else 0.0
        ended = jobs["finish"][jobs["arrival"] == before].max()
        assert ended <= after <= ended + told + 1e-9
    for change in changes:
        there = jobs[jobs["cluster"] == PLATFORM.names.index(change.cluster)]
        if change.what == "join":
            assert (there["start"] >= change.at).all()
        elif change.what == "drain":
            assert (there["start"] < change.at).all()
    assert model.now <= jobs["finish"].max() + max(10.0, 2 * advertising.period)


def test_muscle_learns_of_a_drained_cluster_from_reports_only():
    rows = [(float(k), 4, 6.0, 60.0 + k) for k in range(40)]
    platform = replace(PLATFORM, changes=(Change("C1", "drain", 10.0),))
    model = model_of("muscle", "titan", table(*rows), platform, latency=3.0)
    messages = heard(model)
    model.run()
    jobs = done(model)
    assert len(jobs) == 40
    reports = [m for m in messages if isinstance(m, ScheduleReport) and m.cluster == 0]
    gone = [m for m in reports if len(m.release) == 0]
    assert gone
    told = min(m.due for m in gone)
    assert told > 10.0
    dispatched = [r for r in model.rounds if r.jobs[0] > 0]
    assert any(10.0 <= each.dispatched < told for each in dispatched)  # nobody had told it yet
    assert all(each.dispatched <= told for each in dispatched)


@pytest.mark.parametrize(
    ("global_", "local"),
    [("muscle", "titan"), ("muscle", "fcfs"), ("dll", "sjf"), ("wrand", "titan"),
     ("round-robin", "fcfs"), ("ect", "titan"), ("a4", "fcfs")],
)  # fmt: skip
@pytest.mark.parametrize("latency", [0.0, 0.5])
def test_no_job_goes_to_a_cluster_that_will_be_too_small_for_it(global_, local, latency):
    rows = [(0.0, 8, 50.0), (0.0, 8, 50.0), *((5.0 + k, 6, 4.0, 90.0 + k) for k in range(8))]
    platform = replace(Platform.star([8, 8]), changes=(Change("C1", "drain", 2.0, processors=3),))
    model = model_of(global_, local, table(*rows), platform, latency=latency, interval=4.0)
    model.step()
    before = model.world.messages["transfer"]
    model.run()
    jobs = done(model)
    assert jobs["cluster"][jobs["size"] == 6].tolist() == [1] * 8
    assert model.world.messages["transfer"] == before + 8  # each was sent once


class Told(MuscleScheduler):
    """MUSCLE, where it plans on no more processors than its broker has told that there are."""

    def dispatch(self, slots):
        up = self.model.world.known["up"]
        assert all(len(booked.release) <= n for booked, n in zip(self.booked, up, strict=True))
        super().dispatch(slots)


GONE = (
    (Change("C2", "fail", 20.0),),
    (Change("C2", "drain", 0.0, processors=4),),
    (Change("C2", "drain", 20.0, processors=2), Change("C2", "fail", 45.0, processors=5)),
)


def _all_end(global_, local, platform, loss, latency, changes, seeds):
    for seed, when in itertools.product(seeds, ("both", "change", "periodic")):
        model = model_of(
            global_, local, workload(count=40, seed=seed), replace(platform, changes=changes),
            latency=latency, advertising=Advertising(when, 10.0, loss), seed=seed,
        )  # fmt: skip
        model.run()
        assert len(done(model)) == 40


BEREFT = pytest.mark.parametrize(
    ("global_", "platform"),
    [("a4", PLATFORM), ("a4", tree()), (Told, PLATFORM), (Told, tree()), ("dll", tree()),
     ("ect", PLATFORM)],
)  # fmt: skip


@pytest.mark.sampled(6)
@BEREFT
@pytest.mark.parametrize(("loss", "latency"), [(0.0, 0.3), (0.3, 0.0), (0.3, 2.0)])
def test_all_jobs_end_that_a_cluster_can_hold_which_is_left(global_, platform, loss, latency):
    for changes in GONE:
        _all_end(global_, "fcfs", platform, loss, latency, changes, (1,))


@pytest.mark.thorough
@BEREFT
@pytest.mark.parametrize("local", ["fcfs", "sjf"])
@pytest.mark.parametrize("loss", [0.0, 0.3, 0.6])
def test_all_jobs_end_whatever_is_lost(global_, platform, local, loss):
    for latency, changes in itertools.product((0.0, 0.3, 2.0), GONE):
        _all_end(global_, local, platform, loss, latency, changes, (2,))


def test_muscle_learns_of_a_repair_whose_advertisement_is_lost():
    platform = replace(Platform.star([4]), changes=(Change("C1", "fail", 1.0, 30.0),))
    for seed in range(5):
        told = Advertising("change", 1.0, 0.8)
        jobs = table((0.0, 4, 5.0), (5.0, 4, 5.0), (40.0, 4, 5.0))
        model = model_of("muscle", "fcfs", jobs, platform, latency=0.5, advertising=told, seed=seed)
        model.run()
        assert len(done(model)) == 3


def test_what_is_away_at_first_is_known_to_be():
    platform = replace(
        Platform.star([8, 8]),
        changes=(Change("C1", "drain", 0.0, 20.0, 3), Change("C1", "fail", 0.0, 40.0, 5)),
    )
    model = model_of("dll", "fcfs", table((0.0, 4, 5.0), (50.0, 8, 5.0)), platform, latency=0.5)
    world = model.world
    assert [world.known["up"].tolist(), world.state.remaining.tolist()] == [[3, 8], [3, 8]]
    model.run()
    assert done(model)["cluster"].tolist() == [1, 0]
    assert world.messages["transfer"] == 2
    assert [world.known["up"].tolist(), world.state.remaining.tolist()] == [[8, 8], [8, 8]]


class Nowhere(GlobalScheduler):
    def place(self, job):
        return None


class NoPlan(PlanningScheduler):
    """Starts nothing, for it never makes a plan."""

    def replan(self):
        pass


@pytest.mark.parametrize(("global_", "local"), [(Nowhere, FcfsScheduler), ("dll", NoPlan)])
@pytest.mark.parametrize("latency", [0.0, 0.5])
@pytest.mark.parametrize("mode", ["open", "batch"])
def test_failures_alone_keep_no_run_going(global_, local, latency, mode):
    """Not with schedulers that start nothing however many processors are up."""
    model = model_of(
        global_, local, workload(mode, count=30), PLATFORM,
        latency=latency, failures=Failures(100.0, 20.0),
    )  # fmt: skip
    model.run()
    assert len(model.world.log.records()) == 0
    assert model.world.state.submitted == 30


def test_a_job_that_needs_all_processors_waits_until_none_is_down():
    """However rarely that is, it is no reason to end the run."""
    model = model_of(
        "dll", "fcfs", table((0.0, 8, 1.0)), Platform.star([8]), failures=Failures(10.0, 10.0)
    )
    model.run()
    assert len(done(model)) == 1


def test_a_cluster_that_joins_is_used_from_then_on():
    rows = [(3.0 * k, 6, 20.0) for k in range(30)]
    platform = replace(PLATFORM, changes=(Change("C1", "join", 40.0),))
    for global_, local in (("muscle", "titan"), ("dll", "fcfs"), ("a4", "fcfs")):
        model = model_of(global_, local, table(*rows), platform)
        model.run()
        jobs = done(model)
        assert len(jobs) == 30
        assert jobs["start"][jobs["cluster"] == 0].min() >= 40.0

"""A job that is withdrawn is as one that never came, for all that is decided from then on."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from experiments.scenario.scenario import Scenario
from experiments.service.mirror import Mirror
from grid.errors import PlacementError
from grid.jobs import job_table
from grid.kernel.state import GLOBAL, LOCAL
from grid.platform.brokers import Broker
from grid.platform.multicluster import Platform

COUNT = 40
ONE, THREE = Platform.star([6]), Platform.star([4, 3, 6])
TREE = Platform(
    tuple(replace(each, broker=name) for each, name in zip(THREE.clusters, "xyy", strict=True)),
    THREE.graph,
    (Broker("x"), Broker("z"), Broker("y", "z")),
)


def drawn(seed):
    """Return jobs at instants and for times that no two share."""
    rng = np.random.default_rng(seed)
    jobs = job_table(COUNT)
    jobs["arrival"] = np.cumsum(rng.exponential(4.0, COUNT))
    jobs["size"] = rng.integers(1, 4, COUNT)
    jobs["runtime"] = rng.uniform(5.0, 60.0, COUNT)
    jobs["requested_time"] = jobs["runtime"] * rng.uniform(1.0, 2.0, COUNT)
    jobs["deadline"] = jobs["arrival"] + jobs["requested_time"] * rng.uniform(1.0, 4.0, COUNT)
    return jobs


def mirror(platform, policy, local, **given):
    given = {"mode": "open", "prediction": "requested", "assign_deadlines": False} | given
    return Scenario("withdrawn", platform, given, policy, local).model(made=Mirror)


class Driven:
    """A mirror whose jobs are submitted, end and are withdrawn at times that are given."""

    def __init__(self, model, jobs, withdrawals):
        self.model, self.jobs = model, jobs
        self.coming = [*jobs]
        self.withdrawals = sorted(withdrawals.items(), key=lambda each: each[1])
        self.starts, self.ends, self.gone = {}, {}, []
        self.rates = model.world.platform.rates

    def left(self):
        return len(self.starts) + len(self.gone) < COUNT or self.ends

    def step(self):
        """Let the next thing happen."""
        model = self.model
        arrival = self.coming[0]["arrival"].item() if self.coming else np.inf
        withdrawn = self.withdrawals[0][1] if self.withdrawals else np.inf
        now = min(arrival, withdrawn, *self.ends.values(), max(model.due, model.now))
        model.advance(now)
        for job in [job for job, end in self.ends.items() if end <= now]:
            model.end(job)
            del self.ends[job]
        if now == arrival:
            row = np.array([self.coming.pop(0)])
            row["runtime"] = np.inf
            model.submit(row)
        if now == withdrawn:
            model.withdraw(self.withdrawals.pop(0)[0])
        model.advance(now)
        for job, cluster in model.starts():
            assert job not in self.starts
            self.starts[job] = (now, cluster)
            self.ends[job] = now + self.jobs["runtime"][job - 1].item() / self.rates[cluster]
        self.gone += model.withdrawals()
        assert model.rejections() == []


def withdrawals_of(jobs, seed):
    """Return when some jobs are withdrawn: soon after they came, when some of them wait yet."""
    rng = np.random.default_rng(seed)
    chosen = rng.choice(COUNT, COUNT // 3, replace=False)
    after = rng.exponential(30.0, COUNT)
    return {int(jobs["number"][at]): float(jobs["arrival"][at] + after[at]) for at in chosen}


POLICIES = [
    (THREE, "dll", "easy", {}),
    (THREE, "dll", "fpfs", {"latency": 0.5}),
    (THREE, "ect", "conservative", {"latency": 0.5}),
    (THREE, "round-robin", "sjf", {}),
    (THREE, "wrand", "fair-share", {}),
    (THREE, "dll", "slurm", {}),
    (THREE, "muscle", "titan", {}),
    (THREE, "muscle", "titan", {"latency": 0.5}),
    (THREE, "muscle", "titan", {"coding": "two-dimensional", "execution": "processors"}),
    (THREE, "muscle", "fcfs", {"round_threshold": 5.0}),
    (TREE, "muscle", "titan", {"levels": 2, "latency": 0.5, "round_threshold": 20.0}),
    (TREE, "muscle", "fcfs", {"levels": 3, "latency": 0.5}),
    (THREE, "ls-or", "fcfs", {}),
    (THREE, "gs", "fcfs", {}),
    (THREE, "migration-only", "fcfs", {"selection": "conservative"}),
    (THREE, "migration-only", "fcfs", {"selection": "easy"}),
    (THREE, "migration-only", "fcfs", {"max_jumps": 2}),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("platform", "policy", "local", "given"), POLICIES)
def test_nobody_else_is_lost(platform, policy, local, given):
    jobs = drawn(3)
    asked = withdrawals_of(jobs, 5)
    driven = Driven(mirror(platform, policy, local, **given), jobs, asked)
    while driven.left():
        driven.step()
    assert len(driven.gone) > 3
    assert {*driven.gone} <= asked.keys()
    counted = Counter([*driven.gone, *driven.starts])
    assert counted == dict.fromkeys(jobs["number"].tolist(), 1)
    for job in asked.keys() - {*driven.gone}:
        assert driven.starts[job][0] <= asked[job] + 2.0  # it was on its way, at most
    driven.model.finish()  # what brokers have yet to hear
    world = driven.model.world
    assert world.state.free.tolist() == world.platform.sizes.tolist()
    assert (world.state.live, world.state.withdrawn) == (0, len(driven.gone))
    assert world.known["unfinished"].tolist() == [0] * len(platform.clusters)
    assert world.known["work"].tolist() == [0.0] * len(platform.clusters)
    assert world.state.left.tolist() == pytest.approx([0.0] * len(platform.clusters), abs=1e-6)


def begun_anew(driven, new):
    """Return a mirror in which jobs that run and wait are as in another one, as after a restart."""
    old, model = driven.model, new()
    rows = {job["number"].item(): job for job in driven.jobs}

    def row(number):
        found = np.array([rows[number]])
        found["runtime"] = np.inf
        return found

    model.advance(0.0)
    for job in sorted(driven.ends, key=driven.starts.__getitem__):
        start, cluster = driven.starts[job]
        model.advance(start)
        model.adopt(row(job), cluster)
    model.advance(old.now)
    jobs = old.world.jobs
    there = jobs.there[np.argsort(jobs["serial"][jobs.there])]
    for slot in there.tolist():
        if jobs["status"][slot] in (GLOBAL, LOCAL):
            model.submit(row(jobs["number"].item(slot)))
    model.advance(old.now)
    again = Driven(model, driven.jobs, dict(driven.withdrawals))
    again.coming, again.ends = [*driven.coming], {**driven.ends}
    again.starts, again.gone = {**driven.starts}, [*driven.gone]
    return again


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("platform", "policy", "local", "given"),
    [
        (ONE, "dll", "fcfs", {}),
        (ONE, "dll", "sjf", {}),
        (ONE, "dll", "easy", {}),
        (ONE, "dll", "fpfs", {}),
        (THREE, "migration-only", "fcfs", {"selection": "fcfs"}),
        (THREE, "migration-only", "fcfs", {"selection": "easy"}),
        (THREE, "gs", "fcfs", {}),
    ],
)
def test_others_are_as_if_it_had_not_come(platform, policy, local, given, seed):
    """Policies that remember nothing but the queue decide as after a restart without it."""

    def new():
        return mirror(platform, policy, local, **given)

    jobs = drawn(seed)
    driven, others = Driven(new(), jobs, withdrawals_of(jobs, seed + 9)), []
    while driven.left():
        before = len(driven.gone)
        driven.step()
        if len(driven.gone) > before:
            others.append(begun_anew(driven, new))
    assert len(others) > 1
    for other in others:
        while other.left():
            other.step()
        assert other.starts == driven.starts


def test_only_what_waits_can_be_withdrawn():
    jobs = drawn(1)
    model = mirror(ONE, "dll", "fcfs")
    row = jobs[:1].copy()
    row["runtime"] = np.inf
    model.submit(row)
    model.advance(jobs["arrival"][0])
    model.withdraw(1)  # it has just started
    assert model.starts() == [(1, 0)]
    assert model.withdrawals() == []
    with pytest.raises(PlacementError, match="accepted: jobs that wait in a queue"):
        model.world.jobs.withdraw(0)


def test_nobody_is_sent_elsewhere_for_a_job_that_has_left():
    """ECT goes by a book of its own, which a long job at the first cluster would fill."""
    model = mirror(Platform.star([4, 4]), "ect", "fcfs")
    rows = job_table(4)
    rows["size"] = [4, 4, 4, 4]
    rows["requested_time"] = [60.0, 100.0, 36000.0, 50.0]
    rows["runtime"] = np.inf
    model.submit(rows[:3])
    model.advance(1.0)
    assert model.starts() == [(1, 0), (2, 1)]
    assert model.waiting_at(0) == [3]
    model.withdraw(3)
    last = rows[3:]
    last["arrival"] = 2.0
    model.submit(last)
    model.advance(2.0)
    assert model.waiting_at(0) == [4]
    model.advance(60.0)
    model.end(1)
    model.advance(60.0)
    assert model.starts() == [(4, 0)]

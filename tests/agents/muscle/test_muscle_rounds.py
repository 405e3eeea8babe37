"""MUSCLE's rounds in a running grid: when they start, what is sent, what is told and believed."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from agents.messages import JobMetadata, JobSubmitted, ScheduleReport, SeedSchedule
from grid.jobs import ANYWHERE
from grid.platform.brokers import Advertising
from grid.platform.multicluster import Platform
from tests.agents.small_grids import (
    FAR,
    LINKS,
    PLATFORM,
    SIZES,
    done,
    heard,
    model_of,
    table,
    workload,
)
from tests.agents.watched_muscle import watched

CASES = [
    pytest.param(mode, latency, share, local, threshold, id=f"{mode}-{latency}-{share}-{local}")
    for mode, latency, share, local, threshold in (
        ("batch", 0.0, 0.0, "titan", 0.0),
        ("batch", 0.7, 0.5, "titan", 0.0),
        ("open", 0.0, 0.0, "titan", 0.0),
        ("open", 0.7, 0.5, "titan", 7.3),
        ("open", 9.0, 1.0, "titan", 0.1),
        ("open", 0.0, 0.5, "fcfs", 0.1),
        ("open", 0.7, 0.5, "sjf", 3.3),
        ("batch", 0.7, 0.5, "fcfs", 0.0),
    )
]


@pytest.mark.parametrize(("mode", "latency", "share", "local", "threshold"), CASES)
def test_rounds(mode, latency, share, local, threshold):
    """`WatchedMuscle` checks each start; here everything that was sent is checked afterwards."""
    platform = PLATFORM if latency == 0.0 else FAR
    model, messages = watched(
        workload(mode, share=share, rate=0.5), local, platform, latency=latency,
        round_threshold=threshold,
    )  # fmt: skip
    jobs = done(model)
    muscle = model.scheduler
    assert len(jobs) == 60
    delay = model.world.state.latency

    # Each job is made known once, a latency after its arrival if a cluster's broker tells.
    known = {}
    for now, message in muscle.received:
        assert now == message.due
        if isinstance(message, (JobSubmitted, JobMetadata)):
            for number in message.jobs:
                assert number not in known
                known[number] = now
    for job in jobs:
        origin = job["origin"]
        lag = 0.0 if origin == ANYWHERE else delay[origin]
        assert known[job["number"]] == job["arrival"] + lag
    assert {m.sender for m in messages if isinstance(m, JobMetadata)} <= set(platform.names)

    # Every job is allocated once, not before it is known, and rounds sum to all the jobs.
    allocated = {n: now for now, numbers in muscle.dispatches for n in numbers}
    assert sum(len(numbers) for _, numbers in muscle.dispatches) == len(allocated) == 60
    assert all(allocated[n] >= known[n] for n in allocated)
    assert [r.number for r in model.rounds] == list(range(1, len(model.rounds) + 1))
    assert [r.dispatched for r in model.rounds] == [now for now, _ in muscle.dispatches]
    assert [r.jobs.sum() for r in model.rounds] == [len(each) for _, each in muscle.dispatches]
    assert sum(r.jobs for r in model.rounds).tolist() == np.bincount(jobs["cluster"]).tolist()

    # Seed schedules: each job in one, to the cluster that runs it, in order of start.
    seeds = [m for m in messages if isinstance(m, SeedSchedule)]
    row = {number: index for index, number in enumerate(jobs["number"].tolist())}
    seen = []
    for seed in seeds:
        c = [cluster.broker.name for cluster in model.clusters].index(seed.receiver)
        assert seed.sent == model.rounds[seed.round - 1].dispatched
        assert seed.due == seed.sent + delay[c]
        assert model.rounds[seed.round - 1].jobs[c] == len(seed.jobs)
        starts = [placement.start for placement in seed.schedule]
        assert starts == sorted(starts)
        held = []
        for number, (_, start, resources), finish in zip(
            seed.jobs, seed.schedule, seed.finishes, strict=True
        ):
            job = jobs[row[number]]
            assert job["cluster"] == c
            assert finish - start == pytest.approx(job["execution_time"])
            assert list(resources) == list(range(resources[0], resources[0] + job["size"]))
            assert resources[0] >= 0
            assert resources[-1] < SIZES[c]
            for other_start, other_finish, others in held:
                if set(others) & set(resources):
                    assert finish <= other_start or other_finish <= start
            held.append((start, finish, resources))
            # It cannot start before it can be there.
            origin, sent = job["origin"], seed.sent
            there = sent + delay[c]
            if origin not in (ANYWHERE, c):
                there += 2 * delay[origin]
            assert job["start"] >= there - 1e-9
            seen.append(number)
    assert sorted(seen) == jobs["number"].tolist()

    # Reports arrive their latency after they were sent.
    reports = [(now, m) for now, m in muscle.received if isinstance(m, ScheduleReport)]
    assert len(reports) == sum(isinstance(m, ScheduleReport) for m in messages)
    for now, report in reports:
        assert now == report.sent + delay[report.cluster]
    if mode == "open":
        assert 1 < len(model.rounds) < 60


@pytest.mark.parametrize("local", ["titan", "fcfs"])
@pytest.mark.parametrize("global_", ["muscle", "dll"])
@pytest.mark.parametrize("origin", [ANYWHERE, 0, 1, 2])
@pytest.mark.parametrize("cluster", [0, 1, 2])
def test_a_job_alone_starts_as_early_as_its_way_allows(cluster, origin, global_, local):
    """Submitted to the centre: transferred. Through a cluster: metadata, order, and transfer."""
    sizes = [2, 2, 2]
    sizes[cluster] = 5
    platform = Platform.star(sizes, latency=LINKS)
    model = model_of(global_, local, table((3, 5, 10.0, 90.0, origin)), platform, latency=0.5)
    model.run()
    to = [0.5 + link for link in LINKS]
    if origin == ANYWHERE:
        way, kinds = to[cluster], {"transfer": 1}
    elif origin == cluster:
        way, kinds = 2 * to[cluster], {"metadata": 1, "order": 1}
    else:
        way, kinds = 3 * to[origin] + to[cluster], {"metadata": 1, "order": 1, "transfer": 1}
    (job,) = done(model)
    assert job["cluster"] == cluster
    assert job["start"] == pytest.approx(3 + way, abs=1e-12)
    sent = {kind: count for kind, count in model.world.messages.items() if count}
    sent.pop("advertisement")
    assert sent == {"submission": 1, **kinds}


def test_a_batch_is_dispatched_when_nothing_is_left_of_the_one_before():
    model, _ = watched(workload("batch", share=0.5), platform=FAR, latency=0.7)
    jobs = done(model)
    batches = np.unique(jobs["arrival"])
    assert len(batches) > 2
    for before, after in itertools.pairwise(batches):
        ended = jobs["finish"][jobs["arrival"] == before].max()
        assert after >= ended
        assert after <= ended + 0.7 + max(LINKS) + 1e-9  # the last report is under way
    model, _ = watched(workload("batch"), platform=PLATFORM)
    jobs = done(model)
    for before, after in itertools.pairwise(np.unique(jobs["arrival"])):
        assert after == jobs["finish"][jobs["arrival"] == before].max()


@pytest.mark.thorough
@pytest.mark.parametrize("threshold", [0.0, 0.1, 1 / 3, 7.3, 50.0, float("inf")])
def test_no_job_is_left_behind_whatever_the_threshold(threshold):
    """Times are rounded: what is left must still be seen to fall to the threshold."""
    for seed in range(6):
        model, _ = watched(
            workload(seed=seed, rate=0.5), platform=PLATFORM, round_threshold=threshold
        )
        assert len(done(model)) == 60
    if threshold == float("inf"):
        assert len(model.rounds) == 60


def test_rounds_begin_at_the_threshold():
    """One cluster, a job of 30 s, others that come meanwhile; the round begins 12.5 s before."""
    rows = [(0, 4, 30.0, 99.0), (1, 1, 2.0, 99.0), (2, 3, 2.0, 99.0)]
    for threshold, dispatched in ((0.0, 30.0), (12.5, 17.5), (29.0, 1.0), (100.0, 1.0)):
        model, _ = watched(table(*rows), platform=Platform.star([4]), round_threshold=threshold)
        assert [r.dispatched for r in model.rounds][:2] == [0.0, dispatched]
        assert done(model)["start"].tolist() == [0.0, 30.0, 30.0]


def test_a_cluster_too_small_for_any_job_gets_none():
    platform = Platform.star([8, 1, 2])
    jobs = table(*((k, 3 + k % 5, 9.0, 99.0) for k in range(20)))
    model, messages = watched(jobs, platform=platform, latency=2.0)
    assert set(done(model)["cluster"].tolist()) == {0}
    receivers = {m.receiver for m in messages if isinstance(m, SeedSchedule)}
    assert receivers == {"C1"}


def test_announced_jobs_that_are_late_keep_no_others_from_being_planned():
    """Jobs go on coming from far away: each is planned once its own seed schedule is complete."""
    platform = Platform.star([16, 1], latency=[0.0, 30.0])
    jobs = table(*((5.0 * k, 2, 4.0, 5.0 * k + 500.0, 1) for k in range(60)))
    model, messages = watched(jobs, platform=platform, round_threshold=1e6)
    waits = done(model)["start"] - done(model)["arrival"]
    assert waits == pytest.approx(np.full(60, 3 * 30.0))
    rounds = [m.round for m in messages if isinstance(m, ScheduleReport) and m.cp is not None]
    assert rounds == sorted(rounds)
    assert len(set(rounds)) == len(model.rounds) == 60
    assert not any(np.isnan(r.cps).any() for r in model.rounds)


@pytest.mark.parametrize("local", ["titan", "fcfs"])
def test_a_seed_schedule_that_comes_after_a_later_one_takes_no_round_back(local):
    """Lost ones are sent again; MUSCLE hears nothing of a cluster that tells of an older round."""
    overtaken = 0
    for seed in range(4):
        model = model_of(
            "muscle", local, workload(count=40, seed=seed, share=1.0), latency=0.7,
            advertising=Advertising(loss=0.4), round_threshold=20.0, seed=seed,
        )  # fmt: skip
        messages = heard(model)
        model.run()
        assert len(done(model)) == 40
        due, told = {}, [0] * 3
        for message in messages:
            if isinstance(message, SeedSchedule):
                overtaken += message.due < due.get(message.receiver, 0.0)
                due[message.receiver] = message.due
            elif isinstance(message, ScheduleReport):
                assert message.round >= told[message.cluster]
                told[message.cluster] = message.round
    assert overtaken > 0


def test_every_job_is_announced_before_it_is_dispatched():
    """At 1 s and 2 s reports and submissions come at one instant, whichever is looked at first."""
    rows = [(float(k), 1, 1.0, 99.0) for k in range(6)]
    _, messages = watched(table(*rows), platform=Platform.star([1]), latency=1.0)
    told = set()
    for message in messages:
        if isinstance(message, (JobSubmitted, JobMetadata)):
            told.update(message.jobs)
        elif isinstance(message, SeedSchedule):
            assert set(message.jobs) <= told
    assert told == {1, 2, 3, 4, 5, 6}


def test_a_cluster_that_holds_no_waiting_job_starts_no_rounds():
    rows = [(0.0, 4, 10.0, 99.0), *((0.1 * k, 4, 10.0, 99.0) for k in range(1, 20))]
    alone, _ = watched(table(*rows), platform=Platform.star([8]), round_threshold=0.0)
    beside, _ = watched(table(*rows), platform=Platform.star([8, 1]), round_threshold=0.0)
    assert len(alone.rounds) == len(beside.rounds) == 2

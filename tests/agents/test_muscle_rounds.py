"""MUSCLE's rounds in a running grid: when they start, what is sent, what is told and believed."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from agents.messages import JobMetadata, JobSubmitted, ScheduleReport, SeedSchedule
from agents.muscle import MuscleScheduler
from agents.schedulers import LocalScheduler, PlanningScheduler
from grid.jobs import ANYWHERE
from grid.platform import Platform

from .plain_titan import cp as plain_cp
from .small_grids import FAR, LINKS, PLATFORM, RATES, SIZES, done, heard, model_of, table, workload


class WatchedMuscle(MuscleScheduler):
    """MUSCLE with a notebook: what it was told when, and what it knew when it dispatched."""

    def __init__(self, model):
        super().__init__(model)
        self.name = "MUSCLE"
        self.received = []
        self.dispatches = []
        self.told = [0.0] * len(self.clusters)  # makespan left, as last told or assumed
        self.free_at = [0.0] * len(self.clusters)  # absolute
        self.asked = [0] * len(self.clusters)

    def receive(self, message):
        self.received.append((self.model.now, message))
        if isinstance(message, ScheduleReport) and message.round >= self.asked[message.cluster]:
            self.told[message.cluster] = message.makespan
            self.free_at[message.cluster] = message.release.max(initial=0.0)
        super().receive(message)

    def act(self):
        super().act()
        waiting = self.model.world.queue()
        if len(waiting):
            assert self.least_told(waiting) > self.model.round_threshold, "jobs wait for nothing"

    def least_told(self, slots):
        """Return the least makespan left of the clusters that can hold one of these jobs."""
        smallest = self.model.world.jobs["size"][slots].min()
        return min(
            told
            for told, each in zip(self.told, self.clusters, strict=True)
            if each.size >= smallest
        )

    def dispatch(self, slots):
        assert len(slots) > 0
        assert self.least_told(slots) <= self.model.round_threshold
        world = self.model.world
        self.dispatches.append((self.model.now, world.jobs["number"][slots].tolist()))
        told = heard(self.model)
        super().dispatch(slots)
        for seed in (each for each in told if isinstance(each, SeedSchedule)):
            c = world.platform.index(seed.receiver)
            self.free_at[c] = max(self.free_at[c], self.model.now + max(seed.finishes))
            self.told[c] = self.free_at[c] - self.model.now
            self.asked[c] = seed.round
        self.model.listeners.pop()


def watched(jobs, local="titan", platform=FAR, **options):
    model = model_of(WatchedMuscle, local, jobs, platform, **options)
    messages = heard(model)
    model.run()
    return model, messages


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
    delay = model.world.latency

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


@pytest.mark.parametrize("idle", ["mean", "total"])
@pytest.mark.parametrize("local", ["titan", "fcfs", "sjf"])
def test_in_batch_mode_what_is_reported_comes_true_to_the_bit(local, idle):
    """Without latency a report says the very finishes, releases and CP that the records show."""
    weights = [(4.0, 3.0, 1.0), (1.0, 0.0, 2.0), (0.0, 1.0, 0.0)]
    model, messages = watched(
        workload("batch", count=80), local, PLATFORM, idle=idle, weights=weights
    )
    jobs = done(model)
    reports = [m for m in messages if isinstance(m, ScheduleReport)]
    assert len(reports) > 6
    for report in reports:
        mine = jobs[jobs["cluster"] == report.cluster]
        known = mine["arrival"] <= model.rounds[report.round - 1].dispatched
        left = mine[known & (mine["finish"] > report.sent)]
        columns = [left[name].tolist() for name in ("finish", "execution_time", "size")]
        slack = left["deadline"] - left["arrival"] - left["execution_time"]
        truth = sorted(zip(*columns, slack.tolist(), strict=True))
        assert sorted(map(tuple, report.unfinished.tolist())) == truth
        assert report.makespan == max(0.0, report.release[-1] - report.sent)
        assert report.release.tolist() == sorted(report.release)
        assert len(report.release) == SIZES[report.cluster]
        if not len(left):
            assert report.makespan == 0.0
            continue
        assert report.release[-1] == left["finish"].max()
        # After the last start, processors fall free as the last jobs end.
        last = left["start"].max()
        late = left[left["finish"] > last]
        expected = np.sort(np.repeat(late["finish"], late["size"])).tolist()
        assert [time for time in report.release.tolist() if time > last] == expected

    for each in model.rounds:
        for c, planned in enumerate(each.cps.tolist()):
            mine = jobs[(jobs["arrival"] == each.dispatched) & (jobs["cluster"] == c)]
            assert len(mine) == each.jobs[c]
            if local != "titan":
                assert np.isnan(planned) or (len(mine) == 0 and planned == 0)
                continue
            makespan = (mine["finish"] - each.dispatched).max(initial=0.0)
            over = np.maximum(mine["finish"] - mine["deadline"], 0).sum()
            unused = SIZES[c] * makespan - (mine["execution_time"] * mine["size"]).sum()
            metrics = (over, makespan, unused / (SIZES[c] if idle == "mean" else 1))
            wo = weights[c]
            realised = sum(w * m for w, m in zip(wo, metrics, strict=True)) / sum(wo)
            assert planned == pytest.approx(realised, rel=1e-9, abs=1e-9)


def test_in_open_mode_a_plan_comes_true_until_the_next_one():
    """The last report of each cluster about jobs that still had to start is the last plan."""
    model, messages = watched(workload("open", rate=0.6), platform=PLATFORM)
    jobs = done(model)
    for c in range(3):
        plans = [
            m for m in messages
            if isinstance(m, ScheduleReport) and m.cluster == c and m.cp is not None
        ]  # fmt: skip
        last = plans[-1]
        mine = jobs[(jobs["cluster"] == c) & (jobs["finish"] > last.sent)]
        assert sorted(last.unfinished[:, 0].tolist()) == sorted(mine["finish"].tolist())


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


def test_a_report_of_an_older_round_is_ignored():
    model = model_of(jobs=table((0, 2, 30.0, 99.0)), platform=PLATFORM, latency=1.0)
    model.step()
    muscle = model.scheduler
    assert muscle.booked[0].round == 1
    content = {
        "sender": "TITAN C1", "receiver": "MUSCLE", "sent": 0.0, "due": 1.0, "cluster": 0,
        "makespan": 77.0, "cp": None, "release": np.full(8, 500.0),
        "unfinished": np.empty((0, 4)),
    }  # fmt: skip
    before = muscle.booked[0], muscle.left[0]
    report = ScheduleReport(round=0, **content)
    muscle.receive(report)
    assert (muscle.booked[0], muscle.left[0]) == before
    muscle.receive(ScheduleReport(round=1, **content))
    assert muscle.left[0] == 77.0
    assert muscle.booked[0].release.tolist() == [500.0] * 8


def test_until_answered_a_cluster_is_booked_as_its_seed_schedule_says():
    """With a latency of 10 s, jobs of a second round are packed behind those of the first."""
    rows = [(0, 8, 30.0, 200.0), (1, 8, 30.0, 200.0)]
    model = model_of(
        jobs=table(*rows), platform=Platform.star([8]), latency=10.0, round_threshold=1000.0
    )
    messages = heard(model)
    model.run()
    first, second = [m for m in messages if isinstance(m, SeedSchedule)]
    assert (first.sent, first.schedule[0].start) == (0.0, 0.0)
    assert (second.sent, second.schedule[0].start) == (1.0, 29.0)
    assert done(model)["start"].tolist() == [10.0, 40.0]


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


class EarliestDeadline(LocalScheduler):
    def priority(self, job):
        return job.deadline


class WidestFirst(PlanningScheduler):
    def plan(self, jobs, release):
        return sorted(jobs, key=lambda job: -job.size)


@pytest.mark.parametrize("latency", [0.0, 3.0])
@pytest.mark.parametrize("local", [EarliestDeadline, WidestFirst])
def test_any_local_scheduler_works_under_muscle(local, latency):
    for mode in ("open", "batch"):
        model, messages = watched(
            workload(mode, share=0.5), local, latency=latency, round_threshold=0.0
        )
        assert len(done(model)) == 60
        assert sum(isinstance(m, ScheduleReport) for m in messages) >= len(model.rounds)


def test_planned_and_seeded_order_is_judged_by_eq_1():
    """The CP that TITAN tells is that of its plan, by the plain implementation."""
    model, messages = watched(workload("batch"), platform=PLATFORM, idle="total")
    jobs = done(model)
    row = {number: index for index, number in enumerate(jobs["number"].tolist())}
    reports = {(m.cluster, m.round): m for m in messages
               if isinstance(m, ScheduleReport) and m.cp is not None}  # fmt: skip
    for seed in (m for m in messages if isinstance(m, SeedSchedule)):
        c = [cluster.broker.name for cluster in model.clusters].index(seed.receiver)
        mine = jobs[[row[number] for number in seed.jobs]]
        times = mine["runtime"] / RATES[c]
        order = sorted(range(len(mine)), key=lambda j: (mine["start"][j], j))
        told = reports[c, seed.round].cp
        arguments = (mine["size"].tolist(), times.tolist(),
                     (mine["deadline"] - seed.sent).tolist(), [0.0] * SIZES[c])  # fmt: skip
        assert told <= plain_cp(*arguments, range(len(mine))) + 1e-9
        assert told == pytest.approx(plain_cp(*arguments, order), rel=1e-9)


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

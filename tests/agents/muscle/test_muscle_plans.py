"""What local schedulers plan and report under MUSCLE, and what comes of it."""

from __future__ import annotations

import numpy as np
import pytest

from agents.messages import ScheduleReport, SeedSchedule
from agents.schedulers import LocalScheduler, PlanningScheduler
from grid.platform.multicluster import Platform
from tests.agents.plain_titan import cp as plain_cp
from tests.agents.small_grids import PLATFORM, RATES, SIZES, done, heard, model_of, table, workload
from tests.agents.watched_muscle import watched


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


def test_an_older_report_or_one_of_an_older_round_is_ignored():
    model = model_of(jobs=table((0, 2, 30.0, 99.0)), platform=PLATFORM, latency=1.0)
    model.step()
    muscle = model.scheduler
    assert muscle.booked[0].round == 1
    content = {
        "sender": "TITAN C1", "receiver": "MUSCLE", "due": 60.0, "cluster": 0, "cp": None,
        "release": np.full(8, 500.0), "unfinished": np.empty((0, 4)),
    }  # fmt: skip
    before = muscle.booked[0], muscle.left[0]
    report = ScheduleReport(round=0, sent=50.0, makespan=77.0, **content)
    muscle.receive(report)
    assert (muscle.booked[0], muscle.left[0]) == before
    muscle.receive(ScheduleReport(round=1, sent=50.0, makespan=77.0, **content))
    muscle.receive(ScheduleReport(round=1, sent=49.0, makespan=78.0, **content))
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

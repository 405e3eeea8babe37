"""What happened in a model, in sentences."""

from __future__ import annotations

import re

import numpy as np
import pytest

from agents.balancers import DynamicLeastLoadScheduler
from agents.disciplines import FcfsScheduler
from agents.messages import ScheduleReport
from agents.model import GridModel
from experiments.events.happenings import KEPT, Happenings
from experiments.show.numbers import duration
from grid.platform.multicluster import Platform
from tests.experiments.watched import FewJobs, Splits, grid_of


def test_looking_often_tells_what_looking_once_tells(monkeypatch):
    monkeypatch.setattr("experiments.events.happenings.KEPT", 10_000)
    model = grid_of(4, count=60)
    often, once = Happenings(model), Happenings(model)
    while model.running:
        model.step()
        often.look()
    once.look()
    assert sorted(often.last) == sorted(once.last)
    words = [each.words for each in once.last]
    assert len(words) > 120
    assert len(model.said) < model.said.maxlen
    assert sum(" starts job " in each for each in words) == 60
    assert sum(" finishes job " in each for each in words) == 60
    said = [each.words for each in once.last if each.order == 1]
    messages = sorted(model.said, key=lambda message: message.sent)
    for words, message in zip(said, messages, strict=True):
        if isinstance(message, ScheduleReport):
            assert f" makespan left {duration(message.makespan)}, " in words
            assert message.cp is None or words.endswith(f", CP {duration(message.cp)}")
        else:
            assert words == str(message)


def test_a_job_can_be_followed(monkeypatch):
    monkeypatch.setattr("experiments.events.happenings.KEPT", 10_000)
    model = grid_of(4, count=20)
    happenings = Happenings(model)
    while model.running:
        model.step()
        happenings.look()
    row = model.world.log.records().rows[0]
    number, name = row["number"], model.world.platform.names[row["cluster"]]
    told = [each for each in happenings.last if re.search(rf"\b{number}\b", each.words)]
    start, end = (
        next(each for each in told if each.words.startswith(f"{name} {verb} job {number}"))
        for verb in ("starts", "finishes")
    )
    assert (start.time, end.time) == (row["start"], row["finish"])
    source = model.world.platform.names[row["origin"]] if row["origin"] >= 0 else name
    assert (f" from {source} " in start.words) == (source != name)


def test_only_the_last_of_many_happenings_are_kept():
    model = grid_of(4, world=DynamicLeastLoadScheduler, local=FcfsScheduler, count=2000)
    model.run()
    happenings = Happenings(model)
    happenings.look()
    assert len(happenings.last) == KEPT
    assert happenings.last[-1].time == pytest.approx(model.now, abs=1.0)
    times = [each.time for each in happenings.last]
    assert times == sorted(times)
    happenings.look()
    assert [each.time for each in happenings.last] == times


def test_the_latest_rows_are_the_last_of_all_rows():
    model = grid_of(4, world=DynamicLeastLoadScheduler, local=FcfsScheduler, count=300)
    assert len(model.world.log.latest(5)) == 0
    while model.running:
        model.step()
        before = [model.world.log.latest(count) for count in (0, 1, 7, 1000)]
        rows = model.world.log.records()  # which moves them to another place
        after = [model.world.log.latest(count) for count in (0, 1, 7, 1000)]
        for got in (before, after):
            assert [len(part) for part in got] == [min(len(rows), n) for n in (0, 1, 7, 1000)]
            assert all(np.array_equal(part, rows[len(rows) - len(part) :]) for part in got)
    assert len(rows) == 300


def test_a_job_on_two_clusters_is_told_once():
    jobs = FewJobs({"number": 5, "size": 8, "runtime": 50.0})
    model = GridModel(Platform.star([16, 16]), jobs, Splits, FcfsScheduler, interval=10.0)
    happenings = Happenings(model)
    model.step()
    happenings.look()
    words = "C1:4+C2:4 starts job 5 on 8 processors, 0 s after its submission"
    assert [each.words for each in happenings.last] == [words]
    model.run()
    happenings.look()
    assert [each.words for each in happenings.last] == [
        words,
        "C1:4+C2:4 finishes job 5 after 50 s",
    ]

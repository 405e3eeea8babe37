"""`metasched gap`: rounds of a run beside their optima."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from experiments.cli import main

# What SWIG makes has no module on Python 3.12 and later.
pytestmark = pytest.mark.filterwarnings(
    "ignore:builtin type .* has no __module__:DeprecationWarning"
)


def call(*words):
    return CliRunner().invoke(main, [str(word) for word in words])


def run(folder, *words):
    done = call("run", *words, "--out", folder, "--events", folder / "events.jsonl", "--json")
    assert done.exit_code == 0, done.output
    return folder


@pytest.fixture(scope="module")
def batch(tmp_path_factory):
    words = ["muscle", "--set", "jobs=30", "--set", "queue=8", "--set", "patience=20"]
    return run(tmp_path_factory.mktemp("batch"), *words)


@pytest.fixture(scope="module")
def online(tmp_path_factory):
    words = ["quickstart", "--set", "jobs=30", "--set", "patience=20", "--set", "max_size=30"]
    return run(tmp_path_factory.mktemp("open"), *words)


def gaps(*words):
    done = call("gap", *words, "--time-limit", 2, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_each_round_of_a_batch_run_is_no_shorter_than_its_bound(batch):
    found = gaps(batch)
    rounds = found["rounds"]
    assert sum(each["jobs"] for each in rounds) == 30
    assert [each["round"] for each in rounds] == list(range(1, len(rounds) + 1))
    for each in rounds:
        assert 0 < each["bound"] <= each["best"] <= each["makespan"]
        assert each["gap"] == pytest.approx(1 - each["bound"] / each["makespan"])
        assert (each["optimum"] is not None) == each["proven"]
        assert each["beside"] == 0
    assert found["jobs_whole"]
    assert found["mean_gap"] <= found["max_gap"]
    assert found["proven"] == sum(each["proven"] for each in rounds) > 0


def test_rounds_of_muscle_that_overlap_are_beside_what_was_dispatched_before(online):
    found = gaps(online)
    assert all(0 <= each["gap"] < 1 for each in found["rounds"])
    assert any(each["beside"] > 0 for each in found["rounds"])
    dispatched = [each["dispatched"] for each in found["rounds"]]
    assert dispatched == sorted(dispatched)
    first = gaps(online, "--first", 2, "--events", online / "events.jsonl")
    assert [each["dispatched"] for each in first["rounds"]] == dispatched[:2]


def test_people_are_shown_a_table(batch):
    done = call("gap", batch, "--first", 1, "--time-limit", 2)
    assert done.exit_code == 0, done.output
    assert "best found, s" in done.output
    assert "mean gap" in done.output


def test_jobs_that_were_split_may_be_split_in_the_optimum(tmp_path):
    words = ["--set", "jobs=12", "--set", "queue=6", "--set", "max_size=18"]
    folder = run(tmp_path, "muscle", *words, "--global", "b1", "--local", "fcfs")
    found = gaps(folder)
    assert not found["jobs_whole"]
    assert all(0 <= each["gap"] < 1 for each in found["rounds"])


def test_a_run_in_mode_open_needs_its_event_log(online, tmp_path):
    done = call("gap", online, "--events", tmp_path / "none.jsonl")
    assert done.exit_code == 2
    assert "none.jsonl: no such file; accepted: the event log of this run" in done.output


def test_a_run_without_rounds_is_refused(tmp_path):
    folder = run(tmp_path, "quickstart", "--set", "jobs=10", "--global", "dll", "--local", "fcfs")
    done = call("gap", folder)
    assert done.exit_code == 2
    assert "no round whose jobs all ended; accepted: a run in mode batch" in done.output


def test_what_is_no_result_is_refused(tmp_path):
    done = call("gap", tmp_path)
    assert done.exit_code == 2
    assert "summary.json: No such file" in done.output

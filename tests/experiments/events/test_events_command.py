"""`metasched run --events`: the log beside a result, and its end."""

from __future__ import annotations

import json
import signal
import time

import pytest

from tests.experiments.commands import call


def test_run_writes_events_beside_its_result(tmp_path):
    logs = []
    for options in ([], ["--live"], ["--set", "step=3"]):
        out = tmp_path / f"{len(logs)}"
        words = "run", "quickstart", "--set", "jobs=40", "--seed", 3, *options
        got = call(*words, "--out", out, "--events", out / "events.jsonl")
        assert got.exit_code == 0, got.output
        logs.append((out / "events.jsonl").read_bytes())
    assert logs[0] == logs[1] == logs[2]
    first, *_, last = map(json.loads, logs[0].splitlines())
    assert first == {
        "serial": 1, "time": 0.0, "event": "begun", "scenario": "quickstart", "seed": 3
    }  # fmt: skip
    assert (last["event"], last["interrupted"]) == ("ended", False)


def test_events_go_where_a_link_leads(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder/events.jsonl")
    words = "run", "quickstart", "--set", "jobs=5", "--events", tmp_path / "link"
    assert call(*words).exit_code == 0
    assert (tmp_path / "link").is_symlink()
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["events.jsonl"]


def test_events_that_cannot_be_written_are_told_before_the_run(tmp_path):
    (tmp_path / "file").write_text("mine")
    told = dict.fromkeys((tmp_path, tmp_path / "file" / "events.jsonl"), "cannot write events")
    for path, said in (told | {"": "--events: found ''; accepted: a file"}).items():
        got = call("run", "quickstart", "--events", path)
        assert got.exit_code == 2
        assert got.stderr.count("\n") == 1
        assert said in got.stderr
    assert (tmp_path / "file").read_text() == "mine"


def test_a_bad_scenario_leaves_an_old_log_alone(tmp_path):
    (tmp_path / "old").write_text("mine")
    assert call("run", "quickstart", "--set", "jobs=0", "--events", tmp_path / "old").exit_code == 2
    assert (tmp_path / "old").read_text() == "mine"


@pytest.mark.thorough
def test_ctrl_c_closes_the_log_in_order(start, tmp_path):
    path = tmp_path / "events.jsonl"
    words = "run", "muscle", "--set", "jobs=1000000", "--no-live", "--events", path
    process = start(*words)
    while not any(
        each.stat().st_size > 1_000_000 for each in tmp_path.glob(".metasched-*/events.jsonl")
    ):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    lines = path.read_text().splitlines()
    assert json.loads(lines[-1])["event"] == "ended"
    assert json.loads(lines[-1])["interrupted"]
    assert [json.loads(line)["serial"] for line in lines] == [*range(1, len(lines) + 1)]

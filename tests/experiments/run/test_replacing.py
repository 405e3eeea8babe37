"""New files are put in place as one, whenever the process is killed; nothing is left of it."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from experiments.run import replacing
from tests.experiments import killed
from tests.experiments.commands import call
from tests.experiments.conftest import ROOT

OLD = {"a": "old", "b": "old", "c": "old", "mine": "old", "link": "old"}
NEW = {
    "replace": {"a": "new", "b": "new", "mine": "old", "link": "old"},
    "replace_one": OLD | {"a": "new"},
    "add": OLD | {"a": "new", "b": "new"},
}


def can_exchange(folder):
    (folder / "one").mkdir()
    (folder / "other").mkdir()
    try:
        replacing.exchange(folder / "one", folder / "other")
    except OSError:
        return False
    return True


@pytest.mark.parametrize("by", ["exchange", "one by one"])
@pytest.mark.parametrize("how", NEW)
def test_killed_at_any_change_all_is_old_or_all_is_new(how, by, tmp_path):
    if by == "exchange" and not can_exchange(tmp_path):
        pytest.skip("folders cannot be exchanged here")
    got = subprocess.run(
        [sys.executable, killed.__file__, tmp_path / "runs", how, by],
        capture_output=True, text=True, check=True, env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    rows = json.loads(got.stdout)
    assert len(rows) > (5 if how == "replace_one" else 10)
    seen = []
    for row in rows:
        kept = row["there"] if by == "exchange" else row["recovered"]
        assert kept in (OLD, NEW[how])
        seen.append(kept == OLD)
        assert row["last"] == NEW[how]
        assert row["left"] == ["out", *sorted(NEW[how])]
    assert seen == sorted(seen, reverse=True)
    assert set(seen) == {True, False}


def scratches(folder):
    return sorted(path.name for path in folder.rglob(".metasched-*"))


def test_only_what_dead_processes_of_this_machine_left_is_removed(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    host = replacing._host()
    dead = f".metasched-{host}-{process.pid}-abc"
    names = [
        f".metasched-{host}-{os.getpid()}-abc",
        f".metasched-another_machine-{process.pid}-abc",
        ".metasched-checkpoint-abc",
        ".metasched-complete",
        ".metasched-mine",
        f".metasched-{host}-{10**30}-abc",
    ]
    for name in [dead, *names]:
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text("")
    replacing.clean(tmp_path)
    assert scratches(tmp_path) == sorted(names)


def test_what_a_folder_is_stays(tmp_path):
    out = tmp_path / "out"
    out.mkdir(mode=0o700)
    (tmp_path / "link").symlink_to("out")
    (out / "mine").write_text("old")
    with (out / "mine").open("a") as mine:
        killed.replace(tmp_path / "link")
        mine.write(" and more")
    assert (tmp_path / "link").is_symlink()
    assert out.stat().st_mode & 0o777 == 0o700
    assert killed.found(out) == {"a": "new", "b": "new", "mine": "old and more"}


@pytest.mark.parametrize("why", ["a folder in it", "we are in it"])
def test_a_folder_that_others_hold_is_not_exchanged(why, tmp_path, monkeypatch):
    (tmp_path / "out").mkdir()
    if why == "a folder in it":
        (tmp_path / "out" / "folder").mkdir()
    else:
        monkeypatch.chdir(tmp_path / "out")
    before = (tmp_path / "out").stat().st_ino
    (tmp_path / "out" / "c").write_text("old")
    killed.replace(tmp_path / "out")
    assert killed.found(tmp_path / "out") == {"a": "new", "b": "new"}
    assert (tmp_path / "out").stat().st_ino == before
    assert scratches(tmp_path) == []


# The command --------------------------------------------------------------------------------------

DYING = """
import os, signal, sys
from experiments.run import replacing
from experiments.cli.app import main
before, after = {before}, {after}
def exchange(one, other, exchange=replacing.exchange):
    before()
    exchange(one, other)
    after()
replacing.exchange = exchange
main()
"""
DIE = "lambda: os.kill(os.getpid(), signal.SIGKILL)"
LIVE = "lambda: None"


def run(out, seed, *words):
    return ["run", "quickstart", "--set", "jobs=20", "--seed", seed, "--out", out, *words]


def seed_of(out):
    return json.loads((out / "summary.json").read_text())["seed"]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("died", ["before", "after"])
def test_a_run_that_is_killed_while_it_puts_its_results_there(died, tmp_path):
    if not can_exchange(tmp_path):
        pytest.skip("folders cannot be exchanged here")
    out = tmp_path / "out"
    assert call(*run(out, 1, "--events", out / "events.jsonl")).exit_code == 0
    (out / "mine").write_text("mine")
    script = DYING.format(**{"before": LIVE, "after": LIVE} | {died: DIE})
    words = [str(word) for word in run(out, 2)]
    process = subprocess.run(
        [sys.executable, "-c", script, *words], env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True, check=False,
    )  # fmt: skip
    assert process.returncode == -9
    assert seed_of(out) == (1 if died == "before" else 2)
    assert call("verify", out).exit_code == 0
    assert scratches(tmp_path)
    assert call(*run(out, 3)).exit_code == 0
    assert seed_of(out) == 3
    assert call("verify", out).exit_code == 0
    assert scratches(tmp_path) == []
    assert sorted(path.name for path in out.iterdir()) == [
        "events.jsonl", "jobs.csv", "mine", "summary.json", "timeline.csv",
    ]  # fmt: skip


def test_a_result_whose_files_are_not_all_there_yet_is_completed_by_its_reader(tmp_path):
    out = tmp_path / "out"
    assert call(*run(out, 1)).exit_code == 0
    complete = out / replacing.COMPLETE
    assert call(*run(tmp_path / "other", 2)).exit_code == 0
    (tmp_path / "other").rename(complete)
    (complete / "jobs.csv").replace(out / "jobs.csv")
    assert call("verify", out).exit_code == 0
    assert seed_of(out) == 2
    assert scratches(out) == []


# Events -------------------------------------------------------------------------------------------


def test_events_make_their_folder(tmp_path):
    place = tmp_path / "new" / "more" / "events.jsonl"
    got = call("run", "quickstart", "--set", "jobs=20", "--no-live", "--events", place)
    assert got.exit_code == 0
    assert place.is_file()
    within = tmp_path / "out" / "more" / "events.jsonl"
    assert call(*run(tmp_path / "out", 1, "--events", within)).exit_code == 0
    assert within.is_file()
    assert seed_of(tmp_path / "out") == 1


@pytest.mark.parametrize("standing", [False, True])
def test_of_events_that_fill_the_disk_nothing_is_left(standing, tmp_path):
    path = tmp_path / "events.jsonl"
    if standing:
        path.write_text("mine")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, limits[1]))
    try:
        got = call("run", "quickstart", "--set", "jobs=400", "--no-live", "--events", path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert got.exit_code == 2
    assert got.stdout == ""
    assert got.stderr == (
        f"metasched: {path}: cannot write events: File too large; accepted: a file that can be "
        "written to\n"
    )
    assert [each.read_text() for each in tmp_path.iterdir()] == (["mine"] if standing else [])


def test_events_are_not_there_before_they_are_whole(tmp_path, monkeypatch):
    path = tmp_path / "events.jsonl"
    path.write_text("mine")
    seen = []

    def put(self, place, replace=Path.replace):
        seen.append((path.read_text(), self.read_text().splitlines()[-1]))
        return replace(self, place)

    monkeypatch.setattr(Path, "replace", put)
    assert call("run", "quickstart", "--set", "jobs=20", "--events", path).exit_code == 0
    ((old, last),) = seen
    assert old == "mine"
    assert json.loads(last)["event"] == "ended"
    assert [each.name for each in tmp_path.iterdir()] == ["events.jsonl"]

"""What users and administrators of a service say to it, and what is refused."""

from __future__ import annotations

import json
from contextlib import closing

import pytest

from experiments.service.grid_file import load_grid
from experiments.service.service import serving
from experiments.service.store import FILE, Store
from grid.errors import GridError
from tests.experiments.commands import call

from .served import served


def test_the_commands_of_users(grid, state, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with serving(load_grid(str(grid)), state, 0, print) as service:
        to = "--state", state
        told = call("submit", *to, "--json", "--size", 2, "--time", "10m", "--", "echo", "-n", "x")
        assert told.stdout == "1\n"
        assert call("submit", *to, "--name", "bad", "--deadline", "2h", "false").stdout == "job 2\n"
        listed = call("queue", *to)
        assert [line.split()[:3] for line in listed.stdout.splitlines()[1:]] == [
            ["1", "echo", "waiting"],
            ["2", "bad", "waiting"],
        ]
        first, second = service.store.jobs()
        assert (first.command, first.size, first.time) == (("echo", "-n", "x"), 2, 600.0)
        assert second.deadline - second.submitted == pytest.approx(7200.0)
        assert first.folder == str(tmp_path)
        service.run(once=True)
    waited = call("wait", *to)
    assert waited.exit_code == 0
    waited = call("wait", *to, 1, 2)
    assert (waited.exit_code, waited.stdout) == (1, "")
    assert "job 2 (bad): failed" in waited.output
    assert "no job waits or runs; 2 jobs have ended (--all)" in call("queue", *to).stdout
    rows = json.loads(call("queue", *to, "--json").stdout)
    keys = ["job", "name", "state", "site", "size", "submitted", "started", "ended", "exit_status"]
    assert [[*row] for row in rows] == [keys, keys]
    assert [(row["state"], row["exit_status"]) for row in rows] == [("done", 0), ("failed", 1)]
    assert len(call("queue", *to, "--all").stdout.splitlines()) == 3
    assert call("log", *to, 1).stdout == "x"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["submit", "--size", 3, "true"], "--size: found 3; accepted: at most 2, the largest site"),
        (["submit", "no-such-program"], "command: found 'no-such-program'; accepted: a program"),
        (["submit", "--time", "1e300d", "true"], "--time: found 8.64e+304 s; accepted: at most 1e"),
        (["submit", "--time", "soon", "true"], "--time: found 'soon'; accepted: "),
        (["cancel", 7], "job: found 7; accepted: one that `metasched queue --all` lists"),
        (["log", 7], "job: found 7; accepted: "),
        (["wait", 7], "job: found 7; accepted: "),
    ],
)
def test_what_users_ask_for_in_vain_is_told_in_a_line(grid, state, words, says):
    with serving(load_grid(str(grid)), state, 0, print) as service:
        found = call(words[0], "--state", state, *words[1:])
        assert (found.exit_code, found.stdout) == (2, "")
        assert says in found.output
        assert len(found.output.splitlines()) == 1
        assert service.store.jobs() == []


def test_folders_that_are_of_no_service_or_of_another(grid, state, tmp_path):
    none = call("queue", "--state", tmp_path / "none")
    assert "no service has been there; accepted: --state of one" in none.output
    assert not (tmp_path / "none").exists()
    with pytest.raises(GridError, match="found other files; accepted: a new folder, or a service"):
        served(grid, tmp_path)
    with (
        serving(load_grid(str(grid)), state, 0, print),
        pytest.raises(GridError, match="another service is there already"),
    ):
        served(grid, state)
    assert served(grid, state)[0] == []
    assert (state.stat().st_mode & 0o777) == 0o700
    with closing(Store(state)) as store:
        store._file.execute("PRAGMA user_version = 99")
    with pytest.raises(GridError, match="found version 99; accepted: 2, of this metasched"):
        served(grid, state)
    (state / FILE).write_bytes((state / FILE).read_bytes()[:4096] + b"x" * 8192)
    damaged = call("queue", "--state", state)
    assert (damaged.exit_code, len(damaged.output.splitlines())) == (2, 1)
    for each in state.glob(f"{FILE}*"):
        each.unlink()
    (state / FILE).touch()
    with pytest.raises(GridError, match="found other files"):
        served(grid, state)
    (state / FILE).write_bytes(b"no database" * 100)
    with pytest.raises(GridError, match="cannot be used: file is not a database"):
        served(grid, state)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "sites: none; accepted: at least one"),
        ("sites = 3", "sites: found 3; accepted: tables"),
        ("[[sites]]\nname = 'A'", "sites[0]: slots: missing; accepted: the processors"),
        ("[[sites]]\nname = 'A'\nslots = 0", "sites[0]: slots: found 0; accepted: the proc"),
        ("[[sites]]\nname = 'A'\nslots = 1\ndriver = 'pbs'", "driver: found 'pbs'; accepted: 'lo"),
        ("[[sites]]\nname = 'A'\nslots = 1\nslot = 1", "sites[0]: slot: unknown key; "),
        ("clusters = []\n[[sites]]\nname = 'A'\nslots = 1", "clusters: unknown key; "),
        ("global = 'nobody'\n[[sites]]\nname = 'A'\nslots = 1", "nobody"),
        ("[[sites]]\nname = 'A'\nslots = 1\n[parameters]\njobs = 3", "jobs: without meaning for"),
        (
            "[[sites]]\nname = 'A'\nslots = 1\n[parameters]\nprediction = 'exact'",
            "prediction: found 'exact'; accepted: another, for nobody knows",
        ),
        (
            "global = 'first-fit'\nlocal = 'fcfs'\n"
            "[[sites]]\nname = 'A'\nslots = 1\n[[sites]]\nname = 'B'\nslots = 1",
            "splits jobs; accepted: one that has each job run at one site",
        ),
        ("[[sites]]\nname = 'A'\nslots = 1\n[[jobs]]\nsize = 1", "jobs[0]: command: missing"),
        (
            '[[sites]]\nname = "A"\nslots = 1\n[[jobs]]\ncommand = ["echo", "a\\u0000b"]',
            "jobs[0]: command: found ",
        ),
        (
            "[[sites]]\nname = 'A'\nslots = 1\n[[jobs]]\ncommand = ['true']\ntime = 'soon'",
            "jobs[0]: time: found 'soon'; accepted: a time such as 90s or 10m",
        ),
    ],
)
def test_a_grid_that_cannot_be_served_is_refused_in_a_line(tmp_path, text, says):
    (tmp_path / "grid.toml").write_text(text)
    found = call("serve", tmp_path / "grid.toml", "--state", tmp_path / "state", "--once")
    assert found.exit_code == 2
    assert says in found.output
    assert len(found.output.splitlines()) == 1
    assert not (tmp_path / "state").exists()

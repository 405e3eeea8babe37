"""A service that has real processes run, and what is left of them when it is killed."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from experiments.service.grid_file import load_grid
from experiments.service.service import serving
from experiments.service.sites import RUN_ONCE
from experiments.service.store import FILE, Store
from grid.errors import GridError
from tests.experiments.commands import call

ROOT = Path(__file__).resolve().parents[3]
GRID = """
global = "dll"
local = "fcfs"
[[sites]]
name = "A"
slots = 2
[[sites]]
name = "B"
slots = 1
"""
SOON = 60.0


@pytest.fixture
def grid(tmp_path):
    (tmp_path / "grid.toml").write_text(GRID)
    return tmp_path / "grid.toml"


@pytest.fixture
def state(tmp_path):
    return tmp_path / "state"


def served(grid, state, *jobs, **options):
    """Have jobs run to their ends; return them, and what was told."""
    said = []
    with serving(load_grid(str(grid), **options), state, 0, said.append) as service:
        for job in jobs:
            service.store.add(**({"size": 1} | job))
        service.run(once=True)
        return service.store.jobs(), said


def shell(text, **job):
    return {"command": ["sh", "-c", text], "environment": {"PATH": os.environ["PATH"]}, **job}


def until(service, condition):
    """Step until something is so."""
    begun = time.monotonic()
    while not condition():
        assert time.monotonic() - begun < SOON
        service.step()
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("policy", "local"), [("dll", "fcfs"), ("muscle", "titan"), ("round-robin", "easy")]
)
def test_jobs_run_as_the_agents_decide(grid, state, tmp_path, policy, local):
    text = 'echo "$METASCHED_JOB $METASCHED_SITE $METASCHED_SIZE" >> told; sleep 0.2'
    jobs = [shell(text, size=1 + at % 2, time_s=0.2, folder=str(tmp_path)) for at in range(8)]
    done, said = served(grid, state, *jobs, global_=policy, local=local)
    assert {job.state for job in done} == {"done"}
    assert {job.exit_status for job in done} == {0}
    told = (tmp_path / "told").read_text().splitlines()
    assert sorted(told) == sorted(f"{job.job} {job.site} {job.size}" for job in done)
    assert {job.site for job in done if job.size == 2} == {"A"}
    assert len(said) == 2 * len(done)
    for site, slots in (("A", 2), ("B", 1)):
        here = [job for job in done if job.site == site]
        for each in here:
            beside = [job for job in here if job.started <= each.started < job.ended]
            assert sum(job.size for job in beside) <= slots
    assert all(job.submitted <= job.started < job.ended for job in done)


def test_what_becomes_of_jobs_is_told(grid, state, tmp_path):
    jobs = [
        shell("echo out; echo bad >&2; exit 3"),
        shell("kill -KILL $$"),
        shell("kill -KILL $PPID; sleep 1000"),  # of who tells how it ends, too
        shell("true", folder=str(tmp_path / "none")),
        shell("true", size=4),
        shell("true"),
    ]
    done, said = served(grid, state, *jobs)
    assert [(job.state, job.exit_status, bool(job.why)) for job in done] == [
        ("failed", 3, False),
        ("failed", 137, False),
        ("failed", None, True),
        ("failed", None, True),
        ("failed", None, True),
        ("done", 0, False),
    ]
    assert done[2].why == "its processes were killed"
    assert done[3].why.startswith("cannot be started: ")
    assert done[4].why == "no site has 4 processors"
    assert any(line.endswith("job 5 (sh): failed: no site has 4 processors") for line in said)
    log = call("log", "--state", state, 1)
    assert log.stdout == "out\nbad\n"
    rest = subprocess.run(["pgrep", "-f", "sleep 1000"], capture_output=True)
    assert rest.returncode == 1


def test_jobs_are_cancelled_before_and_while_they_run(grid, state):
    grid.write_text('global = "dll"\nlocal = "fcfs"\n[[sites]]\nname = "A"\nslots = 3\n')
    with serving(load_grid(str(grid)), state, 0, print) as service:
        store = service.store
        for _ in range(5):
            store.add(["sleep", "1000"], 1)
        until(service, lambda: len(store.jobs("state = 'running'")) == 3)
        for number in (1, 4):
            assert call("cancel", "--state", state, number).exit_code == 0
        until(service, lambda: store.job(1).ended is not None and store.job(5).state == "running")
        states = [job.state for job in store.jobs()]
        assert states == ["cancelled", "running", "running", "cancelled", "running"]
        assert (store.job(1).exit_status, store.job(4).started) == (143, None)
        again = call("cancel", "--state", state, 1)
        assert (again.exit_code, again.stdout) == (2, "")
        assert "job 1: cancelled; accepted: a job that has not ended" in again.output
        for job in store.jobs("ended IS NULL"):
            call("cancel", "--state", state, job.job)
        until(service, lambda: not store.left())


def test_a_service_takes_up_what_another_one_has_left(grid, state, tmp_path):
    with serving(load_grid(str(grid)), state, 0, print) as service:
        store = service.store
        first = [store.add(["sh", "-c", f"while [ ! -e {tmp_path}/go ]; do sleep 0.05; done"], 1)]
        first += [store.add(["sleep", "0.1"], 1), store.add(["false"], 1)]
        until(service, lambda: not store.jobs("state IN ('waiting', 'starting')"))
        waiting = store.add(["true"], 2)
        service.step()
        assert store.job(waiting).state == "waiting"  # the first has one of the two
        time.sleep(0.5)  # the others end while nobody looks
    said = []
    with serving(load_grid(str(grid)), state, 0, said.append) as service:
        store = service.store
        assert "job 1 (sh): runs on at A" in said
        assert [job.state for job in store.jobs()] == ["running", "done", "failed", "waiting"]
        service.step()
        assert service.model.world.state.free.tolist() == [1, 1]
        assert store.job(waiting).state == "waiting"
        (tmp_path / "go").touch()
        service.run(once=True)
        assert [job.state for job in store.jobs()] == ["done", "done", "failed", "done"]
        assert store.job(waiting).started >= store.job(1).ended


CODE = """
import sys
from pathlib import Path
from experiments.service.grid_file import load_grid
from experiments.service.service import serving
with serving(load_grid(sys.argv[1]), Path(sys.argv[2]), 0, print) as service:
    print("serves", flush=True)
    service.run(once=True)
"""


@pytest.mark.parametrize(
    ("jobs", "kills"),
    [
        pytest.param(60, 6, marks=pytest.mark.thorough),
        pytest.param(1000, 100, marks=pytest.mark.slow),
    ],
)
def test_no_job_is_lost_or_runs_twice_however_often_a_service_is_killed(
    grid, state, tmp_path, jobs, kills
):
    draws = random.Random(1)
    with closing(Store(state, make=True)) as store:
        for number in range(1, jobs + 1):
            text = f"echo {number} >> {tmp_path}/ran; sleep 0.{draws.randrange(1, 5)}"
            store.add(["sh", "-c", text], 1 + number % 2, 1.0)
    command = [sys.executable, "-c", CODE, str(grid), str(state)]
    for _ in range(kills):
        service = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        with service:
            while not service.stdout.readline().startswith("serves"):
                assert service.poll() is None
            time.sleep(draws.uniform(0.0, 1.5))
            service.send_signal(signal.SIGKILL)
    ended, _ = served(grid, state)
    assert {job.state for job in ended} == {"done"}
    assert len(ended) == jobs
    ran = (tmp_path / "ran").read_text().split()
    assert sorted(map(int, ran)) == [*range(1, jobs + 1)]


def test_a_command_is_run_once_whoever_comes_second(tmp_path):
    command = ["/bin/sh", RUN_ONCE, str(tmp_path), "sh", "-c", f"echo ran >> {tmp_path}/ran"]
    several = [subprocess.Popen(command) for _ in range(8)]
    assert {each.wait(SOON) for each in several} == {0}
    assert (tmp_path / "ran").read_text() == "ran\n"
    assert (tmp_path / "ended").read_text() == "0\n"
    claim = int(os.readlink(tmp_path / "claim"))
    assert claim in {each.pid for each in several}


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
    with pytest.raises(GridError, match="found version 99; accepted: 1, of this metasched"):
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
        ("[[sites]]\nname = 'A'\nslots = 0", "size"),
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


@pytest.mark.thorough
def test_the_packaged_example_shows_two_levels_at_work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = call("serve", "live-quickstart", "--once")
    assert found.exit_code == 0
    rows = json.loads(call("queue", "--state", "live-quickstart-state", "--json").stdout)
    assert len(rows) == 12
    assert {row["state"] for row in rows} == {"done"}
    assert {row["site"] for row in rows} == {"north", "south"}
    assert "job 12 (wide): starts at " in found.output

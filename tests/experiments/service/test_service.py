"""A service that has real processes run, and what is left of them when it is killed."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest

from experiments.service.at_sites.local import LocalSite
from experiments.service.at_sites.site import RUN_ONCE
from experiments.service.grid_file import load_grid
from experiments.service.serving import serving
from experiments.service.store import Store
from tests.experiments.commands import call

from .served import GRID, served

ROOT = Path(__file__).resolve().parents[3]
SOON = 120.0  # of a machine that has much else to do, and something to compile


def shell(text, **job):
    return {"command": ["sh", "-c", text], "environment": {"PATH": os.environ["PATH"]}, **job}


def running(*words):
    """Tell whether a process runs that was started with some words."""
    wanted = [word.encode() for word in words]
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if each.read_bytes().split(b"\0")[: len(wanted)] == wanted:
                return True
    return False


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
        shell("kill -KILL $PPID; sleep 2003"),  # of who tells how it ends, too
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
    assert not running("sleep", "2003")
    queue = call("queue", "--state", state, "--all").stdout
    assert "no site has 4 processors" in queue


def test_commands_are_run_as_they_are(grid, state):
    """By no shell: what it has of the same name, and signals that it has ignored, are none."""
    signals = "import signal as s; print([s.getsignal(each) == s.SIG_DFL for each in (3, 15)])"
    caught = "import signal; print(signal.getsignal(2) is signal.default_int_handler)"
    jobs = [["echo", "a\\nb"], ["printf", "%s;", "$HOME", "a b", "`x`", "*"]]
    jobs += [[sys.executable, "-c", signals], [sys.executable, "-c", caught]]
    jobs += [["sh", "-c", "exit 7"], ["sleep", "0.3"]]
    done, _ = served(grid, state, *({"command": job} for job in jobs))
    said = [call("log", "--state", state, job.job).stdout for job in done]
    assert said[:2] == ["a\\nb\n", "$HOME;a b;`x`;*;"]
    assert said[2:4] == ["[True, True]\n", "True\n"]
    assert [job.exit_status for job in done] == [0, 0, 0, 0, 7, 0]
    assert all(job.ended >= job.started >= job.submitted - 0.1 for job in done)
    assert 0.29 < done[5].ended - done[5].started < 5


def test_what_a_killed_script_leaves_is_killed(grid, state):
    with serving(load_grid(str(grid)), state, 0, print) as service:
        store = service.store
        store.add(["env", "-i", "sleep", "2001"], 1)
        store.add(["timeout", "2002", "sleep", "2002"], 1)
        until(service, lambda: len(store.jobs("state = 'running'")) == 2)
        time.sleep(0.3)
        for number in (1, 2):
            os.kill(int(os.readlink(state / "jobs" / str(number) / "claim")), signal.SIGKILL)
        until(service, lambda: not store.left())
    assert not running("sleep", "2001")
    assert not running("sleep", "2002")


def test_jobs_are_cancelled_before_and_while_they_run(grid, state):
    grid.write_text('global = "dll"\nlocal = "fcfs"\n[[sites]]\nname = "A"\nslots = 3\n')
    with serving(load_grid(str(grid)), state, 0, print) as service:
        store = service.store
        for _ in range(5):
            store.add(["sleep", "1000"], 1)
        until(service, lambda: len(store.jobs("state = 'running'")) == 3)
        until(service, (state / "jobs" / "1" / "started").exists)
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


@pytest.mark.parametrize("pair", [("dll", "fcfs"), ("muscle", "titan")])
def test_a_site_that_is_drained_starts_no_job(grid, state, tmp_path, pair):
    told, (policy, local) = [], pair
    grid.write_text(GRID.replace("dll", policy).replace("fcfs", local))
    with serving(load_grid(str(grid)), state, 0, told.append) as service:
        store = service.store
        text = f"while [ ! -e {tmp_path}/go ]; do sleep 0.05; done"
        for _ in range(3):
            store.add(["sh", "-c", text], 1, 10.0, 15.0)
        until(service, lambda: len(store.jobs("state = 'running'")) == 3)
        later = [store.add(["true"], 1, 1.0, 100.0) for _ in range(4)]
        service.step()
        assert call("drain", "--state", state, "A").exit_code == 0
        service.step()
        assert told[-1] == "A: starts no job any more"
        (tmp_path / "go").touch()
        until(service, lambda: not store.left())
        assert {store.job(number).site for number in later} == {"B"}
        waits = store.add(["true"], 2)
        service.step()
    with serving(load_grid(str(grid)), state, 0, told.append) as service:
        store = service.store
        for _ in range(3):
            service.step()
        assert store.job(waits).state == "waiting"
        again = call("drain", "--state", state, "A")
        assert "A: drained already; accepted: another" in again.output
        assert again.exit_code == 2
        assert "site 'C': unknown; " in call("drain", "--state", state, "C").output
        assert call("drain", "--state", state, "A", "--undo").exit_code == 0
        until(service, lambda: not store.left())
        assert (store.job(waits).state, store.job(waits).site) == ("done", "A")
        assert told[-3] == "A: takes part again"


def test_a_site_that_was_drained_and_left_may_take_part_again(grid, state):
    with serving(load_grid(str(grid)), state, 0, print):
        assert call("drain", "--state", state, "B").exit_code == 0
        assert "B: drained" in call("queue", "--state", state).stdout
    grid.write_text(GRID.partition('[[sites]]\nname = "B"')[0])
    with serving(load_grid(str(grid)), state, 0, print) as service:
        assert "drained" not in call("queue", "--state", state).stdout
        assert call("drain", "--state", state, "B", "--undo").exit_code == 0
        assert service.store.note("drained") == []


def test_a_job_that_does_not_end_when_asked_is_killed_when_asked_again(grid, state, tmp_path):
    with serving(load_grid(str(grid)), state, 0, print) as service:
        store = service.store
        text = f"trap : TERM; touch {tmp_path}/on; while true; do sleep 0.1; done"
        store.add(["sh", "-c", text], 1)
        until(service, (tmp_path / "on").exists)
        call("cancel", "--state", state, 1)
        service.step()
        time.sleep(0.3)
        service.step()
        assert store.job(1).state == "running"
        call("cancel", "--state", state, 1)
        until(service, lambda: not store.left())
        assert (store.job(1).state, store.job(1).exit_status) == ("cancelled", 137)


def test_what_has_ended_before_anybody_asked_it_to_is_not_cancelled(grid, state, tmp_path):
    text = f"until [ -e {tmp_path}/go ]; do sleep 0.05; done"
    with serving(load_grid(str(grid)), state, 0, print) as service:
        service.store.add(["sh", "-c", text], 1)
        until(service, lambda: service.store.job(1).state == "running")
    assert call("cancel", "--state", state, 1).exit_code == 0
    (tmp_path / "go").touch()
    begun = time.monotonic()
    while not (state / "jobs" / "1" / "ended").exists():
        assert time.monotonic() - begun < SOON
        time.sleep(0.05)
    (job,), _ = served(grid, state)
    assert (job.state, job.exit_status, job.why) == ("done", 0, "before a service asked it to end")


def test_what_is_cancelled_twice_while_no_service_is_there_is_killed(grid, state, tmp_path):
    text = f"trap : TERM; touch {tmp_path}/on; while true; do sleep 0.1; done"
    with serving(load_grid(str(grid)), state, 0, print) as service:
        service.store.add(["sh", "-c", text], 1)
        until(service, (tmp_path / "on").exists)
    for _ in range(2):
        assert call("cancel", "--state", state, 1).exit_code == 0
    (job,), _ = served(grid, state)
    assert (job.state, job.exit_status) == ("cancelled", 137)


def test_what_is_cancelled_while_no_service_is_there_ends(grid, state):
    with serving(load_grid(str(grid)), state, 0, print) as service:
        for size in (1, 1, 1, 2):
            service.store.add(["sleep", "1000"], size)
        until(service, lambda: len(service.store.jobs("state = 'running'")) == 3)
    for number in (1, 2, 3, 4):
        assert call("cancel", "--state", state, number).exit_code == 0
    grid.write_text(GRID.replace("slots = 1", "slots = 1\nrate = 1.5"))
    done, said = served(grid, state)
    assert [job.state for job in done] == ["cancelled"] * 4
    assert not any("failed" in line for line in said)


@pytest.mark.thorough
def test_what_the_system_has_no_room_for_is_tried_again(grid, state, monkeypatch):
    start, failures = LocalSite.start, iter([errno.EMFILE, errno.ENOSPC])

    def hardly(*given):
        if (number := next(failures, None)) is not None:
            raise OSError(number, os.strerror(number))
        start(*given)

    monkeypatch.setattr(LocalSite, "start", hardly)
    done, said = served(grid, state, {"command": ["true"]}, {"command": ["true"]})
    assert [job.state for job in done] == ["done", "done"]
    assert sum("it is tried again" in line for line in said) >= 1


def test_names_of_any_bytes_are_names(grid, state, tmp_path):
    folder = os.fsdecode(os.fsencode(tmp_path) + b"/\xff")
    os.mkdir(folder)
    program = f"{folder}/\udcfe"
    Path(program).symlink_to("/bin/true")
    job = {"command": [program, "\udcfd"], "folder": folder, "name": "\udcfc\x1b[31m\n"}
    (done,), said = served(grid, state, job)
    assert done.state == "done"
    assert all(line.isprintable() for line in said)


def test_a_command_is_run_once_whoever_comes_second(tmp_path):
    command = ["/bin/sh", RUN_ONCE, str(tmp_path), "sh", "-c", f"echo ran >> {tmp_path}/ran"]
    several = [subprocess.Popen(command) for _ in range(8)]
    assert {each.wait(SOON) for each in several} == {0}
    assert (tmp_path / "ran").read_text() == "ran\n"
    assert (tmp_path / "ended").read_text() == "0\n"
    claim = int(os.readlink(tmp_path / "claim"))
    assert claim in {each.pid for each in several}


@pytest.mark.thorough
def test_the_packaged_example_shows_two_levels_at_work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = call("serve", "live-quickstart", "--once")
    assert found.exit_code == 0
    rows = json.loads(call("queue", "--state", "live-quickstart-state", "--json").stdout)
    assert len(rows) == 12
    assert {row["state"] for row in rows} == {"done"}
    assert {row["site"] for row in rows} == {"north", "south"}
    assert "job 12 (wide): runs at " in found.output


LOOP = 'until [ -e "$folder/gate" ]; do :; done'


@pytest.mark.thorough
@pytest.mark.parametrize(
    "slowly", [f"{LOOP}; (", f"(trap : TERM; {LOOP}; trap - TERM; "], ids=["parent", "child"]
)
@pytest.mark.parametrize("times", [1, 2])
def test_a_job_is_asked_to_end_whose_command_is_still_to_come(
    grid, state, tmp_path, monkeypatch, slowly, times
):
    """Its script has set its traps, and takes a while to start the command, or to become it."""
    slow = tmp_path / "slow.sh"
    script = Path(RUN_ONCE).read_text()
    command = '([ -e "$folder/asked" ]'
    assert script.count(command) == 1
    slow.write_text(script.replace(command, slowly + command[1:]))
    monkeypatch.setattr("experiments.service.at_sites.local.RUN_ONCE", str(slow))
    with serving(load_grid(str(grid)), state, 0, print) as service:
        service.store.add(["sleep", "60"], 1)
        gate = state / "jobs" / "1" / "gate"
        service.step()
        until(service, (gate.parent / "started").exists)
        time.sleep(0.5)  # now its traps are set
        service.store.update(1, cancelled=times)
        service.step()
        gate.touch()
        until(service, lambda: service.store.job(1).ended is not None)
        assert service.store.job(1).state == "cancelled"


def test_an_interrupt_leaves_no_transaction(state):
    with closing(Store(state, make=True)) as store:
        with pytest.raises(KeyboardInterrupt), store.at_once():
            raise KeyboardInterrupt
        with store.at_once():
            store.note("x", 1)

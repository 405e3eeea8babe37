"""What is told of real jobs afterwards: their stories, checks of them, and pages."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import time
from contextlib import closing
from datetime import datetime

import pytest

from experiments.service.at_sites.site import End
from experiments.service.grid_file import load_grid
from experiments.service.history.audit import Appended
from experiments.service.serving import serving
from experiments.service.store import Store
from grid.logs.formats import read
from tests.experiments.commands import call

from .served import GRID, served
from .test_service import shell, until


def told(state, job):
    found = json.loads(call("explain", state, job, "--json").stdout)
    stories = found.get("stories", [found])
    return [[line["words"] for line in story["lines"]] for story in stories], stories


def test_the_story_of_a_real_job(history):
    (words,), (story,) = told(history, 2)
    assert story["heading"] == "Job 2: 2 processors, no deadline"
    assert words[:2] == ["submitted to DLL", "DLL chooses A for it"]
    assert any(each.startswith("is to start on 2 processors of A") for each in words)
    assert words[-2] == "runs at A"
    assert re.fullmatch(r"done at A, after 0\.\d+ s", words[-1])
    (failed,), _ = told(history, 3)
    assert failed[-1].startswith("failed at ")
    assert ", exit status 1, after 0" in failed[-1]


def test_each_service_has_its_part_in_a_story(grid, state):
    with serving(load_grid(str(grid)), state, 0, print) as service:
        service.store.add(["sleep", "0.3"], 2)
        service.store.add(["true"], 2)
        service.step()
        service.step()
    served(grid, state)
    (first, second), stories = told(state, 1)
    assert first[-1] == "the service ends, and the job has not finished"
    assert any(line.startswith("taken up at A, runs for ") for line in second)
    assert second[-1].startswith("done at A, after 0.")
    assert all("as the service had it that began at" in each["heading"] for each in stories)
    assert told(state, 2)[0][1][-1].startswith("done at A")
    assert call("verify", state).exit_code == 0


def test_a_service_that_is_killed_has_said_so_much(grid, state):
    with serving(load_grid(str(grid)), state, 0, print) as service:
        service.store.add(["sleep", "0.3"], 2)
        service.step()
        service.step()
        lines = (state / "events.jsonl").read_text()
    (state / "events.jsonl").write_text(lines + '{"serial": 99, "ti')
    served(grid, state)
    (first, _), _ = told(state, 1)
    assert first[-1] == (
        "the last that is known of the service: it was killed, and the job has not finished"
    )
    lines = (state / "events.jsonl").read_text().splitlines()
    serials = [json.loads(line)["serial"] for line in lines]
    assert serials == [*range(1, len(serials) + 1)]


def test_each_attempt_of_a_job_is_in_its_story(grid, state):
    with serving(load_grid(str(grid)), state, 0, print) as service:
        service.store.add(["sleep", "0.5"], 1, requeue=True, deadline=60.0)
        service.step()
        begun = state / "jobs" / "1" / "started"
        until(service, begun.exists)
        os.kill(int(os.readlink(state / "jobs" / "1" / "claim")), signal.SIGKILL)
        service.run(once=True)
    (words,), _ = told(state, 1)
    runs = [each for each in words if each.startswith("runs at A")]
    starts = [at for at, each in enumerate(words) if each.startswith("is to start on")]
    (killed,) = [at for at, each in enumerate(words) if "waits to run again" in each]
    assert len(runs) == len(starts) == 2
    assert starts[0] < killed < starts[1]
    assert re.search(r"done at A, after 0\.\d+ s, \d.* before its deadline$", words[-1])
    events = [json.loads(line) for line in (state / "events.jsonl").read_text().splitlines()]
    kinds = [each["event"] for each in events if each.get("job") == 1]
    assert kinds.count("submitted") == kinds.count("finished") == 2
    assert kinds.index("finished") < len(kinds) - 1 - kinds[::-1].index("submitted")
    assert call("verify", state).exit_code == 0


def test_what_a_site_was_then_counts(grid, state, tmp_path):
    served(grid, state, {"command": ["sleep", "0.2"], "size": 2})
    before = read(state / "jobs.db").cleaned().jobs["runtime"].item()
    other = '[[sites]]\nname = "attic"\nslots = 9\n'
    grid.write_text(GRID.replace("slots = 2", "slots = 2\nrate = 4.0") + other)
    time.sleep(0.2)
    begun = time.time()
    served(grid, state)
    log = read(state / "jobs.db")
    assert log.cleaned().jobs["runtime"].item() == before
    assert log.processors == 2  # not of sites that jobs have never seen
    lines = [json.loads(line) for line in (state / "events.jsonl").read_text().splitlines()]
    started = datetime.fromisoformat(lines[0]["start"]).timestamp()
    (first, second) = (each["time"] for each in lines if each["event"] == "begun")
    assert first < 1.0
    assert second == pytest.approx(begun - started, abs=5.0)
    assert second >= begun - started
    assert [each["interrupted"] for each in lines if each["event"] == "ended"] == [False, False]
    page = tmp_path / "page.html"
    call("report", state, "-o", page)
    assert "attic" not in page.read_text()


def test_a_job_that_is_killed_again_and_again_has_failed(grid, state, monkeypatch):
    monkeypatch.setattr("experiments.service.attempts.TRIES", 3)
    (job,), _ = served(grid, state, {"command": ["sh", "-c", "kill -9 $PPID"], "requeue": True})
    assert (job.state, job.attempt, job.exit_status) == ("failed", 3, None)
    assert job.why == "its processes were killed, soon after it began, as in 3 attempts or more"
    page = state / "page.html"
    call("report", state, "-o", page)
    text = page.read_text()
    assert "Left out: 2 attempts before the last, of jobs that were killed" in text
    assert "Completed means ended: 1 job did not succeed (1 failed)" in text


def test_who_is_lost_ran_at_least_as_long_as_it_gave_signs_of_life(grid, state):
    with serving(load_grid(str(grid)), state, 0, print) as service:
        service.store.add(["sleep", "2"], 1, only="A", deadline=600.0)
        until(service, lambda: service.store.job(1).state == "running")
        site, last = service.sites[0], service.store.job(1).started + 0.25
        why, before = "not known there any more", site.news
        site.news = lambda: iter([End(1, None, last, why=why, lost=True)])
        until(service, lambda: service.store.job(1).state == "lost")
        site.news = before
    (words,), (story,) = told(state, 1)
    assert re.fullmatch(rf"lost at A: {why}, after at least 0\.2\d* s", words[-1])
    times = [line["time"] for line in story["lines"] if line["time"] is not None]
    assert times == sorted(times)
    assert call("verify", state).exit_code == 0


def test_people_are_in_the_story(grid, state):
    with serving(load_grid(str(grid)), state, 0, print) as service:
        service.store.add(["true"], 1, held=True)
        service.store.add(["sleep", "9"], 1)
        service.step()
        service.store.update(1, held=False)
        service.store.update(2, cancelled=1)
        service.run(once=True)
    (words,), _ = told(state, 1)
    assert words[:2] == ["submitted", "held"]
    assert "released" in words
    assert words[-1].startswith("done at ")
    (words,), _ = told(state, 2)
    assert "is to be asked to end" in words
    assert words[-1].startswith("cancelled at ")


@pytest.mark.thorough
def test_who_does_not_run_has_not_started(grid, state):
    """What is held or cancelled leaves its queue then, which no story takes for a start."""
    grid.write_text(GRID.partition('[[sites]]\nname = "B"')[0].replace("slots = 2", "slots = 1"))
    with serving(load_grid(str(grid)), state, 0, print) as service:
        store = service.store
        for command in (["sleep", "1"], ["true"], ["true"], ["true"]):
            store.add(command, 1)
        service.step()
        until(service, lambda: store.job(1).started is not None)
        with store.at_once():
            store.update(2, held=True)
            store.update(3, cancelled=1)
        service.step()
        asked = time.time() - service._began
        until(service, lambda: store.job(4).ended is not None)
        left = set()
        for line in map(json.loads, (state / "events.jsonl").read_text().splitlines()):
            if line["event"] in ("held", "cancelled", "rejected"):
                assert line["time"] <= asked
                left |= {line["job"]} if line.get("reason") == "it was held or cancelled" else set()
        assert left == {2, 3}
        for job, word in ((2, "held"), (3, "cancelled")):
            (words,), _ = told(state, job)
            assert word in words
            assert not [
                line for line in words if "start" in line or "ejected" in line or "leaves" in line
            ]
        (words,), _ = told(state, 4)
        text = " ".join(words)
        assert "job 1 has just ended and makes room" in text
        assert "job 1 started there before it" in text
        assert "job 1 has just ended and makes room" in text
        store.update(2, held=False)
        service.run(once=True)
    (words,), _ = told(state, 2)
    assert "released" in words
    assert words[-1].startswith("done at A")
    assert call("verify", state).exit_code == 0


def test_waits_are_since_a_job_was_submitted(grid, state, monkeypatch):
    """Not since a service has taken it in."""
    with closing(Store(state, make=True)) as store:
        number = store.add(["true"], 1)
        store.update(number, submitted=time.time() - 90.0)
    served(grid, state, {"command": ["true"], "size": 1})
    (words,), _ = told(state, 1)
    text = " ".join(words)
    assert re.search(r"submitted to DLL, taken in 9\d(\.\d+)? s later", text)
    assert re.search(r"is to start on 1 processor of A, 9\d(\.\d+)? s after its submission", text)
    (words,), _ = told(state, 2)
    assert "taken in" not in " ".join(words)


def test_a_job_that_is_taken_up_runs_since_it_began(grid, state, tmp_path):
    with serving(load_grid(str(grid)), state, 0, print) as service:
        service.store.add(**shell(f"until [ -e {tmp_path}/go ]; do sleep 0.1; done"), size=1)
        until(service, lambda: service.store.job(1).started is not None)
    with serving(load_grid(str(grid)), state, 0, print) as service:
        service.step()
        (_, words), (_, story) = told(state, 1)
        assert re.fullmatch(r"taken up at A, runs for \d+(\.\d+)? m?s", words[0])
        assert words[1:] == ["so far, and the job has not finished"]
        assert len(story["lines"]) == 2
        (tmp_path / "go").touch()
        service.run(once=True)
    (_, words), _ = told(state, 1)
    assert [line.partition(",")[0] for line in words] == ["taken up at A", "done at A"]


def test_a_job_that_is_held_in_its_queue_and_released_after_its_turn(grid, state):
    grid.write_text(GRID.partition('[[sites]]\nname = "B"')[0].replace("slots = 2", "slots = 1"))
    with serving(load_grid(str(grid)), state, 0, print) as service:
        store = service.store
        for command in (["sleep", "0.5"], ["true"]):
            store.add(command, 1)
        service.step()
        store.update(2, held=True)
        until(service, lambda: store.job(1).ended is not None)
        for _ in range(3):
            service.step()
        store.update(2, held=False)
        service.run(once=True)
    (words,), (story,) = told(state, 2)
    times = [line["time"] for line in story["lines"] if line["time"] is not None]
    assert times == sorted(times)
    assert [line for line in words if "taken in" in line] == []
    assert words.index("held") < words.index("released")
    assert words.index("released") < next(
        at for at, line in enumerate(words) if line.startswith("is to start")
    )


def test_a_drain_is_in_the_stories_of_who_waits(grid, state):
    with serving(load_grid(str(grid)), state, 0, print) as service:
        service.store.add(["sleep", "0.5"], 2, only="A")
        service.store.add(["true"], 2, only="A")
        service.step()
        call("drain", "--state", state, "A")
        service.step()
        call("drain", "--state", state, "A", "--undo")
        service.run(once=True)
    (words,), _ = told(state, 2)
    assert "A: starts no job any more" in words
    assert words.index("A: starts no job any more") < words.index("A: takes part again")


def test_a_history_that_is_right_passes(history):
    found = json.loads(call("verify", history, "--json").stdout)
    assert [each["holds"] for each in found["checks"]] == [True] * 7


@pytest.mark.parametrize(
    ("change", "check"),
    [
        ("UPDATE jobs SET state = 'failed' WHERE job = 1", "states are consistent"),
        ("UPDATE jobs SET exit_status = 3 WHERE job = 3", "jobs left what is known of them"),
        ("UPDATE jobs SET started = started - 9 WHERE job = 1", "no job began before its time"),
        ("UPDATE jobs SET attempt = 2 WHERE job = 1", "no job ran twice"),
        ("UPDATE jobs SET only = 'B' WHERE job = 2", "jobs ran where they may"),
        ("UPDATE jobs SET size = 9 WHERE job = 2", "no processor was held twice"),
        ("UPDATE jobs SET state = 'cancelled' WHERE job = 3", "the audit log agrees"),
    ],
)
def test_what_is_wrong_in_a_history_is_found(history, change, check):
    if "attempt" in change:  # and its second one has left the same
        os.symlink(history / "jobs" / "1", history / "jobs" / "1.2")
    with closing(sqlite3.connect(history / "jobs.db")) as file, file:
        file.execute(change)
    done = call("verify", history, "--json")
    assert done.exit_code == 1
    failed = {each["check"] for each in json.loads(done.stdout)["checks"] if not each["holds"]}
    assert check in failed


def test_a_start_that_nobody_decided_is_found(history):
    path = history / "events.jsonl"
    path.write_text(path.read_text().replace('"site": "A"', '"site": "Z"'))
    done = call("verify", history)
    assert done.exit_code == 1
    assert "began at Z" in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("explain", "{}", 9), "job: found 9; accepted: one that `metasched queue --all` lists"),
        (("explain", "{}", 1, "--events", "x"), "of a service, which has its own"),
        (("verify", "{}", "--workload", "x"), "of a service; accepted: none"),
    ],
)
def test_bad_input(history, arguments, line):
    done = call(*(str(each).format(history) for each in arguments))
    assert done.exit_code == 2
    assert line in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_an_audit_log_that_no_service_has_written(history):
    path = history / "events.jsonl"
    lines = path.read_text().splitlines()[1:]
    rows = [json.loads(line) | {"serial": at} for at, line in enumerate(lines, 1)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = call("explain", history, 1)
    assert done.exit_code == 2
    assert ":1: no service; accepted: the audit log of a service" in done.stderr


def test_no_job_has_ended(grid, state):
    served(grid, state)
    done = call("report", state, "-o", state / "page.html")
    assert done.exit_code == 2
    assert "no job has run to its end" in done.stderr


def test_lines_wait_for_a_disk_that_is_full(tmp_path, monkeypatch):
    file = Appended(tmp_path / "lines")
    write, tries = os.write, iter([OSError(28, "No space left on device")])

    def once_full(where, data):
        for error in tries:
            raise error
        return write(where, data[:3])

    monkeypatch.setattr(os, "write", once_full)
    file.write("one\n")
    file.flush()
    assert (tmp_path / "lines").read_text() == ""
    file.write("two\n")
    file.flush()
    file.close()
    assert (tmp_path / "lines").read_text() == "one\ntwo\n"

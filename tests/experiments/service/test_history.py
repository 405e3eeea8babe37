"""What is told of real jobs afterwards: their stories, checks of them, and pages."""

from __future__ import annotations

import json
import os
import sqlite3

import pytest

from experiments.service.grid_file import load_grid
from experiments.service.history.audit import Appended
from experiments.service.service import serving
from tests.experiments.commands import call

from .served import served

JOBS = [{"command": ["true"]}, {"command": ["sleep", "0.2"], "size": 2}, {"command": ["false"]}]


@pytest.fixture
def history(grid, state):
    """Give the folder of a service whose jobs have ended."""
    served(grid, state, *JOBS)
    return state


def told(state, job):
    found = json.loads(call("explain", state, job, "--json").stdout)
    stories = found.get("stories", [found])
    return [[line["words"] for line in story["lines"]] for story in stories], stories


def test_the_story_of_a_real_job(history):
    (words,), (story,) = told(history, 2)
    assert story["heading"] == "Job 2: 2 processors, no deadline"
    assert words[:2] == ["submitted to DLL", "DLL chooses A for it"]
    assert [each for each in words if each.endswith(" A")][-2:] == ["runs at A", "done at A"]
    (failed,), _ = told(history, 3)
    assert failed[-1].startswith("failed at ")
    assert failed[-1].endswith(", exit status 1")


def test_each_service_has_its_part_in_a_story(grid, state):
    with serving(load_grid(str(grid)), state, 0, print) as service:
        service.store.add(["sleep", "0.3"], 2)
        service.store.add(["true"], 2)
        service.step()
        service.step()
    served(grid, state)
    (first, second), stories = told(state, 1)
    assert first[-1] == "the service ends, and the job has not finished"
    assert "runs on at A" in second
    assert second[-1] == "done at A"
    assert all("as the service had it that began at" in each["heading"] for each in stories)
    assert told(state, 2)[0][1][-1] == "done at A"
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
    assert first[-1] == "the service is killed, and the job has not finished"
    lines = (state / "events.jsonl").read_text().splitlines()
    serials = [json.loads(line)["serial"] for line in lines]
    assert serials == [*range(1, len(serials) + 1)]


def test_people_are_in_the_story(grid, state):
    with serving(load_grid(str(grid)), state, 0, print) as service:
        service.store.add(["true"], 1, held=True)
        service.store.add(["sleep", "9"], 1)
        service.step()
        service.store.update(1, held=False)
        service.store.update(2, cancelled=1)
        service.run(once=True)
    (words,), _ = told(state, 1)
    assert words[0] == "held"
    assert "released" in words
    assert words[-1].startswith("done at ")
    (words,), _ = told(state, 2)
    assert "is asked to end" in words
    assert words[-1].startswith("cancelled at ")


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
    with sqlite3.connect(history / "jobs.db") as file:
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


def test_pages_and_pictures_of_real_jobs(history, tmp_path):
    page = tmp_path / "page.html"
    assert call("report", history, "-o", page).exit_code == 0
    text = page.read_text()
    assert "Jobs as they ran in truth, the last of them under dll over fcfs" in text
    assert str(history / "jobs.db") in text
    assert call("plot", history, "-o", tmp_path / "gantt.png").exit_code == 0


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

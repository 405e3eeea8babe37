"""Stories of real jobs tell what people did: cancel, hold, release, drain."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from contextlib import closing

import pytest

from experiments.service.at_sites.local import LocalSite
from experiments.service.at_sites.site import Told, claimant
from experiments.service.grid_file import load_grid
from experiments.service.serving import serving
from experiments.service.store import Store
from tests.experiments.commands import call

from .served import GRID
from .test_history import told
from .test_service import until


def test_who_starts_since_another_left_the_queue_is_told_so(grid, state):
    grid.write_text(GRID.partition('[[sites]]\nname = "B"')[0].replace("slots = 2", "slots = 4"))
    with serving(load_grid(str(grid)), state, 0, print) as service:
        store = service.store
        for seconds, size, time_s in ((60, 3, 60.0), (1, 4, 60.0), (0, 1, 600.0)):
            store.add(["sleep", str(seconds)], size, time_s)
        service.step()
        until(service, lambda: store.job(1).started is not None)
        store.update(2, cancelled=1)
        until(service, lambda: store.job(3).ended is not None)
        store.update(1, cancelled=1)
        service.run(once=True)
    (words,), _ = told(state, 3)
    text = " ".join(words)
    assert "job 2 has just left the queue" in text
    assert "should have ended" not in text


@pytest.mark.thorough
def test_waits_of_who_was_held_are_since_the_submission(grid, state):
    grid.write_text(GRID.partition('[[sites]]\nname = "B"')[0].replace("slots = 2", "slots = 1"))
    with serving(load_grid(str(grid)), state, 0, print) as service:
        store = service.store
        for seconds in ("2", "0"):
            store.add(["sleep", seconds], 1)
        service.step()
        store.update(2, held=True)
        service.step()
        time.sleep(1.5)
        store.update(2, held=False)
        service.run(once=True)
        waited = store.job(2).started - store.job(2).submitted
    (words,), _ = told(state, 2)
    (line,) = [each for each in words if each.startswith("is to start")]
    assert float(re.search(r"([\d.]+) s after its submission", line)[1]) == pytest.approx(
        waited, abs=0.6
    )
    assert words.index("released") < next(
        at for at, each in enumerate(words) if each.startswith("goes to ")
    )


@pytest.mark.thorough
def test_drains_are_told_to_whom_they_matter(grid, state):
    with serving(load_grid(str(grid)), state, 0, print) as service:
        store = service.store
        for only in ("A", "A", "A"):
            store.add(["sleep", "1"], 2, only=only)
        store.add(["sleep", "2"], 1)
        store.add(["true"], 1)  # waits at B, and goes back when that is drained
        service.step()
        store.update(3, cancelled=1)
        service.step()
        for site in "AB":
            call("drain", "--state", state, site)
        service.step()
        late = store.add(["true"], 1, only="A")
        service.step()
        for site in "AB":
            call("drain", "--state", state, site, "--undo")
        service.run(once=True)
    (words,), _ = told(state, late)
    assert "A has been drained by then" in words
    (words,), _ = told(state, 3)
    assert not [line for line in words if "starts no job" in line or "takes part" in line]
    (words,), _ = told(state, 5)
    cause, back = "B: starts no job any more", "goes back, for B starts no job any more"
    assert words.index(cause) < words.index(back)
    texts = [" ".join(told(state, job)[0][0]) for job in range(1, 6)]
    assert not [text for text in texts if "too small" in text]
    assert [text for text in texts if "goes back, for B starts no job any more" in text]


def test_a_waiting_job_is_cancelled_before_a_service_knows(grid, state):
    with closing(Store(state, make=True)) as store:
        store.add(["true"], 1)
    assert call("cancel", "--state", state, 1).exit_code == 0
    shown = call("queue", "--state", state).stdout
    assert "waiting, cancelled" in shown


def test_a_job_whose_site_is_no_more_was_submitted_and_fails(grid, state):
    with closing(Store(state, make=True)) as store:
        store.add(["true"], 1, only="desk")
    with serving(load_grid(str(grid)), state, 0, print) as service:
        service.run(once=True)
    assert told(state, 1)[0] == [["submitted", "failed: no site desk"]]


@pytest.mark.thorough
def test_a_release_while_no_service_is_there_is_told_by_the_next(grid, state):
    with serving(load_grid(str(grid)), state, 0, print) as service:
        service.store.add(["true"], 1, held=True)
        service.step()
    time.sleep(1.1)
    assert call("release", "--state", state, 1).exit_code == 0
    with serving(load_grid(str(grid)), state, 0, print) as service:
        service.run(once=True)
    stories, _ = told(state, 1)
    assert stories[0][:2] == ["submitted", "held"]
    assert stories[0][2:] == []  # the next service goes on
    assert "released" in stories[1]
    assert not [line for line in stories[1] if "taken in" in line]


def test_the_story_of_a_held_job_ends_with_that(grid, state):
    with serving(load_grid(str(grid)), state, 0, print) as service:
        service.store.add(["true"], 1, held=True)
        service.step()
        service.store.add(["true"], 1)
        service.step()
        assert told(state, 1)[0][0][-1] == "so far, and the job is held"
    assert told(state, 1)[0][0][-1] == "so far, and the job is held"


def test_what_people_undo_while_no_service_is_there_comes_before_what_follows(grid, state):
    with serving(load_grid(str(grid)), state, 0, print) as service:
        service.store.add(["true"], 1, held=True)
        service.step()
        call("drain", "--state", state, "A")
        service.step()
    call("drain", "--state", state, "A", "--undo")
    call("release", "--state", state, 1)
    with serving(load_grid(str(grid)), state, 0, print) as service:
        late = service.store.add(["true"], 2, only="A")
        service.run(once=True)
    (words,), _ = told(state, late)
    assert not [line for line in words if "drained by then" in line]
    words = told(state, 1)[0][1]
    (starts,) = [at for at, line in enumerate(words) if line.startswith("is to start")]
    assert words.index("released") < starts


@pytest.mark.thorough
def test_a_silent_site_is_told_to_whom_it_matters(grid, state):
    with serving(load_grid(str(grid)), state, 0, print) as service:
        service.store.add(["sleep", "1"], 2, only="A")
        service.store.add(["true"], 2, only="A")
        service.step()
        site = service.sites[0]
        site.capacity, site.silent = 0, True
        news = [Told("A: no route; it gets no job until it answers again")]
        site.news, before = lambda: iter(news), site.news
        service.step()
        shown = call("queue", "--state", state).stdout
        assert shown.endswith("\nA: does not answer\n")
        call("drain", "--state", state, "A")
        shown = call("queue", "--state", state).stdout
        assert shown.endswith("\nA: does not answer, drained\n")
        call("drain", "--state", state, "A", "--undo")
        call("forecast", "--state", state)
        shown = call("forecast", "--state", state, "--futures", 2).stdout
        assert "taken to stay as they are: A (does not answer)" in shown
        site.news = before
        late = service.store.add(["true"], 2)
        service.step()
        assert told(state, late)[0][0][1] == "A does not answer by then"
        assert told(state, late)[0][0][-1] == "it is too large for what is up"
        of = "of 2 processors for our jobs"
        for told_last, line in (
            (f"A: answers again, 1 {of}", f"A has 1 {of} by then"),
            (f"A: 2 {of}", ""),
        ):
            site.news = lambda: iter([Told(told_last)])  # noqa: B023
            service.step()
            site.news = before
            late = service.store.add(["true"], 2)
            service.step()
            assert (line in told(state, late)[0][0]) is bool(line)
        site.news, site.capacity = before, 2
        service.run(once=True)
    assert "does not answer" not in " ".join(told(state, late)[0][0])
    (words,), _ = told(state, 2)
    text = " ".join(words)
    assert "no route; it gets no job until it answers again" in text
    assert "goes back, for A has too few processors now" in text
    assert "too small" not in text


@pytest.mark.thorough
def test_jobs_that_a_drained_site_ends_book_it(grid, state):
    """Its processors go as soon as they end: MUSCLE would take them to be free as it is back."""
    text = GRID.partition('[[sites]]\nname = "B"')[0]
    text = re.sub('global = ".*"', 'global = "muscle"', text)
    text = re.sub('local = ".*"', 'local = "titan"', text)
    grid.write_text(text)
    with serving(load_grid(str(grid)), state, 0, print) as service:
        store = service.store
        store.add(["sleep", "3"], 2, 60.0)
        service.step()
        until(service, lambda: store.job(1).started is not None)
        call("drain", "--state", state, "A")
        service.step()
        store.add(["true"], 2, 10.0)
        service.step()
        call("drain", "--state", state, "A", "--undo")
        service.run(once=True)
    events = [json.loads(line) for line in (state / "events.jsonl").read_text().splitlines()]
    reports = [each for each in events if each.get("kind") == "ScheduleReport"]
    ended = next(each["time"] for each in events if each["event"] == "exited")
    left = [each["makespan"] for each in reports if each["time"] < ended and each["unfinished"]]
    assert len(left) > 1
    assert min(left) > 50.0
    text = " ".join(told(state, 2)[0][0])
    assert "makespan left 0 s" not in text


def test_after_a_restart_muscle_knows_how_far_sites_are_booked(grid, state):
    text = re.sub('global = ".*"', 'global = "muscle"', GRID)
    grid.write_text(re.sub('local = ".*"', 'local = "titan"', text))
    with serving(load_grid(str(grid)), state, 0, print) as service:
        service.store.add(["sleep", "1000"], 2, 600.0, only="A")
        until(service, lambda: service.store.job(1).started is not None)
    with serving(load_grid(str(grid)), state, 0, print) as service:
        late = service.store.add(["true"], 2, 60.0)
        service.step()
        assert service.store.job(late).state == "waiting"
        text = " ".join(told(state, late)[0][0])
        assert re.search(r"a space of 2 processors side by side, free in (9|10)\.\d+ min", text)
        site = service.sites[0]
        site.capacity = 0
        service.step()
        site.capacity = 2
        service.step()
        (_, words), _ = told(state, 1)
        assert words[-1] == "so far, and the job has not finished"
        service.store.update(1, cancelled=2)
        service.run(once=True)


@pytest.mark.thorough
def test_more_may_be_away_than_agents_know(grid, state):
    """For they have those be there that a job holds."""
    with serving(load_grid(str(grid)), state, 0, print) as service:
        service.store.add(["sleep", "1"], 1, only="A")
        service.step()
        site = service.sites[0]
        site.capacity = 0
        service.store.add(["true"], 1, only="A")
        service.step()
        time.sleep(0.2)
        site.capacity = 2
        service.run(once=True)
    (words,), _ = told(state, 2)
    assert "1 processor of A or more was away meanwhile" in " ".join(words)


@pytest.mark.thorough
def test_what_a_site_was_given_and_has_not_begun_is_told(grid, state, monkeypatch):
    """As where a batch system has a job wait: agents have it run, which it does not."""
    monkeypatch.setattr("experiments.service.history.explain.SOON", 0.1)
    with serving(load_grid(str(grid)), state, 0, print) as service:
        store, site = service.store, service.sites[0]
        begin, site.start = site.start, lambda job, folder: None
        store.add(["true"], 2, only="A")
        service.step()
        time.sleep(0.3)
        store.add(["true"], 1, only="A")
        service.step()
        shown = call("forecast", "--state", state, "--futures", 2).stdout
        assert "given to sites, and not begun there; as if they began now: job 1" in shown
        site.start = begin
        begin(store.job(1), store.make_folder(store.job(1)))
        service.run(once=True)
    (words,), _ = told(state, 2)
    assert "given to sites, and not begun there by then: job 1" in words


@pytest.mark.thorough
def test_what_a_site_says_of_a_job_is_in_its_story(grid, state):
    with serving(load_grid(str(grid)), state, 0, print) as service:
        service.store.add(["sleep", "1000"], 2, only="A")
        service.store.add(["true"], 1, only="B")
        service.step()
        site = service.sites[0]
        why = "PENDING (PartitionTimeLimit)"
        news, before = [Told(f"{why} at A", 1, why)], site.news
        site.news = lambda: iter(news)
        service.step()
        assert "starting, PENDING" in call("queue", "--state", state).stdout
        shown = call("forecast", "--state", state, "--futures", 2).stdout
        assert (
            f"given to sites that do not start them as things are: job 1 ({why}) medians"
            in " ".join(shown.split())
        )
        assert "never 100 %" in shown
        site.news = before
        until(service, lambda: service.store.job(1).state == "running")
        assert service.store.job(1).why == ""
        call("cancel", "--state", state, 1)
        service.run(once=True)
    said = "PENDING (PartitionTimeLimit) at A"
    assert said in told(state, 1)[0][0]
    assert said not in " ".join(told(state, 2)[0][0])


@pytest.mark.thorough
def test_a_job_that_is_submitted_to_be_held_goes_to_the_agents_when_it_is_released(grid, state):
    with serving(load_grid(str(grid)), state, 0, print) as service:
        service.store.add(["true"], 1, held=True, deadline=600.0)
        service.step()
        (words,), _ = told(state, 1)
        assert words[:2] == ["submitted", "held"]
        time.sleep(1.5)
        call("release", "--state", state, 1)
        service.run(once=True)
    (words,), _ = told(state, 1)
    assert words[:3] == ["submitted", "held", "released"]
    assert words[3].startswith("goes to ")
    assert not any("taken in" in each for each in words)


@pytest.mark.thorough
def test_a_job_that_ends_while_no_service_is_there_has_its_deadline(grid, state):
    with serving(load_grid(str(grid)), state, 0, print) as service:
        service.store.add(["sleep", "0.4"], 1, deadline=600.0)
        until(service, lambda: service.store.job(1).started is not None)
    time.sleep(1.0)
    with serving(load_grid(str(grid)), state, 0, print) as service:
        service.step()
    shown = call("explain", state, 1).stdout
    assert shown.count("deadline at 600") == 2
    assert "before its deadline" in shown
    assert "no deadline" not in shown


@pytest.mark.thorough
def test_waits_of_who_runs_again_are_since_the_submission(grid, state, tmp_path):
    again = f"test -e {tmp_path}/been || {{ touch {tmp_path}/been; sleep 1.5; kill -9 $PPID; }}"
    with serving(load_grid(str(grid)), state, 0, print) as service:
        service.store.add(["sh", "-c", again], 1, requeue=True)
        service.run(once=True)
        assert service.store.job(1).attempt == 2
    (words,), _ = told(state, 1)
    starts = [each for each in words if each.startswith("is to start")]
    waits = [float(re.search(r"([\d.]+) s after its submission", each)[1]) for each in starts[-1:]]
    assert len(starts) == 2
    assert waits[0] >= 1.5


def test_who_runs_again_after_another_service_took_it_up_is_started_anew(grid, state):
    with serving(load_grid(str(grid)), state, 0, print) as service:
        number = service.store.add(["sleep", "1000"], 1, only="A", requeue=True)
        until(service, lambda: service.store.job(number).state == "running")
        folder = service.store.folder_of(service.store.job(number))
    with serving(load_grid(str(grid)), state, 0, print) as service:
        os.killpg(claimant(folder), signal.SIGKILL)
        until(service, lambda: service.store.job(number).attempt == 2)
        until(service, lambda: service.store.job(number).state == "running")
        call("cancel", "--state", state, number)
        service.run(once=True)
    (_, words), _ = told(state, number)
    assert words[0].startswith("taken up at A")
    again = next(at for at, line in enumerate(words) if "waits to run again" in line)
    assert any(line.startswith("is to start on 1 processor of A") for line in words[again:])


def test_what_a_service_before_gave_to_a_site_is_not_given_anew(grid, state, monkeypatch):
    with serving(load_grid(str(grid)), state, 0, print) as service:
        service.store.add(["sleep", "1000"], 1, only="A")
        service.sites[0].start = lambda job, folder: None
        service.step()
    monkeypatch.setattr(LocalSite, "find", lambda site, job, folder: True)
    with serving(load_grid(str(grid)), state, 0, print) as service:
        service.step()
        (_, words), _ = told(state, 1)
        assert words == ["may begin at A", "so far, and the job has not finished"]

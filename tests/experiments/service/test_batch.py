"""A site that is a batch system, whatever that does with what it is told."""

from __future__ import annotations

import time
from contextlib import closing

import pytest

from experiments.service.at_sites import batch
from experiments.service.at_sites.batch import BatchSite
from experiments.service.at_sites.batch_system import (
    LaterError,
    Listed,
    RefusedError,
)
from experiments.service.at_sites.site import (
    Began,
    End,
    Told,
    ending,
)
from experiments.service.grid_file import load_grid
from experiments.service.serving import serving

from .pretended import job, news_of
from .served import GRID
from .test_service import SOON, shell, until

pytestmark = pytest.mark.usefixtures("hurry")


def test_a_job_begins_and_ends_as_its_folder_tells(site, tmp_path):
    given = {"environment": {"A": "it's\n$b", "PATH": "/bin:/usr/bin", "UID": "x", "a-b": "y"}}
    found, folder = job(tmp_path, 'printf %s "$A" > told; pwd; echo $METASCHED_JOB', **given)
    site.start(found, folder)
    began, end = news_of(site, End)
    assert (began.job, end.job, end.exit_status) == (1, 1, 0)
    assert began.time <= end.time
    assert (tmp_path / "told").read_text() == "it's\n$b"
    assert (folder / "output").read_text() == f"{tmp_path}\n1\n"
    assert (folder / "place").stat().st_mode & 0o777 == 0o600


def test_a_folder_that_is_not_there_is_told_by_the_job(site, tmp_path):
    found, folder = job(tmp_path)
    site.start(found.__class__(**{**vars(found), "folder": "/nowhere"}), folder)
    *_, end = news_of(site, End)
    assert end.exit_status == 126
    assert "/nowhere" in (folder / "output").read_text()


@pytest.mark.thorough
def test_what_a_site_loses_is_submitted_again(site, system, tmp_path):
    system.loses = 2
    found, folder = job(tmp_path)
    site.start(found, folder)
    told = news_of(site, End)
    assert system.taken == ["t-1"] * 3
    lines = [each.line for each in told if isinstance(each, Told)]
    assert lines == ["not known there; submitted to S again"] * 2


@pytest.mark.thorough
def test_what_a_site_takes_in_later_is_submitted_again(site, system, tmp_path):
    system.fails = LaterError("the queue is full")
    found, folder = job(tmp_path)
    site.start(found, folder)
    assert Told("the queue is full; submitted to S again", 1) in news_of(site, End)


def test_what_a_site_will_not_have_fails(site, system, tmp_path):
    system.fails = RefusedError("no such account")
    found, folder = job(tmp_path)
    site.start(found, folder)
    (end,) = news_of(site, End)
    assert (end.exit_status, end.begun, end.why) == (
        None, True, "cannot be started: no such account"
    )  # fmt: skip
    assert system.taken == ["t-1"]


def test_what_never_begins_fails_after_some_tries(site, system, tmp_path, monkeypatch):
    monkeypatch.setattr(batch, "TRIES", 3)
    monkeypatch.setattr(batch, "LONGEST", 0.01)
    system.loses = 99
    system.listed = {"t-1": Listed(True, "BOOT_FAIL")}
    found, folder = job(tmp_path)
    site.start(found, folder)
    *_, end = news_of(site, End)
    assert end.why == "BOOT_FAIL, never began"
    assert system.taken == ["t-1"] * 3


def test_what_a_site_forgets_runs_on_until_its_life_ends(site, system, tmp_path):
    found, folder = job(tmp_path, "sleep 0.5; exit 3")
    site.start(found, folder)
    news_of(site, Began)
    process = system.jobs.pop("t-1")  # it does not know it any longer
    *_, end = news_of(site, End)
    assert end.exit_status == 3
    assert process.wait(SOON) == 3


def test_what_is_killed_with_its_node_has_ended(site, tmp_path, monkeypatch):
    monkeypatch.setattr(batch, "SIGN", 0.1)
    found, folder = job(tmp_path, "kill -KILL $PPID; exit 0")
    site.start(found, folder)
    *_, end = news_of(site, End)
    assert (end.exit_status, end.why, end.again) == (None, "its processes were killed: RUN", True)


def test_what_nobody_knows_of_any_more_is_lost(site, system, tmp_path, monkeypatch):
    monkeypatch.setattr(batch, "SILENCE", 0.1)
    found, folder = job(tmp_path, "kill -KILL $PPID; exit 0")
    site.start(found, folder)
    news_of(site, Began)
    assert system.jobs.pop("t-1").wait(SOON) != 0
    *_, end = news_of(site, End)
    assert (end.exit_status, end.lost, end.again) == (None, True, True)
    assert ending(found, end, folder) == ("lost", "not known there any more")


def test_what_exceeds_a_limit_does_not_run_again(site, system, tmp_path, monkeypatch):
    monkeypatch.setattr(batch, "SIGN", 0.1)
    system.listed = {"t-1": Listed(True, "TIMEOUT")}
    found, folder = job(tmp_path, "kill -KILL $PPID; exit 0")
    site.start(found, folder)
    *_, end = news_of(site, End)
    assert (end.why, end.again) == ("its processes were killed: TIMEOUT", False)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("state", "known"),
    [
        ("NODE_FAIL", (None, "its processes were killed: NODE_FAIL", True)),
        ("PREEMPTED", (None, "its processes were killed: PREEMPTED", True)),
        ("CANCELLED", (143, "CANCELLED", True)),
        ("FAILED", (143, "", True)),
        ("TIMEOUT", (143, "TIMEOUT", True)),
    ],
)
def test_who_got_a_signal_ends_as_the_site_says(site, system, tmp_path, state, known):
    """A node that fails may leave its job the time to tell of the signal."""
    system.listed = {"t-1": Listed(False, "COMPLETING")}
    found, folder = job(tmp_path, "exit 143")
    site.start(found, folder)
    news_of(site, Began)
    time.sleep(0.3)
    assert [*site.news()] == []
    system.listed = {"t-1": Listed(True, state)}
    *_, end = news_of(site, End)
    assert (end.exit_status, end.why, end.again) == known


def test_a_site_that_does_not_answer_gets_no_job(site, system, tmp_path, monkeypatch):
    monkeypatch.setattr(batch, "LONGEST", 0.05)
    system.silent = 4
    found, folder = job(tmp_path)
    site.start(found, folder)
    told = news_of(site, Told)
    assert told[0] == Told("S: it is dead; it gets no job until it answers again")
    assert site.capacity == 0
    told = news_of(site, End, Told)
    assert told[0] == Told("S: answers again, 4 of 4 processors for our jobs")
    assert site.capacity == 4
    assert system.taken == ["t-1"]


def test_what_is_taken_up_is_not_submitted_while_it_is_there(system, tmp_path):
    found, folder = job(tmp_path, "sleep 0.2")
    with closing(BatchSite("S", 4, system, "t-", lambda: None)) as site:
        assert not site.find(found, folder)  # nobody was ever told of it
        site.start(found, folder)
        news_of(site, Began)
    with closing(BatchSite("S", 4, system, "t-", lambda: None)) as site:
        assert site.find(found, folder)
        *_, end = news_of(site, End)
    assert end.exit_status == 0
    assert system.taken == ["t-1"]


@pytest.mark.thorough
def test_what_shall_not_be_there_or_does_not_begin_is_cancelled(
    site, system, tmp_path, monkeypatch
):
    monkeypatch.setattr(batch, "STALLED", 0.1)
    system.listed = {"t-7": Listed(False, "RUN"), "t-1": Listed(False, "RUN")}
    system.loses = 1  # as where a controller says that it runs, and no node has it
    found, folder = job(tmp_path)
    site.start(found, folder)
    news_of(site, End)
    assert {*system.cancelled} >= {("t-7", True), ("t-1", True)}


def test_what_runs_is_asked_to_end_and_then_killed(site, system, tmp_path):
    text = f"trap 'exit 9' TERM; touch {tmp_path}/on; while true; do sleep 0.05; done"
    found, folder = job(tmp_path, text)
    site.start(found, folder)
    begun = time.monotonic()
    while not (tmp_path / "on").exists():
        assert time.monotonic() - begun < SOON
        list(site.news())
    site.stop(1)
    assert news_of(site, End)[-1].exit_status == 9
    assert system.cancelled == [("t-1", False)]


def test_what_is_cancelled_before_it_is_submitted_never_is(site, system, tmp_path):
    found, folder = job(tmp_path)
    site.start(found, folder)
    site.stop(1)
    (end,) = news_of(site, End)
    assert not end.begun
    assert system.taken == []


def test_jobs_that_may_run_again_do_after_their_node_died(grid, state, tmp_path):
    text = f"[ -e {tmp_path}/once ] || {{ touch {tmp_path}/once; kill -KILL $PPID; exit; }}; echo x"
    with serving(load_grid(str(grid)), state, 0, print) as service:
        for requeue in (True, False):
            (tmp_path / "once").unlink(missing_ok=True)
            number = service.store.add(**shell(text), size=1, requeue=requeue)
            until(service, lambda: not service.store.left())
            found = service.store.job(number)
            assert (found.state, found.attempt) == (("done", 2) if requeue else ("failed", 1))
    assert (state / "jobs" / "1.2" / "output").read_text() == "x\n"


def test_jobs_for_one_site_run_there(grid, state):
    grid.write_text(GRID)
    with serving(load_grid(str(grid)), state, 0, print) as service:
        for only in "BABABABB":
            service.store.add(["true"], 1, only=only)
        service.run(once=True)
        assert [each.site for each in service.store.jobs()] == [*"BABABABB"]
        number = service.store.add(["true"], 2, only="B")
        service.step()
        assert service.store.job(number).why == "no site for it has 2 processors"


def test_held_jobs_wait_for_their_release(grid, state):
    with serving(load_grid(str(grid)), state, 0, print) as service:
        store = service.store
        first = store.add(["true"], 1, held=True)
        block = [store.add(["sleep", "0.2"], size) for size in (2, 1)]
        late = store.add(["true"], 2)
        for _ in range(3):
            service.step()
        with store.at_once():
            store.update(late, held=True)
        until(service, lambda: all(store.job(each).ended for each in block))
        for _ in range(3):
            service.step()
        assert [store.job(each).state for each in (first, late)] == ["waiting"] * 2
        assert service.model.world.state.free.tolist() == [2, 1]
        for each in (first, late):
            with store.at_once():
                store.update(each, held=False)
        until(service, lambda: not store.left())
        assert [store.job(each).state for each in (first, late)] == ["done"] * 2


@pytest.mark.thorough
def test_no_more_jobs_are_submitted_in_a_second_than_may_be(system, tmp_path):
    with closing(BatchSite("S", 4, system, "t-", lambda: None, most=2)) as site:
        for _ in range(5):
            site.start(*job(tmp_path))
        begun, times = time.monotonic(), []
        while len(times) < 5:
            [*site.news()]
            times += [time.monotonic() - begun] * (len(system.taken) - len(times))
            assert time.monotonic() - begun < SOON
            time.sleep(0.01)
    assert times[2] - times[1] > 0.8
    assert times[4] - times[1] > 1.8


def test_a_driver_that_is_wrong_costs_its_site_and_no_job(site, system, tmp_path, monkeypatch):
    monkeypatch.setattr(batch, "LONGEST", 0.05)
    looks, right = iter([KeyError("state"), ZeroDivisionError()]), system.look

    def look():
        for error in looks:
            raise error
        return right()

    monkeypatch.setattr(system, "look", look)
    site.start(*job(tmp_path, "exit 3"))
    found = news_of(site, Told, Began, End)
    told = [each.line for each in found if isinstance(each, Told)]
    assert told[0] == "S: KeyError: 'state'; it gets no job until it answers again"
    assert found[-1].exit_status == 3

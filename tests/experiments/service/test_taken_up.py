"""A service that goes on with what those before it have left, however they ended."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing
from dataclasses import replace

import pytest

from agents.pace.predictor import SubmittedJob
from experiments.service.at_sites import local
from experiments.service.at_sites.site import Began, End
from experiments.service.grid_file import load_grid
from experiments.service.mirror import rows_of
from experiments.service.presence import locked
from experiments.service.serving import serving
from experiments.service.store import Store
from grid.errors import GridError
from tests.experiments.commands import call

from .forecasting.test_forecast import job
from .pretended import job as pretended_job
from .pretended import news_of
from .served import GRID, served
from .test_history import told
from .test_service import ROOT, shell, until


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
        assert "job 1 (sh): taken up at A" in said
        assert [job.state for job in store.jobs()] == ["running", "done", "failed", "waiting"]
        service.step()
        assert service.model.world.state.free.tolist() == [1, 1]
        assert store.job(waiting).state == "waiting"
        (tmp_path / "go").touch()
        service.run(once=True)
        assert [job.state for job in store.jobs()] == ["done", "done", "failed", "done"]
        assert store.job(waiting).started >= store.job(1).ended
    grid.write_text('global = "dll"\nlocal = "fcfs"\n[[sites]]\nname = "C"\nslots = 1\n')
    assert [job.state for job in served(grid, state)[0]] == ["done", "done", "failed", "done"]


def test_a_job_that_runs_again_makes_no_room_where_its_processors_are_gone(grid, state):
    grid.write_text(GRID.replace("dll", "ect"))
    with serving(load_grid(str(grid)), state, 0, print) as service:
        store, site = service.store, service.sites[0]
        site.start = lambda job, folder: None
        killed = store.add(["true"], 2, 10.0, only="A", requeue=True)
        store.add(["sleep", "1000"], 1, 3600.0, only="B")
        late = store.add(["true"], 1, 10.0)
        until(service, lambda: store.job(late).waits_at == "A")
        told = [Began(killed, time.time()), End(killed, None, time.time(), why="it was killed")]
        site.news, before, site.capacity = lambda: iter(told), site.news, 0
        service.step()
        site.news = before
        assert [store.job(job).state for job in (killed, late)] == ["waiting", "waiting"]
        store.update(2, cancelled=2)
        until(service, lambda: store.job(late).ended is not None)
        assert store.job(late).site == "B"


def test_a_grid_lacks_no_site_where_jobs_run(grid, state):
    with serving(load_grid(str(grid)), state, 0, print) as service:
        service.store.add(["sleep", "1000"], 2)
        until(service, lambda: service.store.job(1).state == "running")
    here = 'global = "dll"\nlocal = "fcfs"\n[[sites]]\nname = "{}"\nslots = 1\n'
    for name, says in (("C", "found no such site; accepted"), ("A", "found 1 processor; accepted")):
        grid.write_text(here.format(name))
        with pytest.raises(GridError, match=rf"job 1: .*{says}"):
            served(grid, state)
    grid.write_text(GRID)
    call("cancel", "--state", state, 1)
    assert served(grid, state)[0][0].state == "cancelled"


CODE = """
import sys
from pathlib import Path
from experiments.service.at_sites import local
from experiments.service.at_sites.site import Began, End
from experiments.service.grid_file import load_grid
from experiments.service.store import Store
from experiments.service.serving import serving
state = Path(sys.argv[2])
grid = load_grid(sys.argv[1], sizes=Store.sizes_before(state))
with serving(grid, state, 0, print) as service:
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


def test_a_lock_may_outlive_a_service_by_a_moment(tmp_path):
    """What it was about to start when it was killed has its files until a program begins."""
    with locked(tmp_path) as first:
        left = threading.Timer(0.3, os.close, [os.dup(first.fileno())])
        left.start()
    assert left.is_alive()
    locked(tmp_path).close()
    left.join()


def test_a_service_has_learned_from_jobs_of_those_before(grid, state):
    grid.write_text(GRID + '[parameters]\nprediction = "learned"\n')
    short, long = (
        {"command": ["sleep", f"{time}"], "name": name}
        for name, time in (("short", 0.1), ("long", 0.7))
    )
    served(grid, state, short, long, short, {"command": ["no-such-program"]})
    with serving(load_grid(str(grid)), state, 0, print) as service:
        predictor, began = service.model.pace.predictor, service.store.note("began")
        jobs = [replace(service.store.job(1), name=name) for name in ("short", "long", "new")]
        found = [predictor.predict(SubmittedJob(rows_of([job], began, 0.0)[0])) for job in jobs]
        ended = [job.ended - job.started for job in service.store.jobs("exit_status = 0")]
    assert found[:2] == pytest.approx([(ended[0] + ended[2]) / 2, ended[1]])
    assert found[2] == pytest.approx(sum(ended) / 3, rel=0.5)  # and of what could not be run


@pytest.mark.thorough
def test_a_service_begins_with_the_processors_of_now(grid, state):
    """What was away while another service was there is there again: forecasts go by that."""
    words = "submit", "--state", state, "--size", 2, "--site", "A", "--dry-run", "--json", "true"
    with serving(load_grid(str(grid)), state, 0, print) as service:
        service.step()
        call("drain", "--state", state, "A")
        service.step()
        assert json.loads(call(*words).stdout)["jobs"][0]["never"] == 1.0
    call("drain", "--state", state, "A", "--undo")
    grid.write_text(GRID.replace("slots = 2", "slots = 4"))
    said = []
    with serving(load_grid(str(grid)), state, 0, said.append) as service:
        service.step()
        assert "A: takes part again" in said
        for size in (2, 4):
            (job,) = json.loads(call(*words[:4], size, *words[5:]).stdout)["jobs"]
            assert (job["never"], job["sites"]) == (0.0, {"A": 1.0})
    said.clear()
    with serving(load_grid(str(grid)), state, 0, said.append) as service:
        service.step()
        assert said == []


@pytest.mark.thorough
def test_what_a_service_told_that_refused_its_grid_is_in_the_log(grid, state):
    with serving(load_grid(str(grid)), state, 0, print) as service:
        store = service.store
        store.add(["sh", "-c", "sleep 0.4; exit 5"], 1)
        store.add(["sleep", "1000"], 1, only="A")
        until(service, lambda: len(store.jobs("started IS NOT NULL")) == 2)
    time.sleep(1)
    other = 'global = "dll"\nlocal = "fcfs"\n[[sites]]\nname = "B"\nslots = 1\n'
    text = grid.read_text()
    grid.write_text(other)
    with (
        pytest.raises(GridError, match="job 2: runs at A"),
        serving(load_grid(str(grid)), state, 0, print),
    ):
        pass
    grid.write_text(text)
    with serving(load_grid(str(grid)), state, 0, print) as service:
        service.store.update(2, cancelled=2)
        service.run(once=True)
    (*_, last), _ = told(state, 1)
    assert "failed at" in " ".join(last)
    assert "exit status 5" in " ".join(last)


def test_sites_get_the_limit_of_their_rate():
    """A job takes what was requested on a site of rate 1, longer on a slower one."""
    limits = [job(1, time=60.0, rate=rate).limit for rate in (None, 0.5, 1.0, 2.0)]
    assert limits == [60.0, 120.0, 60.0, 60.0]
    assert job(1, time=None, rate=0.5).limit is None


@pytest.mark.sampled(1)
@pytest.mark.parametrize("killed", [True, False])
def test_jobs_stand_as_they_stood_when_another_service_begins(grid, state, tmp_path, killed):
    """One that was held and released, also while no service was there, stands last."""
    grid.write_text(GRID.partition('[[sites]]\nname = "B"')[0].replace("slots = 2", "slots = 1"))
    with serving(load_grid(str(grid)), state, 0, print) as service:
        for _ in range(4):
            service.store.add(**shell(f"until [ -e {tmp_path}/go ]; do sleep 0.1; done"), size=1)
        service.step()
        call("hold", "--state", state, 2)
        service.step()
        if killed:
            call("release", "--state", state, 2)
            service.step()
            assert service.store.job(2).landed > 4
    if not killed:
        call("release", "--state", state, 2)
    with serving(load_grid(str(grid)), state, 0, print) as service:
        service.step()
        rows = json.loads(call("forecast", "--state", state, "--futures", 2, "--json").stdout)
        starts = {row["job"]: row["start"]["50"] for row in rows["jobs"]}
        assert sorted(starts, key=starts.__getitem__) == [1, 3, 4, 2]
        (tmp_path / "go").touch()
        service.run(once=True)
        began = {job.job: job.started for job in service.store.jobs()}
    assert sorted(began, key=began.__getitem__) == [1, 3, 4, 2]


def test_drains_while_no_service_is_there_are_in_forecasts(grid, state):
    """As the next service will have it, both ways."""
    with serving(load_grid(str(grid)), state, 0, print) as service:
        service.step()
    words = "submit", "--state", state, "--size", 2, "--site", "A", "--dry-run", "--json", "true"
    for undo, never in (((), 1.0), (("--undo",), 0.0)):
        call("drain", "--state", state, "A", *undo)
        assert json.loads(call(*words).stdout)["jobs"][0]["never"] == never
        if not undo:
            with serving(load_grid(str(grid)), state, 0, print) as service:
                service.step()
    shown = call("submit", "--state", state, "--size", 2, "--dry-run", "true").stdout
    assert "taken to stay as they are" not in shown


def test_a_job_that_has_gone_back_waits_at_no_site(grid, state):
    with serving(load_grid(str(grid)), state, 0, print) as service:
        store, site = service.store, service.sites[0]
        for _ in range(2):
            store.add(["sleep", "1000"], 2, only="A")
        service.step()
        assert store.job(2).queued_at == "A"
        site.capacity = 0
        service.step()
        assert store.job(2).queued_at is None
        site.capacity = 2
        service.step()
        assert store.job(2).queued_at == "A"
        for number in (1, 2):
            call("cancel", "--state", state, number)
        service.run(once=True)


def test_a_process_that_has_a_number_anew_is_not_the_job(tmp_path, monkeypatch):
    """The script ended as it was looked for, and another got its number."""
    found, folder = pretended_job(tmp_path)
    other = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    (folder / "claim").symlink_to(f"{other.pid}")
    answers = iter([True])
    monkeypatch.setattr(local, "_runs", lambda number, folder: next(answers, False))
    with other, closing(local.LocalSite("A", 1, lambda: None)) as site:
        assert site.find(found, folder)
        (end,) = news_of(site, End)
        assert (end.exit_status, end.begun) == (None, True)
        assert other.poll() is None
        other.kill()

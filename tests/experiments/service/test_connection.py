"""Python users of a service: the same as by commands."""

from __future__ import annotations

import gc
import json
import logging
import os
import sqlite3
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

import metasched
from experiments.service.grid_file import load_grid
from experiments.service.serving import serving
from grid.errors import GridError
from metasched.live import connect
from tests.experiments.commands import call

from .served import at_work

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def was_served(grid, state):
    with serving(load_grid(str(grid)), state, 0, print):
        return state


def test_jobs_are_submitted_followed_and_read(grid, state, tmp_path):
    with at_work(grid, state), connect(str(state)) as live:
        job = live.submit(
            ["sh", "-c", "pwd; echo $WHO $METASCHED_SITE"],
            size=np.int64(1),
            time=timedelta(minutes=2),
            deadline="2h",
            name="mine",
            site="B",
            folder=tmp_path,
            environment={"WHO": "me", "PATH": os.environ["PATH"]},
        )
        assert job.wait(timeout=30) == "done"
        assert (job.name, job.state, job.site, job.exit_status) == ("mine", "done", "B", 0)
        assert job.output() == f"{tmp_path}\nme B\n"
        assert job.started <= job.ended
        known = job.read()
        assert (known.time, known.deadline - known.submitted) == (120.0, pytest.approx(7200.0))
        bad = live.submit(["sh", "-c", "exit 3"])
        assert [each.job for each in live.wait(job, bad.number)] == [bad.number]
        assert (bad.state, bad.exit_status) == ("failed", 3)
        sleeping = live.submit(["sleep", "100"])
        for timeout in (0.3, "0.3s", timedelta(seconds=0.3)):
            with pytest.raises(TimeoutError, match=r"job 3 has not ended after 0\.3 s"):
                live.wait(timeout=timeout)
        with pytest.raises(TimeoutError, match="job 3 has not ended after 0 s"):
            live.wait(timeout=0)
        with pytest.raises(GridError, match="timeout: found 'soon'; accepted: a time above 0"):
            live.wait(timeout="soon")
        for given, told in (
            ({"futures": 0}, "futures: found 0; accepted: a whole number from 1"),
            ({"futures": 2.5}, "futures: found 2.5; accepted"),
            ({"seed": -1}, "seed: found -1; accepted: a whole number from 0"),
        ):
            with pytest.raises(GridError, match=told):
                live.forecast(**given)
        sleeping.cancel()
        assert sleeping.wait(30) == "cancelled"
        assert live.queue() == []
        assert [each.job for each in live.queue(every=True)] == [1, 2, 3]
        with pytest.raises(GridError, match="job 3: cancelled; accepted: a job that has not ended"):
            live.job(3).cancel()


def test_a_job_finds_what_was_prepared_for_it(grid, state):
    with at_work(grid, state), connect(state) as live:

        def prepare(number):
            (state / "jobs" / str(number)).mkdir(parents=True)
            (state / "jobs" / str(number) / "input").write_text("x")

        job = live.submit(["sh", "-c", 'cat "$METASCHED_FOLDER/input"'], prepare=prepare)
        assert job.wait(30) == "done"
        assert job.output() == "x"
        with pytest.raises(ZeroDivisionError):
            live.submit(["true"], prepare=lambda number: 1 / 0)
        assert len(live.queue(every=True)) == 1


def test_waiting_jobs_are_held_and_forecast(was_served):
    with metasched.live.connect(was_served) as live:
        first = live.submit(["sleep", "1"], time="10m")
        live.hold(first)
        live.drain("A")
        with pytest.raises(GridError, match="site A: drained already; accepted: another"):
            live.drain("A")
        live.drain("A", undo=True)
        assert live.forecast().rows() == []
        live.release(first)
        with live.trial() as trial:
            row = trial.forecast(trial.submit(["sleep", "1"], site="A")).rows([2])
        assert row[0]["sites"] == {"A": 1.0}
        assert [row["job"] for row in live.forecast().rows()] == [1]
        assert [job.job for job in live.queue()] == [1]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"time": 1e300}, "time: found 1e+300 s; accepted: at most 1e+12"),
        ({"site": "C"}, "site 'C': unknown; accepted: A, B"),
        ({"command": ["no-such-program"]}, "command: found 'no-such-program'; accepted: a progr"),
        ({"size": "two"}, "size: found 'two'; accepted: a whole number from 1"),
        ({"size": True}, "size: found True; accepted: a whole number from 1"),
        ({"time": True}, "time: found 'True'; accepted: a time"),
        ({"deadline": timedelta(days=-1)}, "deadline: found '-86400.0'; accepted: a time above 0"),
        ({"command": "sort big.txt"}, "command: found 'sort big.txt'; accepted: a list of texts"),
        ({"command": ["sleep", 1]}, "command: found ['sleep', 1]; accepted: a list of texts"),
        ({"command": ["echo", "\0"]}, "command: found '\\x00'; accepted: arguments without NUL"),
        ({"name": 3}, "name: found 3; accepted: a text"),
        ({"folder": 3}, "folder: found 3; accepted: a path"),
        ({"folder": "/no/such"}, "folder: found '/no/such'; accepted: one that is there"),
        ({"environment": {"A": 3}}, "environment: accepted: texts without NUL by names"),
    ],
)
def test_what_python_asks_for_in_vain_is_told(was_served, given, says):
    options = {"command": ["true"], **given}
    with connect(was_served) as live:
        with pytest.raises(GridError) as caught:
            live.submit(**options)
        assert str(caught.value).startswith(says)
        assert live.queue(every=True) == []


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"size": 3}, "size: found 3; accepted: at most 2, the largest site"),
        ({"size": 2, "site": "B"}, "size: found 2; accepted: at most 1, those of B"),
        ({"time": "1e300"}, "time: found 1e+300 s; accepted: at most 1e+12"),
        ({"deadline": "0s"}, "deadline: found '0s'; accepted: a time above 0, such as 30s, 10m"),
    ],
)
def test_commands_and_python_refuse_the_same(was_served, given, says):
    words = [f"--{key}={value}" for key, value in given.items()]
    found = call("submit", "--state", was_served, *words, "true")
    assert found.stderr.startswith(f"metasched: --{says}")
    with connect(was_served) as live, pytest.raises(GridError) as caught:
        live.submit(["true"], **given)
    assert str(caught.value).startswith(says)


def test_what_is_no_connection_is_told(was_served, tmp_path):
    for state, says in ((3, "state: found 3; accepted: the folder"), (tmp_path, "no service has")):
        with pytest.raises(GridError, match=says):
            connect(state)
    with connect(was_served) as live:
        for number, says in (
            ("x", "job: found 'x'; accepted: its number"),
            (2**70, "job: found 1"),
        ):
            with pytest.raises(GridError, match=says):
                live.job(number)
    with pytest.raises(GridError, match="closed; accepted: one that is open, as within `with`"):
        live.submit(["true"])


def test_jobs_can_be_read_when_their_connection_is_closed(was_served):
    """As they are then; nothing can be asked of the service any more."""
    with connect(was_served) as live, connect(was_served) as other:
        job = live.submit(["true"], hold=True)
        live.close()
        assert job.state == "waiting"
        assert len(live.queue()) == 1
        with pytest.raises(GridError, match="closed; accepted: one that is open"):
            job.cancel()
        with pytest.raises(GridError, match="closed; accepted: one that is open"):
            live.trial()
        other.cancel(job.number)
        assert job.read().cancelled == 1


def test_a_connection_that_nobody_has_any_more_is_closed(was_served):
    live = connect(was_served)
    files = [live.store._file, live.trial().store._file]
    live.itself = live  # so that only the collector finds it
    del live
    gc.collect()
    for file in files:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            file.execute("SELECT 1")


def test_that_no_service_is_there_is_logged_once(grid, state, was_served, caplog):
    caplog.set_level(logging.WARNING, "metasched")
    said = f"{state}: no service is there now: jobs wait"
    with connect(state) as live:
        live.submit(["true"])
        live.submit(["true"])
        assert [record.getMessage() for record in caplog.records] == [said]
        with at_work(grid, state):
            assert live.wait() == []
            live.submit(["true"]).wait(30)
        live.submit(["true"])
        assert [record.getMessage() for record in caplog.records] == [said, said]
    told = call("queue", "--state", state, "--json")
    assert [row["state"] for row in json.loads(told.stdout)] == ["done"] * 3 + ["waiting"]


def test_nothing_of_the_simulator_is_loaded(was_served):
    code = (
        "import sys, metasched; assert not {'click', 'sqlite3'} & set(sys.modules);"
        "heavy = {'numba', 'numpy', 'pandas', 'mesa', 'networkx', 'rich', 'cloudpickle'};"
        "metasched.live; assert not heavy & set(sys.modules), heavy & set(sys.modules);"
        "from experiments.cli.app import main;"
        "main(sys.argv[1:], standalone_mode=False);"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules);"
        "main(['queue', *sys.argv[2:4]], standalone_mode=False);"
        "assert not (heavy - {'rich', 'numpy'}) & set(sys.modules), heavy & set(sys.modules)"
    )
    words = ["submit", "--state", str(was_served), "--json", "true"]
    command = [sys.executable, "-c", code, *words]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert (done.stdout[:2], done.returncode) == ("1\n", 0), done.stderr

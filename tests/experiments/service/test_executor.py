"""Calls of functions as jobs of a service, by Python's standard interface."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import CancelledError, as_completed, wait
from contextlib import suppress
from pathlib import Path

import pytest

from experiments.service.grid_file import load_grid
from experiments.service.serving import serving
from experiments.service.store import Store
from grid.errors import GridError
from metasched.live import Executor, JobError, connect
from tests.experiments.commands import call

from .served import GRID, at_work

ROOT = Path(__file__).resolve().parents[3]
SOON = 60.0


@pytest.fixture
def live(grid, state):
    grid.write_text(GRID.replace("slots = 2", "slots = 3"))
    with at_work(grid, state):
        yield state


def left_in(state):
    """Return the names of files in the folders of jobs."""
    return sorted(str(file.relative_to(state / "jobs")) for file in (state / "jobs").rglob("*"))


def until(condition):
    begun = time.monotonic()
    while not condition():
        assert time.monotonic() - begun < SOON
        time.sleep(0.01)


def watchers():
    return [thread for thread in threading.enumerate() if thread.name == "metasched tasks"]


@pytest.mark.thorough
def test_functions_are_called_at_sites(live):
    factor = 3  # functions of a test are as those of a script: no module has them

    def times(x, *, plus=0):
        return x * factor + plus, os.environ["METASCHED_SITE"], os.environ["METASCHED_NAME"]

    class Own:
        def __init__(self, x):
            self.x = x

    with Executor(live, size=1, site="A", time="10m") as executor:
        first = executor.submit(times, 5, plus=1)
        assert first.result(SOON) == (16, "A", "times")
        assert (first.running(), first.cancel(), first.done()) == (False, False, True)
        assert list(executor.map(lambda x, y: x - y, [5, 6, 7], [1, 2])) == [4, 4]
        assert executor.submit(Own, 8).result(SOON).__class__ is Own
        assert executor.submit(lambda: Own(9)).result(SOON).x == 9
        assert executor.submit(sum, range(10**6)).result(SOON) == 499999500000
    assert not watchers()
    assert left_in(live) == []
    with pytest.raises(RuntimeError, match="cannot schedule new futures after shutdown"):
        executor.submit(times, 1)
    rows = json.loads(call("queue", "--state", live, "--json").stdout)
    assert {row["state"] for row in rows} == {"done"}
    names = ["times", "<lambda>", "<lambda>", "Own", "<lambda>", "sum"]
    assert [row["name"] for row in rows] == names


def test_many_calls_of_a_job(live):
    with connect(live) as connection, Executor(connection, name="few") as executor:
        assert list(executor.map(divmod, range(10), [3] * 10, chunksize=4)) == [
            divmod(x, 3) for x in range(10)
        ]
        assert [job.name for job in connection.queue(every=True)] == ["few"] * 3
        with pytest.raises(ZeroDivisionError):
            list(executor.map(divmod, [1, 2], [1, 0], chunksize=2))
        with pytest.raises(GridError, match="chunksize: found 0; accepted: a number from 1"):
            executor.map(abs, [1], chunksize=0)
    assert not watchers()


@pytest.mark.thorough
def test_exceptions_come_with_where_they_were_raised(live):
    class OwnError(Exception):
        def __init__(self, one, two):
            super().__init__(f"{one} {two}")

    class OddError(Exception):
        def __init__(self, message):
            super().__init__(message)
            self.lock = threading.Lock()

    def deep(kind, *args):
        raise kind(*args)

    with Executor(live) as executor:
        for kind, args, says in (
            (KeyError, ("x",), "KeyError: 'x'"),
            (OwnError, (1, 2), "OwnError: 1 2"),
            (OddError, ("very",), "OddError: very"),
        ):
            future = executor.submit(deep, kind, *args)
            error = future.exception(SOON)
            assert type(error) is (kind if kind is KeyError else JobError)
            told = "".join(error.__notes__)
            assert ", in deep\n" in told
            assert says in told + str(error)
            assert "experiments/service/calls/task.py" not in told
            assert (future.job.state, future.job.exit_status) == ("failed", 1)
            assert says in future.job.output()
        error = executor.submit(json.loads, "{").exception(SOON)
        assert isinstance(error, json.JSONDecodeError)  # of a module, whose lines are told
        assert "return _default_decoder.decode(s)\n" in error.__notes__[0]
    names = {Path(name).name for name in left_in(live)}
    assert names == {"1", "2", "3", "4", "claim", "started", "ended", "output"}


def test_results_that_cannot_be_passed_on_are_told(live):
    with Executor(live) as executor:
        error = executor.submit(lambda: (x for x in ())).exception(SOON)
        assert type(error) is JobError
        assert "a result of type generator cannot be passed on: TypeError: " in str(error)
        assert error.job.state == "failed"


@pytest.mark.parametrize(
    ("end", "says", "notes"),
    [
        (lambda: os.kill(os.getpid(), signal.SIGKILL), "failed, exit status 137", ["Killed"]),
        (lambda: print("so", flush=True) or os._exit(3), "failed, exit status 3", ["so"]),
        (lambda: sys.exit(0), "done, without a result", []),
        (lambda: os.killpg(0, signal.SIGKILL), "failed, its processes were killed", []),
    ],
)
def test_jobs_that_end_without_a_result_are_told(live, end, says, notes):
    with Executor(live) as executor:
        future = executor.submit(end)
        error = future.exception(SOON)
        assert type(error) is JobError
        assert str(error) == f"job 1 (<lambda>): {says}"
        assert error.job.job == 1
        assert getattr(error, "__notes__", []) == notes


def test_what_others_cancel_is_told(live):
    with Executor(live) as executor:
        future = executor.submit(time.sleep, 1000)
        until(future.running)
        assert not future.cancel()
        assert call("cancel", "--state", live, 1).exit_code == 0
        with pytest.raises(JobError, match=r"job 1 \(sleep\): cancelled"):
            future.result(SOON)


def test_calls_that_cannot_be_pickled_are_refused_at_once(live):
    with Executor(live) as executor, connect(live) as connection:
        with pytest.raises(GridError, match=r"call of print: TypeError: cannot pickle .*lock"):
            executor.submit(print, threading.Lock())
        with pytest.raises(GridError, match=r"call of abs: .*; accepted: what can be pickled"):
            executor.submit(abs, executor)
        assert connection.queue(every=True) == []
    with Executor(live, size=9) as executor, pytest.raises(GridError, match="size: found 9; acc"):
        executor.submit(abs, 1)
    assert left_in(live) == []


def test_tasks_that_have_not_begun_can_be_cancelled(live):
    with Executor(live, site="B") as executor:
        first, second, third = (executor.submit(time.sleep, 0.5) for _ in range(3))
        until(first.running)
        assert second.cancel()
        assert second.cancel()
        assert wait([second], 1).done == {second}
        with pytest.raises(CancelledError):
            second.result()
        executor.shutdown(wait=False, cancel_futures=True)
        assert third.cancelled()
        assert not first.done()
    assert [future.done() for future in as_completed([first, second, third], 1)] == [True] * 3
    with connect(live) as connection:
        until(lambda: not connection.queue())
        states = [job.state for job in connection.queue(every=True)]
    assert states == ["done", "cancelled", "cancelled"]
    assert left_in(live) == []


@pytest.mark.thorough
def test_ctrl_c_cancels_what_waits_and_runs(live):
    def stubborn():
        signal.signal(signal.SIGTERM, lambda *_: None)
        time.sleep(1.0)
        time.sleep(0.5)

    futures = []
    with suppress(KeyboardInterrupt), Executor(live, site="B") as executor:
        futures += [executor.submit(stubborn), executor.submit(time.sleep, 1000)]
        until(futures[0].running)
        time.sleep(0.3)
        raise KeyboardInterrupt
    assert not watchers()
    assert [future.done() for future in futures] == [True, True]
    for future, error in zip(futures, (JobError, CancelledError), strict=True):  # it ran, waited
        with pytest.raises(error):
            future.result()
        assert future.cancelled() == (error is CancelledError)
    with connect(live) as connection:
        until(lambda: not connection.queue())
        assert {job.state for job in connection.queue(every=True)} == {"cancelled"}
    assert not [name for name in left_in(live) if "call" in name or "result" in name]


def test_ctrl_c_while_the_end_is_waited_for(live, monkeypatch):
    executor = Executor(live)
    future = executor.submit(time.sleep, 1000)
    monkeypatch.setattr(executor, "shutdown", lambda: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt), executor:
        pass
    with pytest.raises((CancelledError, JobError)):
        future.result(1)


@pytest.mark.thorough
def test_services_come_and_go(grid, state, caplog):
    caplog.set_level(logging.WARNING, "metasched")
    with serving(load_grid(str(grid)), state, 0, print):
        pass
    with Executor(state, site="B") as executor:
        first, second = executor.submit(time.sleep, 0.5), executor.submit(abs, -2)
        said = [record.getMessage() for record in caplog.records]
        assert said == [f"{state}: no service is there now: jobs wait"]
        with pytest.raises(TimeoutError):
            first.result(0.1)
        with at_work(grid, state):
            until(first.running)
        time.sleep(0.7)
        assert not first.done()  # nobody notes its end
        with at_work(grid, state):
            assert first.result(SOON) is None
            assert second.result(SOON) == 2
    assert left_in(state) == []


def test_it_is_told_if_the_service_goes(grid, state, caplog, monkeypatch):
    caplog.set_level(logging.WARNING, "metasched")
    monkeypatch.setattr("experiments.service.calls.executor._WAKE", 0.05)
    with at_work(grid, state):
        executor = Executor(state)
        future = executor.submit(time.sleep, 0.2)
        until(future.running)
        assert caplog.records == []
    until(lambda: caplog.records)
    assert "no service is there now" in caplog.text
    with at_work(grid, state):
        assert future.result(SOON) is None
    executor.shutdown()


def test_if_the_file_of_jobs_is_lost_no_future_waits_for_ever(live):
    connection = connect(live)
    executor = Executor(connection)
    future = executor.submit(time.sleep, 0.5)
    connection.close()
    with pytest.raises(GridError, match="closed; accepted: one that is open"):
        future.result(SOON)
    until(lambda: not watchers())
    gone = Executor(live, site="B")
    future = gone.submit(time.sleep, 0.5)
    gone.shutdown(wait=False)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Store, "version", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            future.result(SOON)
    until(lambda: not watchers())
    with pytest.raises(GridError, match="closed; accepted: one that is open"):
        gone._connection.submit(["true"])  # as it would be, had all results come


def test_a_task_that_runs_again_has_one_result(live):
    def once_killed(folder):
        path = Path(folder) / "been"
        if not path.exists():
            path.touch()
            os.killpg(0, signal.SIGKILL)
        return os.environ["METASCHED_FOLDER"].rsplit("/", 1)[-1]

    with Executor(live, requeue=True) as executor:
        assert executor.submit(once_killed, str(live.parent)).result(SOON) == "1.2"
    assert left_in(live) == []


def test_scripts_find_their_modules_and_end_when_all_is_done(live, tmp_path):
    place = tmp_path / "elsewhere"
    place.mkdir()
    (place / "mine.py").write_text("def half(x):\n    return x / 2\n")
    (place / "script.py").write_text(
        "import sys, mine\n"
        "from metasched.live import Executor\n"
        "def twice(x):\n    return 2 * mine.half(x) + mine.half(x)\n"
        "executor = Executor(sys.argv[1])\n"
        "future = executor.submit(twice, 4)\n"
        "future.add_done_callback(lambda done: print(done.result(), flush=True))\n"
        "executor.submit(mine.half, 1)\n"
    )
    command = [sys.executable, str(place / "script.py"), str(live)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=SOON
    )
    assert (done.stdout, done.stderr, done.returncode) == ("6.0\n", "", 0)
    assert left_in(live) == []

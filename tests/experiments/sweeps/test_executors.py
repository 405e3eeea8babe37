"""Worker processes: what they begin with."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from multiprocessing import forkserver
from pathlib import Path

import numpy as np
import pytest

from experiments.maxutil.heavy_traffic import HeavyTraffic, batch_means
from experiments.maxutil.system import System
from experiments.scenario.scenario import Scenario
from experiments.sweeps import executors
from experiments.sweeps.executors import local_workers
from experiments.sweeps.starting import ways_to_start
from grid.platform.multicluster import Platform

linux = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no worker is forked")


def threads_of_parent():
    return len(os.listdir(f"/proc/{os.getppid()}/task"))


def draw():
    return float(np.random.random())


def loaded():
    return "agents.titan.scheduler" in sys.modules


@linux
def test_workers_are_forked_from_loaded_code_without_threads():
    with local_workers(1, loaded) as workers:
        assert workers.executor.submit(threads_of_parent).result() == 1
        assert workers.executor.submit(loaded).result()


def test_each_worker_begins_with_the_environment_and_random_numbers_of_its_own(monkeypatch):
    drawn = []
    for value in ("one", "two"):
        monkeypatch.setenv("METASCHED_TEST", value)
        with local_workers(1, int) as workers:
            assert workers.executor.submit(os.getenv, "METASCHED_TEST").result() == value
            drawn.append(workers.executor.submit(draw).result())
    assert drawn[0] != drawn[1]


def test_where_there_is_no_place_for_a_socket_each_worker_loads_all(monkeypatch):
    def refuse():
        raise OSError("AF_UNIX path too long")

    before = {**os.environ}
    monkeypatch.setattr(forkserver, "ensure_running", refuse)
    assert ways_to_start().get_start_method() == "spawn"
    assert before == os.environ


@pytest.mark.thorough
@linux
def test_a_long_name_of_the_temporary_folder_is_no_obstacle(tmp_path):
    folder = tmp_path / ("long" * 30)
    folder.mkdir()
    script = tmp_path / "work.py"
    script.write_text(
        "from experiments.sweeps.executors import local_workers\n"
        'if __name__ == "__main__":\n'
        "    with local_workers(1, int) as workers:\n"
        "        print(workers.executor.submit(abs, -7).result())\n"
    )
    root = Path(__file__).resolve().parents[3]
    done = subprocess.run(
        [sys.executable, script],
        env=os.environ | {"TMPDIR": str(folder), "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
    )
    assert (done.stdout, done.stderr) == ("7\n", "")


INTERRUPTED = """
import os, signal
from concurrent.futures import ProcessPoolExecutor
from experiments.sweeps.executors import local_workers

submit = ProcessPoolExecutor.submit
def and_interrupt(pool, *task):
    future = submit(pool, *task)
    os.kill(os.getpid(), signal.SIGINT)
    return future

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which may be ignored here
    ProcessPoolExecutor.submit = and_interrupt
    try:
        with local_workers(2, int):
            print("they began")
    except KeyboardInterrupt:
        print("interrupted")
"""
"""A script that Ctrl-C reaches as its first worker has been asked for."""


@pytest.mark.thorough
@linux
def test_a_worker_that_begins_as_ctrl_c_comes_is_waited_for(tmp_path):
    """Else it finds gone what it shares with its parent, and says so by a traceback."""
    (tmp_path / "script.py").write_text(INTERRUPTED)
    command = [sys.executable, "script.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100)
    assert (done.stdout, done.stderr) == ("interrupted\n", "")


@pytest.mark.parametrize("global_scheduler", ["dll", "muscle"])
def test_steps_that_nobody_looks_at_get_longer_and_change_nothing(monkeypatch, global_scheduler):
    monkeypatch.setattr(executors, "LOOK", float("inf"))
    platform, parameters = Platform.star([8, 4]), {"mode": "open", "jobs": 60, "max_size": 4}
    scenario = Scenario("tiny", platform, parameters, global_scheduler, "fcfs")
    ours, looks = scenario.model(3), 0
    for _ in executors.unseen_steps(ours):
        looks += 1
    theirs = scenario.model(3)
    theirs.run()
    assert 0 < looks < theirs.steps / 4
    assert (ours.now, ours.messages) == (theirs.now, theirs.messages)
    assert (ours.world.log.records().rows == theirs.world.log.records().rows).all()


def test_who_looks_between_steps_sees_the_same_however_quick_they_are(monkeypatch):
    run = HeavyTraffic(System((32, 32), "U[1,4]"), 4000)
    means = []
    for look in (0.0, float("inf")):
        monkeypatch.setattr(executors, "LOOK", look)
        means.append(run.observed(3)["utilization"])
    assert means[0] == means[1] == [batch_means(run.model(3)).mean()]


@pytest.mark.thorough
def test_who_waits_for_workers_that_do_not_hear_ends_them(monkeypatch):
    monkeypatch.setattr(executors, "GRACE", 0.5)
    with local_workers(1, int) as workers:
        workers.executor.submit(os.getpid).result()
        slept = workers.executor.submit(time.sleep, 600)
        time.sleep(0.5)  # a task that has not begun is cancelled
        ending = time.monotonic()
    assert time.monotonic() - ending < 60
    assert slept.exception(60) is not None

"""Worker processes: what they begin with."""

from __future__ import annotations

import os
import subprocess
import sys
from multiprocessing import forkserver
from pathlib import Path

import numpy as np
import pytest

from experiments.sweeps.executors import local_workers
from experiments.sweeps.starting import ways_to_start

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

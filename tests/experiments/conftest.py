from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from experiments.sweeps import progress
from grid.workloads.synthetic import BatchWorkload

from .small_results import MIX, muscle, plain, result_of

ROOT = Path(__file__).resolve().parents[2]
UNHURRIED = "from experiments.sweeps import progress; progress.SOON = progress.EVERY"
"""Has nothing told of what takes a moment more only because the machine is busy."""
COMMAND = (
    f"{UNHURRIED}; import sys; from experiments.cli.app import main; sys.argv[0] = 'metasched'"
)


@pytest.fixture(autouse=True)
def unhurried(monkeypatch):
    """As for commands that are processes of their own."""
    monkeypatch.setattr(progress, "SOON", progress.EVERY)


@pytest.fixture
def start():
    """Start the command as a process of its own; what a test leaves running is killed after it.

    Streams are closed as in a shell: ``closing=">&-"``.
    """
    started = []

    def begin(*words, closing="", **options):
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        process = subprocess.Popen(
            ["sh", "-c", f'exec "$@" {closing}', "sh", sys.executable, "-c", f"{COMMAND}; main()"]
            + [str(word) for word in words],
            text=True,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            # Else a test that runs in the background would have Ctrl-C ignored.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
            **streams,
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        with process:  # closes its pipes, waits for its end
            pass


@pytest.fixture(scope="module")
def batch():
    """A finished run of MUSCLE over TITAN in mode `batch`, without latency."""
    model = muscle(BatchWorkload(mean_batch=20, count=150, **MIX))
    model.run()
    return model


@pytest.fixture
def result():
    """The result of three jobs, of which one is too large for any cluster."""
    model = plain(seed=3)
    model.run()
    return result_of(model, "three jobs", 0.5)


@pytest.fixture
def written(tmp_path):
    """Return a function that writes a scenario and gives its path."""

    def write(text, name="mine.toml"):
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return write

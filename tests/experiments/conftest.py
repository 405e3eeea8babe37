from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMMAND = "import sys; from experiments.cli import main; sys.argv[0] = 'metasched'; main()"


@pytest.fixture
def start():
    """Start the command as a process of its own; what a test leaves running is killed after it.

    Streams are closed as in a shell: ``closing=">&-"``.
    """
    started = []

    def begin(*words, closing="", **options):
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        process = subprocess.Popen(
            ["sh", "-c", f'exec "$@" {closing}', "sh", sys.executable, "-c", COMMAND]
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

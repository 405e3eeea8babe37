"""`metasched run --live` as a process on a terminal."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pyte
import pytest

ROOT = Path(__file__).resolve().parents[3]
CODE = "from experiments.cli.app import main; main()"


class Session:
    """A command on a terminal of 80x24."""

    def __init__(self, *words):
        self.screen = pyte.Screen(80, 24)
        self._stream = pyte.ByteStream(self.screen)
        self._end, theirs = pty.openpty()
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80", "LINES": "24"}
        self.began = time.perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, "-c", CODE, *words],
            cwd=ROOT,
            env=environment,
            stdout=theirs,
            stderr=theirs,
            # Else a test that runs in the background would have Ctrl-C ignored.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        os.close(theirs)
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self):
        while True:
            try:
                got = os.read(self._end, 65536)
            except OSError:  # nobody holds the other end any more
                break
            self._stream.feed(got)

    def wait_for(self, words):
        while not any(words in line for line in list(self.screen.display)):
            assert time.perf_counter() - self.began < 120, "\n".join(self.screen.display)
            time.sleep(0.02)

    def end(self):
        code = self.process.wait(60)
        self._reader.join()
        os.close(self._end)
        return code


@pytest.fixture
def live():
    sessions = []

    def start(*words):
        sessions.append(Session("run", *words))
        return sessions[-1]

    yield start
    for session in sessions:
        session.process.kill()


def test_a_run_can_be_as_fast_as_it_is(live):
    session = live("quickstart", "--live", "--pace", "1e9", "--set", "jobs=40")
    assert session.end() == 0
    assert any(line.startswith("messages ") for line in session.screen.display)


def test_a_job_is_followed_at_a_pace_and_interrupting_does_not_wait(live):
    session = live("quickstart", "--pace", "0.5", "--follow", "1")
    session.wait_for("Following job 1: ")
    time.sleep(1.0)
    shown = "\n".join(session.screen.display)
    interrupted = time.perf_counter()
    session.process.send_signal(signal.SIGINT)
    assert session.end() == 130
    assert time.perf_counter() - interrupted < 10.0  # the run has 20 minutes to go
    assert "submitted " in shown
    assert "0 of 400 jobs done (0 %)" in shown

"""`metasched run --live` as a process on a terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import subprocess
import sys
import termios
import threading
import time
from pathlib import Path

import pyte
import pytest

from experiments.live import keyboard
from experiments.run import running
from experiments.scenario.scenario import Scenario

ROOT = Path(__file__).resolve().parents[3]
CODE = "from experiments.cli.app import main; main()"
BEHIND = """
import os, subprocess, sys
job = subprocess.Popen(sys.argv[1:], process_group=0)
input()
os.tcsetpgrp(0, job.pid)
sys.exit(job.wait())
"""
"""Runs a command in the background of its terminal, and fetches it from there after Enter."""


class Session:
    """A command on a terminal of 80x24, which gives it keys too if it is to have any."""

    def __init__(self, *words, keys=False, behind=False):
        self.screen = pyte.Screen(80, 24)
        self._stream = pyte.ByteStream(self.screen)
        self._end, theirs = pty.openpty()
        self.modes = termios.tcgetattr(self._end)

        def begin():
            # Else a test that runs in the background would have Ctrl-C ignored.
            signal.signal(signal.SIGINT, signal.default_int_handler)
            signal.signal(signal.SIGTTOU, signal.SIG_DFL)
            if keys:
                fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80", "LINES": "24"}
        self.began = time.perf_counter()
        self.process = subprocess.Popen(
            [*([sys.executable, "-c", BEHIND] * behind), sys.executable, "-c", CODE, *words],
            cwd=ROOT,
            env=environment,
            stdin=theirs if keys else subprocess.DEVNULL,
            stdout=theirs,
            stderr=theirs,
            start_new_session=keys,
            preexec_fn=begin,
        )
        self._theirs = theirs
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        while True:
            try:
                got = os.read(self._end, 65536)
            except OSError:  # nobody holds the other end any more
                break
            self._stream.feed(got)

    def press(self, keys):
        os.write(self._end, keys.encode())

    def shown(self):
        return "\n".join(self.screen.display)

    def wait_for(self, words):
        while not any(words in line for line in list(self.screen.display)):
            assert time.perf_counter() - self.began < 120, "\n".join(self.screen.display)
            time.sleep(0.02)

    def end(self):
        code = self.process.wait(60)
        self.restored = termios.tcgetattr(self._theirs) == self.modes
        os.close(self._theirs)
        self._reader.join()
        os.close(self._end)
        return code


@pytest.fixture
def live():
    sessions = []

    def start(*words, **where):
        sessions.append(Session("run", *words, **where))
        return sessions[-1]

    yield start
    for session in sessions:
        session.process.kill()


@pytest.mark.thorough
def test_a_run_can_be_as_fast_as_it_is(live):
    session = live("quickstart", "--live", "--pace", "1e9", "--set", "jobs=40")
    assert session.end() == 0
    assert any(line.startswith("messages ") for line in session.screen.display)


@pytest.mark.thorough
def test_a_job_is_followed_at_a_pace_and_interrupting_does_not_wait(live):
    session = live("quickstart", "--pace", "0.5", "--follow", "1")
    session.wait_for("Following job 1: ")
    session.wait_for("submitted ")
    shown = "\n".join(session.screen.display)
    interrupted = time.perf_counter()
    session.process.send_signal(signal.SIGINT)
    assert session.end() == 130
    assert time.perf_counter() - interrupted < 10.0  # the run has 20 minutes to go
    assert "submitted " in shown
    assert "0 of 400 jobs done (0 %)" in shown


UP, DOWN, END = "\x1b[A", "\x1b[B", "\x1b[F"


@pytest.mark.thorough
def test_keys_pause_step_and_turn_to_lists(live):
    session = live("quickstart", "--pace", "0.001", keys=True)
    session.wait_for("space pauses  s step  + - 0.001 simulated s/s  ? help")
    session.press(" ")
    session.wait_for("PAUSED")
    session.press("?")
    session.wait_for("What the numbers mean")
    assert "jobs that wait for the global scheduler" in session.shown()
    session.press(END)
    session.wait_for("its number")
    session.press("j")
    session.wait_for("Jobs: ")
    session.press("\x1b")
    session.wait_for("Clusters: ")
    before = next(line for line in session.screen.display if line.startswith("time "))
    session.press("s")
    session.wait_for("time 1")
    assert before.startswith("time 0")
    session.press(" " + 40 * "+")
    assert session.end() == 0
    assert session.restored
    assert not session.screen.cursor.hidden
    assert "? help" not in session.shown()


@pytest.mark.thorough
@pytest.mark.parametrize(("key", "number", "code"), [("\x03", 0, 130), ("", signal.SIGTERM, -15)])
def test_whatever_ends_a_run_its_terminal_is_as_before(live, key, number, code):
    session = live("quickstart", "--pace", "0.001", keys=True)
    session.wait_for("space pauses")
    assert termios.tcgetattr(session._theirs) != session.modes
    session.press(" ")
    session.wait_for("PAUSED")
    session.press(key) if key else session.process.send_signal(number)
    assert session.end() == code
    assert session.restored
    assert not session.screen.cursor.hidden


@pytest.mark.thorough
def test_without_a_terminal_for_them_there_are_no_keys(live):
    session = live("quickstart", "--pace", "0.001")
    session.wait_for("no keys: standard input is no terminal")
    session.process.kill()
    session.end()


@pytest.mark.thorough
def test_a_run_in_the_background_leaves_the_terminal_alone_until_it_is_fetched(live):
    session = live("quickstart", "--pace", "0.001", keys=True, behind=True)
    session.wait_for("no keys: this is in the background")
    assert termios.tcgetattr(session._theirs) == session.modes
    session.press("\n")
    session.wait_for("space pauses  s step  + - 0.001 simulated s/s  ? help")
    session.press(40 * "+")
    assert session.end() == 0
    assert session.restored


@pytest.mark.parametrize("foreground", [True, False])
def test_a_dashboard_comes_by_itself_in_the_foreground_alone(foreground, monkeypatch, capsys):
    monkeypatch.setattr(keyboard, "in_foreground", lambda descriptor: foreground)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(running, "LONG_ENOUGH_TO_SEE", 0.0)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    running.run(Scenario.load("quickstart").changed(["jobs=20"]), live=None)
    assert ("Clusters: " in capsys.readouterr().out) == foreground

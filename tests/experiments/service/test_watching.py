"""The dashboard of a service, seen from another terminal."""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from contextlib import ExitStack, closing

import pyte
import pytest

from experiments.service.grid_file import load_grid
from experiments.service.presence import knock
from experiments.service.serving import serving
from experiments.service.watching import TOP
from tests.experiments.commands import call

SIZE = 100, 30


@pytest.fixture
def sockets(state):
    """Give what connects to the service, and ends that afterwards."""
    with ExitStack() as open_:

        def connect():
            return open_.enter_context(closing(knock(state, TOP)))

        yield connect


class Watcher(threading.Thread):
    """Looks at a service, and presses a key after each of some words has been seen."""

    def __init__(self, there, *steps, then=lambda: None):
        super().__init__(daemon=True)
        self.then = then
        self.socket = there
        self.screen = pyte.Screen(*SIZE)
        self.steps, self.seen = [*steps], []
        self.say(colors="standard", size=SIZE)
        self.start()

    def say(self, **what):
        self.socket.sendall(json.dumps(what).encode() + b"\n")

    def run(self):
        stream = pyte.ByteStream(self.screen)
        while shown := self.socket.recv(1 << 16):
            stream.feed(shown.replace(b"\n", b"\r\n"))  # as terminals do
            text = "\n".join(self.screen.display)
            if self.steps and self.steps[0][0] in text:
                self.seen.append(text)
                self.say(**self.steps.pop(0)[1])
                if not self.steps:
                    self.then()


def test_a_service_is_watched_from_elsewhere(grid, state, sockets, tmp_path, capsys):
    with serving(load_grid(str(grid)), state, 0, print) as service:
        seen = tmp_path / "seen"
        nap = ["sh", "-c", 'until [ -e "$0" ]; do sleep 0.1; done', str(seen)]
        for _ in range(3):
            service.store.add(nap, 2, name="nap")
        steps = [
            ("2 of 3 processors busy", {"key": "j"}),
            ("Jobs: 1 running", {"key": "KEY_ESCAPE"}),
            ("Clusters:", {"size": (60, 20)}),
        ]
        out = sys.stdout
        watcher = Watcher(sockets(), *steps, then=seen.touch)
        service.run(once=True)
        assert sys.stdout is out  # which the dashboard leaves alone
    watcher.join(10)
    overview, jobs, _ = watcher.seen
    assert "grid: dll over fcfs" in overview
    assert "so far" in overview
    assert "ETA" not in overview
    assert "deadline" not in jobs
    assert "ends, s" not in jobs  # which nobody knows
    assert "3 of 3 jobs done so far" in "\n".join(watcher.screen.display)
    assert "job 1 (nap): done at A" in capsys.readouterr().out
    assert not (state / TOP).exists()


@pytest.mark.thorough
def test_who_watches_does_no_harm(grid, state, sockets):
    said = []
    with serving(load_grid(str(grid)), state, 0, said.append) as service:
        service.store.add(["sleep", "1.5"], 1)
        for what in (b"no JSON\n", b'{"size": 3}\n', b'{"colors": 1, "size": [1, 1]}\n'):
            sockets().sendall(what)
        sockets().close()
        left = Watcher(sockets())
        left.socket.shutdown(socket.SHUT_RDWR)
        sockets().sendall(b'{"colors": null, "size": [300, 200]}\n' * 200)  # and reads nothing
        service.run(once=True)
        assert [job.state for job in service.store.jobs()] == ["done"]
    assert sum(line.startswith("top: ") for line in said) == 3


def test_a_service_is_there_where_no_socket_can_be(grid, state, monkeypatch):
    def refused(folder, name):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr("experiments.service.presence._reachable", refused)
    said = []
    with serving(load_grid(str(grid)), state, 0, said.append) as service:
        service.store.add(["true"], 1)
        service.run(once=True)
    assert said[0] == "top: Operation not supported: nobody can watch"
    assert "job 1 (true): done at A" in said


@pytest.mark.parametrize("there", [True, False])
def test_top_in_vain(grid, state, there):
    with serving(load_grid(str(grid)), state, 0, print):
        if there:
            done = call("top", "--state", state)
            assert "standard output is no terminal that can redraw a picture" in done.stderr
        began = time.monotonic()
    done = call("top", "--state", state)
    assert done.exit_code == 2
    assert len(done.stderr.splitlines()) == 1
    assert time.monotonic() - began < 9

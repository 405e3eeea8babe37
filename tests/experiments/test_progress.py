"""What people are told while a sweep goes on."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from experiments.studies import progress
from experiments.studies.progress import EVERY, SweepProgress


@pytest.fixture
def clock(monkeypatch):
    class Clock:
        now = 100.0

    monkeypatch.setattr(progress.time, "monotonic", lambda: Clock.now)
    return Clock


def told(terminal=False):
    return Console(file=io.StringIO(), force_terminal=terminal, width=100)


def test_lines_where_there_is_no_terminal(clock):
    console = told()
    with SweepProgress(console) as shown:
        shown.begin(4, 2, 600.0)
        for share in (0.5, 0.25, 0.125, 0.125):
            clock.now += EVERY
            shown.advance(share)
    assert console.file.getvalue().splitlines() == [
        "4 runs to do (2 kept from before): estimated time 10 min 0 s",
        "1 of 4 runs, 30 s left",
        "2 of 4 runs, 20 s left",
        "3 of 4 runs, 13 s left",
        "4 of 4 runs, 0 s left",
        "4 of 4 runs done in 2 min 0 s",
    ]


def test_lines_come_now_and_then(clock):
    console = told()
    with SweepProgress(console) as shown:
        shown.begin(100, 0, 60.0)
        for _ in range(100):
            clock.now += EVERY / 10
            shown.advance(0.01)
    assert len(console.file.getvalue().splitlines()) == 2 + 10


def test_a_bar_in_a_terminal_and_its_end_after_an_error(clock):
    console = told(terminal=True)

    def interrupted():
        with SweepProgress(console) as shown:
            shown.begin(3, 0, 30.0)
            clock.now += 10
            shown.advance(0.5)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    text = console.file.getvalue()
    assert "1 of 3 runs, 10 s left" in text
    assert "1 of 3 runs done in 10 s" in text
    assert text.rstrip().endswith("done in 10 s")


def test_nothing_to_do(clock):
    console = told(terminal=True)
    with SweepProgress(console) as shown:
        shown.begin(0, 7, 0.0)
    assert "0 runs to do (7 kept from before)" in console.file.getvalue()

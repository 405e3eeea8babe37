"""What people are told while a sweep goes on."""

from __future__ import annotations

import io
import time

import pytest
from rich.console import Console

from experiments.studies import progress
from experiments.studies.progress import SweepProgress


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
        shown.prepare("measuring")
        shown.begin(4, 2, 200.0)
        for share in (0.5, 0.25, 0.125, 0.125):
            clock.now += 30
            shown.advance(share)
    assert console.file.getvalue().splitlines() == [
        "measuring ...",
        "4 runs to do (2 kept from before): estimated time 3 min 20 s",
        "1 of 4 runs, 1 min 5 s left",
        "2 of 4 runs, 28 s left",
        "3 of 4 runs, 14 s left",
        "4 of 4 runs, 0 s left",
        "4 of 4 runs done in 2 min 0 s",
    ]


def test_each_tenth_of_the_runs_has_a_line(clock):
    console = told()
    with SweepProgress(console) as shown:
        shown.begin(100, 0, 60.0)
        for _ in range(100):
            shown.advance(0.01)
    lines = console.file.getvalue().splitlines()[1:-1]
    assert [line.split(",")[0] for line in lines] == [
        f"{done} of 100 runs" for done in range(10, 101, 10)
    ]


def test_lines_come_however_long_a_run_takes(monkeypatch):
    monkeypatch.setattr(progress, "EVERY", 0.01)
    console = told()
    with SweepProgress(console) as shown:
        shown.begin(3, 0, 600.0)
        time.sleep(0.2)
    lines = console.file.getvalue().splitlines()[1:-1]
    assert len(lines) >= 2
    assert set(lines) <= {"0 of 3 runs, 10 min 0 s left", "0 of 3 runs, 9 min 59 s left"}


def test_the_time_left_goes_by_the_pace_once_much_is_done(clock):
    console = told()
    with SweepProgress(console) as shown:
        shown.begin(20, 0, 1000.0)  # it takes twice as long
        for _ in range(20):
            clock.now += 100
            shown.advance(0.05)
    lefts = [line.split(", ")[1] for line in console.file.getvalue().splitlines()[1:-1]]
    assert lefts[0] == "16 min 30 s left"
    assert lefts[-2:] == ["3 min 10 s left", "0 s left"]


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
    assert "1 of 3 runs, 12 s left" in text
    assert "1 of 3 runs done in 10 s" in text
    assert text.rstrip().endswith("done in 10 s")


def test_nothing_to_do(clock):
    console = told(terminal=True)
    with SweepProgress(console) as shown:
        shown.begin(0, 7, 0.0)
    assert "0 runs to do (7 kept from before)" in console.file.getvalue()


def test_a_second_sweep_begins_anew(clock):
    console = told(terminal=False)
    with SweepProgress(console) as shown:
        shown.begin(2, 0, 10.0)
        for _ in range(2):
            clock.now += 5.0
            shown.advance(0.5)
        shown.begin(1, 2, 100.0)
        clock.now += 30.0
        shown.advance(1.0)
    assert console.file.getvalue().splitlines() == [
        "2 runs to do: estimated time 10 s",
        "1 of 2 runs, 5 s left",
        "2 of 2 runs, 0 s left",
        "2 of 2 runs done in 10 s",
        "1 runs to do (2 kept from before): estimated time 1 min 40 s",
        "1 of 1 runs, 0 s left",
        "1 of 1 runs done in 30 s",
    ]

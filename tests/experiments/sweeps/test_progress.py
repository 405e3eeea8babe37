"""What people are told while something goes on."""

from __future__ import annotations

import io
import math
import time
from types import SimpleNamespace

import numba
import pytest
from rich.console import Console

from experiments.run import progress as of_run
from experiments.run.progress import Far
from experiments.sweeps import progress
from experiments.sweeps.compiling import noting_what_is_compiled
from experiments.sweeps.forecast import Forecast, UnderWay
from experiments.sweeps.progress import SweepProgress, telling

SOON = progress.SOON  # before it is put off for tests


@pytest.fixture
def clock(monkeypatch):
    class Clock:
        now = 100.0

    monkeypatch.setattr(progress.time, "monotonic", lambda: Clock.now)
    return Clock


def told(terminal=False):
    return Console(file=io.StringIO(), force_terminal=terminal, width=100, color_system=None)


def runs(*estimates, workers=1):
    return Forecast([[("run", each)] for each in estimates], workers)


def lines(console):
    return console.file.getvalue().splitlines()


def shown(console, words, seconds=5.0):
    """Wait for words on a console."""
    until = time.perf_counter() + seconds
    while words not in console.file.getvalue():
        assert time.perf_counter() < until, console.file.getvalue()
        time.sleep(0.01)


def test_what_is_done_one_by_one_is_told_of(clock):
    def done():
        for each in "abcd":
            clock.now += 2.0
            yield each

    console, seen = told(), []
    with SweepProgress(console) as shown:
        for each in shown.one_by_one(done(), 4, "job"):
            seen.append(each)
            clock.now += 1.0
    assert seen == [*"abcd"]
    assert lines(console)[:3] == [
        "4 jobs to do",
        "1 of 4 jobs, 6 s left",
        "2 of 4 jobs, 5 s left",
    ]
    assert lines(console)[-1] == "4 of 4 jobs done in 12 s"


def test_lines_where_there_is_no_terminal(clock):
    console = told()
    with SweepProgress(console) as shown:
        shown.prepare("measuring")
        shown.begin(2, runs(100.0, 50.0, 25.0, 25.0))
        for piece, took in enumerate((50.0, 25.0, 12.0, 13.0)):
            clock.now += took
            shown.advance(piece, [took])
    assert lines(console) == [
        "measuring ...",
        "4 runs to do (2 done already)",
        "1 of 4 runs, 50 s left",
        "2 of 4 runs, 25 s left",
        "3 of 4 runs, 12 s left",
        "4 of 4 runs done in 1 min 40 s (2 done already)",
    ]


def test_each_tenth_of_the_runs_has_a_line(clock):
    console = told()
    with SweepProgress(console) as shown:
        shown.begin(0, runs(*[0.6] * 100))
        for piece in range(100):
            shown.advance(piece, [0.6])
    assert [line.split(",")[0] for line in lines(console)[1:-1]] == [
        f"{done} of 100 runs" for done in range(10, 100, 10)
    ]


@pytest.mark.parametrize("quiet", [False, True])
def test_lines_come_however_long_a_run_takes(monkeypatch, quiet):
    monkeypatch.setattr(progress, "EVERY", 0.01)
    monkeypatch.setattr(progress, "SOON", 0.01)
    console = told()
    with SweepProgress(console, quiet) as watch:
        watch.begin(0, runs(200.0, 200.0, 200.0))
        shown(console, "0 of 3 runs, 10 min 0 s left\n0 of 3 runs, ")
        watch.prepare("reading")
        shown(console, "reading, for 0 s so far\nreading, for 0 s so far\n")


def test_what_usually_is_quick_says_nothing_where_there_is_no_terminal(clock):
    console = told()
    with SweepProgress(console, quiet=True) as watch:
        watch.prepare("reading")
        watch.begin(0, runs(1.0, 1.0))
        watch.advance(0, [1.0])
        watch.advance(1, [1.0])
    assert lines(console) == []


@pytest.mark.parametrize("quiet", [False, True])
def test_a_terminal_shows_at_once_or_soon_what_goes_on(monkeypatch, quiet):
    assert SOON < 2.0, "nothing is silent for longer"
    monkeypatch.setattr(progress, "SOON", 0.02)
    console = told(terminal=True)
    with SweepProgress(console, quiet) as watch:
        watch.prepare("reading the log")
        shown(console, "reading the log 0:00:0")
        watch.begin(0, Forecast([[((), 1.0)]], known=False), lambda: [UnderWay(0, 0.25, 30.0)])
        shown(console, "25 %, 1 min 30 s left")
        watch.begin(0, Forecast([[((), 1.0)]], known=False), lambda: [UnderWay(0, 0.5, math.inf)])
        shown(console, "50 %")
        assert "50 %," not in console.file.getvalue()
        watch.begin(0, Forecast([[((), 1.0)]], known=False), lambda: [UnderWay(0, 1.0, 30.0)])
        shown(console, "all jobs are through, news of the last is under way")
        watch.begin(0, runs(10.0, 10.0), unit="round")
        watch.note("trying")
        shown(console, "0 of 2 rounds, 20 s left: trying")


def test_a_run_in_which_something_is_compiled_says_so(monkeypatch):
    """Without an estimate, which compiling would spoil."""
    monkeypatch.setattr(progress, "EVERY", 0.01)
    monkeypatch.setattr(progress, "SOON", 0.01)
    console, heard = told(), []
    with SweepProgress(console, quiet=True) as watch:
        watch.begin(0, Forecast([[((), 1.0)]], known=False), lambda: [UnderWay(0, 0.25, 30.0)])
        with noting_what_is_compiled(lambda words: [heard.append(words), watch.note(words)]):
            assert numba.njit(lambda value: value + 1)(1) == 2
            assert heard == ["compiling what is not compiled yet", ""]
            watch.note(heard[0])
            shown(console, "\n25 %: compiling what is not compiled yet\n")
            watch.note("")
            shown(console, "compiled yet\n25 %, 1 min 30 s left\n")


def test_nobody_is_told_of_what_takes_a_moment(monkeypatch, capsys):
    monkeypatch.setattr(progress, "Console", lambda **options: told(terminal=True))
    with telling("a\nb") as watch:
        assert watch._doing == r"a\nb"
    assert watch._console.file.getvalue() == ""


def test_it_ends_after_an_error(clock):
    console = told(terminal=True)

    def interrupted():
        with SweepProgress(console) as shown:
            shown.begin(0, runs(15.0, 10.0, 5.0))
            clock.now += 10
            shown.advance(0, [10.0])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert console.file.getvalue().rstrip().endswith("1 of 3 runs done in 10 s")


def test_no_time_at_least_is_no_time_to_tell(clock):
    said = []
    with SweepProgress(told()) as shown:
        shown.begin(0, Forecast([[("run", 5.0)]] * 2, 1, open_ended=True))
        for piece in range(2):
            clock.now += 5.0
            shown.advance(piece, [5.0])
            said.append(shown._words())
    assert said == ["1 of at least 2 runs, at least 5 s left", "2 of at least 2 runs, after 10 s"]


def test_nothing_to_do(clock):
    console = told(terminal=True)
    with SweepProgress(console) as shown:
        shown.begin(7, Forecast([]))
    assert "0 runs to do (7 done already)" in console.file.getvalue()


def test_a_second_sweep_begins_anew(clock):
    console = told()
    with SweepProgress(console) as shown:
        shown.begin(0, runs(5.0, 5.0))
        for piece in range(2):
            clock.now += 5.0
            shown.advance(piece, [5.0])
        shown.begin(2, runs(100.0))
        clock.now += 30.0
        shown.advance(0, [30.0])
    assert lines(console) == [
        "2 runs to do",
        "1 of 2 runs, 5 s left",
        "2 of 2 runs done in 10 s",
        "1 run to do (2 done already)",
        "1 of 1 run done in 30 s (2 done already)",
    ]


class Through:
    """A world that as many jobs have left as have come."""

    def __init__(self, jobs):
        self.jobs = jobs

    @property
    def log(self):
        """Those that left."""
        return SimpleNamespace(count=self.jobs)

    @property
    def state(self):
        """Those that came."""
        return SimpleNamespace(submitted=self.jobs)


def test_a_run_that_gets_slower_is_not_told_to_end_at_once(monkeypatch):
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(of_run, "time", SimpleNamespace(monotonic=lambda: clock.now))
    world = Through(0)
    far = Far(SimpleNamespace(world=world, workload=SimpleNamespace(count=100)))
    left = []
    # Half of the jobs in 2 s; then each takes 0.4 s, as the queue has grown.
    for clock.now, world.jobs in ((2.0, 50), (4.0, 55), (8.0, 65), (16.0, 85)):
        (told,) = far.told()
        left.append((1 - told.share) / told.share * told.took)
    true = [18.0, 14.0, 6.0]
    assert all(truth / 2.5 < told < 1.5 * truth for truth, told in zip(true, left[1:], strict=True))


def test_the_rest_of_a_run_whose_queue_grows_evenly_is_told(monkeypatch):
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(of_run, "time", SimpleNamespace(monotonic=lambda: clock.now))
    world = Through(0)
    far = Far(SimpleNamespace(world=world, workload=SimpleNamespace(count=100)))
    # The time grows as the square of the jobs that are through.
    for clock.now, world.jobs in ((1.0, 10), (4.0, 20), (9.0, 30), (25.0, 50), (64.0, 80)):
        (told,) = far.told()
        if world.jobs > 10:
            left = (1 - told.share) / told.share * told.took
            assert left == pytest.approx(100.0 - clock.now)


def test_a_run_that_goes_on_from_a_checkpoint_is_told_by_its_own_pace(monkeypatch):
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(of_run, "time", SimpleNamespace(monotonic=lambda: clock.now))
    world = Through(50)
    far = Far(SimpleNamespace(world=world, workload=SimpleNamespace(count=100)))
    clock.now, world.jobs = 10.0, 60
    (told,) = far.told()
    assert (1 - told.share) / told.share * told.took == pytest.approx(40.0)


def test_nothing_is_told_of_the_rest_before_some_of_a_run_is_done(monkeypatch):
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(of_run, "time", SimpleNamespace(monotonic=lambda: clock.now))
    world = Through(0)
    far = Far(SimpleNamespace(world=world, workload=SimpleNamespace(count=1000)))
    told = []
    # A job is through after 8 s of compiling; 100 more each second from then on.
    for clock.now, world.jobs in ((8.0, 1), (8.3, 31), (8.6, 61), (9.0, 101)):
        told.append(far.told()[0].took)
    assert told[:2] == [math.inf, math.inf]
    assert math.isfinite(told[2])
    clock.now, world.jobs = 60.0, 20
    far = Far(SimpleNamespace(world=world, workload=SimpleNamespace(count=1000)))
    clock.now, world.jobs = 120.0, 30
    assert math.isfinite(far.told()[0].took)


def test_of_a_run_that_hardly_ends_nothing_is_told_to_be_left(monkeypatch):
    world = SimpleNamespace(state=SimpleNamespace(submitted=0), log=SimpleNamespace(count=0))
    model = SimpleNamespace(world=world, workload=SimpleNamespace(count=100))
    known, endless = Far(model), Far(model, endless=True)
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + 30.0)
    world.state.submitted = world.log.count = 50
    assert known.told()[0].took < math.inf
    assert endless.told() == [UnderWay(0, 0.5, math.inf)]

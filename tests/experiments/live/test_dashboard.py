"""When the dashboard draws, and on which consoles."""

from __future__ import annotations

import io
import re
from datetime import datetime
from types import SimpleNamespace

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console

from agents.coallocation.largest_first import FirstFitScheduler
from agents.disciplines import FcfsScheduler
from agents.model import GridModel
from experiments.live import dashboard as module
from experiments.live.dashboard import Dashboard, save_svg
from experiments.live.picture import Picture, Progress
from experiments.show.numbers import duration, instant
from grid.jobs import job_table
from grid.logs.calendar import SITES_CLOCK
from grid.platform.multicluster import Platform
from grid.workloads.table import Table
from tests.experiments.watched import SIZES, Screen, grid_of, plain, run_on


@pytest.mark.thorough
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("clusters", [1, 4, 30])
def test_no_line_wraps_or_overflows_a_terminal(clusters, size, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    terminal = Screen(*size)
    model = grid_of(clusters, count=200)
    with Dashboard(model, "a run", terminal.console, refresh=1e9) as dashboard:
        while model.running:
            model.step()
            dashboard.update()
    shown = [line.rstrip() for line in terminal.screen.display]
    expected = dashboard._picture.lines(dashboard._progress(), size[0], size[1] - 1)
    # Wall time moves on between the two, and shows in the second and third line alone.
    assert shown[0] == expected[0].plain
    assert shown[3:-1] == [line.plain.rstrip() for line in expected[3:]]
    assert shown[-1] == ""
    assert model.now > 0
    assert f"time {instant(model.now)}" in shown[1]
    assert "all done" in shown[2]


# Time ---------------------------------------------------------------------------------------------


@pytest.fixture
def wall(monkeypatch):
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(module, "perf_counter", lambda: clock.now)
    return clock


def test_a_picture_is_drawn_no_more_often_than_refresh(wall, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    model, terminal = grid_of(1), Screen(80, 24)
    dashboard = Dashboard(model, "a run", terminal.console, refresh=4.0)
    drawn = []
    monkeypatch.setattr(dashboard._live, "refresh", lambda: drawn.append(wall.now))
    with dashboard:
        for _ in range(1000):
            wall.now += 0.01
            dashboard.update()
        while_running = list(drawn)
    assert len(while_running) in (39, 40, 41)
    assert min(np.diff(while_running)) > 0.249
    assert len(drawn) == len(while_running) + 1


def test_a_slow_console_is_drawn_less_often(wall, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    model, terminal = grid_of(1), Screen(80, 24)
    dashboard = Dashboard(model, "a run", terminal.console, refresh=4.0)
    drawn = []

    def draw():
        drawn.append(wall.now)
        wall.now += 0.5

    monkeypatch.setattr(dashboard._live, "refresh", draw)
    with dashboard:
        for _ in range(5000):
            wall.now += 0.01
            dashboard.update()
    assert 2 <= len(drawn) <= 5


def test_rate_and_eta_come_from_jobs_done_since_the_first_ones(wall):
    model = grid_of(4)
    dashboard = Dashboard(model, "a run", Console(file=io.StringIO(), width=80, height=24))
    assert dashboard._progress().rate is None
    model.step()
    first = model.world.state.completed
    assert first > 0
    wall.now += 20.0  # in which the kernel was compiled
    dashboard._draw()
    assert "ETA unknown" in plain(model, 80, 24, dashboard._progress())[2]
    while model.world.state.completed < first + module.ENOUGH:
        wall.now += 1.0
        model.step()
    done, took = model.world.state.completed, wall.now - 120.0
    assert dashboard._progress().rate == (done - first) / took
    left = int((400 - done) / ((done - first) / took) + 0.5)
    assert f"ETA {duration(left)}" in plain(model, 80, 24, dashboard._progress())[2]
    while model.running:
        model.step()
    assert dashboard._progress().rate == 400 / (wall.now - 100.0)


@pytest.mark.thorough
def test_what_a_run_took_before_it_was_interrupted_counts_in_the_end(wall):
    model = grid_of(4)
    model.step()
    console = Console(file=io.StringIO(), width=80, height=24)
    dashboard = Dashboard(model, "a run", console, before=30.0)
    wall.now += 10.0
    model.run()
    progress = dashboard._progress()
    assert (progress.rate, progress.elapsed) == (400 / 40.0, 40.0)


# Consoles -----------------------------------------------------------------------------------------


def test_a_dumb_terminal_gets_lines_and_a_last_picture(monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    file = io.StringIO()
    run_on(Console(file=file, force_terminal=True, width=80, height=24))
    text = re.sub(r"\x1b\[[0-9;]*m", "", file.getvalue())
    assert "\x1b" not in text
    first, *picture = text.splitlines()
    assert first.startswith("0 of 40 jobs done (0 %)   ETA unknown")
    assert "40 of 40 jobs done (100 %)   all done" in picture[2]
    assert max(map(cell_len, picture)) <= 80


def test_the_last_line_ends_whatever_the_console():
    for terminal in (False, True):
        file = io.StringIO()
        run_on(Console(file=file, force_terminal=terminal, width=80, height=24))
        assert re.sub(r"\x1b\[[^a-z]*[a-z]", "", file.getvalue()).endswith("\n")


def test_without_colour_there_is_no_colour(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_COLOR", "1")
    terminal = Screen(80, 24)
    run_on(terminal.console)
    styles = re.findall(r"\x1b\[([0-9;]*)m", terminal.text.getvalue())
    assert set(styles) <= {"0", "1", "2"}


def test_what_a_scheduler_prints_stays_readable(monkeypatch, capsys):
    monkeypatch.setenv("TERM", "xterm")
    terminal = Screen(80, 24)
    model = grid_of(1, count=40)
    with Dashboard(model, "a run", terminal.console):
        print("a scheduler's own words")
    assert "a scheduler's own words" in terminal.text.getvalue()
    assert not capsys.readouterr().out


def test_an_interrupted_run_keeps_its_last_picture(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    terminal = Screen(80, 24)
    model = grid_of(4)

    def interrupted():
        with Dashboard(model, "a run", terminal.console):
            model.step()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert f"time {instant(model.now)}" in terminal.screen.display[1]


def test_another_size_of_the_terminal_is_followed(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    terminal = Screen(200, 60)
    model = grid_of(4)
    with Dashboard(model, "a run", terminal.console, refresh=1e9) as dashboard:
        model.step()
        dashboard._draw()
        terminal.console.size = 80, 24
        terminal.screen.resize(24, 80)
        dashboard._draw()
    assert terminal.screen.display[0].startswith("── a run ──")
    assert terminal.screen.display[3].startswith("── Clusters: ")


def test_dashboard_changes_no_result():
    with_it = run_on(Console(file=io.StringIO(), width=80, height=24), count=200)
    without = grid_of(4, count=200)
    without.run()
    assert np.array_equal(with_it.world.log.records(), without.world.log.records())


def test_svg(tmp_path):
    model = grid_of(4)
    model.step()
    path = tmp_path / "picture.svg"
    save_svg(model, "a run", path, elapsed=2.0)
    text = path.read_text(encoding="utf-8").replace("&#160;", " ")
    assert text.startswith("<svg")
    assert "metasched: a run" in text
    done = model.world.state.completed
    assert f"{done} of 400 jobs done" in text
    assert f"{done / 2:,.1f} jobs/s" in text


@pytest.mark.parametrize(("start", "told"), [(datetime(2003, 2, 3, 8), True), (None, False)])
def test_the_date_of_a_log_is_shown_beside_the_time(start, told):
    jobs = job_table(1)
    jobs["arrival"], jobs["size"], jobs["runtime"] = 7200.0, 1, 60.0
    start = start and start.replace(tzinfo=SITES_CLOCK)
    platform = Platform.star([4])
    model = GridModel(platform, Table(jobs, start=start), FirstFitScheduler, FcfsScheduler)
    while model.now < 7200.0:
        model.step()
    status = Picture(model, "a run").status(Progress((), None, None, None), 200).plain
    assert ("(2003-02-03 10:0" in status) == told
    assert ("(2 h" in status or "(120 min" in status) != told

"""What keys turn to, and what is said of each number."""

from __future__ import annotations

import re

import pytest
from rich.text import Text

from agents.coallocation.largest_first import LargestFreeFirstScheduler
from agents.disciplines import FcfsScheduler
from experiments.live import dashboard as dashboards
from experiments.live import meanings, pacing
from experiments.live.columns import UNICODE
from experiments.live.controls import Controls
from experiments.live.dashboard import Dashboard
from experiments.live.help import help_panel
from experiments.live.panels import (
    NOT_SCROLLED,
    cluster_columns,
    heads,
    job_columns,
    messages_panel,
)
from experiments.live.picture import CLUSTERS, HELP, JOBS, OVERVIEW, Picture, View
from experiments.scenario.scenario import Scenario
from tests.experiments.watched import UNKNOWN, Screen, grid_of


class Typed:
    """A keyboard on which keys are pressed one after the other, and then none any more."""

    missing = ""

    def __init__(self, *keys):
        self.keys = list(keys)

    def wait(self, seconds):
        return self.keys.pop(0) if self.keys else ""


@pytest.fixture
def watched(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(pacing, "sleep", lambda seconds: None)
    model, terminal = grid_of(30, count=200), Screen(80, 24)
    model.step()
    dashboard = Dashboard(model, "a run", terminal.console)

    def press(*keys):
        controls.listen(Typed(*keys))
        for _ in keys:
            controls.hold(lambda: True)
        return "\n".join(terminal.screen.display)

    controls = Controls(dashboard, float("inf"))
    press.controls = controls
    dashboard.__enter__()
    return dashboard, press


@pytest.mark.thorough
def test_each_key_turns_to_its_list_and_back(watched):
    dashboard, press = watched
    for key, shown, words in (("c", CLUSTERS, "C16"), ("j", JOBS, "Jobs: "), ("?", HELP, "mean")):
        assert words in press(key)
        assert dashboard.view.shown == shown
        assert "Messages: " in press(key)
        assert dashboard.view.shown == OVERVIEW
    press("j", "KEY_ESCAPE")
    assert dashboard.view.shown == OVERVIEW


@pytest.mark.thorough
def test_lists_scroll_as_far_as_they_go(watched):
    dashboard, press = watched
    first = press("c")
    assert "C1 " in first
    assert "C30 " not in first
    assert "... 14 more clusters" in first
    assert dashboard.view.rows == 16
    assert "C1 " not in press("KEY_DOWN")
    last = press("KEY_PGDOWN", "KEY_PGDOWN", "KEY_DOWN")
    assert dashboard.view.first == 14
    assert "C30 " in last
    press("KEY_UP")
    assert dashboard.view.first == 13
    press("KEY_END")
    assert dashboard.view.first == 14
    press("KEY_HOME")
    assert dashboard.view.first == 0


@pytest.mark.thorough
def test_keys_and_the_pace_are_told_below_and_not_in_what_stays(watched):
    dashboard, press = watched
    assert "space pauses  s step  + - full speed  ? help  j jobs" in press("x")
    press(" ")
    assert press.controls.pacing.paused
    assert "PAUSED, space goes on" in press("x")
    assert "+ - a run of 30 s" in press("-")
    dashboard.__exit__(None, None, None)
    assert "? help" not in "".join(dashboard.console.file.screen.display)


@pytest.mark.thorough
def test_a_pause_changes_neither_rate_nor_time(monkeypatch):
    wall = [0.0]

    class Idle(Typed):
        def wait(self, seconds):
            wall[0] += seconds
            return super().wait(seconds)

    for module in (pacing, dashboards):
        monkeypatch.setattr(module, "perf_counter", lambda: wall[0])
    monkeypatch.setenv("TERM", "xterm")
    model = grid_of(30, count=200)
    model.interval = 0.5
    with Dashboard(model, "a run", Screen(80, 24).console) as dashboard:
        controls, draw = Controls(dashboard, float("inf")), dashboard.update

        def update():
            draw()
            wall[0] += 0.01  # which drawing takes

        monkeypatch.setattr(dashboard, "update", update)
        while dashboards.jobs_done(model) < 100:
            model.step()
            wall[0] += 0.5
            dashboard.update()
        before = dashboard._progress()
        assert before.rate
        controls.listen(Idle(" "))
        end = wall[0] + 100
        controls.hold(lambda: wall[0] > end)
        after = dashboard._progress()
    assert wall[0] > end
    assert after.rate == pytest.approx(before.rate, rel=0.1)
    assert after.elapsed == pytest.approx(before.elapsed, abs=0.1)


@pytest.mark.thorough
def test_it_is_told_on_which_side_there_are_more_lines_of_help(watched):
    _, press = watched
    assert re.search(r"\.\.\. \d+ lines below: arrows scroll", press("?"))
    assert re.search(r"\.\.\. 1 line above, \d+ lines below: arrows", press("KEY_DOWN"))
    assert re.search(r"\.\.\. \d+ lines above: arrows scroll", press("KEY_END"))


@pytest.mark.thorough
def test_what_is_left_out_is_of_the_clusters_that_are_not_shown():
    model = grid_of(30, count=200)
    model.step()
    view = View(CLUSTERS, first=5)
    lines = [line.plain for line in Picture(model, "a run").lines(UNKNOWN, 80, 20, view)]
    assert lines[5].startswith("C6 ")
    held = model.world.state.up - model.world.state.free
    rest = held[:5].sum() + held[5 + view.rows :].sum()
    left = f"... 5 clusters above, {25 - view.rows} below, {rest:,} processors busy"
    assert any(left in line for line in lines)


def test_each_job_that_is_there_is_listed_with_where_it_is():
    model = grid_of(2, count=60)
    model.step()
    running = int(model.world.state.running_count.sum())
    lines = [line.plain for line in Picture(model, "").lines(UNKNOWN, 100, 90, View(JOBS))]
    assert lines[3].startswith(f"── Jobs: {running} running")
    rows = [line for line in lines if "runs on C" in line or "waits at C" in line]
    assert sum("runs on C" in line for line in rows) == running
    state = model.world.state
    assert sum("waits at C" in line for line in rows) == state.waiting[:2].sum()


def test_a_split_job_is_on_several_clusters():
    model = grid_of(4, world=LargestFreeFirstScheduler, local=FcfsScheduler, count=400)
    parts = []
    while model.running and not parts:
        model.step()
        lines = Picture(model, "").lines(UNKNOWN, 100, 90, View(JOBS))
        parts = [line.plain for line in lines if " + C" in line.plain]
    assert parts


def test_each_heading_is_explained():
    model = grid_of(4)
    model.step()
    slots = model.world.jobs["status"].nonzero()[0]
    of_clusters = cluster_columns(model, UNICODE, range(4))
    assert set(heads(of_clusters)) - meanings.CLUSTERS.keys() == {"cluster", ""}
    of_jobs = job_columns(model, model.world.platform.names, slots)
    assert set(heads(of_jobs)) - meanings.JOBS.keys() == {"where"}
    text = "\n".join(line.plain for line in help_panel(model, UNICODE, 100, 90, NOT_SCROLLED))
    for term in ("CP", "gens", "news age", "ETA", "jobs/s", "advertisement", "deadline"):
        assert f"\n{term} " in text
    for term in ("restarts", "of capacity", "rejected"):  # of which this run has none
        assert f"\n{term} " not in text
    assert set(meanings.BRIEF) <= meanings.CLUSTERS.keys()
    assert all(isinstance(line, Text) for line in help_panel(model, UNICODE, 30, 9, NOT_SCROLLED))


@pytest.mark.thorough
def test_the_kinds_of_messages_add_up_and_are_explained():
    model = Scenario.load("hierarchy").changed("jobs=20", global_scheduler="a4").model(0)
    model.run()
    _, told = messages_panel(model, (), UNICODE, 200, 9)
    kinds = dict(each.replace(",", "").split() for each in told.plain.split(", "))
    assert int(kinds["discovery"]) == model.discovery_messages > 0
    assert sum(map(int, kinds.values())) == model.messages
    text = "\n".join(line.plain for line in help_panel(model, UNICODE, 100, 90, NOT_SCROLLED))
    assert all(f"\n{kind} " in text for kind in kinds)

"""How long a run that is watched takes."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from agents.balancers import DynamicLeastLoadScheduler
from agents.disciplines import FcfsScheduler
from experiments.live import pacing as module
from experiments.live.pacing import LAG, LEAST, SLICE, Pacing
from grid.errors import GridError

from .watched import grid_of


@pytest.fixture
def wall(monkeypatch):
    """A clock that sleeping moves."""
    clock = SimpleNamespace(now=100.0, slept=[])

    def sleep(seconds):
        clock.slept.append(seconds)
        clock.now += seconds

    monkeypatch.setattr(module, "perf_counter", lambda: clock.now)
    monkeypatch.setattr(module, "sleep", sleep)
    return clock


def never():
    return False


def paced(model, wall, pace, each=0.0, first=0.0):
    """Run a model whose steps take `each` seconds of wall time, the first one more."""
    pacing = Pacing(model, pace)
    began = wall.now
    wall.now += first
    while model.running:
        model.step()
        wall.now += each
        pacing.hold(lambda: None, never)
    return wall.now - began


def test_a_watched_run_takes_half_a_minute(wall):
    assert paced(grid_of(4), wall, None) == pytest.approx(LEAST)
    assert max(wall.slept) <= SLICE


def test_so_does_one_whose_steps_take_their_time(wall):
    assert paced(grid_of(4), wall, None, each=0.01) == pytest.approx(LEAST, abs=0.5)


def test_a_slow_run_is_not_held_back(wall):
    model = grid_of(4)
    assert paced(model, wall, None, each=20.0) == pytest.approx(20.0 * model.steps)


def test_what_follows_a_slow_first_step_does_not_rush_by(wall):
    # Of the half minute, what stands for the first step itself is not added.
    took = paced(grid_of(4), wall, None, first=15.0)
    assert 15.0 + 0.9 * LEAST - LAG < took < 15.0 + LEAST - LAG


@pytest.mark.parametrize("pace", [5.0, 40.0])
def test_a_pace_is_kept(wall, pace):
    model = grid_of(4, count=60)
    took = paced(model, wall, pace)
    assert took == pytest.approx(model.now / pace)
    assert model.interval == min(20.0, pace / 4)


def test_it_draws_while_it_sleeps_and_stops_when_told(wall):
    model = grid_of(4)
    pacing = Pacing(model, 10.0)
    drawn = []
    model.step()
    pacing.hold(lambda: drawn.append(wall.now), lambda: len(drawn) == 3)
    assert drawn == pytest.approx([100.0 + SLICE, 100.0 + 2 * SLICE, 100.0 + 3 * SLICE])
    model.step()
    pacing.hold(lambda: drawn.append(wall.now), never)
    assert wall.now == pytest.approx(100.0 + model.now / 10.0)


def test_pacing_changes_no_result(wall):
    rows = []
    for pace in (None, 1.0, 1e9):
        model = grid_of(4, count=60)
        paced(model, wall, pace)
        rows.append(model.world.records().rows.tobytes())
    assert rows[0] == rows[1] == rows[2]


def test_a_compiled_policy_is_paced_too(wall):
    model = grid_of(4, world=DynamicLeastLoadScheduler, local=FcfsScheduler)
    assert paced(model, wall, None) == pytest.approx(LEAST)


@pytest.mark.parametrize("pace", [0.0, -1.0, float("nan")])
def test_a_pace_is_above_0(pace):
    with pytest.raises(GridError, match=r"^pace: found .*; accepted: .* above 0$"):
        Pacing(grid_of(1), pace)

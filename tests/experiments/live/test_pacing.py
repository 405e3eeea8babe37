"""How long a run that is watched takes."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from agents.balancers import DynamicLeastLoadScheduler
from agents.disciplines import FcfsScheduler
from agents.model import GridModel
from experiments.live import pacing as module
from experiments.live.pacing import LAG, LEAST, SLICE, Pacing
from grid.errors import GridError
from grid.platform.multicluster import Platform
from tests.experiments.watched import FewJobs, grid_of


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


def with_gaps():
    """A model in which nothing happens for long."""
    jobs = [{"number": i, "size": 2, "runtime": 100.0, "arrival": 400.0 * i} for i in range(3)]
    return GridModel(
        Platform.star([4]), FewJobs(*jobs), DynamicLeastLoadScheduler, FcfsScheduler, interval=4.0
    )


def clocks(model, wall, pace):
    """Run a model; return the wall times at which it was looked at, and what its clock showed."""
    pacing, seen = Pacing(model, pace), []
    while model.running:
        model.step()
        pacing.hold(lambda: seen.append((wall.now - 100.0, model.now)), never)
    return np.array(seen).T


@pytest.mark.parametrize("pace", [10.0, 200.0])
def test_the_clock_keeps_its_pace_where_nothing_happens(wall, pace):
    model = with_gaps()
    at, shown = clocks(model, wall, pace)
    assert model.now == 900.0
    assert np.abs(shown - at * pace).max() <= pace / 4 + 1e-6


def test_the_clock_goes_on_without_a_pace_too(wall):
    model = with_gaps()
    at, shown = clocks(model, wall, None)
    assert at[-1] == pytest.approx(LEAST, abs=0.5)
    assert np.diff(shown).max() <= 20.0
    under_way = shown[shown < model.now]
    second = round(1.0 / SLICE)
    assert (under_way[second:] > under_way[:-second]).all()


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
    for make in (lambda: grid_of(4, count=60), with_gaps):
        alone = make()
        alone.run()
        for pace in (None, 1.0, 1e9):
            model = make()
            paced(model, wall, pace)
            rows = model.world.log.records().rows.tobytes()
            assert rows == alone.world.log.records().rows.tobytes()
            assert (model.now, model.messages) == (alone.now, alone.messages)


def test_a_compiled_policy_is_paced_too(wall):
    model = grid_of(4, world=DynamicLeastLoadScheduler, local=FcfsScheduler)
    assert paced(model, wall, None) == pytest.approx(LEAST)


@pytest.mark.parametrize("pace", [0.0, -1.0, float("nan")])
def test_a_pace_is_above_0(pace):
    with pytest.raises(GridError, match=r"^pace: found .*; accepted: .* above 0$"):
        Pacing(grid_of(1), pace)

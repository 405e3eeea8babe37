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


# Keys ---------------------------------------------------------------------------------------------


def pressing(wall, model, pace, presses):
    """Return a pacing of which something is asked at a time each, s after its beginning."""
    began, left = wall.now, sorted(presses.items())

    def wait(seconds):
        wall.now += seconds
        while left and wall.now - began >= left[0][0]:
            left.pop(0)[1](pacing)

    pacing = Pacing(model, pace, wait)
    return pacing


def test_a_paused_run_makes_no_step_until_it_goes_on(wall):
    model = grid_of(4, count=60)
    pacing = pressing(wall, model, 10.0, {0.0: Pacing.pause, 50.0: Pacing.pause})
    began = wall.now
    model.step()
    pacing.hold(lambda: None, never)
    assert wall.now - began == pytest.approx(50.0, abs=2 * SLICE)
    assert pacing.idle == pytest.approx(50.0, abs=2 * SLICE)
    resumed, at = wall.now, model.now
    while model.running:
        model.step()
        pacing.hold(lambda: None, never)
    assert wall.now - resumed == pytest.approx((model.now - at) / 10.0)


def test_a_step_is_one_and_the_run_is_paused_then(wall):
    model = with_gaps()
    presses = {0.0: Pacing.step, 10.0: Pacing.step, 20.0: Pacing.step, 30.0: Pacing.pause}
    pacing = pressing(wall, model, 1e-3, presses)
    left, clocks = [], []
    for _ in range(4):
        model.step()
        pacing.hold(lambda: None, lambda: wall.now > 190.0)
        left.append(wall.now - 100.0)
        clocks.append(model.now)
    assert left[:3] == pytest.approx([0.0, 10.0, 20.0], abs=2 * SLICE)
    assert left[3] > 30.0
    assert clocks[1] - clocks[0] >= model.interval  # whole intervals, however slow the pace


def test_a_run_goes_faster_and_slower(wall):
    for factor, speed in ((2.0, "20 simulated s/s"), (0.5, "5 simulated s/s")):
        model = grid_of(4, count=60)
        pacing = Pacing(model, 10.0)
        pacing.change(factor)
        began = wall.now
        assert pacing.speed == speed
        while model.running:
            model.step()
            pacing.hold(lambda: None, never)
        assert wall.now - began == pytest.approx(model.now / (10.0 * factor))


def test_a_run_at_full_speed_can_be_slowed_down_to_watch_it():
    pacing = Pacing(grid_of(1), float("inf"))
    pacing.change(2.0)
    assert pacing.speed == "full speed"
    pacing.change(0.5)
    assert pacing.speed == "a run of 30 s"
    pacing.change(0.5)
    assert pacing.speed == "a run of 60 s"

"""How long runs will take yet is right within a factor of two once a tenth of the work is done."""

from __future__ import annotations

import heapq
import random

import pytest

from experiments.scenario.scenario import Scenario
from experiments.sweeps import executors
from experiments.sweeps.forecast import Forecast, UnderWay
from experiments.sweeps.sweep import Run, _in_order
from grid.platform.multicluster import Platform

TENTH = 0.1


class Kind:
    """Runs that take so long each, and were estimated to; spread is that of their logarithms."""

    def __init__(self, name, count, estimate, takes, spread=0.0):
        self.name, self.count, self.estimate = name, count, estimate
        self.takes, self.spread = takes, spread


def in_order(kinds, seed=0):
    """Return the runs in the order of a sweep: kind, estimate and the time that each takes, s."""
    draw = random.Random(seed)
    runs = {
        f"{kind.name}-{number}": (
            kind.name,
            kind.estimate,
            kind.takes * draw.lognormvariate(0.0, kind.spread),
        )
        for kind in kinds
        for number in range(kind.count)
    }
    of = {key: Run(None, 0, (name,), None) for key, (name, _, _) in runs.items()}
    return [runs[key] for key in _in_order(of, {key: run[1] for key, run in runs.items()})]


def told_and_true(runs, workers, slow=lambda at: 1.0, reports=True, known=True):
    """Return what is told to be left, s, when a tenth of the work is done, and what is.

    Parameters
    ----------
    slow : callable
        How many times longer a run takes that begins at a time, for the machine is busy.
    reports : bool
        Workers tell how far they have come.
    """
    free, spans = [0.0] * workers, []
    for piece, (_, _, takes) in enumerate(runs):
        begin = heapq.heappop(free)
        spans.append((begin, begin + takes * slow(begin), piece))
        heapq.heappush(free, spans[-1][1])
    work = sum(end - begin for begin, end, _ in spans)
    last = max(end for _, end, _ in spans)

    def done(at):
        return sum(max(0.0, min(at, end) - begin) for begin, end, _ in spans)

    low, high = 0.0, last
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if done(middle) < TENTH * work else (low, middle)
    forecast = Forecast([[((kind,), estimate)] for kind, estimate, _ in runs], workers, known)
    under_way = []
    for end, begin, piece in sorted((end, begin, piece) for begin, end, piece in spans):
        if end <= high:
            forecast.end(piece, [end - begin], end)
        elif begin < high and reports:
            under_way.append(UnderWay(piece, (high - begin) / (end - begin), high - begin))
    return forecast.left(high, under_way), last - high


def assert_right(told, true):
    assert true / 2 <= told <= true * 2


SLOW_POLICY = [Kind("quick", 300, 1.0, 1.2, 0.3), Kind("slow", 300, 2.0, 40.0, 0.3)]
"""The estimate is 15 minutes, and it takes more than three hours."""
ALL_WRONG = [Kind(k, 20, 1.0, 16.0, 0.3) for k in range(30)]
TOO_LONG = [Kind(k, 20, 16.0, 1.0 + k % 3, 0.3) for k in range(10)]
MIXED = [Kind(k, 30, 2.0**k, 2.0 ** (k + (-1) ** k), 0.3) for k in range(-3, 8)]
FEW_LONG = [Kind("long", 8, 60.0, 1000.0)]


@pytest.mark.sampled(8)
@pytest.mark.parametrize("workers", [1, 2, 4])
@pytest.mark.parametrize(
    "kinds",
    [SLOW_POLICY, ALL_WRONG, TOO_LONG, MIXED, FEW_LONG],
    ids=["slow policy", "all wrong", "too long", "mixed", "few long"],
)
@pytest.mark.parametrize("busy", [1.0, 7.0])
@pytest.mark.parametrize("known", [True, False])
def test_after_a_tenth_of_the_work_the_time_left_is_right_within_a_factor_of_two(
    kinds, workers, busy, known
):
    for seed in range(5):
        runs = in_order(kinds, seed)
        assert_right(*told_and_true(runs, workers, lambda at: busy, known=known))


@pytest.mark.parametrize("workers", [1, 2, 4, 16])
def test_workers_that_tell_nothing_are_told_by_what_has_ended(workers):
    for seed in range(5):
        for kinds in (SLOW_POLICY, ALL_WRONG):
            runs = in_order(kinds, seed)
            assert_right(*told_and_true(runs, workers, reports=False))


def test_a_machine_that_was_busy_for_the_beginning_of_the_measurement_only():
    runs = in_order(ALL_WRONG)
    told, true = told_and_true(runs, 2, lambda at: 3.0 if at < 100.0 else 1.0)
    assert_right(told, true)


def test_a_run_of_each_kind_comes_first_and_the_longest_do_not_come_last():
    kinds = [Kind("a", 3, 5.0, 5.0), Kind("b", 2, 9.0, 9.0), Kind("c", 1, 1.0, 1.0)]
    assert [name for name, _, _ in in_order(kinds)] == ["b", "a", "c", "b", "a", "a"]


def test_at_first_the_estimates_tell():
    runs = [[("b", 40.0)], [("a", 10.0)], [("a", 10.0)]]
    assert Forecast(runs, 1).left(0.0) == pytest.approx(60.0)
    assert Forecast(runs, 2).left(0.0) == pytest.approx(40.0)  # of the longest alone
    assert Forecast(runs, 1, known=False).left(0.0) is None
    assert Forecast([]).left(0.0) == 0.0


def test_a_piece_that_takes_many_times_as_long_as_others_tells_nothing_of_them():
    """As one of which something is compiled."""
    forecast = Forecast([[("a", 1.0)]] * 20, 1, known=False)
    forecast.end(0, [2.0], 2.0)
    assert forecast.left(4.0) == pytest.approx(36.0)
    assert forecast.left(60.0) is None
    forecast.end(1, [58.0], 60.0)
    assert forecast.left(60.0) > 0


def test_what_is_told_of_pieces_that_have_ended_or_never_were_is_left_out():
    forecast = Forecast([[("a", 10.0)], [("a", 10.0)]], 1)
    forecast.end(0, [10.0], 10.0)
    expected = forecast.left(10.0)
    assert forecast.left(10.0, [UnderWay(0, 0.5, 5.0), UnderWay(7, 0.5, 5.0)]) == expected
    forecast.end(1, [10.0], 20.0)
    assert forecast.left(20.0) == 0.0


def test_a_piece_that_comes_later_counts():
    forecast = Forecast([[("a", 1.0)]], 1)
    forecast.expect(1, [("a", 1.0), ("a", 1.0)])
    assert forecast.runs == 3
    forecast.end(0, [5.0], 5.0)
    assert forecast.left(5.0) == pytest.approx(10.0, rel=0.1)


def test_pieces_of_no_time_are_no_reason_to_fail():
    forecast = Forecast([[("a", 0.0)], [("a", 0.0)]], 2)
    assert forecast.left(0.0) in (None, 0.0)
    forecast.end(1, [1.0], 1.0)
    assert forecast.left(1.0) is None
    forecast.end(0, [1.0], 1.0)
    assert forecast.left(1.0) == 0.0


def test_a_worker_tells_of_its_piece_how_much_is_done(monkeypatch):
    places, now = [-1.0, 0.0, 0.0] * 2, [50.0]
    monkeypatch.setattr(executors.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(executors, "_desk", executors._Desk(places, 1))
    model = Scenario("tiny", Platform.star([4]), {"mode": "open", "jobs": 8}, "dll", "fcfs").model()
    executors.at_piece(3, 0.5, 0.4, jobs=8)
    assert places == [-1.0, 0.0, 0.0, 3.0, 0.5, 0.0]
    for _ in executors.steps(model):
        now[0] += 1.0
        assert places[:4] == [-1.0, 0.0, 0.0, 3.0]
        assert places[4] == pytest.approx(0.5 + 0.4 * len(model.world.log.records()) / 8)
    assert places[4:] == [pytest.approx(0.9), now[0] - 51.0]
    executors.at_piece(3, 0.9, 0.1, jobs=8)
    assert places[3:] == [3.0, 0.9, now[0] - 50.0]
    executors.at_piece(4, 0.0, 1.0, jobs=8)
    assert places[3:] == [4.0, 0.0, 0.0]

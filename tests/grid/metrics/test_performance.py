import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grid.errors import GridError
from grid.metrics.performance import (
    check_weights,
    comprehensive_performance,
    idle_time,
    mean_comprehensive_performance,
    over_deadline,
    performance_balance,
)

metric = st.floats(0, 1e6)
weight = st.floats(0.01, 100)


def test_each_weight_goes_with_its_own_metric():
    assert comprehensive_performance(7.0, 11.0, 13.0, (1, 0, 0)) == 7.0
    assert comprehensive_performance(7.0, 11.0, 13.0, (0, 1, 0)) == 11.0
    assert comprehensive_performance(7.0, 11.0, 13.0, (0, 0, 1)) == 13.0


@given(metric, metric, metric, weight, weight, weight)
def test_cp_is_the_weighted_mean_whatever_the_scale(over, makespan, idle, wo, wm, wi):
    expected = statistics.fmean([over, makespan, idle], [wo, wm, wi])
    assert comprehensive_performance(over, makespan, idle, (wo, wm, wi)) == pytest.approx(expected)
    assert comprehensive_performance(
        over, makespan, idle, (8 * wo, 8 * wm, 8 * wi)
    ) == pytest.approx(expected)


@pytest.mark.parametrize(
    "weights",
    [
        (0, 0, 0),
        (1, -1, 1),
        (1, math.nan, 1),
        (1, math.inf, 1),
        (1e308, 1e308, 1e308),
        (1, 2),
        (1, 2, 3, 4),
        "abc",
        ("x", 1, 1),
        None,
    ],
)
def test_bad_weights_are_refused_in_one_line(weights):
    with pytest.raises(GridError, match=r"weights: found .*; accepted") as caught:
        check_weights(weights)
    assert "\n" not in str(caught.value)


def test_over_deadline_sums_only_what_is_late():
    assert over_deadline([10.0, 2.0, 7.0], [4.0, 5.0, math.inf]) == 6.0
    assert over_deadline([], []) == 0.0


def test_processors_held_beyond_the_makespan_are_busy_to_the_end():
    assert idle_time([100.0, 0.0], makespan=10.0, work=4.0) == 6.0
    assert idle_time([100.0, 0.0], makespan=10.0, work=4.0, kind="mean") == 3.0


def test_unknown_idle_time_is_refused():
    with pytest.raises(GridError, match="idle: found 'median'; accepted are total, mean"):
        idle_time([0.0], 1.0, 1.0, kind="median")


@given(st.lists(st.tuples(metric, st.integers(0, 20)), min_size=2, max_size=6))
def test_mcp_and_balance_against_one_entry_a_job(clusters):
    cps, jobs = zip(*clusters, strict=True)
    entries = [cp for cp, count in clusters for _ in range(count)] or [0.0]
    mcp = statistics.fmean(entries)
    assert mean_comprehensive_performance(cps, jobs) == pytest.approx(mcp)
    squares = [(cp - mcp) ** 2 for cp in cps]
    assert performance_balance(cps, jobs) == pytest.approx(
        math.sqrt(sum(squares) / (len(cps) - 1)), abs=1e-9
    )


def test_one_cluster_is_balanced():
    assert performance_balance([5.0], [3]) == 0.0

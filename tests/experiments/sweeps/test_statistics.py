"""Confidence intervals against scipy, a printed table, and their own promise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from experiments.sweeps.statistics import mean_interval, ratio_interval


def test_half_width_is_that_of_scipy():
    values = np.random.default_rng(1).gamma(2.0, 3.0, 17)
    interval = mean_interval(values)
    low, high = stats.t.interval(0.95, 16, loc=values.mean(), scale=stats.sem(values))
    assert (interval.low, interval.high) == pytest.approx((low, high))


@pytest.mark.parametrize(("count", "quantile"), [(2, 12.706), (3, 4.303), (11, 2.228)])
def test_half_width_is_that_of_the_printed_table(count, quantile):
    values = np.arange(count, dtype=float)
    expected = quantile * values.std(ddof=1) / np.sqrt(count)
    assert mean_interval(values).half_width == pytest.approx(expected, rel=1e-3)


def test_one_observation_has_no_interval():
    interval = mean_interval([3.0])
    assert interval[:2] == (3.0, None)
    assert (interval.low, interval.high) == (-np.inf, np.inf)


def test_rounding_is_no_interval():
    values = np.array([100.0, 100.3, 99.1])
    assert mean_interval((values + 5.88) - values)[:2] == (pytest.approx(5.88), 0.0)
    assert ratio_interval(values * 0.1, values / 3)[:2] == (pytest.approx(0.3), 0.0)
    assert mean_interval([1.0, 1.0 + 1e-7, 1.0]).half_width > 0


def test_interval_of_a_mean_holds_it_as_often_as_it_says():
    rng = np.random.default_rng(7)
    samples = rng.exponential(2.0, (2000, 40))
    intervals = [mean_interval(sample) for sample in samples]
    held = np.mean([each.low <= 2.0 <= each.high for each in intervals])
    assert held == pytest.approx(0.95, abs=0.03)


def test_interval_of_a_ratio_holds_it_as_often_as_it_says():
    rng = np.random.default_rng(8)
    bottoms = rng.gamma(4.0, 1.0, (2000, 40))
    tops = 0.7 * bottoms + rng.normal(0.0, 0.5, bottoms.shape)
    intervals = [ratio_interval(*pair) for pair in zip(tops, bottoms, strict=True)]
    assert np.mean([each.low <= 0.7 <= each.high for each in intervals]) == pytest.approx(
        0.95, abs=0.03
    )
    unpaired = [mean_interval(top) for top in tops]
    assert np.mean([a.half_width for a in intervals]) < np.mean(
        [a.half_width / 4.0 for a in unpaired]
    )

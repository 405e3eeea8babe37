"""Percentiles, exact and from a histogram."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grid.metrics import percentiles
from grid.metrics.percentiles import ERROR, Percentiles


def of(values, at_once):
    found = Percentiles()
    for part in np.array_split(values, max(1, len(values) // at_once)):
        found.add(part)
    return found


def test_of_no_values_there_is_none():
    assert Percentiles().at(95) is None


def test_few_values_give_what_numpy_says():
    values = np.random.default_rng(1).exponential(100, 10_000)
    found = of(values, 64)
    assert found.exact
    assert found.at(95) == np.percentile(values, 95)
    found.add(np.array([1e9] * 1000))
    assert found.at(95) == np.percentile([*values, *[1e9] * 1000], 95)


@pytest.mark.parametrize("at_once", [100, 3000])
def test_many_values_are_within_the_error_whatever_their_order(at_once, monkeypatch):
    monkeypatch.setattr(percentiles, "EXACT", 5000)
    values = np.random.default_rng(2).lognormal(5, 4, 30_000)
    values[::3] = 0.0
    found = of(values, at_once)
    assert not found.exact
    for percent in (0, 20, 33, 34, 50, 95, 99.9, 100):
        right = np.percentile(values, percent, method="lower")
        assert found.at(percent) == pytest.approx(right, rel=1.01 * ERROR)
    assert of(values[::-1], at_once).at(95) == found.at(95)


@given(st.lists(st.floats(1e-5, 1e17), min_size=1, max_size=50), st.floats(0, 100))
def test_the_error_holds_for_all_sizes_of_values(values, percent):
    found = Percentiles()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(percentiles, "EXACT", 0)
        found.add(np.array(values))
    right = np.percentile(values, percent, method="lower")
    assert found.at(percent) == pytest.approx(right, rel=1.01 * ERROR)

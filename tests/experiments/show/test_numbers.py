"""Numbers, times and metrics are told in one way."""

from __future__ import annotations

import math

import pytest

from experiments.show.labels import METRICS, UNITS, heading, label, scale_of, told
from experiments.show.numbers import PERCENT, PLAIN, duration, number, percent, time_scale


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.0, "0 s"),
        (0.0123, "0.0123 s"),
        (119.9, "120 s"),
        (120.0, "2 min"),
        (7199.0, "120 min"),
        (7200.0, "2 h"),
        (172_799.0, "48.0 h"),
        (172_800.0, "2 d"),
        (-9000.0, "-2.50 h"),
        (math.inf, "∞ d"),
        (math.nan, "-"),
    ],
)
def test_times(seconds, words):
    assert duration(seconds) == words


def test_a_column_has_one_unit_that_of_its_largest_value():
    scale = scale_of("mean_wait", [None, 1.0, 9000.0, math.nan])
    assert heading("mean_wait", scale) == "mean wait, h"
    assert [scale.told(each) for each in (1.0, 9000.0, None)] == ["0.000278", "2.50", "-"]
    assert scale_of("mean_wait", []) == time_scale(0.0)


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([0.855, 0.848, 0.7904004, 0.902], ["0.855", "0.848", "0.790", "0.902"]),
        ([1.001, 1.0, None, math.inf], ["1.00", "1.00", "-", "∞"]),
        ([75.0, 75.1, 0.0, 1200.0], ["75.0", "75.1", "0", "1,200"]),
        ([5.0, 1.0, 40.0], ["5", "1", "40"]),
        ([123.0, 1.0, 0.25], ["123", "1.00", "0.250"]),
        ([3.55e-4, 36.7], ["< 0.001", "36.7"]),
        ([3.55e-4, 0.5], ["0.000355", "0.500"]),
    ],
)
def test_a_column_has_three_digits_unless_all_its_numbers_are_whole(values, texts):
    assert PLAIN.column(values) == texts


def test_whole_percentages_are_whole_whatever_rounding_makes_of_them():
    shares = [each / 100 for each in range(101)]
    assert PERCENT.column(shares) == [f"{each}" for each in range(101)]
    assert [PERCENT.told(each) for each in shares] == PERCENT.column(shares)


def test_nothing_small_becomes_nothing_and_nothing_becomes_all():
    assert number(0.000123) == "0.000123"
    assert number(-0.0) == "0"
    assert percent(1e-9) == "< 0.1 %"
    assert percent(1 - 1e-9) == "> 99.9 %"


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_has_a_label_and_a_unit(name):
    assert label(name)
    assert "_" not in label(name)
    assert METRICS[name].kind in UNITS
    assert told(name, None) == "-"
    assert told(name, 0.0).startswith("0")


def test_a_metric_of_the_users_own_keeps_its_name():
    assert label("my_metric") == "my_metric"
    assert told("my_metric", 3228.0, 992.0) == "3,228 ± 992"

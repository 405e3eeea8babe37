"""Watts, prices and carbon intensities of clusters, and series of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grid.errors import GridError
from grid.named_files import files_of, located
from grid.platform.energy import EnergySettings, Series, powers, read_series


@given(
    values=st.lists(st.floats(0, 500), min_size=1, max_size=9),
    step=st.sampled_from([1.0, 900.0, 3600.0]),
    begin=st.floats(0, 40_000),
    length=st.floats(0, 40_000),
)
def test_an_integral_is_the_sum_over_steps(values, step, begin, length):
    series, end = Series(values, step), begin + length
    first, last = series.integral(np.array([begin, end]))
    parts = []
    for place in range(int(begin // step), int(end // step) + 1):
        within = min(end, (place + 1) * step) - max(begin, place * step)
        parts.append(max(0.0, within) * values[place % len(values)])
        assert series.at((place + 0.5) * step) == values[place % len(values)]
    assert last - first == pytest.approx(math.fsum(parts), rel=1e-9, abs=1e-3)


def test_a_series_that_began_before_is_the_same_later():
    from_0, before = Series([1.0, 5.0, 3.0], 10.0), Series([1.0, 5.0, 3.0], 10.0, ahead=14.0)
    times = np.linspace(0.0, 95.0, 39)
    assert [before.at(time) for time in times] == [from_0.at(time + 14.0) for time in times]
    over = before.integral(times) - before.integral(np.zeros(1))
    later = from_0.integral(times + 14.0) - from_0.integral(np.array([14.0]))
    assert over == pytest.approx(later)


DATES = "time,value\n2003-03-30T00:00+01:00,1\n2003-03-30T03:00+02:00,2\n2003-03-30T04:00Z,3\n"


def test_dates_of_a_series_are_instants(tmp_path):
    path = tmp_path / "carbon.csv"
    path.write_text(DATES.replace("04:00Z", "03:00Z"))
    series = read_series(path, "carbon", "2003-03-30T00:30:00+01:00")
    assert (series.step, series.ahead, series.length) == (7200.0, 1800.0, 21600.0)
    assert [series.at(hour * 3600.0) for hour in (0, 1, 2, 3.5, 5, 6)] == [1, 1, 2, 3, 3, 1]
    path.write_text("time,value\n2003-03-30,1\n2003-03-31,2\n")  # of a clock of no known zone
    assert read_series(path, "carbon", "2003-03-31T06:00:00").at(0.0) == 2
    with pytest.raises(GridError, match=":2: found '2003-03-30'; accepted: a date with its zone"):
        read_series(path, "carbon", "2003-03-31T06:00:00+01:00")


@pytest.mark.parametrize(
    ("text", "start", "told"),
    [
        (
            DATES,
            "2003-03-30T00:00:00+01:00",
            ":4: time is '2003-03-30T04:00Z'; accepted: 2 h",
        ),
        (DATES, "", ":2: found '2003-03-30T00:00+01:00'; accepted: seconds, for it is not known"),
        (DATES, "2003-03-30T00:00:00", ":2: found '2003-03-30T00:00+01:00'; accepted: a date with"),
        (
            "time,value\n2003-03-30,1\n",
            "2003-03-29T23:00:00",
            "time 0 of the run, 2003-03-29",
        ),
        (
            "time,value\n2003-03-30,1\n",
            "2003-03-30T01:00:00",
            "time 0 of the run, 2003-03-30",
        ),
        ("time,value\n2003-03-30,1\n", "2003-03-30T00:00:00", ": found one date; accepted: two"),
        ("time,value\n2003-03-30,1\n3600,1\n", "2003-03-30T00:00:00", ":3: found '3600'; accepted"),
        ("time,value\n0,1\n2003-03-30,1\n", "2003-03-30T00:00:00", ":3: found '2003-03-30'; acce"),
    ],
)
def test_dates_that_do_not_tell_of_the_run_are_refused(text, start, told, tmp_path):
    path = tmp_path / "carbon.csv"
    path.write_text(text)
    with pytest.raises(GridError) as caught:
        read_series(path, "carbon", start)
    assert str(caught.value).startswith(f"carbon: {path}:")
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", ":1: found ''; accepted: time,value"),
        ("hour,value\n0,1\n", ":1: found 'hour,value'; accepted: time,value"),
        ("time,value\n", ": found no row; accepted: one at least"),
        ("time,value\n0,1\n3600,x\n", ":3: found 'x'; accepted: a number up to 1e+09"),
        ("time,value\n0,nan\n", ":2: found 'nan'; accepted: a number up to 1e+09"),
        ("time,value\n0,1,2\n", ":2: found 3 cells; accepted: 2"),
        ("time,value\n0,1\n0,2\n", ":3: time is 0; accepted: one after that of the row before"),
        ("time,value\n3600,1\n", ":2: time is 3600; accepted: 0, for times are at even steps"),
        ("time,value\n0,1\n60,1\n180,1\n", ":4: time is 180; accepted: 120, for times are at even"),
        ("time,value\n0,1\n60,1\n60,1\n", ":4: time is 60; accepted: 120, "),
        ('time,value\n0,"1\n', ": unexpected end of data; accepted: cells and commas"),
    ],
)
def test_bad_series_are_told_by_line(text, told, tmp_path):
    path = tmp_path / "carbon.csv"
    path.write_text(text)
    with pytest.raises(GridError) as caught:
        read_series(path, "carbon")
    assert str(caught.value).startswith(f"carbon: {path}:")
    assert told in str(caught.value)
    assert ("it has a gap" in str(caught.value)) == ("180" in text)


def test_a_series_of_a_file(tmp_path):
    path = tmp_path / "price.csv"
    path.write_text("time,value\n0,0.1\n\n900,-0.2\n")
    series = read_series(path, "price")
    assert (series.step, series.at(0.0), series.at(1799.0), series.at(1800.0)) == (
        900.0,
        0.1,
        -0.2,
        0.1,
    )
    path.write_text("time,value\n0,7\n")
    assert read_series(path, "price").at(1e9) == 7


def test_of_each_cluster(tmp_path):
    (tmp_path / "c.csv").write_text("time,value\n0,300\n3600,100\n")
    given_ = {"A": 50, "B": str(tmp_path / "c.csv")}
    found = powers(EnergySettings(60.0, {"A": 200.0, "B": 300.0}, 0.3, given_), ("A", "B"))
    assert [(each.idle, each.busy) for each in found] == [(60, 200), (60, 300)]
    assert [each.price.at(5.0) for each in found] == [0.3, 0.3]
    assert [each.carbon.at(4000.0) for each in found] == [50, 100]
    assert powers(EnergySettings(), ("A",)) is None
    only = powers(EnergySettings(busy_watts=9.0), ("A",))
    assert only == ((0.0, 9.0, None, None),)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"price": 3.0}, "price: found without busy_watts; accepted: beside busy_watts"),
        ({"idle_watts": 3.0}, "idle_watts: found without busy_watts; accepted: beside busy_watts"),
        (
            {"busy_watts": {"A": 9.0, "B": 5.0}, "idle_watts": 6.0},
            "idle_watts: found 6 for B; accepted: at most its busy_watts, 5",
        ),
        ({"busy_watts": {"A": 1.0}}, "busy_watts: found none of B; accepted: one of each cluster"),
        (
            {"busy_watts": {"A": 1.0, "B": 1.0, "C": 1.0}},
            "busy_watts: C: no cluster; accepted: A, B",
        ),
        ({"busy_watts": 1.0, "carbon": "none.csv"}, "carbon: none.csv: No such file or directory"),
    ],
)
def test_bad_settings(settings, told):
    with pytest.raises(GridError) as caught:
        powers(EnergySettings(**settings), ("A", "B"))
    assert str(caught.value).startswith(told)


def test_nothing_emits_less_than_nothing(tmp_path):
    (tmp_path / "c.csv").write_text("time,value\n0,300\n3600,-1\n")
    settings = EnergySettings(busy_watts=1.0, carbon=str(tmp_path / "c.csv"))
    with pytest.raises(GridError, match=r"c\.csv:3: found '-1'; accepted: g/kWh from 0"):
        powers(settings, ("A",))
    assert powers(EnergySettings(busy_watts=1.0, price=str(tmp_path / "c.csv")), ("A",))


def test_files_are_found_from_the_folder_of_who_names_them(tmp_path):
    values = {"carbon": {"A": "a.csv", "B": 3}, "price": "p.csv", "jobs": 5, "sizes": "normal"}
    found = located(values, [EnergySettings], tmp_path)
    assert found == {
        "carbon": {"A": str(tmp_path / "a.csv"), "B": 3},
        "price": str(tmp_path / "p.csv"),
        "jobs": 5,
        "sizes": "normal",
    }
    assert files_of(found, [EnergySettings]) == [str(tmp_path / "p.csv"), str(tmp_path / "a.csv")]

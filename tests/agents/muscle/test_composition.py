"""The composition table against the paper's own and against the plain implementation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.muscle import composition_table
from grid.errors import PlatformError, WorkloadError
from tests.agents.plain_muscle import table_of

TABLE_2 = """
J2 J5
J1 J5;J2 J6
J2;J1 J4 J6;J5
J3 J4;J2 J6;J1
J3;J2 J4;J1
J3;J1 J6;J4;J2
"""


def test_table_2_of_the_paper():
    table = composition_table([2, 1, 4, 3, 1, 2], 6)
    named = [[";".join(f"J{job + 1}" for job in c) for c in row] for row in table]
    assert named == [line.split() for line in TABLE_2.strip().splitlines()]


def test_a_job_is_not_joined_to_itself():
    assert composition_table([2], 4) == [[], [(0,)], [], []]


def test_a_job_larger_than_the_largest_space_appears_in_no_row():
    assert composition_table([5, 2, 3], 4) == [[], [(1,)], [(2,)], []]


def test_no_jobs():
    assert composition_table([], 2) == [[], []]


sizes_of_jobs = st.lists(st.integers(1, 12), max_size=30)


@given(sizes_of_jobs, st.integers(1, 16))
def test_equals_the_plain_implementation(sizes, max_size):
    assert composition_table(sizes, max_size) == table_of(sizes, max_size)[1:]


@given(sizes_of_jobs, st.integers(1, 16))
def test_rows_hold_what_fills_them(sizes, max_size):
    table = composition_table(sizes, max_size)
    assert len(table) == max_size
    for r, row in enumerate(table, start=1):
        jobs = [job for composition in row for job in composition]
        assert len(jobs) == len(set(jobs))
        assert all(sum(sizes[job] for job in composition) == r for composition in row)
        assert [c for c in row if len(c) == 1] == [(j,) for j, s in enumerate(sizes) if s == r]


@pytest.mark.parametrize(
    ("sizes", "where"),
    [([1, 0, 2], r"sizes\[1\]: found 0"), ([1.5], "of float64"), ([[1]], r"shape \(1, 1\)")],
)
def test_impossible_sizes_are_named(sizes, where):
    with pytest.raises(WorkloadError, match=where) as error:
        composition_table(sizes, 4)
    assert "\n" not in str(error.value)


def test_an_impossible_largest_size_is_named():
    with pytest.raises(PlatformError, match="max_size: found 0"):
        composition_table([1], 0)

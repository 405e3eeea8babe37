"""How unequally groups of jobs are served, over time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grid.metrics.fairness import Users, gini, wait_ginis, work_ginis

JOBS = st.lists(
    st.tuples(
        st.integers(0, 4),  # whose
        st.floats(0, 1e6),  # arrival
        st.floats(0, 1e5),  # wait
        st.floats(0, 1e5),  # run time
        st.integers(1, 64),
    ),
    min_size=1,
    max_size=30,
)


def columns(jobs):
    whose, arrivals, waits, runtimes, sizes = map(np.array, zip(*jobs, strict=True))
    starts = arrivals + waits
    return whose, arrivals, starts, starts + runtimes, sizes


def test_jobs_worked_by_hand():
    # Group 0: a job of 2 processors from 0 to 10, and one that waits from 5 to 20 and runs to 30.
    # Group 1: a job of 1 processor that waits from 0 to 10 and runs to 30. Group 2: arrives at 30.
    whose, sizes = np.array([0, 1, 0, 2]), np.array([2, 1, 1, 1])
    arrivals, starts = np.array([0.0, 0, 5, 30]), np.array([0.0, 10, 20, 30])
    finishes = np.array([10.0, 30, 30, 40])
    times = np.array([-1.0, 0, 5, 10, 20, 30, 40])
    waits = wait_ginis(times, whose, starts, starts - arrivals)
    means = [[], [0], [0], [0, 10], [7.5, 10], [7.5, 10, 0], [7.5, 10, 0]]
    assert waits.tolist() == pytest.approx([np.nan, *map(gini, means[1:])], nan_ok=True)
    assert waits[3:5].tolist() == pytest.approx([0.5, 2.5 / (4 * 8.75)])
    work = work_ginis(times, whose, arrivals, starts, finishes, sizes)
    got = [[0, 0], [10, 0], [20, 0], [20, 10], [30, 20, 0], [30, 20, 10]]
    assert work.tolist() == pytest.approx([np.nan, *map(gini, got)], nan_ok=True)


@given(JOBS)
def test_they_end_at_those_of_the_whole_run(jobs):
    whose, arrivals, starts, finishes, sizes = columns(jobs)
    times = np.linspace(arrivals.min(), finishes.max(), 12)
    waits = wait_ginis(times, whose, starts, starts - arrivals)
    work = work_ginis(times, whose, arrivals, starts, finishes, sizes)
    users = Users()
    users.add(whose, starts - arrivals, np.ones(len(whose)), (finishes - starts) * sizes)
    assert waits[-1] == pytest.approx(users.gini("wait"), abs=1e-6)
    if any(row["work"] > 1 for row in users.table()):  # less is rounded away beside 1e6 s
        whole = gini([row["work"] for row in users.table()])
        assert work[-1] == pytest.approx(whole, abs=1e-6)


@given(JOBS)
def test_they_are_from_0_to_below_1(jobs):
    whose, arrivals, starts, finishes, sizes = columns(jobs)
    times = np.linspace(arrivals.min(), finishes.max(), 12)
    work = work_ginis(times, whose, arrivals, starts, finishes, sizes)
    assert ((work >= -1e-12) & (work < 1)).all()  # of who has submitted a job there is always one
    waits = wait_ginis(times, whose, starts, starts - arrivals)
    assert ((waits >= -1e-12) & (waits < 1))[times >= starts.min()].all()


def test_no_jobs_are_no_number():
    none = np.zeros(0)
    groups = none.astype(np.int64)
    assert np.isnan(wait_ginis(np.arange(3.0), groups, none, none)).all()
    assert np.isnan(work_ginis(np.arange(3.0), groups, none, none, none, groups)).all()

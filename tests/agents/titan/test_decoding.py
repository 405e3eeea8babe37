"""From orders to schedules and scores, against plain Python."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.titan.decoding import Problem, lower_bound, schedule, score, scoring
from grid.errors import GridError
from tests.agents import plain_titan

WEIGHTS = (4, 3, 1)


def plain(problem):
    return (
        problem.sizes.tolist(),
        problem.execution_times.tolist(),
        problem.deadlines.tolist(),
        problem.release.tolist(),
    )


@st.composite
def problems(draw, most=12):
    processors = draw(st.integers(1, 9))
    jobs = draw(st.integers(0, most))
    length = st.sampled_from([0.0, 1.0, 2.0, 2.5, 7.25, 100.0])

    def column(element, count):
        return draw(st.lists(element, min_size=count, max_size=count))

    problem = Problem(
        column(st.integers(1, processors), jobs),
        column(length, jobs),
        column(st.one_of(length, st.just(math.inf), st.just(-3.0)), jobs),
        column(length, processors),
    )
    return problem, draw(st.permutations(range(jobs)))


@given(problems())
def test_decoding_agrees_with_plain_python(case):
    problem, order = case
    sizes, times, _, release = plain(problem)
    expected = plain_titan.decode(sizes, times, release, order)
    placements = schedule(problem, order)
    assert [placement.job for placement in placements] == list(order)
    assert {p.job: (p.start, list(p.resources)) for p in placements} == expected
    for weights in ((1, 0, 0), (0, 1, 0), (0, 0, 1), WEIGHTS):
        found = score(np.array(order, np.int64), scoring(problem, weights, "total"))
        assert found == pytest.approx(plain_titan.cp(*plain(problem), order, weights))
    mean = score(np.array(order, np.int64), scoring(problem, (0, 0, 1), "mean"))
    assert mean * len(release) == pytest.approx(plain_titan.metrics(*plain(problem), order)[2])


@given(problems())
def test_idle_time_is_what_neither_work_nor_earlier_jobs_take(case):
    problem, order = case
    _, makespan, idle = plain_titan.metrics(*plain(problem), order)
    work = float(problem.sizes @ problem.execution_times)
    held = float(np.minimum(problem.release, makespan).sum())
    assert idle == pytest.approx(len(problem.release) * makespan - work - held, abs=1e-9)


@given(problems())
def test_no_order_betters_the_lower_bound(case):
    problem, order = case
    found = score(np.array(order, np.int64), scoring(problem, WEIGHTS, "total"))
    assert found >= lower_bound(problem, WEIGHTS, "total") - 1e-9


@pytest.mark.thorough
@given(problems(), st.randoms(use_true_random=False))
def test_a_schedule_is_never_decoded_to_later_starts(case, chance):
    """Any schedule, gaps and late starts included, ordered by start."""
    problem, order = case
    sizes, times, _, release = plain(problem)
    free, printed = list(release), {}
    for job in order:
        taken = chance.sample(range(len(free)), sizes[job])
        printed[job] = max(free[p] for p in taken) + chance.choice([0.0, 1.5])
        for p in taken:
            free[p] = printed[job] + times[job]
    for placement in schedule(problem, sorted(printed, key=printed.get)):
        assert placement.start <= printed[placement.job]


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        (0, 5, r"sizes\[1\]: found 5; accepted is an integer from 1 to 4"),
        (0, 0, r"sizes\[1\]: found 0;"),
        (0, 1.5, r"sizes\[1\]: found 1.5;"),
        (1, -1, r"execution_times\[1\]: found -1;"),
        (1, math.inf, r"execution_times\[1\]: found inf;"),
        (2, math.nan, r"deadlines\[1\]: found nan;"),
        (3, -2, r"release\[1\]: found -2;"),
        (3, math.nan, r"release\[1\]: found nan;"),
    ],
)
def test_bad_problems_are_refused(column, value, message):
    columns = [[1, 1], [2.0, 2.0], [3.0, 3.0], [0.0, 0.0, 0.0, 0.0]]
    columns[column][1] = value
    with pytest.raises(GridError, match=message):
        Problem(*columns)


def test_columns_of_different_length_are_refused():
    with pytest.raises(GridError, match=r"deadlines: found shape \(3,\)"):
        Problem([1, 1], [2.0, 2.0], [1.0, 1.0, 1.0], [0.0])

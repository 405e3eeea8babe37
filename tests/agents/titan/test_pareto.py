"""The Pareto front against every order of few jobs."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from agents.titan.pareto import pareto_front
from grid.errors import GridError
from tests.agents.plain_titan import metrics
from tests.agents.titan.test_decoding import plain
from tests.agents.titan.test_genetic import random_problem
from tests.agents.titan.test_titan import check_schedule

SMALL = {"population": 40, "generations": 25}


def front_of(problem, **options):
    columns = problem.sizes, problem.execution_times, problem.deadlines, len(problem.release)
    return pareto_front(*columns, release=problem.release, **options)


def values(front):
    return [(each.over_deadline, each.makespan, each.idle_time) for each in front]


def dominates(a, b, tolerance=1e-9):
    no_worse = all(x <= y + tolerance for x, y in zip(a, b, strict=True))
    return no_worse and any(x < y - tolerance for x, y in zip(a, b, strict=True))


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("held", [0.0, 30.0])
def test_all_compromises_of_few_jobs_are_found_and_nothing_else(seed, held):
    problem = random_problem(seed, 6, processors=10, held=held)
    every = {metrics(*plain(problem), order) for order in itertools.permutations(range(6))}
    best = {a for a in every if not any(dominates(b, a) for b in every)}
    distinct = sorted({tuple(round(each, 6) for each in point) for point in best})
    found = front_of(problem, **SMALL)
    assert [tuple(round(each, 6) for each in point) for point in values(found)] == distinct
    for each in found:
        check_schedule(
            each.schedule, problem.sizes, problem.execution_times, problem.release.tolist()
        )
        order = [placement.job for placement in each.schedule]
        expected = metrics(*plain(problem), order)
        assert (each.over_deadline, each.makespan, each.idle_time) == pytest.approx(
            expected, rel=1e-9, abs=1e-6
        )


def test_some_of_these_fronts_have_several_points():
    assert max(len(front_of(random_problem(seed, 6, 10), **SMALL)) for seed in range(6)) > 2


@pytest.mark.thorough
def test_none_of_many_jobs_dominates_another():
    found = values(front_of(random_problem(3, 20), **SMALL))
    assert found == sorted(found)
    assert len(found) > 1
    assert not any(dominates(a, b) for a, b in itertools.permutations(found, 2))


def test_without_deadlines_there_is_nothing_to_choose():
    assert len(pareto_front([2, 3, 1], [4, 5, 6], [np.inf] * 3, 4, **SMALL)) == 1


@pytest.mark.parametrize("jobs", [0, 1])
def test_hardly_any_jobs(jobs):
    (only,) = pareto_front([2] * jobs, [4] * jobs, [1] * jobs, 4, **SMALL)
    assert values([only]) == [(3.0 * jobs, 4.0 * jobs, 8.0 * jobs)]


def test_randomness_comes_from_the_argument_alone():
    problem, state = random_problem(1, 14), random.getstate()
    first = front_of(problem, rng=3, **SMALL)
    assert first == front_of(problem, rng=3, **SMALL)
    assert random.getstate() == state


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"population": 1}, "population: found 1;"),
        ({"generations": -1}, "generations: found -1;"),
        ({"rng": -1}, "rng: found -1;"),
        ({"processors": 0}, "processors: found 0;"),
    ],
)
def test_bad_arguments_are_refused(change, message):
    given = {"sizes": [1], "execution_times": [1], "deadlines": [1], "processors": 2} | change
    with pytest.raises(GridError, match=message):
        pareto_front(**given)

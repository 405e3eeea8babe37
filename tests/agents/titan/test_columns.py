"""The two-dimensional coding: operators keep sizes and processors, decoding agrees with Python."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from deap import base, tools
from hypothesis import given
from hypothesis import strategies as st

from agents.schedule import Placement
from agents.titan import optimise
from agents.titan.columns import columns_of, row_of, schedule_of
from agents.titan.decoding import schedule, score, scoring
from agents.titan.genetic import evolve
from agents.titan.operators import Individual, default_toolbox, order_crossover, perturbation
from agents.titan.settings import Settings
from grid.errors import GridError
from grid.metrics.performance import comprehensive_performance
from grid.streams import stream
from tests.agents.titan.test_decoding import WEIGHTS, problems
from tests.agents.titan.test_genetic import random_problem, same

PAPER = Settings(coding="two-dimensional", population=12, patience=30, effort=12 * 11 * 60)


def plain(problem, order, resources, idle="total"):
    """Return ({job: start}, CP): each job when its processors are free, every gap added up."""
    free, starts = problem.release.tolist(), {}
    unused, over, makespan = 0.0, 0.0, 0.0
    ends = []
    for job in order:
        starts[job] = start = max(free[p] for p in resources[job])
        finish = start + float(problem.execution_times[job])
        for p in resources[job]:
            unused += start - free[p]
            free[p] = finish
        ends.append(finish)
        over += max(0.0, finish - float(problem.deadlines[job]))
    makespan = max(ends, default=0.0)
    unused += sum(max(0.0, makespan - each) for each in free)
    if idle == "mean":
        unused /= len(free)
    return starts, comprehensive_performance(over, makespan, unused, WEIGHTS)


@st.composite
def coded(draw, most=9):
    problem, order = draw(problems(most))
    processors = range(len(problem.release))
    resources = [tuple(draw(st.permutations(processors))[:size]) for size in problem.sizes]
    return problem, order, resources


@given(coded())
def test_decoding_agrees_with_plain_python(case):
    problem, order, resources = case
    if not order:
        return
    row = row_of(order, resources)
    judge = scoring(problem, WEIGHTS, "total", "two-dimensional")
    assert schedule_of(row.tolist(), judge.columns) == (list(order), resources)
    starts, cp = plain(problem, order, resources)
    assert score(row, judge) == pytest.approx(cp)
    mean = scoring(problem, WEIGHTS, "mean", "two-dimensional")
    assert score(row, mean) == pytest.approx(plain(problem, order, resources, "mean")[1])
    placed = schedule(problem, order, resources)
    assert {each.job: each.start for each in placed} == starts
    assert all(each.resources == tuple(sorted(resources[each.job])) for each in placed)


@given(coded(), st.integers(0, 10**6))
def test_operators_keep_every_jobs_size_and_crossover_its_processors(case, seed):
    problem, order, resources = case
    if not order:
        return
    numbers, processors = stream(seed, "operators"), len(problem.release)
    other = default_toolbox(scoring(problem, WEIGHTS, "total", "two-dimensional"), numbers)
    a, b = Individual(order, (), resources), Individual(order[::-1], (), resources)
    order_crossover(a, b, numbers)
    # Both parents have the same processors for each job, hence so do the children.
    assert list(a.resources) == list(b.resources) == resources
    for _ in range(5):
        (a,) = perturbation(a, numbers, processors)
        (b,) = other.mutate(b)
        other.mate(a, b)
        for each in (a, b):
            assert sorted(each) == list(range(len(order)))
            for job, held in enumerate(each.resources):
                assert len(set(held)) == len(held) == problem.sizes[job]
                assert set(held) <= set(range(processors))


def test_a_job_brings_its_processors_from_the_parent_that_gives_its_place():
    jobs = 6
    for seed in range(50):
        a = Individual(range(jobs), (), [(0,)] * jobs)
        b = Individual([3, 5, 1, 0, 4, 2], (), [(1,)] * jobs)
        order_crossover(a, b, stream(seed, "cut"))
        kept = [position for position in range(jobs) if a.resources[a[position]] == (0,)]
        assert 1 <= len(kept) <= jobs
        assert kept == list(range(kept[0], kept[-1] + 1))  # a section of the first parent
        assert all(a[position] == position for position in kept)


def test_mutation_changes_places_and_processors():
    individual = Individual(range(5), (), [(0, 1), (2,), (3,), (4, 5, 6), (7,)])
    numbers, before = stream(1, "m"), [(0, 1), (2,), (3,), (4, 5, 6), (7,)]
    orders, sets = set(), set()
    for _ in range(200):
        perturbation(individual, numbers, 8)
        orders.add(tuple(individual))
        sets |= {(job, frozenset(each)) for job, each in enumerate(individual.resources)}
    assert len(orders) > 50
    for job, held in enumerate(before):
        assert {len(each) for number, each in sets if number == job} == {len(held)}
        assert len({each for number, each in sets if number == job}) > 5


def test_deaps_own_operators_on_permutations_leave_each_job_its_processors():
    resources = [(0, 1), (2,), (3,), (1, 2), (0,)]
    a, b = Individual(range(5), (), resources), Individual([4, 3, 2, 1, 0], (), resources)
    tools.cxOrdered(a, b)
    tools.mutShuffleIndexes(a, 0.5)
    assert sorted(a) == list(range(5))
    assert a.resources == b.resources == resources


@pytest.mark.parametrize("wrapped", ["evaluate", "select", "mate", "mutate"])
def test_individual_by_individual_equals_a_generation_at_once(wrapped):
    problem = random_problem(8, 11, held=10.0)
    numbers, other = stream(2, "titan"), stream(2, "titan")
    own = default_toolbox(scoring(problem, WEIGHTS, "total", PAPER.coding), numbers)
    toolbox = base.Toolbox()
    toolbox.register(wrapped, lambda *given, **named: getattr(own, wrapped)(*given, **named))
    slow = evolve(problem, PAPER, numbers, None, toolbox)
    fast = evolve(problem, PAPER, other)
    assert fast.generations > 10
    assert same(slow, fast)
    assert list(slow.resources) == list(fast.resources)
    assert (numbers == other).all()


def test_a_search_improves_on_its_seed_with_the_processors_given():
    problem = random_problem(3, 9, processors=8)
    given = problem.sizes, problem.execution_times, problem.deadlines, 8
    draw = np.random.default_rng(1)
    seed = [
        Placement(job, 10.0 * job, tuple(draw.permutation(8)[: problem.sizes[job]].tolist()))
        for job in range(9)
    ]
    sets = [each.resources for each in seed]
    start = plain(problem, range(9), sets)[1]
    none = optimise(*given, seed_schedule=seed, coding="two-dimensional", generations=0, rng=1)
    assert none.cp <= start
    found = optimise(*given, seed_schedule=seed, coding="two-dimensional", rng=1)
    assert found.cp < start
    order = [each.job for each in found.schedule]
    by_job = {each.job: each.resources for each in found.schedule}
    starts, cp = plain(problem, order, by_job)
    assert found.cp == pytest.approx(cp)
    assert {each.job: each.start for each in found.schedule} == starts
    assert optimise(*given, rng=1).cp <= found.cp


@pytest.mark.parametrize("jobs", [0, 1, 2])
def test_few_jobs(jobs):
    columns = [2] * jobs, [3.0] * jobs, [1.0] * jobs
    found = optimise(*columns, 4, coding="two-dimensional")
    assert [each.start for each in found.schedule] == [0.0] * jobs


def test_the_literal_stop_is_the_first_generation_without_an_improvement():
    problem = random_problem(5, 12)
    history = evolve(
        problem,
        Settings(coding="two-dimensional", patience=1, threshold=0.001),
        stream(1, "titan"),
    ).logbook.select("min")
    for before, after in itertools.pairwise(history[:-1]):
        assert after < before * 0.999
    assert history[-1] >= history[-2] * 0.999


@pytest.mark.parametrize(
    "resources", [[(0,), (1, 2)], [(0, 0), (1, 2)], [(0, 4), (1, 2)], [(0, 1)]]
)
def test_a_seed_on_impossible_processors_is_refused(resources):
    seed = [Placement(job, 0.0, held) for job, held in enumerate(resources)]
    with pytest.raises(GridError, match=r"^seed_"):
        optimise([2, 2], [1, 1], [9, 9], 4, seed_schedule=seed, coding="two-dimensional")


def test_an_operator_that_breaks_a_set_is_refused():
    def steal(individual):
        individual.resources = [(0,)] * len(individual)
        return (individual,)

    toolbox = base.Toolbox()
    toolbox.register("mutate", steal)
    with pytest.raises(GridError, match=r"^generation 1: resources of job"):
        evolve(random_problem(4, 9), PAPER, stream(1, "titan"), toolbox=toolbox)


def test_where_the_processors_of_jobs_are():
    assert columns_of([(1, 2), (3,)], 2).tolist() == [2, 4, 5]

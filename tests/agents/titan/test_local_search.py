"""The local search, and its place in the search of TITAN."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from deap import base

from agents.titan.decoding import score, scoring
from agents.titan.genetic import evolve
from agents.titan.local_search import descend
from agents.titan.settings import Settings
from grid.streams import stream
from tests.agents.titan.test_decoding import WEIGHTS
from tests.agents.titan.test_genetic import random_problem


@pytest.mark.parametrize("seed", range(5))
def test_an_order_only_gets_better_and_its_performance_is_told(seed):
    problem = random_problem(seed, 12, held=20.0)
    judge = scoring(problem, WEIGHTS, "total")
    order = np.random.default_rng(seed).permutation(12)
    cp = start = score(order, judge)
    numbers = stream(seed, "moves")
    for _ in range(30):
        found = descend(order, cp, 100, judge, np.empty_like(order), numbers)
        assert found <= cp
        assert found == score(order, judge)
        assert sorted(order) == list(range(12))
        cp = found
    assert cp < start


def test_enough_moves_reach_the_optimum():
    problem = random_problem(2, 6, processors=12)
    judge = scoring(problem, WEIGHTS, "total")
    every = itertools.permutations(range(6))
    best = min(score(np.array(order), judge) for order in every)
    order = np.arange(6)
    cp = score(order, judge)
    assert descend(order, cp, 3000, judge, np.empty_like(order), stream(1, "x")) == best


@pytest.mark.parametrize("jobs", [1, 2])
def test_few_jobs(jobs):
    judge = scoring(random_problem(1, jobs), WEIGHTS, "total")
    order = np.arange(jobs)
    found = descend(order, score(order, judge), 50, judge, np.empty_like(order), stream(1, "x"))
    assert found == score(order, judge)


@pytest.mark.thorough
def test_the_search_is_better_for_it():
    with_moves = without = 0.0
    for seed in range(8):
        problem = random_problem(seed, 25)
        with_moves += evolve(problem, Settings(), stream(seed, "titan")).cp
        without += evolve(problem, Settings(moves=0), stream(seed, "titan")).cp
    assert with_moves < 0.99 * without


def test_a_given_number_of_generations_is_bred_without_it():
    problem = random_problem(1, 12)
    limited = {"generations": 80, "patience": 3}
    assert (
        evolve(problem, Settings(**limited), stream(1, "titan")).order
        == evolve(problem, Settings(**limited, moves=0), stream(1, "titan")).order
    )


def test_a_local_search_of_the_user_takes_its_place():
    problem = random_problem(1, 12)
    asked = []

    def improve(individual, moves):
        asked.append((individual.cp, moves))
        individual[:] = sorted(individual)
        return (individual,)

    toolbox = base.Toolbox()
    toolbox.register("improve", improve)
    outcome = evolve(problem, Settings(patience=5, moves=70), stream(1, "titan"), toolbox=toolbox)
    assert asked
    assert asked[-1] == (outcome.cp, 70)


def test_a_fitness_of_the_user_goes_without_it():
    toolbox = base.Toolbox()
    toolbox.register("evaluate", lambda order: (float(order.index(0)) + 1.0,))
    settings = Settings(population=4, patience=2)
    given = random_problem(1, 12), settings, stream(1, "titan")
    assert evolve(*given, toolbox=toolbox).cp >= 1.0

"""TITAN's search against plain Python, against brute force, and along a user's Toolbox."""

from __future__ import annotations

import itertools
import math
import random
import time

import numpy as np
import pytest
from deap import base, tools
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.titan.decoding import Problem, score, scoring
from agents.titan.genetic import evolve
from agents.titan.operators import (
    OPERATORS,
    Individual,
    default_toolbox,
    order_crossover,
    perturbation,
    roulette,
)
from agents.titan.settings import Settings
from grid.errors import GridError
from grid.streams import stream
from tests.agents import plain_titan
from tests.agents.titan.test_decoding import WEIGHTS, plain, problems

MOVES = Settings(patience=40, generations=60)


def random_problem(seed, jobs, processors=20, held=0.0):
    rng = np.random.default_rng(seed)
    times = 5 / (1 - rng.random(jobs) * 0.95)
    return Problem(
        rng.integers(1, min(10, processors) + 1, jobs),
        times,
        times * (1 + rng.uniform(0, 2, jobs)),
        rng.uniform(0, held, processors) if held else np.zeros(processors),
    )


@given(st.integers(1, 30), st.integers(0, 10**6))
def test_operators_make_permutations(jobs, seed):
    numbers = stream(seed, "operators")
    rng = random.Random(seed)
    a = Individual(rng.sample(range(jobs), jobs))
    b = Individual(rng.sample(range(jobs), jobs))
    for _ in range(5):
        order_crossover(a, b, numbers)
        perturbation(a, numbers)
        perturbation(b, numbers)
        assert sorted(a) == sorted(b) == list(range(jobs))


def test_order_crossover_keeps_a_section_and_the_order_of_the_rest():
    a, b = list(range(8)), [5, 2, 7, 0, 3, 6, 1, 4]
    possible = set()
    for begin, end in itertools.combinations(range(9), 2):
        children = []
        for one, other in ((a, b), (b, a)):
            child = dict(zip(range(begin, end), one[begin:end], strict=True))
            gaps = [p % 8 for p in range(end, end + 8) if p % 8 not in child]
            jobs = [other[p % 8] for p in range(end, end + 8)]
            rest = [job for job in jobs if job not in one[begin:end]]
            child.update(zip(gaps, rest, strict=True))
            children.append(tuple(child[p] for p in range(8)))
        possible.add(tuple(children))
    numbers = stream(3, "cuts")
    made = {
        tuple(tuple(child) for child in order_crossover(Individual(a), Individual(b), numbers))
        for _ in range(2000)
    }
    assert made == possible


def test_roulette_draws_in_proportion_to_fitness():
    cps = [30.0, 10.0, 20.0, 30.0]
    individuals = [Individual([k], (cp,)) for k, cp in enumerate(cps)]
    drawn = roulette(individuals, 30_000, stream(1, "wheel"))
    counts = np.bincount([each[0] for each in drawn], minlength=4)
    assert counts[0] == counts[3] == 0
    assert counts[1] / counts[2] == pytest.approx(2.0, rel=0.05)


def test_equal_performance_is_drawn_uniformly():
    individuals = [Individual([k], (5.0,)) for k in range(4)]
    drawn = roulette(individuals, 40_000, stream(1, "wheel"))
    assert np.bincount([each[0] for each in drawn]) / 10_000 == pytest.approx(1.0, rel=0.05)


@pytest.mark.sampled(11)
@pytest.mark.parametrize("jobs", [0, 1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("held", [0.0, 30.0])
@pytest.mark.parametrize("registered", [(), ("select",)])
def test_few_jobs_reach_the_optimum(jobs, held, registered):
    problem = random_problem(jobs, jobs, processors=12, held=held)
    toolbox = base.Toolbox()
    for name in registered:
        toolbox.register(name, tools.selRandom)
    outcome = evolve(problem, Settings(), stream(1, "titan"), toolbox=toolbox)
    every = itertools.permutations(range(jobs))
    best = min(plain_titan.cp(*plain(problem), order) for order in every)
    assert outcome.cp == pytest.approx(best)
    assert plain_titan.cp(*plain(problem), outcome.order) == pytest.approx(best)


@pytest.mark.parametrize("seed", range(4))
def test_breeding_alone_reaches_the_optimum(seed):
    problem = random_problem(seed, 6, processors=12, held=20.0)
    # A small population and a short patience, so that the 720 orders are not all tried.
    outcome = evolve(
        problem, Settings(population=14, patience=50, elite=0.3), stream(seed, "titan")
    )
    every = itertools.permutations(range(6))
    best = min(plain_titan.cp(*plain(problem), order) for order in every)
    assert outcome.generations > 0
    assert outcome.cp == pytest.approx(best)


def test_as_good_as_plain_deap_after_as_many_generations():
    ours, theirs = 0.0, 0.0
    for seed in range(4):
        problem = random_problem(seed, 15)
        fixed = Settings(generations=40, patience=40, moves=0)
        ours += evolve(problem, fixed, stream(seed, "titan")).cp
        theirs += plain_titan.evolve(*plain(problem), generations=40, seed=seed)[1]
    assert ours == pytest.approx(theirs, rel=0.05)


@pytest.mark.thorough
def test_default_quality_is_near_the_best_of_long_searches():
    found, best = 0.0, 0.0
    long = Settings(population=200, patience=1000, effort=20_000_000)
    for seed in range(6):
        problem = random_problem(seed, 8 + seed)
        found += evolve(problem, Settings(), stream(seed, "titan")).cp
        best += min(evolve(problem, long, stream(seed, "long", k)).cp for k in range(2))
    assert found <= 1.02 * best


@given(problems(most=9), st.integers(0, 1000))
@settings(max_examples=40)
def test_never_worse_than_the_seed_and_elitist(case, seed):
    problem, order = case
    outcome = evolve(
        problem, Settings(population=6, patience=3), stream(seed, "titan"), seed_order=order
    )
    history = outcome.logbook.select("min")
    seeded = score(np.array(order, np.int64), scoring(problem, WEIGHTS, "total"))
    assert outcome.cp <= seeded
    assert sorted(outcome.order) == sorted(order)
    assert history == sorted(history, reverse=True)
    assert outcome.cp == history[-1] == outcome.hall[0].cp
    assert tuple(outcome.hall[0]) == outcome.order
    assert outcome.generations == len(history) - 1 == outcome.logbook[-1]["gen"]
    assert all(record["min"] <= record["mean"] for record in outcome.logbook)


def same(one, other):
    return (
        one.order == other.order
        and one.cp == other.cp
        and one.generations == other.generations
        and list(one.logbook) == list(other.logbook)
        and list(one.hall) == list(other.hall)
    )


def test_a_seed_gives_the_same_search_again():
    problem = random_problem(3, 12)
    first = evolve(problem, MOVES, stream(5, "titan"))
    assert same(first, evolve(problem, MOVES, stream(5, "titan")))
    others = [evolve(problem, MOVES, stream(seed, "titan")) for seed in range(6, 9)]
    assert not all(same(first, other) for other in others)


@pytest.mark.parametrize("wrapped", [*OPERATORS, "all"])
@pytest.mark.parametrize("population", [4, 9, 20])
@pytest.mark.parametrize("rates", [{}, {"crossover": 0.8, "mutation": 0.5, "elite": 0.0}])
def test_individual_by_individual_equals_a_generation_at_once(wrapped, population, rates):
    """A Python wrapper of a default operator changes no bit of the search."""
    problem = random_problem(8, 11, held=10.0)
    effort = 60 * population * 11  # enough for some rounds of the local search
    chosen = Settings(population=population, patience=7, moves=60, effort=effort, **rates)
    numbers = stream(2, "titan")
    judge = scoring(problem, chosen.weights, chosen.idle)
    own = default_toolbox(judge, numbers)
    toolbox = base.Toolbox()
    calls = []

    def wrapper(function):
        def operator(*arguments, **keywords):
            calls.append(function)
            return function(*arguments, **keywords)

        return operator

    for name in OPERATORS if wrapped == "all" else (wrapped,):
        toolbox.register(name, wrapper(getattr(own, name)))
    if wrapped == "evaluate":
        toolbox.register("improve", own.improve)  # else none beside an `evaluate` of the user's
    seed_order = list(range(11)) if population == 9 else None
    slow = evolve(problem, chosen, numbers, seed_order, toolbox)
    fast_numbers = stream(2, "titan")
    fast = evolve(problem, chosen, fast_numbers, seed_order)
    assert calls
    assert fast.generations > 10
    assert same(slow, fast)
    assert (numbers == fast_numbers).all()


def test_operators_of_deap_and_of_the_user_work_unchanged():
    problem = random_problem(4, 12)
    toolbox = base.Toolbox()

    def shuffle_two(individual):
        i, j = random.sample(range(len(individual)), 2)
        individual[i], individual[j] = individual[j], individual[i]
        return (individual,)

    toolbox.register("mate", tools.cxOrdered)
    toolbox.register("select", tools.selTournament, tournsize=3)
    toolbox.register("mutate", shuffle_two)
    outcomes = []
    for seed in (1, 2):  # of Python's own numbers, which are left as they are
        random.seed(seed)
        before = random.getstate()
        outcomes.append(evolve(problem, MOVES, stream(1, "titan"), toolbox=toolbox))
        assert random.getstate() == before
    outcome, again = outcomes
    assert (outcome.order, outcome.logbook) == (again.order, again.logbook)
    assert outcome.cp < outcome.logbook[0]["min"]
    assert outcome.cp == pytest.approx(plain_titan.cp(*plain(problem), outcome.order))


def test_a_fitness_of_the_user_is_what_is_minimised():
    problem = random_problem(4, 9)
    toolbox = base.Toolbox()
    toolbox.register("evaluate", lambda order: (-float(order.index(0)),))
    outcome = evolve(problem, Settings(), stream(1, "titan"), toolbox=toolbox)
    assert outcome.cp == -8.0
    assert outcome.order[-1] == 0


def test_pythons_global_random_numbers_are_neither_drawn_nor_seeded():
    before = random.getstate()
    toolbox = base.Toolbox()
    toolbox.register("mate", lambda a, b: (a, b))
    evolve(random_problem(4, 9), MOVES, stream(1, "titan"))
    evolve(random_problem(4, 9), MOVES, stream(1, "titan"), toolbox=toolbox)
    assert random.getstate() == before


@pytest.mark.parametrize("value", [(math.nan,), (math.inf,), (), (1.0, 2.0), 3.0, ("a",), None])
@pytest.mark.parametrize("from_call", [1, 50])
def test_anything_but_one_finite_number_is_refused(value, from_call):
    calls = itertools.count(1)
    toolbox = base.Toolbox()
    toolbox.register(
        "evaluate", lambda order: value if next(calls) >= from_call else (float(order[0]),)
    )
    generation = 0 if from_call == 1 else r"[1-9]\d*"
    with pytest.raises(GridError, match=f"^generation {generation}: evaluate returned") as caught:
        evolve(random_problem(4, 9), Settings(population=10), stream(1, "titan"), toolbox=toolbox)
    assert "\n" not in str(caught.value)


def lose_a_job(individual):
    individual[0] = individual[1]
    return (individual,)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "function", "message"),
    [
        ("mutate", lose_a_job, "generation 1: mate or mutate made"),
        ("select", lambda individuals, k: individuals[:1], "generation 1: select returned one"),
        ("select", lambda individuals, k: None, "select returned None; accepted: a tuple of 30 i"),
        ("mutate", lambda one: one, r"^generation \d+: mutate returned \[.*: a tuple of one indiv"),
        ("mutate", lambda one: ([0, 1],), r"returned \(\[0, 1\],\); accepted: a tuple of one in"),
        ("mate", lambda a, b: a, r"^generation \d+: mate returned \[.*; accepted: a tuple of 2"),
        ("mate", lambda a, b: (a,), "mate returned one individual; accepted: a tuple of 2 ind"),
        ("improve", lambda one, moves: None, "improve returned None; accepted: a tuple of one ind"),
    ],
)
def test_broken_operators_are_refused(name, function, message):
    toolbox = base.Toolbox()
    toolbox.register(name, function)
    with pytest.raises(GridError, match=message):
        evolve(random_problem(4, 30), Settings(), stream(1, "titan"), toolbox=toolbox)


@pytest.mark.parametrize(
    "values",
    [
        {"population": 1},
        {"population": 5.5},
        {"patience": 0},
        {"threshold": 1.0},
        {"threshold": math.nan},
        {"generations": -1},
        {"effort": 0},
        {"elite": 1.0},
        {"crossover": 1.5},
        {"mutation": -0.1},
        {"weights": (0, 0, 0)},
        {"idle": "none"},
    ],
)
def test_settings_outside_their_range_are_refused(values):
    (name,) = values
    with pytest.raises(GridError, match=f"^{name}: found .*accepted"):
        Settings(**values)


@pytest.mark.parametrize("seed_order", [[0, 1], [0, 1, 1], [0, 1, 3]])
def test_a_seed_that_is_no_permutation_is_refused(seed_order):
    with pytest.raises(GridError, match="seed_order: found"):
        evolve(random_problem(1, 3), Settings(), stream(1, "titan"), seed_order)


def test_patience_counts_generations_without_an_improvement_above_the_threshold():
    problem = random_problem(6, 25)
    history = evolve(
        problem, Settings(patience=20, threshold=0.02, moves=0), stream(1, "titan")
    ).logbook.select("min")
    stalled, target = 0, math.inf
    for position, best in enumerate(history):
        stalled = 0 if best < target else stalled + 1
        target = best * 0.98 if stalled == 0 else target
        assert (stalled == 20) == (position == len(history) - 1)


def test_nothing_is_bred_when_every_job_can_start_at_once():
    problem = Problem(np.ones(15, int), np.arange(1.0, 16.0), np.ones(15), np.zeros(16))
    assert evolve(problem, Settings(), stream(1, "titan")).generations == 0


def test_long_queues_are_bounded_by_effort():
    problem = random_problem(1, 1500, processors=64)
    outcome = evolve(problem, Settings(effort=1_500_000), stream(1, "titan"))
    assert outcome.generations == 20


def test_at_least_thirty_times_a_plain_deap_loop():
    problem = random_problem(5, 25)
    limit = Settings(generations=2000, patience=2000)
    evolve(problem, Settings(generations=1), stream(1, "titan"))
    ours, plainly = [], []
    for _ in range(3):  # other work on the machine slows a run down and never speeds it up
        begin = time.process_time()
        evolve(problem, limit, stream(1, "titan"))
        middle = time.process_time()
        plain_titan.evolve(*plain(problem), generations=20)
        plainly.append((time.process_time() - middle) / 20)
        ours.append((middle - begin) / 2000)
    assert min(plainly) > 30 * min(ours)

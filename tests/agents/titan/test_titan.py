"""The public optimiser: schedules, seeds, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from deap import base
from hypothesis import given
from hypothesis import strategies as st

from agents.schedule import Placement
from agents.titan.scheduler import optimise, order_by_start
from grid.errors import GridError
from tests.agents import plain_titan

SIZES = [3, 1, 4, 2, 2, 5, 1, 3, 2]
TIMES = [4.0, 9.0, 2.0, 6.5, 3.0, 8.0, 1.0, 5.0, 7.0]
DEADLINES = [9.0, 30.0, 4.0, 8.0, 20.0, 12.0, 2.0, 40.0, float("inf")]
BRIEF = {"generations": 30, "population": 12}


def check_schedule(schedule, sizes, times, release):
    """Every job once, on as many processors as its size, none of them held twice."""
    assert sorted(placement.job for placement in schedule) == list(range(len(sizes)))
    free = list(release)
    for job, start, resources in sorted(schedule, key=lambda placement: placement.start):
        assert len(set(resources)) == len(resources) == sizes[job]
        for processor in resources:
            assert free[processor] <= start
            free[processor] = start + times[job]


@given(
    st.lists(st.tuples(st.integers(1, 6), st.floats(0.1, 50), st.floats(0, 90)), max_size=9),
    st.lists(st.floats(0, 20), min_size=6, max_size=6),
    st.integers(0, 99),
)
def test_schedules_are_feasible_and_as_good_as_they_say(jobs, release, seed):
    sizes, times, deadlines = zip(*jobs, strict=True) if jobs else ((), (), ())
    result = optimise(sizes, times, deadlines, 6, rng=seed, release=release, **BRIEF)
    check_schedule(result.schedule, sizes, times, release)
    order = [placement.job for placement in result.schedule]
    assert result.cp == pytest.approx(plain_titan.cp(sizes, times, deadlines, release, order))
    assert len(result.history) == result.generations + 1
    assert result.history[-1] == result.cp


def test_a_seed_schedule_is_ordered_by_start_and_ties_stay():
    seed = [Placement(2, 5.0, (0,)), Placement(0, 1.0, (1,)), Placement(1, 5.0, (2,))]
    assert order_by_start(seed) == [0, 2, 1]


def test_the_result_is_never_worse_than_the_seed_schedule():
    order = [6, 2, 3, 5, 0, 4, 1, 7, 8]
    placed = plain_titan.decode(SIZES, TIMES, [0.0] * 5, order)
    seed = [Placement(job, *placed[job]) for job in order]
    start = plain_titan.cp(SIZES, TIMES, DEADLINES, [0.0] * 5, order)
    result = optimise(SIZES, TIMES, DEADLINES, 5, seed_schedule=seed, generations=0, population=2)
    assert result.generations == 0
    assert result.cp <= start
    assert optimise(SIZES, TIMES, DEADLINES, 5, seed_schedule=seed).cp < start


@pytest.mark.parametrize("coding", ["order", "two-dimensional"])
@pytest.mark.parametrize("weights", [(4, 3, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (5, 1, 2)])
def test_cp_is_that_of_the_schedule_with_weights_in_order_and_idle_time_as_total(coding, weights):
    """Worked out from starts and processors alone."""
    result = optimise(SIZES, TIMES, DEADLINES, 5, weights, None, coding, 40, 1)
    check_schedule(result.schedule, SIZES, TIMES, [0.0] * 5)
    finishes = {job: start + TIMES[job] for job, start, _ in result.schedule}
    makespan = max(finishes.values())
    over = sum(max(0.0, finish - DEADLINES[job]) for job, finish in finishes.items())
    busy = sum(len(resources) * TIMES[job] for job, _, resources in result.schedule)
    wo, wm, wi = weights
    cp = (wo * over + wm * makespan + wi * (5 * makespan - busy)) / (wo + wm + wi)
    assert result.cp == pytest.approx(cp)
    assert result.generations <= 40
    assert len(result.history) == result.generations + 1


def test_the_mean_idle_time_weighs_less_than_the_total():
    total = optimise(SIZES, TIMES, DEADLINES, 5, weights=(0, 0, 1))
    mean = optimise(SIZES, TIMES, DEADLINES, 5, weights=(0, 0, 1), idle="mean")
    assert mean.cp == pytest.approx(total.cp / 5)


@pytest.mark.parametrize("jobs", [0, 1, 3, 7, 9])
@pytest.mark.parametrize("generations", [0, 1, 5])
def test_no_more_generations_are_bred_than_given(jobs, generations):
    given = SIZES[:jobs], TIMES[:jobs], DEADLINES[:jobs], 5
    assert optimise(*given, generations=generations).generations <= generations


def test_randomness_comes_from_the_argument_alone():
    def run(rng):
        return optimise(SIZES, TIMES, DEADLINES, 5, rng=rng, **BRIEF)

    assert run(None) == run(0) == run(np.int64(0))
    assert run(np.random.default_rng(7)) == run(np.random.default_rng(7))
    assert len({tuple(run(seed).history) for seed in range(5)}) > 1
    generator = np.random.default_rng(7)
    assert run(generator).history != run(generator).history


def test_a_toolbox_of_the_user_is_used():
    toolbox = base.Toolbox()
    toolbox.register("evaluate", lambda order: (float(sum(j != k for j, k in enumerate(order))),))
    result = optimise(SIZES, TIMES, DEADLINES, 5, toolbox=toolbox)
    assert [placement.job for placement in result.schedule] == list(range(9))
    assert result.cp == 0.0


def seeded(**field):
    """Return a seed schedule whose last placement has another field, and a coding for it."""
    placed = [Placement(job, 0.0, tuple(range(size))) for job, size in enumerate(SIZES)]
    placed[-1] = placed[-1]._replace(**field)
    return {"seed_schedule": placed, "coding": "two-dimensional"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"coding": "three"}, "coding: found 'three'; accepted: 'order' or 'two-dim"),
        ({"processors": 0}, "processors: found 0;"),
        ({"processors": 4}, r"sizes\[5\]: found 5; accepted is an integer from 1 to 4"),
        ({"weights": (0, 0, 0)}, "weights: found"),
        ({"rng": -1}, "rng: found -1;"),
        ({"rng": "x"}, "rng: found 'x';"),
        ({"release": [0.0]}, r"release: found shape \(1,\); accepted is \(5,\)"),
        ({"processors": True}, "processors: found True; accepted is an integer >= 1"),
        ({"rng": True}, "rng: found True;"),
        ({"sizes": ["a"]}, r"sizes\[0\]: found 'a'; accepted is a number"),
        ({"sizes": [3, [1, 2]]}, r"sizes\[1\]: found \[1, 2\]; accepted is a number"),
        ({"deadlines": {"x": 1}}, r"deadlines\[0\]: found 'x'; accepted is a number"),
        ({"execution_times": {1, 2}}, "execution_times: found {1, 2}; accepted is a sequence of"),
        ({"deadlines": [10**400]}, r"deadlines\[0\]: found 1000.*; accepted is a number"),
        ({"release": ["soon"] * 5}, r"release\[0\]: found 'soon'; accepted is a number"),
        ({"threshold": "x"}, "threshold: found 'x';"),
        ({"patience": True}, "patience: found True;"),
        ({"seed_schedule": 5}, "seed_schedule: found 5; accepted is a list of Placement, or None"),
        ({"seed_schedule": [Placement(0, 0.0, (0,))]}, r"seed_schedule: found jobs \[0\]; accept"),
        ({"seed_schedule": [0]}, r"seed_schedule\[0\]: found 0; accepted is a Placement"),
        ({"seed_schedule": [(0, 0.0, (0,))]}, r"\[0\]: found \(0, 0.0, \(0,\)\); accepted is a Pl"),
        (seeded(job="a"), r"seed_schedule\[8\]: found job 'a'; accepted: the index of a job"),
        (seeded(job=True), r"seed_schedule\[8\]: found job True;"),
        (seeded(start=float("nan")), r"seed_schedule\[8\]: found start nan; accepted: seconds"),
        (seeded(start="now"), r"seed_schedule\[8\]: found start 'now';"),
        (seeded(resources=None), r"seed_schedule\[8\]: found resources None;"),
        (seeded(resources=(0, 0)), r"seed_schedule of job 8: found \(0, 0\); accepted are 2 diff"),
        ({"generations": -5}, "generations: found -5;"),
        ({"population": 1}, "population: found 1;"),
    ],
)
def test_bad_arguments_are_refused_in_one_line(change, message):
    arguments = {
        "sizes": SIZES,
        "execution_times": TIMES,
        "deadlines": DEADLINES,
        "processors": 5,
    } | change
    with pytest.raises(GridError, match=message) as caught:
        optimise(**arguments)
    assert "\n" not in str(caught.value)

"""The optimum of an order and allocation, against an exhaustive search and HiGHS."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.oas import HEURISTICS, Instance, approximate, solve, verify
from agents.oas.instance import exact
from agents.oas.scaled import Scaled
from agents.oas.solvers.certificate import no_sum_between
from grid.errors import GridError
from tests.agents import plain_oas
from tests.agents.small_oas import SWIG, as_printed, possible, some

pytestmark = SWIG


@pytest.mark.parametrize("seed", range(4))
def test_the_optimum_is_that_of_an_exhaustive_search(seed):
    instance = possible(seed, 3, plain=seed % 2 == 0)
    for slot in (None, 60):
        answer = solve(Instance.from_dict(instance), slot)
        best = plain_oas.optimum(instance, slot)
        assert answer.status == "optimal"
        assert answer.makespan == pytest.approx(float(best), rel=1e-14)
        assert exact(answer.makespan) >= best
        verify(instance, as_printed(answer))


@pytest.mark.parametrize("seed", range(3))
def test_all_solvers_prove_the_same_slotted_optimum(seed):
    instance = possible(seed, 3)
    slot = 80
    exhaustive = plain_oas.optimum(instance, slot)
    for solver in ("cpsat", "milp", "aggregated"):
        answer = solve(Instance.from_dict(instance), slot, solver)
        assert (answer.status, answer.makespan) == ("optimal", exhaustive), solver
        verify(instance, as_printed(answer))


@pytest.mark.parametrize("solver", ["cpsat", "milp", "aggregated"])
def test_a_cluster_may_be_too_small_for_any_job(solver):
    """Links are too narrow for jobs to be split."""
    clusters = [{"nodes": nodes, "effective_power": 1, "link_mbps": 50} for nodes in (1, 2)]
    job = {"tasks": 2, "base_time": 10, "bandwidth": 400, "sigma": 0.7}
    instance = {"clusters": clusters, "jobs": [job, job]}
    answer = solve(Instance.from_dict(instance), 20, solver)
    assert (answer.status, answer.makespan) == ("optimal", 40.0)
    verify(instance, as_printed(answer))


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(4))
def test_counting_nodes_leaves_the_optimum_as_it_is(seed):
    instance = possible(seed, 6, clusters=(4, 4, 2), link=300)
    given = Instance.from_dict(instance)
    slot = float(sum(job.base_time for job in given.jobs) / 6)
    found = [solve(given, slot, solver) for solver in ("cpsat", "aggregated")]
    assert [answer.status for answer in found] == ["optimal", "optimal"]
    assert found[0].makespan == found[1].makespan
    verify(instance, as_printed(found[1]))
    many = solve(given, slot / 10_000, "aggregated")  # slots: too many for the model
    assert many.status == "feasible"
    verify(instance, as_printed(many))


def test_an_optimum_of_eight_jobs_is_below_all_heuristics():
    instance = Instance.from_dict(possible(7, 8, clusters=(4, 4, 4), link=300))
    best = solve(instance)
    assert best.status == "optimal"
    assert best.makespan == best.bound
    found = {name: approximate(name, instance).makespan for name in HEURISTICS}
    assert best.makespan <= min(found.values())
    assert found["insertion"] <= 1.03 * best.makespan
    assert len(set(found.values())) > 3


def test_numbers_of_sixteen_digits_do_not_keep_an_optimum_from_being_proven():
    instance = possible(3, 6, clusters=(4, 4, 4), link=321.0987654321, plain=False)
    assert not Scaled.of(Instance.from_dict(instance)).exact_times
    answer = solve(Instance.from_dict(instance))
    assert answer.status == "optimal"
    verify(instance, as_printed(answer))


def test_a_job_of_no_time_beside_one_of_ages_is_scheduled_and_bounded():
    instance = {
        "clusters": [{"nodes": 1, "effective_power": 1, "link_mbps": 1}],
        "jobs": [
            {"tasks": 1, "base_time": base, "bandwidth": 0, "sigma": 1} for base in (1e12, 1e-6)
        ],
    }
    answer = solve(Instance.from_dict(instance))
    verify(instance, answer)
    assert answer.bound <= Fraction(10**12) + Fraction(1, 10**6)
    with pytest.raises(GridError, match=r"slot: found 1e-06; accepted: at least 0\.0009"):
        solve(Instance.from_dict(instance), 1e-6)


def test_a_job_may_fill_a_link_to_the_last_of_its_sixteen_digits():
    link = 33.333333333333336
    instance = {
        "clusters": [{"nodes": 4, "effective_power": 1, "link_mbps": link}] * 2,
        "jobs": [
            {"tasks": tasks, "base_time": 1, "bandwidth": bandwidth, "sigma": 1}
            for tasks, bandwidth in ((2, link), (8, 3.3333333333333), (5, link), (7, 1.1111))
        ],
    }
    assert not Scaled.of(Instance.from_dict(instance)).exact_loads
    for name in HEURISTICS:
        verify(instance, approximate(name, Instance.from_dict(instance)))
    answer = solve(Instance.from_dict(instance))
    assert answer.status == "optimal"
    verify(instance, answer)


def test_no_product_of_loads_and_durations_is_too_large_for_a_solver():
    """CP-SAT multiplies them, and ends the process when that overflows."""
    instance = Instance.from_dict(
        {
            "clusters": [{"nodes": 16, "effective_power": 1, "link_mbps": 100.0000001}] * 3,
            "jobs": [
                {"tasks": 10 + k, "base_time": 1e5 + k / 7, "bandwidth": 30 / 7, "sigma": 0.3}
                for k in range(8)
            ],
        }
    )
    scaled = Scaled.of(instance, up=True)
    horizon = sum(row[-1] for row in scaled.durations)
    load = sum(max(row) for row in scaled.loads)
    assert 2**50 < max(load, *scaled.capacities) * horizon < 2**61


def test_what_is_not_proven_is_not_called_optimal():
    answer = solve(
        Instance.from_dict(possible(1, 14, clusters=(6, 6, 6), link=400)), None, "cpsat", 0.01
    )
    assert answer.status == "feasible"
    assert answer.bound < answer.makespan
    assert answer.gap == 1 - answer.bound / answer.makespan


@given(
    st.lists(st.lists(st.fractions(0, 9), min_size=1, max_size=3), max_size=5),
    st.fractions(0, 30),
    st.fractions(0, 2),
)
def test_a_certificate_misses_no_sum(choices, low, width):
    sums = {sum(chosen) for chosen in itertools.product(*([0, *each] for each in choices))}
    assert no_sum_between(choices, low, low + width) != any(low <= s < low + width for s in sums)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"slot": 0}, "slot: found 0; accepted: seconds"),
        ({"slot": float("nan")}, "slot: found nan"),
        ({"solver": "cplex"}, "solver: found 'cplex'; accepted: cpsat, milp, aggregated"),
        ({"solver": "milp"}, "solver: found 'milp' without a slot"),
        ({"solver": "aggregated"}, "solver: found 'aggregated' without a slot"),
        ({"time_limit": 0}, "time_limit: found 0"),
    ],
)
def test_arguments_out_of_range_are_refused(arguments, message):
    with pytest.raises(GridError, match=message):
        solve(Instance.from_dict(some(0, 1)), **arguments)


def test_an_infeasible_instance_says_which_job_and_which_link():
    instance = {
        "clusters": [{"nodes": 4, "effective_power": 1, "link_mbps": link} for link in (10, 1000)],
        "jobs": [
            {"tasks": 2, "base_time": 10, "bandwidth": 40, "sigma": 0.5},
            {"tasks": 6, "base_time": 10, "bandwidth": 40, "sigma": 0.5},
        ],
    }
    answer = solve(Instance.from_dict(instance))
    assert (answer.status, answer.makespan, answer.schedule) == ("infeasible", None, [])
    assert answer.why == [
        "jobs[1]: 6 tasks of 40 Mbit/s saturate a link however they are split; links carry of it: "
        "clusters[0] (10 Mbit/s) at most 0"
    ]

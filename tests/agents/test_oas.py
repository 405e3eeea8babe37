"""Ordering and allocation: the optimum against an exhaustive search, and what `verify` refuses."""

from __future__ import annotations

import itertools
import json
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agents.oas import HEURISTICS, Instance, ScheduleError, approximate, solve, verify
from agents.oas.certificate import no_sum_between
from agents.oas.instance import exact
from agents.oas.model import link_demand, run_time
from agents.oas.packing import Tables, fastest_levels
from agents.oas.scaled import Scaled
from agents.oas.schedule import Decision, printed, timetable
from grid.errors import GridError

from . import plain_oas

# What SWIG makes has no module on Python 3.12 and later.
pytestmark = pytest.mark.filterwarnings(
    "ignore:builtin type .* has no __module__:DeprecationWarning"
)

POWERS = (1, 0.75, 0.5)


def some(seed, jobs, clusters=(2, 2, 1), link=100, plain=True):
    """An instance of a few jobs, in round numbers or in those that a generator draws."""
    draw = random.Random(f"{seed} {jobs}")
    number = draw.randint if plain else draw.uniform
    return {
        "clusters": [
            {"nodes": nodes, "effective_power": power, "link_mbps": link}
            for nodes, power in zip(clusters, itertools.cycle(POWERS))
        ],
        "jobs": [
            {
                "tasks": draw.randint(1, max(1, sum(clusters) - 1)),
                "base_time": number(20, 200),
                "bandwidth": number(5, 60),
                "sigma": 0.7 if plain else draw.random(),
            }
            for _ in range(jobs)
        ],
    }


def possible(seed, jobs, **options):
    """The first such instance from a seed on in which each job can run."""
    for attempt in itertools.count(seed * 1000):
        found = some(attempt, jobs, **options)
        if all(plain_oas.distributions(found["clusters"], job) for job in found["jobs"]):
            return found


def as_printed(answer):
    return json.loads(json.dumps(answer.to_dict(), allow_nan=False))


def test_a_job_slows_down_with_its_slowest_node_and_loads_links_by_equation_4():
    instance = Instance.from_dict(
        {
            "clusters": [
                {"nodes": 4, "effective_power": power, "link_mbps": 1000} for power in POWERS
            ],
            "jobs": [{"tasks": 8, "base_time": 670000, "bandwidth": 40, "sigma": 0.7}],
        }
    )
    assert run_time(instance, 0, (4, 4, 0)) == Fraction(670000) * 37 / 30
    assert run_time(instance, 0, (4, 0, 4)) == 670000 * Fraction("1.7")
    assert [link_demand(instance.jobs[0], n) for n in (0, 4, 8)] == [0, Fraction(640, 7), 0]


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
def test_both_solvers_prove_the_same_slotted_optimum(seed):
    instance = possible(seed, 3)
    slot = 80
    exhaustive = plain_oas.optimum(instance, slot)
    for solver in ("cpsat", "milp"):
        answer = solve(Instance.from_dict(instance), slot, solver)
        assert (answer.status, answer.makespan) == ("optimal", exhaustive), solver
        verify(instance, as_printed(answer))


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


def test_what_is_not_proven_is_not_called_optimal():
    answer = solve(
        Instance.from_dict(possible(1, 14, clusters=(6, 6, 6), link=400)), None, "cpsat", 0.01
    )
    assert answer.status == "feasible"
    assert answer.bound < answer.makespan
    assert answer.gap == 1 - answer.bound / answer.makespan


QUEUES = {
    "clusters": [{"nodes": 2, "effective_power": 1, "link_mbps": 100}],
    "jobs": [
        {"tasks": tasks, "base_time": base, "bandwidth": 1, "sigma": 0.5}
        for tasks, base in ((1, 30), (2, 20), (1, 10))
    ],
}


@pytest.mark.parametrize(
    ("name", "starts"),
    [
        ("fcfs", [0, 30, 50]),
        ("sjf", [0, 30, 0]),
        ("bjf", [20, 0, 20]),
        ("fpfs", [0, 30, 0]),
        ("spt", [30, 10, 0]),
        ("lpt", [0, 30, 50]),
        ("insertion", [0, 30, 0]),
    ],
)
def test_a_heuristic_serves_jobs_in_its_order(name, starts):
    answer = approximate(name, Instance.from_dict(QUEUES))
    if name == "insertion":
        assert answer.makespan == 50
    else:
        assert [run.start for run in answer.schedule] == starts


def test_a_queue_takes_the_fastest_nodes_on_which_no_link_is_saturated():
    clusters = [{"nodes": 2, "effective_power": p, "link_mbps": 10} for p in (1, 0.5, 0.5)]
    jobs = [
        {"tasks": 1, "base_time": 10, "bandwidth": 0, "sigma": 1},
        {"tasks": 2, "base_time": 10, "bandwidth": 20, "sigma": 1},
    ]
    answer = approximate("fcfs", Instance.from_dict({"clusters": clusters, "jobs": jobs}))
    assert [run.nodes for run in answer.schedule] == [(1, 0, 0), (0, 2, 0)]


instances = st.builds(
    some,
    st.integers(0, 10**6),
    st.integers(1, 6),
    clusters=st.lists(st.integers(1, 5), min_size=1, max_size=4),
    link=st.sampled_from([20, 60, 0.3, 99.99999999999999]),
    plain=st.booleans(),
)


@settings(max_examples=40, deadline=None)
@given(instances, st.sampled_from([None, 50, 33.3, 12.345678901234567]))
def test_every_schedule_holds_exactly_as_it_is_printed(instance, slot):
    given_ = Instance.from_dict(instance)
    can_run = [bool(plain_oas.distributions(instance["clusters"], j)) for j in instance["jobs"]]
    for name in HEURISTICS:
        answer = approximate(name, given_, slot)
        assert (answer.status == "feasible") == all(can_run)
        if all(can_run):
            verify(instance, as_printed(answer))
            assert 0 < answer.compaction <= 1
        else:
            assert [line.split(":")[0] for line in answer.why] == [
                f"jobs[{index}]" for index, can in enumerate(can_run) if not can
            ]


@settings(max_examples=200, deadline=None)
@given(instances)
@example(some(1, 5, clusters=(1, 1, 2, 4), link=99.99999999999999))
def test_a_job_is_distributed_if_there_is_any_way(instance):
    given_ = Instance.from_dict(instance)
    tables = Tables.of(given_, Scaled.of(given_, up=True))
    fastest = np.zeros(len(given_.jobs), np.int64)
    fastest_levels(tables, np.zeros((4, len(given_.clusters)), np.int64), fastest)
    levels = Scaled.of(given_).levels
    for job, level in zip(instance["jobs"], fastest, strict=True):
        ways = plain_oas.distributions(instance["clusters"], job)
        slowest = [max(of for of, n in zip(levels, way, strict=True) if n) for way in ways]
        assert level == min(slowest, default=max(levels) + 1)


@given(
    st.lists(st.lists(st.fractions(0, 9), min_size=1, max_size=3), max_size=5),
    st.fractions(0, 30),
    st.fractions(0, 2),
)
def test_a_certificate_misses_no_sum(choices, low, width):
    sums = {sum(chosen) for chosen in itertools.product(*([0, *each] for each in choices))}
    assert no_sum_between(choices, low, low + width) != any(low <= s < low + width for s in sums)


@given(st.fractions(0, 10**9))
def test_a_number_is_printed_as_the_least_that_is_no_less(number):
    shown = printed(number)
    assert exact(shown) >= number
    assert shown == 0 or exact(float(np.nextafter(shown, -np.inf))) < number


def test_jobs_start_when_those_they_follow_have_finished():
    instance = Instance.from_dict(QUEUES)
    loose = [Decision(5, 9, (1,)), Decision(20, 22, (2,)), Decision(8, 12, (1,))]
    assert [run.start for run in timetable(instance, loose)] == [0, 30, 0]
    assert [run.finish for run in timetable(instance, loose, Fraction(25))] == [50, 75, 25]


@pytest.fixture(scope="module")
def right():
    instance = {
        "clusters": [
            {"nodes": 4, "effective_power": power, "link_mbps": 50} for power in (1, 0.75)
        ],
        "jobs": [
            {"tasks": 4, "base_time": 100, "bandwidth": 30, "sigma": 0.5},
            {"tasks": 4, "base_time": 50, "bandwidth": 30, "sigma": 0.5},
        ],
    }
    rows = [
        {"job": 0, "start": 0, "finish": 100, "nodes": [4, 0]},
        {"job": 1, "start": 100, "finish": 158.33333333333334, "nodes": [3, 1]},
    ]
    verify(instance, rows)
    return instance, rows


@pytest.mark.parametrize(
    ("job", "change", "message"),
    [
        (1, {"start": 0, "finish": 58.333333333333336}, "found 7 nodes held; accepted: 4"),
        (1, {"finish": 158.3333333333333}, "job 1: finish: found 158.3333333333333; accepted"),
        (1, {"finish": 159}, "job 1: finish: found 159; accepted: 158.33333333333334"),
        (1, {"nodes": [4, 0]}, "job 1: finish: found 158.33333333333334; accepted: 150.0"),
        (1, {"nodes": [3, 0]}, "job 1: nodes: found 3 in all; accepted: 4"),
        (1, {"nodes": [4]}, "job 1: nodes: found"),
        (1, {"nodes": [5, -1]}, "job 1: nodes: found"),
        (1, {"nodes": [3.0, 1.0]}, "job 1: nodes: found"),
        (1, {"job": 0}, "job 0: found twice"),
        (1, {"job": 2}, r"schedule\[1\].job: found 2; accepted: the index"),
        (0, {"start": -1, "finish": 99}, "job 0: start: found -1"),
        (0, {"start": float("nan")}, "job 0: start: found nan"),
        (0, {"start": "0"}, "job 0: start: found '0'"),
        (1, None, "job 1: not found"),
    ],
)
def test_a_schedule_that_was_tampered_with_is_refused(right, job, change, message):
    instance, rows = right
    rows = [dict(row) for row in rows]
    if change is None:
        del rows[job]
    else:
        rows[job] |= change
    with pytest.raises(ScheduleError, match=message):
        verify(instance, rows)


def test_links_are_checked_at_all_times(right):
    instance, _ = right
    rows = [
        {"job": 0, "start": 10, "finish": 126.66666666666667, "nodes": [2, 2]},
        {"job": 1, "start": 0, "finish": 58.333333333333336, "nodes": [1, 3]},
    ]
    with pytest.raises(ScheduleError, match=r"cluster 0 at 10 s.*found 70.0 Mbit/s .* 50.0"):
        verify(instance | {"clusters": [{**c, "nodes": 5} for c in instance["clusters"]]}, rows)
    roomy = [{**c, "nodes": 5, "link_mbps": 70} for c in instance["clusters"]]
    verify(instance | {"clusters": roomy}, rows)


def test_a_slotted_schedule_holds_only_on_its_slots(right):
    instance, _ = right
    answer = as_printed(solve(Instance.from_dict(instance), 40))
    verify(instance, answer)
    verify(instance, answer["schedule"], 40)
    with pytest.raises(ScheduleError, match=r"accepted: 100\.0"):
        verify(instance, answer["schedule"])
    answer["schedule"][0] |= {"start": 1, "finish": 121}
    with pytest.raises(ScheduleError, match="start: found 1; accepted: a multiple of the slot"):
        verify(instance, answer)


@pytest.mark.parametrize("schedule", [None, "schedule", {"schedule": None}, [3], [{"job": 0}]])
def test_what_is_no_schedule_is_refused(right, schedule):
    with pytest.raises(ScheduleError, match="schedule"):
        verify(right[0], schedule)


@pytest.mark.parametrize(
    ("where", "key", "value", "message"),
    [
        ("jobs", "tasks", 13, r"jobs\[0\].tasks: found 13; accepted: at most 5, the nodes"),
        ("jobs", "tasks", 0, r"jobs\[0\].tasks: found 0; accepted: a whole number from 1"),
        ("jobs", "tasks", 1.5, r"jobs\[0\].tasks: found 1.5"),
        ("jobs", "base_time", 0, r"jobs\[0\].base_time: found 0; accepted: a number above 0"),
        ("jobs", "base_time", 10**400, r"jobs\[0\].base_time: found 1000"),
        ("jobs", "bandwidth", -1, r"jobs\[0\].bandwidth: found -1; accepted: a number >= 0"),
        ("jobs", "sigma", 1.1, r"jobs\[0\].sigma: found 1.1; accepted: a number from 0 to 1"),
        ("jobs", "sigma", None, r"jobs\[0\].sigma: found None"),
        ("jobs", "colour", 1, r"jobs\[0\].colour: unknown key; accepted: tasks, base_time"),
        ("clusters", "effective_power", 0, r"clusters\[0\].effective_power: found 0; accepted"),
        ("clusters", "effective_power", 1.5, r"clusters\[0\].effective_power: found 1.5"),
        ("clusters", "link_mbps", float("inf"), r"clusters\[0\].link_mbps: found inf"),
        ("clusters", "nodes", True, r"clusters\[0\].nodes: found True"),
    ],
)
def test_an_instance_that_is_none_is_refused_by_its_key(where, key, value, message):
    instance = some(0, 2)
    instance[where][0][key] = value
    with pytest.raises(GridError, match=message):
        Instance.from_dict(instance)


@pytest.mark.parametrize(
    ("instance", "message"),
    [
        ([], "instance: found"),
        ({"clusters": []}, "jobs: not found; accepted: all of clusters, jobs"),
        ({"clusters": [], "jobs": []}, "clusters: found none; accepted: at least one"),
        ({"clusters": 3, "jobs": []}, "clusters: found 3; accepted: a list of objects"),
        ({"clusters": [3], "jobs": []}, r"clusters\[0\]: found 3; accepted: an object of nodes"),
    ],
)
def test_what_is_no_instance_is_refused(instance, message):
    with pytest.raises(GridError, match=message):
        Instance.from_dict(instance)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"slot": 0}, "slot: found 0; accepted: seconds"),
        ({"slot": float("nan")}, "slot: found nan"),
        ({"solver": "cplex"}, "solver: found 'cplex'; accepted: cpsat, milp"),
        ({"solver": "milp"}, "solver: found 'milp' without a slot"),
        ({"time_limit": 0}, "time_limit: found 0"),
    ],
)
def test_arguments_out_of_range_are_refused(arguments, message):
    with pytest.raises(GridError, match=message):
        solve(Instance.from_dict(some(0, 1)), **arguments)


def test_a_heuristic_that_does_not_exist_is_refused():
    with pytest.raises(GridError, match="heuristic: found 'best'; accepted: fcfs, sjf"):
        approximate("best", Instance.from_dict(some(0, 1)))


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
        "cluster 0 (10 Mbit/s) at most 0"
    ]


@pytest.mark.parametrize("jobs", [300, pytest.param(5000, marks=pytest.mark.slow)])
def test_an_insertion_schedules_many_jobs_on_many_clusters(jobs):
    draw = random.Random(jobs)
    instance = {
        "clusters": [
            {"nodes": 32, "effective_power": draw.randint(5, 10) / 10, "link_mbps": 1000}
            for _ in range(16)
        ],
        "jobs": [
            {
                "tasks": draw.randint(1, 64),
                "base_time": draw.randint(100, 10000),
                "bandwidth": draw.randint(1, 20),
                "sigma": 0.7,
            }
            for _ in range(jobs)
        ],
    }
    given_ = Instance.from_dict(instance)
    answer = approximate("insertion", given_)
    verify(given_, answer)
    assert answer.compaction > 0.8
    assert answer.makespan < approximate("fcfs", given_).makespan

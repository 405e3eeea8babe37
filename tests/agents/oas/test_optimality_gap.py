"""How far a round was from its optimum: against an exhaustive search, and never below 0."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.oas.optimality_gap import Went, Yardstick, measure
from tests.agents import plain_oas
from tests.agents.small_oas import SWIG

pytestmark = SWIG

SIZES, RATES = [3, 2], [1.0, 0.5]
CLUSTERS = [
    {"nodes": size, "effective_power": rate, "link_mbps": 1}
    for size, rate in zip(SIZES, RATES, strict=True)
]


def ran(seed, count, whole, offset=0.0, loose=True):
    """Jobs one after the other as early as they fit, some of them later than need be."""
    draw = random.Random(seed)
    placed, jobs = [], []
    for _ in range(count):
        tasks = draw.randint(1, 3 if whole else 5)
        job = {"tasks": tasks, "base_time": draw.choice([1, 2, 5, 0.3]), "bandwidth": 0, "sigma": 1}
        ways = plain_oas.distributions(CLUSTERS, job)
        nodes = draw.choice([way for way in ways if not whole or max(way) == tasks])
        length = plain_oas.takes(CLUSTERS, job, nodes)
        start = plain_oas.earliest(CLUSTERS, job, nodes, length, placed)
        if loose and draw.random() < 0.3:
            start = max([start, *(end for _, end, _, _ in placed)])
        placed.append((start, start + length, job, nodes))
        begin = offset + float(start)
        jobs.append(Went(float(job["base_time"]), begin, begin + float(length), nodes))
    return placed, jobs


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_the_optimum_of_a_round_is_that_of_an_exhaustive_search(seed, whole):
    placed, jobs = ran(seed, 5, whole)
    earlier, later = placed[:2], placed[2:]
    instance = {"clusters": CLUSTERS, "jobs": [job for _, _, job, _ in later]}
    ways = [
        [
            way
            for way in plain_oas.distributions(CLUSTERS, job)
            if not whole or max(way) == job["tasks"]
        ]
        for job in instance["jobs"]
    ]
    best = plain_oas.optimum(instance, None, earlier, ways)
    found = measure(SIZES, RATES, 0.0, jobs[2:], jobs[:2], whole)
    assert found.proven
    assert found.bound == pytest.approx(float(best), rel=1e-8)
    assert found.best == pytest.approx(found.bound)
    assert found.makespan == max(job.finish for job in jobs[2:])


@pytest.mark.parametrize("beside", [0, 2])
@pytest.mark.parametrize("seed", range(4))
def test_no_job_starts_before_messages_have_come_to_its_cluster(seed, beside):
    draw = random.Random(seed)
    placed, jobs = ran(seed, 3 + beside, False)
    later = [job for _, _, job, _ in placed[beside:]]
    releases = [[Fraction(draw.choice([0, 1, 3, 7])) for _ in SIZES] for _ in later]
    best = plain_oas.optimum(
        {"clusters": CLUSTERS, "jobs": later}, None, placed[:beside], None, releases
    )
    went = [
        replace(job, start=job.start + 99, finish=job.finish + 99, delays=tuple(map(float, delays)))
        for job, delays in zip(jobs[beside:], releases, strict=True)
    ]
    found = measure(SIZES, RATES, 0.0, went, jobs[:beside], whole=False)
    assert found.proven
    assert found.bound == pytest.approx(float(best), rel=1e-7)


def test_what_comes_late_runs_late_though_it_is_the_largest():
    late = Went(10.0, 5.0, 15.0, (1,), delays=(5.0,))
    first = Went(4.0, 15.0, 19.0, (1,), delays=(0.0,))
    found = measure([1], [1.0], 0.0, [late, first])
    assert (found.proven, found.bound) == (True, 15.0)


def test_a_job_that_waited_for_nothing_but_its_message_is_at_its_optimum():
    job = Went(3.0, 20.0, 23.0, (1, 0), delays=(20.0, 20.0))
    assert measure([1, 1], [1.0, 0.5], 0.0, [job]) == Yardstick(23.0, 23.0, 23.0, proven=True)


@settings(max_examples=25)
@given(
    st.integers(0, 10**6),
    st.integers(1, 7),
    st.booleans(),
    st.sampled_from([0.0, 0.1, 12345.678, 1e9 / 7]),
)
def test_no_round_is_shorter_than_its_bound(seed, count, whole, offset):
    _, jobs = ran(seed, count + 2, whole, offset)
    dispatched = min(job.start for job in jobs[2:])
    found = measure(SIZES, RATES, dispatched, jobs[2:], jobs[:2], whole, time_limit=2)
    assert 0 <= found.gap < 1
    assert found.bound <= found.best <= found.makespan


def test_a_wide_job_may_be_split_where_others_are_whole():
    jobs = [Went(1.0, 0.0, 2.0, (3, 2)), Went(1.0, 2.0, 4.0, (0, 2))]
    found = measure(SIZES, RATES, 0.0, jobs)
    assert (found.proven, found.bound) == (True, pytest.approx(3.0))  # the second on the first


def test_whole_times_have_an_exact_optimum():
    """Also beside a job that began at an odd time before the round."""
    beside = [Went(20.7, 0.3, 21.0, (0, 2))]
    jobs = [Went(170.0, 7.0, 177.0, (3, 0)), Went(340.0, 187.0, 527.0, (3, 0))]
    found = measure(SIZES, [1.0, 1.0], 7.0, jobs, beside)
    assert (found.proven, found.bound, found.best) == (True, 510.0, 510.0)


def test_a_job_that_was_slowed_down_counts_as_long_as_it_takes_alone():
    found = measure(SIZES, RATES, 10.0, [Went(1.0, 10.0, 14.0, (3, 0))])
    assert (found.proven, found.bound) == (True, pytest.approx(1.0))
    assert found.gap == pytest.approx(0.75)
    assert Fraction(found.makespan) == 4


def test_no_optimum_is_proven_by_a_schedule_that_ignores_what_it_costs():
    """One job that is slowed down where it is split, and one that waits where its data are not."""
    split = measure([2, 2], [1.0, 1.0], 0.0, [Went(10.0, 0.0, 15.0, (2, 1), slowed=True)])
    assert split == Yardstick(15.0, 15.0, 10.0, proven=False, relaxed=True)
    assert measure([2, 2], [1.0, 1.0], 0.0, [Went(10.0, 0.0, 15.0, (2, 1))]).proven
    moved = [Went(10.0, 0.0, 10.0, (2, 0), home=0), Went(10.0, 0.0, 14.0, (0, 2), home=0)]
    found = measure([2, 2], [1.0, 1.0], 0.0, moved)
    assert found == Yardstick(14.0, 14.0, 10.0, proven=False, relaxed=True)
    home = [Went(10.0, 0.0, 10.0, (2, 0), home=0), Went(10.0, 10.0, 20.0, (2, 0), home=0)]
    assert measure([2], [1.0], 0.0, [Went(10.0, 5.0, 15.0, (2,), home=0)]).proven
    assert measure([2, 1], [1.0, 1.0], 0.0, home).proven

"""The largest sets of jobs that can run together, against all sets, and the bound by them."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.oas import Instance
from agents.oas.scaled import Scaled
from agents.oas.solvers import maximal_sets
from agents.oas.solvers.maximal_sets import largest_sets
from agents.oas.solvers.time_sharing_bound import shared_time
from tests.agents import plain_oas
from tests.agents.small_oas import SWIG, possible

pytestmark = SWIG


def fits(chosen, tasks, room):
    return all(
        sum(tasks[job] for job, of in chosen.items() if of <= level) <= nodes
        for level, nodes in enumerate(room)
    )


def lies_in(chosen, other):
    return all(job in other and other[job] <= level for job, level in chosen.items())


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=5),
    st.lists(st.integers(1, 6), min_size=1, max_size=3),
)
def test_what_can_run_together_lies_in_some_largest_set_and_no_more(tasks, nodes):
    room = list(itertools.accumulate(nodes))
    levels = [None, *range(len(room))]
    possible = [
        chosen
        for of in itertools.product(levels, repeat=len(tasks))
        if fits(
            chosen := {j: level for j, level in enumerate(of) if level is not None}, tasks, room
        )
    ]
    found = largest_sets(tasks, room)
    assert all(each in possible for each in found)
    assert all(any(lies_in(each, largest) for largest in found) for each in possible)
    assert all(one == two or not lies_in(one, two) for one in found for two in found)


def test_too_many_sets_are_none(monkeypatch):
    monkeypatch.setattr(maximal_sets, "MOST_SETS", 2)
    assert len(largest_sets([1, 1], [1])) == 2
    assert largest_sets([1, 1, 1], [1]) == []


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(6))
def test_no_schedule_is_shorter_than_its_time_can_be_shared(seed):
    instance = possible(seed, 4 if seed % 2 else 3, link=1000 if seed % 3 else 60)
    given_ = Instance.from_dict(instance)
    scaled = Scaled.of(given_)
    best = plain_oas.optimum(instance) / scaled.unit
    assert best.denominator == 1
    bound = shared_time(given_, scaled, 2 * int(best), 20.0, deterministic=seed % 2 == 0)
    assert max(row[0] for row in scaled.durations) <= bound <= best


def test_time_shared_by_jobs_that_cannot_run_together_is_the_optimum():
    jobs = [{"tasks": 3, "base_time": base, "bandwidth": 0, "sigma": 1} for base in (3, 5, 9)]
    clusters = [{"nodes": 2, "effective_power": power, "link_mbps": 1} for power in (1, 0.5)]
    given_ = Instance.from_dict({"clusters": clusters, "jobs": jobs})
    scaled = Scaled.of(given_)
    assert shared_time(given_, scaled, 10**6, 20.0, True) * scaled.unit == 2 * (3 + 5 + 9)

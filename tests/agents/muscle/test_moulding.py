"""With how many processors MUSCLE has mouldable jobs run."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.muscle.moulding import allot

NEVER = np.inf


def bound(sizes, times, chosen, release):
    """Return what no schedule of these sizes betters: its longest job, or its work done."""
    own = [(s[i], t[i]) for s, t, i in zip(sizes, times, chosen, strict=True)]
    work = sum(size * time for size, time in own)
    free = sorted(release)
    done = min((work + sum(free[:k])) / k for k in range(1, len(free) + 1))
    return max(max(time for _, time in own), done)


@st.composite
def rounds(draw):
    """Draw jobs that are quicker with more processors, and less efficient."""
    count = draw(st.integers(1, 5))
    sizes, times = [], []
    for _ in range(count):
        of_job = sorted(draw(st.sets(st.integers(1, 8), min_size=1, max_size=4)))
        alone, serial = draw(st.integers(1, 100)), draw(st.sampled_from([0.0, 0.1, 0.5]))
        sizes.append(np.array(of_job))
        times.append(np.array([alone * (serial + (1 - serial) / size) for size in of_job]))
    release = np.array(draw(st.lists(st.integers(0, 50), min_size=1, max_size=8)), float)
    return sizes, times, release


def work_of(sizes, times, chosen):
    """Return the processor-seconds of jobs with these sizes."""
    return sum(s[i] * t[i] for s, t, i in zip(sizes, times, chosen, strict=True))


@given(rounds())
def test_no_allotment_has_a_lower_bound_or_the_same_with_less_work(round):
    sizes, times, release = round
    chosen = allot(sizes, times, np.full(len(sizes), NEVER), release)
    found = bound(sizes, times, chosen, release)
    every = [*itertools.product(*(range(len(each)) for each in sizes))]
    assert found == pytest.approx(min(bound(sizes, times, each, release) for each in every))
    as_good = [each for each in every if bound(sizes, times, each, release) <= found * (1 + 1e-9)]
    least = min(work_of(sizes, times, each) for each in as_good)
    assert work_of(sizes, times, chosen) == pytest.approx(least)


@given(rounds(), st.integers(1, 60))
def test_deadlines_are_met_where_a_size_meets_them(round, left):
    sizes, times, release = round
    chosen = allot(sizes, times, np.full(len(sizes), float(left)), release)
    for of_job, index in zip(times, chosen, strict=True):
        assert of_job[index] <= left or (of_job > left).all()


def test_jobs_without_times_keep_their_first_size():
    nowhere = np.array([NEVER, NEVER])
    sizes = [np.array([1, 2]), np.array([1, 2])]
    assert allot(sizes, [nowhere, nowhere], np.full(2, NEVER), np.zeros(4)) == [0, 0]
    some = allot(sizes, [nowhere, np.array([4.0, 2.0])], np.full(2, NEVER), np.zeros(2))
    assert some == [0, 1]

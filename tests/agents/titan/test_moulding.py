"""With how many processors TITAN has mouldable jobs run."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.titan.decoding import Problem, schedule
from agents.titan.moulding import mould
from agents.titan.scheduler import optimise
from agents.titan.settings import Settings
from grid.errors import GridError
from grid.metrics.performance import comprehensive_performance, idle_time, over_deadline

SETTINGS = Settings(idle="total")


def cp(problem, order):
    """Return the CP of an order, from its schedule."""
    finishes = np.empty(len(problem))
    for job, start, _ in schedule(problem, order):
        finishes[job] = start + problem.execution_times[job]
    work = float((problem.sizes * problem.execution_times).sum())
    idle = idle_time(problem.release, float(finishes.max()), work, "total")
    late = over_deadline(finishes, problem.deadlines)
    return comprehensive_performance(late, float(finishes.max()), idle, SETTINGS.weights)


@st.composite
def problems(draw):
    """Draw a cluster's jobs, what they may be moulded to, and an order."""
    count, processors = draw(st.integers(1, 4)), draw(st.integers(1, 6))
    sizes, times, own = [], [], []
    for _ in range(count):
        least = draw(st.integers(1, processors))
        of_job = np.array(sorted({least, *draw(st.sets(st.integers(1, 8), max_size=3))}))
        sizes.append(of_job)
        times.append(np.array([float(draw(st.integers(1, 40))) for _ in of_job]))
        own.append(int(np.flatnonzero(of_job == least)[0]))
    deadlines = [float(draw(st.integers(1, 60))) for _ in range(count)]
    release = sorted(float(draw(st.integers(0, 9))) for _ in range(processors))
    problem = Problem(
        [each[index] for each, index in zip(sizes, own, strict=True)],
        [each[index] for each, index in zip(times, own, strict=True)],
        deadlines,
        release,
    )
    return problem, sizes, times, draw(st.permutations(range(count)))


@given(problems())
def test_no_other_size_of_one_job_is_better(given):
    problem, sizes, times, order = given
    found = mould(problem, sizes, times, order, SETTINGS)
    best = cp(found, order)
    assert best <= cp(problem, order) + 1e-9
    for job, (of_job, seconds) in enumerate(zip(sizes, times, strict=True)):
        pairs = [*zip(of_job.tolist(), seconds.tolist(), strict=True)]
        assert (found.sizes[job], found.execution_times[job]) in pairs
        for size, time in pairs:
            if size <= len(problem.release):
                other = found.sizes.copy(), found.execution_times.copy()
                other[0][job], other[1][job] = size, time
                changed = replace(found, sizes=other[0], execution_times=other[1])
                assert cp(changed, order) >= best * (1 - SETTINGS.threshold) - 1e-9


def test_jobs_share_a_cluster_rather_than_wait():
    sizes, times = [np.array([1, 2, 4])] * 4, [np.array([8.0, 5.0, 4.0])] * 4
    wide = Problem([4] * 4, [4.0] * 4, [np.inf] * 4, [0.0] * 4)
    found = mould(wide, sizes, times, range(4), SETTINGS)
    of_all = [
        cp(Problem([s[i] for s, i in zip(sizes, which, strict=True)],
                   [t[i] for t, i in zip(times, which, strict=True)],
                   [np.inf] * 4, [0.0] * 4), range(4))
        for which in itertools.product(range(3), repeat=4)
    ]  # fmt: skip
    assert cp(found, range(4)) == pytest.approx(min(of_all))
    assert found.sizes.tolist() == [1] * 4


def test_without_moves_nothing_is_tried():
    sizes, times = [np.array([1, 2])] * 3, [np.array([9.0, 1.0])] * 3
    one = Problem([1] * 3, [9.0] * 3, [np.inf] * 3, [0.0] * 6)
    assert mould(one, sizes, times, range(3), SETTINGS).sizes.tolist() == [2] * 3
    assert mould(one, sizes, times, range(3), replace(SETTINGS, moves=0)) is one


def test_who_has_one_size_is_not_to_be_moulded():
    with pytest.raises(GridError, match=r"^mouldable: found True"):
        optimise([1], [1.0], [9.0], 1, mouldable=True)
    with pytest.raises(GridError, match=r"^mouldable: found true with coding"):
        Settings(mouldable=True, coding="two-dimensional")

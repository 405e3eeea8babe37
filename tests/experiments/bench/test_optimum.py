"""TITAN against the optimum that OR-Tools proves."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest

from agents.titan import optimise
from agents.titan.decoding import Problem
from experiments.bench.optimum import bench_optimum, cp_sat, random_problem

# What SWIG makes has no module on Python 3.12 and later.
pytestmark = pytest.mark.filterwarnings(
    "ignore:builtin type .* has no __module__:DeprecationWarning"
)


def plain_cp(problem, order):
    """Return CP by weights (4, 3, 1), each job on the processors that are free first."""
    free = [0.0] * len(problem.release)
    late = work = 0.0
    for job in order:
        size, time_of = int(problem.sizes[job]), float(problem.execution_times[job])
        free.sort()
        finish = free[size - 1] + time_of
        free[:size] = [finish] * size
        late += max(0.0, finish - float(problem.deadlines[job]))
        work += size * time_of
    return (4 * late + 3 * max(free) + (len(free) * max(free) - work)) / 8


@pytest.mark.parametrize("seed", range(4))
def test_the_proven_optimum_is_that_of_all_orders(seed):
    full = random_problem(6, seed)
    problem = Problem(full.sizes, full.execution_times, full.deadlines, np.zeros(12))
    optimum = cp_sat(problem)
    assert optimum.proven
    best = min(plain_cp(problem, order) for order in itertools.permutations(range(6)))
    assert optimum.cp == pytest.approx(best)


@pytest.mark.thorough
def test_titan_is_within_one_percent_of_the_optimum_in_a_second():
    excesses = []
    optimise([1] * 8, range(8, 16), [1.0] * 8, 2)  # compiles
    for jobs, seed in ((8, 0), (9, 1), (10, 0), (11, 1), (12, 0), (13, 1)):
        problem = random_problem(jobs, seed)
        begin = time.process_time()
        found = optimise(problem.sizes, problem.execution_times, problem.deadlines, 20)
        assert time.process_time() - begin <= 1.0
        optimum = cp_sat(problem, limit=5.0)
        if optimum.proven:
            assert found.cp >= optimum.cp - 1e-6
            excesses.append(found.cp / optimum.cp - 1)
    assert len(excesses) >= 3
    assert sum(excesses) / len(excesses) <= 0.01


def test_what_the_bench_says_of_it():
    *each, mean = bench_optimum(jobs=(6, 7), instances=2)
    assert [row.name for row in each] == [f"above the optimum, {n} jobs" for n in (6, 7)]
    assert mean.name == "above the optimum, mean"
    assert mean.value <= 1
    assert "proven by CP-SAT: 4 of 4; expected: at most 1" in mean.note

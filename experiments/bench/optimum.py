"""How far TITAN's schedules are from the optimum that OR-Tools CP-SAT proves."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agents.oas.solvers.search import search
from agents.titan import optimise
from agents.titan.decoding import Problem
from experiments.bench.measurement import Measurement

PROCESSORS = 20
LARGEST = 10
WEIGHTS = (4, 3, 1)
MEAN = "above the optimum, mean"


def random_problem(jobs: int, seed: int) -> Problem:
    """Return jobs as in the experiments of `muscle`, in whole seconds, on an empty cluster.

    Run times are bounded Pareto (even seeds) or uniform (odd ones) from 5 s to 100 s, sizes uniform
    from 1 to 10, deadlines by eq. 5 with ratios from 0 to 2.
    """
    draw = np.random.default_rng([seed, jobs])
    sizes = draw.integers(1, LARGEST, jobs, endpoint=True)
    shares = draw.random(jobs)
    times = 5 + 95 * shares if seed % 2 else 5 / (1 - 0.95 * shares)
    times = np.round(times)
    deadlines = np.round(times * (1 + draw.uniform(0, 2, jobs)))
    return Problem(sizes, times, deadlines, np.zeros(PROCESSORS))


@dataclass(frozen=True)
class Optimum:
    """What CP-SAT came to.

    Attributes
    ----------
    cp : float
        CP of its best schedule, idle-time as ``total``, seconds.
    proven : bool
        No schedule has a lower one.
    """

    cp: float
    proven: bool


def cp_sat(problem: Problem, weights: Sequence[int] = WEIGHTS, limit: float = 10.0) -> Optimum:
    """Have CP-SAT schedule rigid jobs on the identical processors of an empty cluster.

    Parameters
    ----------
    problem : Problem
        In whole seconds, each job with a deadline, every processor free at once.
    weights : sequence of int
        (Wo, Wm, Wi).
    limit : float
        Wall-clock seconds to give up after.
    """
    from ortools.sat.python import cp_model

    sizes = problem.sizes.tolist()
    times, deadlines = (
        column.astype(int).tolist() for column in (problem.execution_times, problem.deadlines)
    )
    processors, horizon = len(problem.release), sum(times)
    work = sum(size * time for size, time in zip(sizes, times, strict=True))
    over_deadline, makespan, idle = weights
    model = cp_model.CpModel()
    last = model.new_int_var(0, horizon, "makespan")
    runs, lates = [], []
    for job, (time_of, deadline) in enumerate(zip(times, deadlines, strict=True)):
        start = model.new_int_var(0, horizon - time_of, f"start {job}")
        runs.append(model.new_fixed_size_interval_var(start, time_of, f"run {job}"))
        lates.append(model.new_int_var(0, horizon, f"late {job}"))
        model.add(lates[-1] >= start + time_of - deadline)
        model.add(last >= start + time_of)
    model.add_cumulative(runs, sizes, processors)
    model.minimize(over_deadline * sum(lates) + (makespan + idle * processors) * last - idle * work)
    solver, status = search(model, limit)
    return Optimum(solver.objective_value / sum(weights), status == cp_model.OPTIMAL)


def bench_optimum(
    jobs: Sequence[int] = range(6, 16), instances: int = 4, limit: float = 10.0
) -> list[Measurement]:
    """Measure by how much TITAN's CP is above the proven optimum, for each number of jobs and all.

    Parameters
    ----------
    jobs : sequence of int
        Numbers of jobs.
    instances : int
        Problems of each.
    limit : float
        Wall-clock seconds that CP-SAT may take for one.
    """
    optimise([1] * 8, range(8, 16), [1.0] * 8, 2, generations=1)  # compiles
    rows, all_excesses, all_seconds, asked = [], [], [], 0
    for count in jobs:
        excesses, seconds = [], []
        for seed in range(instances):
            problem = random_problem(count, seed)
            given = problem.sizes, problem.execution_times, problem.deadlines, PROCESSORS
            begin = time.process_time()
            found = optimise(*given, WEIGHTS, rng=seed)
            seconds.append(time.process_time() - begin)
            optimum = cp_sat(problem, limit=limit)
            if optimum.proven:
                excesses.append(100 * (found.cp / optimum.cp - 1))
        asked += instances
        all_excesses += excesses
        all_seconds += seconds
        if excesses:
            rows.append(_row(f"above the optimum, {count} jobs", excesses, seconds, instances))
    if all_excesses:
        rows.append(_row(MEAN, all_excesses, all_seconds, asked))
    return rows


def _row(name: str, excesses: Sequence[float], seconds: Sequence[float], asked: int) -> Measurement:
    note = (
        f"worst {max(excesses):.3g} %; search: at most {1000 * max(seconds):.0f} CPU ms; "
        f"proven by CP-SAT: {len(excesses)} of {asked}"
    )
    expected = "; expected: at most 1" if name == MEAN else ""
    return Measurement(name, max(0.0, round(statistics.fmean(excesses), 9)), "%", note + expected)

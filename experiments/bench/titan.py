"""Generations per CPU second of TITAN's search, and how long and how good whole searches are."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from agents.titan import optimise
from agents.titan.decoding import Problem
from agents.titan.genetic import evolve
from agents.titan.settings import Settings
from experiments.bench.measurement import Measurement
from experiments.bench.optimum import bench_optimum
from experiments.bench.plain_deap import plain_evolve
from grid.streams import stream

PROCESSORS = 20
ROUNDS = 3
QUEUES = (1, 4, 10, 25, 100)
INSTANCES = 5


def _problem(jobs: int, seed: int) -> Problem:
    """Return random jobs for an empty cluster, too many to meet all of their deadlines."""
    draw = np.random.default_rng(seed)
    times = draw.exponential(100.0, jobs)
    return Problem(
        draw.integers(1, PROCESSORS // 2, jobs, endpoint=True),
        times,
        times * draw.uniform(1.0, 3.0, jobs),
        np.zeros(PROCESSORS),
    )


def bench_titan(
    generations: int = 5000,
    plain_generations: int = 100,
    queues: tuple[int, ...] = QUEUES,
    proven: Sequence[int] = range(6, 16),
) -> list[Measurement]:
    """Measure TITAN's search with all its records, beside a loop on DEAP in plain Python.

    Parameters
    ----------
    generations, plain_generations : int
        To breed in each run of TITAN's search and of the plain loop.
    queues : tuple of int
        Numbers of jobs of the whole searches.
    proven : sequence of int
        Numbers of jobs of the searches that are compared with the proven optimum.

    Returns
    -------
    list of Measurement
        Generations per CPU second of both and their ratio, for a population of 50, 25 jobs and
        20 processors, and of the two-dimensional coding; then the CPU time of whole searches,
        stopped as they are by default, and how far they are from the optimum (`bench_optimum`).
    """
    settings = Settings(generations=generations, patience=generations)
    columns = replace(settings, coding="two-dimensional")
    problem = _problem(25, 0)
    evolve(problem, Settings(generations=1), stream(0, "titan"))  # compiles
    evolve(problem, replace(columns, generations=1), stream(0, "titan"))
    ours = plain = two_dimensional = math.inf
    for _ in range(ROUNDS):
        begin = time.process_time()
        bred = evolve(problem, settings, stream(0, "titan")).generations
        middle = time.process_time()
        plain_evolve(problem, settings.weights, plain_generations)
        end = time.process_time()
        evolve(problem, columns, stream(0, "titan"))
        last = time.process_time()
        ours = min(ours, (middle - begin) / bred)
        plain = min(plain, (end - middle) / plain_generations)
        two_dimensional = min(two_dimensional, (last - end) / generations)
    runs = f"population 50, 25 jobs, 20 processors, records included, fastest of {ROUNDS}"
    unit = "generations/CPU s"
    return [
        Measurement("TITAN", 1 / ours, unit, f"{runs}; expected: at least 5,000"),
        Measurement("DEAP in plain Python", 1 / plain, unit, runs),
        Measurement("TITAN over plain", plain / ours, "x", "expected: at least 30"),
        Measurement(
            "TITAN, two-dimensional", 1 / two_dimensional, unit, f"{runs}; the paper's coding"
        ),
        *(_whole_search(jobs) for jobs in queues),
        *bench_optimum(proven),
    ]


def _whole_search(jobs: int) -> Measurement:
    seconds, generations = [], []
    for seed in range(INSTANCES):
        problem = _problem(jobs, seed)
        given = problem.sizes, problem.execution_times, problem.deadlines, PROCESSORS
        begin = time.process_time()
        found = optimise(*given, rng=seed)
        seconds.append(time.process_time() - begin)
        generations.append(found.generations)
    return Measurement(
        f"search, {jobs} job{'s' if jobs > 1 else ''}",
        1000 * statistics.median(seconds),
        "CPU ms",
        f"median of {INSTANCES}; generations bred: {', '.join(map(str, generations))}",
    )

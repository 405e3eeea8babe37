"""Jobs per CPU second of the policies of `queues`, in the scenario of that name at load 0.8."""

from __future__ import annotations

from functools import partial

from experiments.bench.measurement import Measurement
from experiments.bench.timing import ROUNDS, Ended, cpu_seconds, fastest, unwatched
from experiments.scenario.scenario import Scenario

LOAD = 0.8
POLICIES = ("gs", "ls-or", "ls-do", "gp", "lp-gf", "eq-gf", "lq")
RUNS = ROUNDS * len(POLICIES)


def _seconds(policy: str, jobs: int) -> float:
    """Run the scenario without keeping its jobs; return the CPU seconds, workload included."""
    settings = [f"jobs={jobs}", f"load={LOAD}"]
    model = Scenario.load("queues").changed(settings, global_scheduler=policy).model(1)
    return cpu_seconds(model)


def bench_queues(jobs: int = 1_000_000, ended: Ended = unwatched) -> list[Measurement]:
    """Measure policies of `queues`: jobs per CPU second of each.

    Parameters
    ----------
    jobs : int
        Jobs of each run.
    ended : callable
        Is told of each of the `RUNS` runs that it has ended.
    """
    measurements = []
    for policy in POLICIES:
        _seconds(policy, 50)  # compiles
        best = fastest(partial(_seconds, policy, jobs), ended)
        note = f"queues at load {LOAD:g}; {jobs:,} jobs, fastest of {ROUNDS}"
        measurements.append(Measurement(f"{policy}, 4 clusters", jobs / best, "jobs/CPU s", note))
    return measurements

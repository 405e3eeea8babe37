"""How the time of a run grows with the number of jobs where ever more of them wait."""

from __future__ import annotations

from typing import NamedTuple

from agents.model import GridModel
from agents.pace.predictor import Prediction
from agents.registry import global_scheduler, local_scheduler
from agents.selection import JobSelection
from experiments.bench.measurement import Measurement
from experiments.bench.site import PROCESSORS, STEPS, jobs_of_users
from experiments.bench.timing import ROUNDS, Ended, cpu_seconds, unwatched
from grid.platform.multicluster import Platform
from grid.workloads.table import Table

LOAD = 1.5


class Case(NamedTuple):
    """Who serves the queues of which system, and how many jobs the shorter run has."""

    name: str
    jobs: int
    policy: str = "dll"
    local: str = "fcfs"
    selection: str = "fpfs"
    clusters: int = 1


CASES = (
    Case("fcfs", 100_000),
    Case("fpfs", 100_000, local="fpfs"),
    Case("fair-share", 100_000, local="fair-share"),
    Case("easy", 100_000, local="easy"),
    Case("conservative", 2_000, local="conservative"),
    Case("first-fit, selection=fpfs", 100_000, "first-fit", clusters=4),
    Case("first-fit, selection=easy", 10_000, "first-fit", selection="easy", clusters=4),
    Case("first-fit, selection=conservative", 2_000, "first-fit", "fcfs", "conservative", 4),
    Case("muscle over titan", 100, "muscle", "titan", clusters=4),
)
RUNS = 2 * ROUNDS * len(CASES)


def seconds(of: Case, jobs: Table) -> float:
    """Return the CPU seconds that the system of a case takes for some jobs."""
    model = GridModel(
        Platform.star([PROCESSORS // of.clusters] * of.clusters),
        jobs,
        global_scheduler(of.policy),
        local_scheduler(of.local),
        interval=float(jobs.jobs["arrival"][-1]) / STEPS,
        settings=[Prediction("requested"), JobSelection(of.selection)],
    )
    return cpu_seconds(model)


def bench_long_queues(share: float = 1.0, ended: Ended = unwatched) -> list[Measurement]:
    """Measure what twice as many jobs cost where half too many come.

    Parameters
    ----------
    share : float
        Of the jobs of each run.
    ended : callable
        Is told of each of the `RUNS` runs that it has ended.

    Returns
    -------
    list of Measurement
        Of each case, the ratio of the CPU seconds of two runs, the second of twice as many jobs;
        both are the fastest of some that alternate.
    """
    measurements = []
    for of in CASES:
        jobs = max(5, round(of.jobs * share))
        seconds(of, jobs_of_users(10))  # compiles
        tables = jobs_of_users(jobs, LOAD), jobs_of_users(2 * jobs, LOAD)
        taken: tuple[list[float], list[float]] = [], []
        for _ in range(ROUNDS):
            for table, each in zip(tables, taken, strict=True):
                each.append(seconds(of, table))
                ended()
        once, twice = map(min, taken)
        system = "one cluster" if of.clusters == 1 else f"{of.clusters} clusters"
        note = (
            f"CPU s of {2 * jobs:,} jobs over those of {jobs:,} ({twice:.3g} over {once:.3g}), "
            f"{PROCESSORS} processors in {system} at load {LOAD:g}; fastest of {ROUNDS} each"
        )
        measurements.append(Measurement(f"{of.name}, twice the jobs", twice / once, "x", note))
    return measurements

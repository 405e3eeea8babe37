"""Jobs per CPU second of the meta-schedulers of `beosim`, on the workload of its section 6."""

from __future__ import annotations

import sys
from functools import partial

from agents.disciplines import FcfsScheduler
from agents.model import GridModel
from agents.registry import global_scheduler
from agents.selection import JobSelection
from experiments.bench.measurement import Measurement
from experiments.bench.timing import ROUNDS, Ended, cpu_seconds, fastest, unwatched
from grid.distributions import Exponential, UniformSizes
from grid.platform.multicluster import Platform
from grid.workloads.per_cluster import PerClusterWorkload

NODES, INTERARRIVAL, RUNTIME = 100, 150.0, 450.0
STEPS = 20
CASES = (
    # policy, clusters, bisection bandwidth (Mbit/s), selection
    ("migration-only", 4, 500.0, "fpfs"),
    ("ideal", 4, 500.0, "fpfs"),
    ("first-fit", 4, 250.0, "fpfs"),
    ("b1", 4, 500.0, "fpfs"),
    ("b3", 4, 500.0, "fpfs"),
    ("b3", 4, 500.0, "easy"),
    ("b4", 4, 500.0, "fpfs"),
    ("a1", 4, 500.0, "fpfs"),
    ("migration-only", 8, 500.0, "fpfs"),
)
RUNS = ROUNDS * len(CASES)


def _seconds(policy: str, clusters: int, bandwidth: float, selection: str, jobs: int) -> float:
    """Run section 6 without keeping its jobs; return the CPU seconds, workload included."""
    workload = PerClusterWorkload(
        count=jobs // clusters * clusters,
        clusters=clusters,
        interarrival=INTERARRIVAL,
        sizes=UniformSizes(10, 50),
        runtimes=Exponential(RUNTIME),
        computation_fraction=0.7,
        bisection_bandwidth=bandwidth,
    )
    model = GridModel(
        Platform.star([NODES] * clusters),
        workload,
        global_scheduler(policy),
        FcfsScheduler,
        interval=jobs * INTERARRIVAL / clusters / STEPS,
        settings=[JobSelection(selection)],
    )
    return cpu_seconds(model)


def bench_coallocation(jobs: int = 400_000, ended: Ended = unwatched) -> list[Measurement]:
    """Measure each meta-scheduler, and the memory that its runs took.

    Parameters
    ----------
    jobs : int
        Jobs of each run.
    ended : callable
        Is told of each of the `RUNS` runs that it has ended.

    Returns
    -------
    list of Measurement
        Jobs per CPU second of each, and the most memory of the process until now.
    """
    measurements = []
    for policy, clusters, bandwidth, selection in CASES:
        seconds = partial(_seconds, policy, clusters, bandwidth, selection)
        seconds(10 * clusters)  # compiles
        best = fastest(partial(seconds, jobs), ended)
        measurements.append(
            Measurement(
                f"{policy}, {clusters} clusters"
                + ("" if selection == "fpfs" else f", {selection}"),
                jobs / best,
                "jobs/CPU s",
                f"section 6 of beosim, bisection bandwidth {bandwidth:g} Mbit/s; {jobs:,} jobs, "
                f"fastest of {ROUNDS}",
            )
        )
    import resource  # which not every system has

    unit = 1e6 if sys.platform == "darwin" else 1e3  # of bytes or of kilobytes
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    return [*measurements, Measurement("peak memory", peak, "MB", "of the process, until here")]

"""How the time of a run grows with the number of jobs where ever more of them wait."""

from __future__ import annotations

from experiments.bench.measurement import Measurement
from experiments.bench.site import PROCESSORS, jobs_of_users, seconds
from experiments.bench.timing import ROUNDS, Ended, unwatched

LOAD = 1.5
JOBS = {
    "fcfs": 100_000,
    "fpfs": 100_000,
    "easy": 100_000,
    "fair-share": 100_000,
    "conservative": 2_000,
}
"""Local schedulers that are measured, and jobs of the shorter run of each."""
RUNS = 2 * ROUNDS * len(JOBS)


def bench_long_queues(share: float = 1.0, ended: Ended = unwatched) -> list[Measurement]:
    """Measure what twice as many jobs cost on one cluster to which half too many come.

    Parameters
    ----------
    share : float
        Of the jobs of each run.
    ended : callable
        Is told of each of the `RUNS` runs that it has ended.

    Returns
    -------
    list of Measurement
        Of each local scheduler, the ratio of the CPU seconds of two runs, the second of twice as
        many jobs; both are the fastest of some that alternate.
    """
    measurements = []
    for local, count in JOBS.items():
        jobs = round(count * share)
        seconds(local, jobs_of_users(10))  # compiles
        tables = jobs_of_users(jobs, LOAD), jobs_of_users(2 * jobs, LOAD)
        taken: tuple[list[float], list[float]] = [], []
        for _ in range(ROUNDS):
            for table, each in zip(tables, taken, strict=True):
                each.append(seconds(local, table))
                ended()
        once, twice = map(min, taken)
        note = (
            f"CPU s of {2 * jobs:,} jobs over those of {jobs:,} ({twice:.3g} over {once:.3g}), "
            f"{PROCESSORS} processors at load {LOAD:g}; fastest of {ROUNDS} each"
        )
        measurements.append(Measurement(f"{local}, twice the jobs", twice / once, "x", note))
    return measurements

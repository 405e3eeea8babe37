"""Jobs per CPU second of one site that replays its jobs under a local scheduler."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from agents.balancers import DynamicLeastLoadScheduler
from agents.model import GridModel
from agents.pace.predictor import Prediction
from agents.registry import local_scheduler
from experiments.bench.measurement import Measurement
from experiments.bench.timing import ROUNDS, Ended, cpu_seconds, fastest, unwatched
from grid.distributions import Exponential, UniformSizes
from grid.logs.swf import write_swf
from grid.platform.multicluster import Platform
from grid.workloads.synthetic import SyntheticWorkload, arrival_rate
from grid.workloads.table import Table

PROCESSORS = 128
LOAD = 0.8
STEPS = 500
LOCAL = {
    "fcfs": "7,400,000",
    "easy": "3,200,000",
    "fpfs": "",
    "conservative": "",
}
"""Local schedulers that are measured, and the jobs per CPU second expected of them."""
WHOLE = {"fcfs": "280,000", "easy": "235,000"}
"""Those of which a whole process is, and what is expected of it."""
RUNS = ROUNDS * (len(LOCAL) + len(WHOLE))


def jobs_of_users(count: int, load: float = LOAD) -> Table:
    """Return jobs of fifty users, who ask for up to five times as long as they take."""
    sizes, runtimes = UniformSizes(1, 32), Exponential(100)
    rate = arrival_rate(load, sizes, runtimes, [PROCESSORS], [1.0])
    workload = SyntheticWorkload(count=count, rate=rate, sizes=sizes, runtimes=runtimes)
    jobs = np.concatenate([chunk.copy() for chunk in workload.chunks()])
    rng = np.random.default_rng(1)
    jobs["requested_time"] = jobs["runtime"] * rng.uniform(1, 5, count)
    jobs["user"] = rng.integers(0, 50, count)
    return Table(jobs)


def seconds(local: str, jobs: Table) -> float:
    """Simulate the jobs without keeping them; return the CPU seconds."""
    model = GridModel(
        Platform.star([PROCESSORS]),
        jobs,
        DynamicLeastLoadScheduler,
        local_scheduler(local),
        interval=float(jobs.jobs["arrival"][-1]) / STEPS,
        settings=[Prediction("requested")],
    )
    return cpu_seconds(model)


def _process_seconds(local: str, log: str) -> float:
    """Have a process of its own read a log and replay it; return its CPU seconds."""
    command = "from experiments.cli.app import main; main()"
    options = ["--local", local, "--workload", log, "--set", f"processors={PROCESSORS}"]
    begin = os.times()
    subprocess.run(
        [sys.executable, "-c", command, "run", "site", *options, "--json"],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=Path(__file__).parents[2],  # where the package is, if it is not installed
    )
    end = os.times()
    return end.children_user - begin.children_user + end.children_system - begin.children_system


def bench_site(jobs: int = 1_000_000, ended: Ended = unwatched) -> list[Measurement]:
    """Measure local schedulers on one cluster of 128 processors at a load of 0.8.

    Parameters
    ----------
    jobs : int
        Jobs of each run, which are there before it begins.
    ended : callable
        Is told of each of the `RUNS` runs that it has ended.

    Returns
    -------
    list of Measurement
        Jobs per CPU second of each: the simulation, and whole processes that replay an SWF file.
    """
    table, few = jobs_of_users(jobs), jobs_of_users(10)
    measurements = []
    for local, expected in LOCAL.items():
        seconds(local, few)  # compiles
        best = fastest(partial(seconds, local, table), ended)
        note = f"one cluster, simulation alone; {jobs:,} jobs, fastest of {ROUNDS}"
        if expected:
            note += f"; expected: at least {expected}"
        measurements.append(Measurement(f"{local}, one cluster", jobs / best, "jobs/CPU s", note))
    with tempfile.TemporaryDirectory() as folder:
        log = f"{folder}/jobs.swf"
        with open(log, "w", encoding="utf-8") as stream:
            write_swf(stream, table)
        for local, expected in WHOLE.items():
            best = fastest(partial(_process_seconds, local, log), ended)
            note = (
                f"one cluster, start-up and reading {jobs:,} jobs of SWF included, fastest of "
                f"{ROUNDS}; expected: at least {expected}"
            )
            name = f"{local}, one cluster, whole process"
            measurements.append(Measurement(name, jobs / best, "jobs/CPU s", note))
    return measurements

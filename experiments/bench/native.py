"""The kernel beside hand-written C++ that simulates the same jobs to the same ends."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from agents.balancers import DynamicLeastLoadScheduler
from agents.disciplines import FcfsScheduler
from agents.model import GridModel
from agents.registry import global_scheduler, local_scheduler
from agents.selection import JobSelection
from experiments.bench import coallocation, queues, site
from experiments.bench.measurement import Measurement
from experiments.bench.timing import ROUNDS, Ended, cpu_seconds, unwatched
from experiments.scenario.scenario import Scenario
from grid.distributions import Exponential, UniformSizes
from grid.errors import GridError
from grid.platform.multicluster import Platform
from grid.streams import stream
from grid.workloads.backlog import BacklogWorkload
from grid.workloads.origins import cumulative_shares
from grid.workloads.per_cluster import PerClusterWorkload
from grid.workloads.synthetic import SyntheticWorkload, arrival_rate

SOURCE = Path(__file__).resolve().parents[2] / "tests" / "native" / "twins.cpp"
COMPILERS = ("c++", "g++", "clang++")
FLAGS = ("-std=c++17", "-O3", "-march=native", "-ffp-contract=off")
PURPOSES = ("arrivals", "sizes", "runtimes", "components", "origins")
"""Streams of random numbers, in the order in which twins have them."""
STEPS = 20


class Timed(NamedTuple):
    """What a twin tells: its CPU seconds, the mean wait (s), bytes of a waiting, a running job."""

    seconds: float
    wait: float
    waiting: int
    running: int


@dataclass(frozen=True)
class Case:
    """What kernel and twin both simulate.

    Attributes
    ----------
    name : str
        Of the scheduler that decides.
    made : callable
        Returns a model of so many jobs, with a seed, under the scheduler of that name.
    """

    name: str
    made: Callable[[str, int, int], GridModel]

    def model(self, jobs: int, seed: int = 0) -> GridModel:
        """Return a model of it for the kernel."""
        return self.made(self.name, jobs, seed)


def _of_a_site(name: str, jobs: int, seed: int) -> GridModel:
    sizes, runtimes = UniformSizes(1, 32), Exponential(100)
    rate = arrival_rate(site.LOAD, sizes, runtimes, [site.PROCESSORS], [1.0])
    return GridModel(
        Platform.star([site.PROCESSORS]),
        SyntheticWorkload(count=jobs, rate=rate, sizes=sizes, runtimes=runtimes, seed=seed),
        DynamicLeastLoadScheduler,
        local_scheduler(name),
        interval=jobs / rate / STEPS,
    )


def _of_shared_links(name: str, jobs: int, seed: int) -> GridModel:
    workload = PerClusterWorkload(
        count=jobs,
        clusters=4,
        interarrival=coallocation.INTERARRIVAL,
        sizes=UniformSizes(10, 50),
        runtimes=Exponential(coallocation.RUNTIME),
        computation_fraction=0.7,
        bisection_bandwidth=250.0 if name == "first-fit" else 500.0,
        seed=seed,
    )
    return GridModel(
        Platform.star([coallocation.NODES] * 4),
        workload,
        global_scheduler(name),
        FcfsScheduler,
        interval=jobs * coallocation.INTERARRIVAL / 4 / STEPS,
        settings=[JobSelection("fpfs")],
    )


def _of_queues(name: str, jobs: int, seed: int) -> GridModel:
    settings = [f"jobs={jobs}", f"load={queues.LOAD}"]
    return Scenario.load("queues").changed(settings, global_scheduler=name).model(seed)


def _of_a_backlog(name: str, jobs: int, seed: int) -> GridModel:
    like: Any = _of_queues("gs", 1, seed).workload
    workload = BacklogWorkload(
        count=jobs,
        sizes=like.sizes,
        runtimes=like.runtimes,
        composition=like.composition,
        seed=seed,
    )
    return GridModel(
        Platform.star([32] * 4),
        workload,
        global_scheduler(name),
        FcfsScheduler,
        interval=float(jobs),
        settings=[JobSelection("fcfs")],
    )


def _parameters(model: GridModel) -> bytes:
    """Return what a twin reads to simulate the same as a model."""
    workload: Any = model.workload
    platform = model.world.platform
    clusters = len(platform.clusters)
    per_cluster = isinstance(workload, PerClusterWorkload)
    numbers = [
        workload.sizes.minimum,
        workload.interarrival if per_cluster else getattr(workload, "rate", 0.0),
        workload.runtimes.mean,
        platform.sizes[0],
        clusters,
        workload.computation_fraction,
        workload.bisection_bandwidth,
        model.world.state.capacity[0],
        *(np.resize(model.scheduler.memory(), 2) if per_cluster else (0.0, 0.0)),
        *np.cumsum(workload.composition) / 100.0,
        *cumulative_shares(workload.origins),
    ]
    cumulative = workload.sizes.cumulative()
    streams = [
        stream(workload.seed, purpose, cluster)
        for purpose in PURPOSES
        for cluster in range(clusters if per_cluster else 1)
    ]
    counts = np.array([len(numbers), len(cumulative), 4 * len(streams)], np.int64)
    parts = counts, np.array(numbers, float), cumulative, np.concatenate(streams)
    return b"".join(part.tobytes() for part in parts)


CASES = (
    Case("fcfs", _of_a_site),
    Case("easy", _of_a_site),
    Case("migration-only", _of_shared_links),
    Case("first-fit", _of_shared_links),
    Case("b3", _of_shared_links),
    Case("gs", _of_queues),
    Case("ls-or", _of_queues),
    Case("wf", _of_a_backlog),
)
RUNS = ROUNDS * len(CASES)


class Twins:
    """The compiled twins.

    Parameters
    ----------
    folder : path
        Where they are compiled.

    Raises
    ------
    GridError
        If their source or a compiler is not there, or does not compile it.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        if not SOURCE.is_file():
            raise GridError(f"{SOURCE}: no such file; accepted: a copy of the source repository")
        names = os.environ.get("CXX", "").split() or COMPILERS
        compiler = next(filter(None, map(shutil.which, names)), None)
        if compiler is None:
            raise GridError(f"C++ compiler: found none; accepted: {', '.join(COMPILERS)}, or CXX")
        self._folder = Path(folder)
        self._program = self._folder / "twins"
        made = subprocess.run(
            [compiler, *FLAGS, SOURCE, "-o", self._program], capture_output=True, text=True
        )
        if made.returncode != 0:
            raise GridError(f"{compiler} {SOURCE}: {made.stderr.strip().splitlines()[0]}")

    def run(self, case: Case, model: GridModel, out: Path | None = None) -> Timed:
        """Simulate what a model does; write what became of each job into a file if one is given."""
        given = self._folder / "input"
        given.write_bytes(_parameters(model))
        count = str(model.workload.count)
        words = [str(self._program), case.name, count, str(given)]
        words += [] if out is None else [str(out)]
        told = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()
        return Timed(float(told[0]), float(told[1]), int(told[2]), int(told[3]))

    def jobs(self, case: Case, model: GridModel) -> npt.NDArray[np.float64]:
        """Return start, finish (s) and processors of each cluster, a row for each job."""
        out = self._folder / "jobs"
        self.run(case, model, out)
        return np.fromfile(out).reshape(model.workload.count, -1)


@contextmanager
def native() -> Iterator[Twins]:
    """Give the twins, compiled for this machine, for a while."""
    with tempfile.TemporaryDirectory() as folder:
        yield Twins(folder)


def bench_native(jobs: int = 1_000_000, ended: Ended = unwatched) -> list[Measurement]:
    """Measure how many times as long as its twin the kernel takes, in runs that alternate.

    Parameters
    ----------
    jobs : int
        Jobs of each run, which both draw as they come.
    ended : callable
        Is told of each of the `RUNS` pairs of runs that it has ended.

    Returns
    -------
    list of Measurement
        The ratio of each case, and the bytes of the rows of a job.

    Raises
    ------
    GridError
        If there are no twins, or one comes to another mean wait than the kernel.
    """
    found = []
    with native() as twins:
        for case in CASES:
            case.model(40).run()  # compiles
            kernel, twin = [], []
            for _ in range(ROUNDS):
                model = case.model(jobs)
                twin.append(twins.run(case, model))
                kernel.append(cpu_seconds(model))
                ended()
            seconds = min(kernel), min(each.seconds for each in twin)
            found.append(_compared(case, model, jobs, seconds, twin[0]))
    return found


def _compared(
    case: Case, model: GridModel, jobs: int, seconds: tuple[float, float], twin: Timed
) -> Measurement:
    tables, mean = model.world.tables, float(model.world.statistics.mean_wait or 0.0)
    if not abs(mean - twin.wait) <= 1e-9 * max(1.0, twin.wait):
        raise GridError(f"{case.name}: the mean wait is {mean} s, of its twin {twin.wait} s")
    rows = [tables.chunk.itemsize, tables.slots.itemsize, tables.finished.itemsize]
    if model.scheduler.spans:
        rows.append(tables.sliding.itemsize)
    kernel, by_hand = seconds
    return Measurement(
        f"{case.name}, kernel over C++",
        kernel / by_hand,
        "x",
        f"{jobs:,} jobs, {jobs / kernel:,.0f} and {jobs / by_hand:,.0f} jobs/CPU s; fastest of "
        f"{ROUNDS}; bytes of the rows that a job passes through: {' + '.join(map(str, rows))}, in "
        f"its twin {twin.waiting} + {twin.running}; aimed at: at most 1.25",
    )

"""Jobs per CPU second when Python decides about every job, and when compiled code does."""

from __future__ import annotations

import hashlib
import math
import time
import timeit
from typing import Any

import numba

from agents.balancers import DynamicLeastLoadScheduler
from agents.disciplines import FcfsScheduler
from agents.model import GridModel
from agents.schedulers import Answer, GlobalScheduler
from agents.view import Job
from experiments.bench.measurement import Measurement
from experiments.bench.timing import ROUNDS, Ended, unwatched
from grid.distributions import Exponential, UniformSizes
from grid.platform.multicluster import Platform
from grid.workloads.synthetic import SyntheticWorkload, arrival_rate

CLUSTERS = 8
PROCESSORS = 128
LOAD = 0.8
STEPS = 500


class PlainLeastLoad(GlobalScheduler):
    """To the cluster of least load that can hold the job, as a user writes it in Python."""

    def place(self, job: Job) -> Answer:
        """Choose the least loaded cluster; of equals, the first."""
        fitting = [cluster for cluster in self.clusters if cluster.size >= job.size]
        return min(fitting, key=lambda cluster: cluster.load)


class _Bare:
    """What a call costs in Python by itself."""

    def decide(self, job: object) -> None:
        """Do nothing."""


class CompiledLeastLoad(GlobalScheduler):
    """The same, as a user compiles it."""

    @numba.njit
    def place(known: Any, job: Any, memory: Any) -> int:  # noqa: N805
        """Choose the least loaded cluster; of equals, the first."""
        best, least = -1, math.inf
        for cluster in range(known.clusters):
            if known.size[cluster] >= job.size and known.load[cluster] < least:
                best, least = cluster, known.load[cluster]
        return best


WAYS: dict[str, type[GlobalScheduler]] = {
    "plain Python policy": PlainLeastLoad,
    "compiled policy of a user": CompiledLeastLoad,
    "built-in policy dll": DynamicLeastLoadScheduler,
}
RUNS = ROUNDS * len(WAYS)


def _workload(jobs: int) -> SyntheticWorkload:
    sizes, runtimes = UniformSizes(1, 32), Exponential(100)
    rate = arrival_rate(LOAD, sizes, runtimes, [PROCESSORS] * CLUSTERS, [1.0] * CLUSTERS)
    return SyntheticWorkload(count=jobs, rate=rate, sizes=sizes, runtimes=runtimes)


def _run(scheduler: type[GlobalScheduler], jobs: int) -> tuple[float, str]:
    """Run a model to its end; return its CPU seconds and a digest of all that happened to jobs."""
    workload = _workload(jobs)
    interval = jobs / workload.rate / STEPS
    platform = Platform.star([PROCESSORS] * CLUSTERS)
    model = GridModel(platform, workload, scheduler, FcfsScheduler, interval=interval)
    begin = time.process_time()
    model.run()
    seconds = time.process_time() - begin
    digest = hashlib.sha256(model.world.log.records().rows.tobytes()).hexdigest()
    return seconds, digest


def bench_kernel(jobs: int = 1_000_000, ended: Ended = unwatched) -> list[Measurement]:
    """Measure one policy, decided in Python and in compiled code, in runs of a whole model.

    Eight clusters of 128 processors at a load of 0.8 serve their jobs first come, first served; a
    global scheduler sends each job to the cluster of least load.

    Parameters
    ----------
    jobs : int
        Jobs of each run.
    ended : callable
        Is told of each of the `RUNS` runs that it has ended.

    Returns
    -------
    list of Measurement
        Jobs per CPU second of each way to decide, the ratios, and whether all runs agree.
    """
    for scheduler in WAYS.values():
        _run(scheduler, 1000)  # compiles
    seconds = dict.fromkeys(WAYS, math.inf)
    digests = set()
    for _ in range(ROUNDS):
        for name, scheduler in WAYS.items():
            taken, digest = _run(scheduler, jobs)
            seconds[name] = min(seconds[name], taken)
            digests.add(digest)
            ended()
    plain, compiled, built_in = seconds.values()
    call = min(timeit.repeat("plain.decide(None)", globals={"plain": _Bare()}, repeat=ROUNDS)) / 1e6
    same = len(digests) == 1
    runs = f"{jobs:,} jobs, fastest of {ROUNDS}"
    return [
        Measurement(
            "plain Python policy",
            jobs / plain,
            "decisions/CPU s",
            f"{runs}; expected: at least 200,000",
        ),
        Measurement(
            "compiled policy of a user",
            jobs / compiled,
            "jobs/CPU s",
            f"{runs}; expected: at least 2,500,000",
        ),
        Measurement("built-in policy dll", jobs / built_in, "jobs/CPU s", runs),
        Measurement(
            "a decision in Python",
            (plain - compiled) / jobs / call,
            "calls",
            f"of a method that does nothing, {call * 1e9:.0f} ns each",
        ),
        Measurement("compiled over plain", plain / compiled, "x", "same policy"),
        Measurement("built-in over plain", plain / built_in, "x", "same policy"),
        Measurement(
            "runs that agree",
            float(same),
            "",
            "placement, start and end of every job are "
            + ("identical in all runs" if same else "NOT the same in all runs"),
        ),
    ]

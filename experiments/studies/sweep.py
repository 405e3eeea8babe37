"""Many runs: on all cores, kept as they end, taken up where they stopped."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from multiprocessing import resource_tracker
from multiprocessing.synchronize import Event
from typing import TYPE_CHECKING, Any, Protocol

import mesa

from agents.model import GridModel
from experiments.compiling import saying_when_compiling
from experiments.studies.kept import Kept
from grid.errors import GridError

if TYPE_CHECKING:
    from experiments.scenario import Scenario

ENOUGH = 50
"""Jobs that have everything compiled: local schedulers are quick about a handful."""

Observation = dict[str, list[float]]
"""What is kept of a run: columns of numbers."""

Observe = Callable[[GridModel, Iterable[None]], Observation]
"""Takes a new model and its steps, one for each time round a loop, to its end or as far as is
wanted. A function of a module, so that workers find it."""

AT_ONCE = 0.5
"""Runs that are quicker are handed to workers so many seconds' worth at a time."""


class Runnable(Protocol):
    """What runs: a scenario whose schedulers are given by name, or what is made like one."""

    @property
    def jobs(self) -> int:
        """How many there are."""

    def cut(self, jobs: int) -> Runnable:
        """Return the same with so many jobs at most, all of which count."""

    def model(self, seed: int = 0) -> GridModel:
        """Return a model of it, ready to step."""

    def to_dict(self) -> dict[str, Any]:
        """Return what tells it from others, ready for JSON."""


@dataclass(frozen=True)
class Run:
    """One run of a sweep.

    Attributes
    ----------
    scenario : Runnable
    seed : int
    kind : tuple
        Runs of one kind take about the same time a job.
    probe : Runnable
        A short run of that kind.
    """

    scenario: Runnable
    seed: int
    kind: tuple[Any, ...]
    probe: Runnable

    @cached_property
    def key(self) -> str:
        """What tells the run from all others: its scenario, every parameter, and its seed."""
        told = json.dumps([self.scenario.to_dict(), self.seed], sort_keys=True)
        return hashlib.sha256(told.encode()).hexdigest()[:32]


class Watch(Protocol):
    """Is told how a sweep goes on."""

    def prepare(self, words: str) -> None:
        """Take note of what is done before the time is known that the runs will take."""

    def begin(self, runs: int, kept: int, estimate: float) -> None:
        """Take note of how many runs are left, how many were kept, and the time they will take."""

    def advance(self, share: float) -> None:
        """Take note that a run has ended, which was that share of what was left to do."""


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def check_importable(scenario: Scenario, command: str) -> None:
    """Raise `GridError`, naming a command, for schedulers that workers would not find."""
    for given in (scenario.global_scheduler, scenario.local_scheduler):
        if not isinstance(given, str) and given.__module__ in ("__main__", "<run_path>"):
            raise GridError(
                f"{command}: found scheduler {given.__qualname__} of a script; accepted: one by "
                "its name, or module:Class"
            )


def sweep(
    runs: Sequence[Run], observe: Observe, kept: Kept, workers: int, watch: Watch
) -> dict[str, Observation]:
    """Do the runs that are not kept yet, and return what each came to, by key.

    Parameters
    ----------
    runs : sequence of Run
        A run that is there twice is done once.
    observe : callable
        What is kept of a run.
    kept : Kept
        Where; each run is kept when it ends.
    workers : int
        Processes.
    watch : Watch

    Raises
    ------
    GridError
        If a run cannot be made, or its process is killed.
    KeyboardInterrupt
        After Ctrl-C, once the workers have ended; finished runs are kept.
    """
    done = kept.all()
    left = {run.key: run for run in runs if run.key not in done}
    before = len({run.key for run in runs}) - len(left)
    if not left:
        watch.begin(0, before, 0.0)
    else:
        watch.prepare("compiling what is not compiled yet, which takes up to a minute once")
        _compile(left.values())
        watch.prepare("measuring how long runs take, by a short one of each kind")
        workers = min(workers, len(left))
        with worker_pool(workers, next(iter(left.values())).probe) as pool:
            costs = _costs(pool, left, observe)
            total = sum(costs.values())
            watch.begin(len(left), before, total / workers)
            futures = {}
            for keys in _batches(costs):
                runs_of_it = [(left[key].scenario, left[key].seed) for key in keys]
                futures[pool.submit(_all_observed, runs_of_it, observe)] = keys
            for future in as_completed(futures):
                keys = futures[future]
                kept.add(dict(zip(keys, future.result(), strict=True)))
                for key in keys:
                    watch.advance(costs[key] / total)
        done = kept.all()
    return {run.key: done[run.key] for run in runs}


def _compile(runs: Iterable[Run]) -> None:
    """Have everything compiled into the cache that all workers share."""
    probes = {run.kind: run.probe for run in runs}
    with saying_when_compiling(always=False):
        for probe in probes.values():
            try_out(probe)


def try_out(probe: Runnable) -> None:
    """Run as much of a scenario as goes through all the code that its runs go through."""
    model = probe.cut(ENOUGH).model()
    while model.running and model.completed < ENOUGH:  # a log has more
        model.step()


def _costs(pool: Executor, runs: dict[str, Run], observe: Observe) -> dict[str, float]:
    """Return the seconds that each run will take, by short runs of each kind."""
    probes = {run.kind: run.probe for run in runs.values()}
    futures = {kind: pool.submit(observed, probe, 0, observe) for kind, probe in probes.items()}
    per_job = {kind: future.result()[1] / probes[kind].jobs for kind, future in futures.items()}
    return {key: per_job[run.kind] * run.scenario.jobs for key, run in runs.items()}


def _batches(costs: Mapping[str, float]) -> Iterator[list[str]]:
    """Yield the keys of runs that one worker does at once; the longest do not come last."""
    batch: list[str] = []
    for key in sorted(costs, key=lambda key: -costs[key]):
        batch.append(key)
        if sum(costs[each] for each in batch) >= AT_ONCE:
            yield batch
            batch = []
    if batch:
        yield batch


# Workers ----------------------------------------------------------------------------------------


@contextmanager
def worker_pool(workers: int, first: Runnable) -> Iterator[Executor]:
    """Give worker processes that end in order, also after Ctrl-C or the death of this process."""
    processes = multiprocessing.get_context("spawn")  # threads and forks do not go together
    _quiet_tracker()
    stopping = processes.Event()
    pool = ProcessPoolExecutor(workers, processes, _begin, (stopping, first))
    try:
        _start(pool)
        yield pool
    except BrokenProcessPool:
        raise GridError(
            "a worker process was killed (out of memory?); finished runs are kept, the same "
            "command goes on"
        ) from None
    finally:
        stopping.set()
        pool.shutdown(cancel_futures=True)


def _start(pool: Executor) -> None:
    """Start all workers, deaf to Ctrl-C from their first instruction on: it is for their parent.

    They inherit that it is blocked; here it is not lost, but comes once they are started.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        pool.submit(os.getpid)  # with the first task all of them are spawned
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _quiet_tracker() -> None:
    """Start the process that clears up after a killed one, and does not warn that it had to."""
    sys.warnoptions.append("ignore:resource_tracker")
    try:
        resource_tracker.ensure_running()
    finally:
        sys.warnoptions.pop()


_stopping: Event


def _begin(stopping: Event, first: Runnable) -> None:
    """Begin a worker: it ends with its parent, and has its code loaded."""
    global _stopping
    _stopping = stopping
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try_out(first)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def observed(scenario: Runnable, seed: int, observe: Observe) -> tuple[Observation, float]:
    """Run a scenario in a worker; return what is kept of it and the seconds it took."""
    began = time.perf_counter()
    model = scenario.model(seed)
    observation = observe(model, _steps(model))
    getattr(mesa.Agent, "_ids", {}).pop(model, None)  # where Mesa 3.3 keeps every model alive
    return observation, time.perf_counter() - began


def _all_observed(runs: Sequence[tuple[Runnable, int]], observe: Observe) -> list[Observation]:
    """Run scenarios, each with its seed, in a worker; return what is kept of each."""
    return [observed(scenario, seed, observe)[0] for scenario, seed in runs]


def _steps(model: GridModel) -> Iterator[None]:
    while model.running:
        if _stopping.is_set():
            raise InterruptedError("the sweep has ended")  # nobody waits for what comes of it
        model.step()
        yield

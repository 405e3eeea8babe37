"""Many runs: on all cores, kept as they end, taken up where they stopped."""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from agents.model import GridModel
from agents.registry import OF_SCRIPTS
from experiments.cli.users_errors import in_words
from experiments.sweeps.compiling import saying_when_compiling
from experiments.sweeps.executors import Workers, at_piece, local_workers, steps
from experiments.sweeps.forecast import Forecast, Told
from experiments.sweeps.run_store import Kept
from grid.errors import GridError

if TYPE_CHECKING:
    from experiments.scenario.scenario import Scenario

ENOUGH = 50
"""Jobs that have everything compiled: local schedulers are quick about a handful."""

Observation = dict[str, list[float]]
"""What is kept of a run: columns of numbers."""

Observe = Callable[[GridModel, Iterable[None]], Observation]
"""Takes a new model and its steps, one for each time round a loop, to its end or as far as is
wanted. A function of a module, so that workers find it."""

Work = Callable[["Runnable", int], Observation]
"""Does a run of a seed; a function of a module, so that workers find it."""

Costs = dict[tuple[Any, ...], float]
"""Seconds that a job takes in runs of each kind."""

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
    of : str
        What tells it, in words, from others of its seed.
    files : str
        What tells it from those of other contents of files (`digest_of_files`).
    """

    scenario: Runnable
    seed: int
    kind: tuple[Any, ...]
    probe: Runnable
    of: str = ""
    files: str = ""

    def __str__(self) -> str:
        return f"run of --seed {self.seed}" + (f" ({self.of})" if self.of else "")

    @cached_property
    def key(self) -> str:
        """What tells the run from all others: its scenario, every parameter, seed and files."""
        parts = [self.scenario.to_dict(), self.seed, *filter(None, [self.files])]
        told = json.dumps(parts, sort_keys=True)
        return hashlib.sha256(told.encode()).hexdigest()[:32]


class Watch(Protocol):
    """Is told how a sweep goes on."""

    def prepare(self, words: str) -> None:
        """Take note of what is done before the time is known that the runs will take."""

    def begin(self, kept: int, forecast: Forecast, under_way: Told = tuple) -> None:
        """Take note of how many runs were kept, and of the time that those to be done will take.

        And of what tells how far workers have come.
        """

    def advance(self, piece: int, took: Sequence[float]) -> None:
        """Take note that the runs of a piece of work have ended, and how long each took, s."""


class Unwatched:
    """A `Watch` that tells nobody."""

    def prepare(self, words: str) -> None:
        """Take note of nothing."""

    def begin(self, kept: int, forecast: Forecast, under_way: Told = tuple) -> None:
        """Take note of nothing."""

    def advance(self, piece: int, took: Sequence[float]) -> None:
        """Take note of nothing."""


def check_importable(scenario: Scenario, command: str) -> None:
    """Raise `GridError`, naming a command, for code of the user's that workers would not find."""
    predicts = scenario.parameters.prediction
    for given in (scenario.global_scheduler, scenario.local_scheduler, predicts):
        if not isinstance(given, str) and given.__module__ in OF_SCRIPTS:
            what = "predictor" if given is predicts else "scheduler"
            raise GridError(
                f"{command}: found {what} {given.__qualname__} of a script; accepted: one by "
                "its name, or module:Class"
            )


def sweep(
    runs: Sequence[Run],
    work: Work,
    kept: Kept,
    workers: int,
    watch: Watch,
) -> dict[str, Observation]:
    """Do the runs that are not kept yet, and return what each came to, by key.

    Parameters
    ----------
    runs : sequence of Run
        A run that is there twice is done once.
    work : callable
        What is done with a run's scenario and its seed.
    kept : Kept
        Where; each run is kept when it ends.
    workers : int
        Processes.
    watch : Watch

    Raises
    ------
    GridError
        If a run cannot be made, or its process is killed time after time.
    KeyboardInterrupt
        After Ctrl-C, once the workers have ended; finished runs are kept.
    """
    done = kept.all()
    left = [run for run in runs if run.key not in done]
    if not left:
        watch.begin(len({run.key for run in runs}), Forecast([]))
    else:
        compile_all(left, watch)
        begin = partial(try_out, left[0].probe)
        number = min(workers, len({run.key for run in left}))
        with local_workers(number, begin, kept.lasting) as crew:
            carry_out(runs, work, kept, crew, watch, {})
        done = kept.all()
    return {run.key: done[run.key] for run in runs}


def carry_out(
    runs: Sequence[Run],
    work: Work,
    kept: Kept,
    workers: Workers,
    watch: Watch,
    costs: Costs,
    until: float = math.inf,
) -> bool:
    """Have workers do the runs that are not kept yet; each is kept when it ends.

    Parameters
    ----------
    runs : sequence of Run
    work : callable
        What is done with a run's scenario and its seed.
    kept : Kept
    workers : Workers
    watch : Watch
    costs : dict
        What runs of each kind take; what is not known yet is measured by short runs. All that is
        learnt is put there.
    until : float
        When to stop, on the clock `time.monotonic`.

    Returns
    -------
    bool
        Whether all are done: False if time was up.
    """
    done = kept.all()
    left = {run.key: run for run in runs if run.key not in done}
    before = len({run.key for run in runs}) - len(left)
    if not left:
        watch.begin(before, Forecast([]))
        return True
    _measure(left.values(), work, workers, watch, costs)
    estimates = {key: costs[run.kind] * run.scenario.jobs for key, run in left.items()}
    batches = [*_batches(_in_order(left, estimates), estimates)]
    pieces = [[(left[key].kind, estimates[key]) for key in keys] for keys in batches]
    watch.begin(before, Forecast(pieces, workers.number), workers.under_way)
    futures = {}
    for piece, keys in enumerate(batches):
        of_it = [(left[key], estimates[key]) for key in keys]
        futures[workers.executor.submit(all_done, piece, of_it, work)] = piece
    took: dict[tuple[Any, ...], list[float]] = {}
    patience = None if until == math.inf else max(0.0, until - time.monotonic())
    try:
        for future in as_completed(futures, patience):
            found, keys = future.result(), batches[futures[future]]
            kept.add(
                dict(zip(keys, (each.observed for each in found), strict=True)),
                dict(zip(keys, (each.cpu for each in found), strict=True)),
            )
            watch.advance(futures[future], [each.wall for each in found])
            for key, each in zip(keys, found, strict=True):
                jobs = max(1, left[key].scenario.jobs)
                took.setdefault(left[key].kind, []).append(each.wall / jobs)
    except TimeoutError:
        if time.monotonic() < until:
            raise  # it is one of a run
        for future in futures:
            future.cancel()
        return False
    costs.update({kind: sum(each) / len(each) for kind, each in took.items()})
    return True


def compile_all(runs: Iterable[Run], watch: Watch) -> None:
    """Have everything compiled into the cache that all workers of a machine share."""
    watch.prepare("trying a short run of each kind, which compiles what is not compiled yet")
    probes = {run.kind: run.probe for run in runs}
    with saying_when_compiling(always=False):
        for probe in probes.values():
            try_out(probe)


def try_out(probe: Runnable) -> None:
    """Run as much of a scenario as goes through all the code that its runs go through."""
    model = probe.cut(ENOUGH).model()
    while model.running and model.completed < ENOUGH:  # a log has more
        model.step()


def _measure(runs: Iterable[Run], work: Work, workers: Workers, watch: Watch, costs: Costs) -> None:
    """Learn what a job of each kind of run takes, s, by a short run of each kind."""
    first: dict[tuple[Any, ...], Run] = {}
    for run in runs:
        if run.kind not in costs:
            first.setdefault(run.kind, run)
    if first:
        watch.prepare("measuring how long runs take, by a short one of each kind")
    submit = workers.executor.submit
    futures = {kind: submit(_timed, run.probe, work) for kind, run in first.items()}
    for kind, future in futures.items():
        making, rest = future.result()
        jobs, short = (max(1, each.jobs) for each in (first[kind].scenario, first[kind].probe))
        costs[kind] = making / jobs + rest / short


def _in_order(left: Mapping[str, Run], costs: Mapping[str, float]) -> list[str]:
    """Return the keys of runs in the order in which they are begun.

    First one of each kind, for short runs tell little of how long they take; the longest runs do
    not come last.
    """
    keys = sorted(costs, key=lambda key: -costs[key])
    firsts: dict[tuple[Any, ...], str] = {}
    for key in keys:
        firsts.setdefault(left[key].kind, key)
    return [*dict.fromkeys([*firsts.values(), *keys])]


def _batches(keys: Iterable[str], costs: Mapping[str, float]) -> Iterator[list[str]]:
    """Yield the keys of runs that one worker does at once."""
    batch: list[str] = []
    for key in keys:
        if batch and costs[key] >= AT_ONCE:
            yield batch
            batch = []
        batch.append(key)
        if sum(costs[each] for each in batch) >= AT_ONCE:
            yield batch
            batch = []
    if batch:
        yield batch


# In a worker ------------------------------------------------------------------------------------


def observed(
    scenario: Runnable,
    seed: int,
    observe: Observe,
    of: Callable[[GridModel], Iterator[None]] = steps,
) -> Observation:
    """Run a scenario, and return what is kept of it, step after step of it.

    Parameters
    ----------
    scenario : Runnable
    seed : int
    observe : callable
    of : callable
        `steps`, or `unseen_steps` where `observe` looks at a model at its end alone.
    """
    model = scenario.model(seed)
    return observe(model, of(model))


def _timed(scenario: Runnable, work: Work) -> tuple[float, float]:
    """Return the seconds that it takes to make a model, however many jobs it has, and the rest.

    Once before, so that what a process loads once is not counted for each run.
    """
    with in_words("short run of --seed 0"):
        work(scenario, 0)
        began = time.perf_counter()
        scenario.model()
        made = time.perf_counter()
        work(scenario, 0)
    making = made - began
    return making, max(0.0, time.perf_counter() - made - making)


class Done(NamedTuple):
    """A run that has ended: what is kept of it, CPU seconds, and seconds on the wall."""

    observed: Observation
    cpu: float
    wall: float


def all_done(piece: int, runs: Sequence[tuple[Run, float]], work: Work) -> list[Done]:
    """Do the runs of a piece of work, each with the time it is estimated to take."""
    found: list[Done] = []
    total, before = sum(estimate for _, estimate in runs) or 1.0, 0.0
    for run, estimate in runs:
        at_piece(piece, before / total, estimate / total, run.scenario.jobs)
        began, on_wall = time.thread_time(), time.monotonic()
        with in_words(str(run)):
            observed_ = work(run.scenario, run.seed)
        took = time.thread_time() - began, time.monotonic() - on_wall
        found.append(Done(observed_, *took))
        before += estimate
    return found

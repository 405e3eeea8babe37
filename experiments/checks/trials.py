"""Small grids in which a scheduler or a predictor is tried, and runs of them."""

from __future__ import annotations

import io
import pickle
import random
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any

import numpy as np

from agents.model import GridModel
from agents.pace.predictor import Predictor
from agents.schedulers import GlobalScheduler, Scheduler
from agents.wiring import reconnect
from experiments.checks.authorship import is_of_author
from experiments.scenario.jobs import Source
from experiments.scenario.parameters import Parameters
from experiments.scenario.scenario import Scenario
from grid.errors import GridError
from grid.jobs import job_table
from grid.kernel.compile import compiled
from grid.platform.multicluster import Platform
from grid.workloads.table import Table
from grid.world.pickling import Pickler
from grid.world.world import World

SEED = 1
"""Of every run but those that are to differ by it."""
OTHER_SEED = 1_000_003
"""Far from it: a generator may be seeded with the sum of the seed and the number of a job."""
LIMIT = 60.0
"""Time that a run may take before its scheduler is interrupted, s."""


class NoAnswerError(Exception):
    """A scheduler did not answer in time."""


@dataclass(frozen=True, eq=False)
class Grid:
    """A small grid to try a scheduler in, and whom it meets there on the other level."""

    name: str
    platform: Platform
    parameters: dict[str, Any]
    world: Any
    local: Any


_SIZES, _RATES = (8, 6, 4), (1.0, 1.3, 0.7)
# A prime number of jobs: who counts on beyond a run then begins the next one differently.
_JOBS: dict[str, Any] = {"jobs": 61, "queue": 15, "max_size": 6, "population": 10, "patience": 10}
_JOBS |= {"busy_watts": 200.0, "price": 0.2, "carbon": 300.0}

GRIDS = (
    Grid("rounds", Platform.star(_SIZES, _RATES), _JOBS | {"mode": "batch"}, "muscle", "titan"),
    # Whoever takes the first cluster without a look at its size takes the smallest one here.
    Grid(
        "arrivals", Platform.star(_SIZES[::-1], _RATES[::-1]),
        _JOBS | {"mode": "open", "load": 0.9}, "ect", "fcfs",
    ),
    Grid(
        "late news",
        Platform.star(_SIZES, _RATES, latency=0.5),
        _JOBS | {"mode": "open", "load": 1.1, "latency": 3.0, "local_share": 0.5},
        "muscle",
        "easy",  # TITAN would search long where a policy piles jobs up
    ),
    Grid("one cluster", Platform.star([6]), _JOBS | {"mode": "open", "load": 0.9}, "dll", "sjf"),
)  # fmt: skip
WIDE = Grid(
    "jobs wider than a cluster",
    Platform.star(_SIZES, _RATES),
    _JOBS | {"mode": "open", "load": 0.5, "max_size": 15},
    "ect",
    "fcfs",
)
"""For those who split jobs."""


@dataclass
class Trial:
    """A run, as far as it came.

    Attributes
    ----------
    kind : type
        Of the scheduler or predictor.
    model : GridModel or None
        None if the scheduler could not even be made.
    error : BaseException or None
        What ended it before its time.
    """

    kind: type
    model: GridModel | None
    error: BaseException | None

    @property
    def world(self) -> World:
        """The world, of a scheduler that could be made."""
        assert self.model is not None
        return self.model.world

    @property
    def outcome(self) -> tuple[bytes, bytes, dict[str, int], float]:
        """What must be the same when it should be."""
        records, world = self.world.log.records(), self.world
        return records.rows.tobytes(), records.takes.tobytes(), world.messages, world.now

    @property
    def attributes(self) -> dict[str, Any]:
        """The attributes of what was tried, or of the first of them, by name."""
        assert self.model is not None
        agents = (self.model.pace.predictor, self.model.scheduler, self.model.clusters[0].scheduler)
        return dict(vars(next(agent for agent in agents if isinstance(agent, self.kind))))


@compiled(cache=False)
def _seed_compiled(seed: int) -> None:
    np.random.seed(seed)
    random.seed(seed)


@contextmanager
def _limited(scheduler: type[Scheduler]) -> Iterator[None]:
    """Interrupt the author's code if it is at work when the time is up, or once it is again.

    That takes signals, and Python: compiled code cannot be interrupted.
    """
    main = threading.current_thread() is threading.main_thread()
    if not (main and hasattr(signal, "setitimer")):
        yield
        return
    limit = LIMIT

    def interrupt(_: int, frame: FrameType | None) -> None:
        while frame is not None and frame.f_code is not run_in.__code__:
            if is_of_author(frame.f_code.co_filename, scheduler):
                raise NoAnswerError(f"did not answer within {limit:g} s of the start of the run")
            frame = frame.f_back

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, limit, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _model(scenario: Scenario, seed: int) -> GridModel:
    """Return a model; of a scheduler with reservations, one that knows what is free at the moment.

    Only when it is made does a scheduler say for sure that it has reservations.
    """
    try:
        return scenario.model(seed, _of_people)
    except GridError:
        with suppress(Exception):
            return scenario.changed(knowledge="truth").model(seed)
        raise


def _taken_up(model: GridModel, at: float) -> GridModel:
    """Return a model as a checkpoint has it that is written at a time, s."""
    while model.running and model.now < at:
        model.step()
    file = io.BytesIO()
    Pickler(file).dump(model)
    copy: GridModel = pickle.loads(file.getvalue())
    reconnect(copy, copy.scheduler, copy.clusters)
    return copy


def _of_people(_: Source, __: Platform, ___: Parameters) -> Table:
    """Return jobs of a few users, who request more than they need, and what they compute."""
    jobs, draws = job_table(_JOBS["jobs"]), np.random.default_rng(SEED)
    jobs["arrival"] = np.cumsum(draws.exponential(4.0, len(jobs)))
    jobs["size"] = draws.integers(1, 1 + _JOBS["max_size"], len(jobs))
    jobs["user"], jobs["application"] = draws.integers(0, 3, (2, len(jobs)))
    jobs["runtime"] = draws.uniform(1.0, 9.0, len(jobs)) * (1 + jobs["user"])
    jobs["requested_time"] = jobs["runtime"] * draws.uniform(1.0, 3.0, len(jobs))
    jobs["requested_time"][::7] = np.inf
    jobs["problem_size"] = 1e5 * draws.integers(1, 4, len(jobs))
    jobs["problem_size"][::5] = 0
    return Table(jobs, applications=dict(enumerate(("cpi", "fft", "memsort"))))


def run_in(
    grid: Grid,
    scheduler: type[Scheduler] | type[Predictor],
    shared_seed: int = 1,
    step: float | None = None,
    seed: int = SEED,
    saved_at: Sequence[float] = (),
) -> Trial:
    """Run a scheduler in a grid; or a predictor, on jobs of people, with schedulers that read it.

    Parameters
    ----------
    grid : Grid
    scheduler : type
        Global or local; or a predictor.
    shared_seed : int
        Of the random numbers of Python, NumPy and compiled code, which it should not use.
    step : float, optional
        Length of a step, s.
    seed : int
        Of the run.
    saved_at : sequence of float
        From these times on, s, what a pickle of it has goes on.
    """
    random.seed(shared_seed)
    np.random.seed(shared_seed)
    _seed_compiled(shared_seed)
    parameters = grid.parameters | ({} if step is None else {"step": step})
    platform, world, local = grid.platform, grid.world, grid.local
    log = None
    if issubclass(scheduler, Predictor):
        parameters["prediction"], log = scheduler, "jobs of people"
        clusters = [replace(each, hardware="cluster") for each in platform.clusters]
        platform = replace(platform, clusters=tuple(clusters))
    elif issubclass(scheduler, GlobalScheduler):
        world = scheduler
    else:
        local = scheduler
    scenario = Scenario(grid.name, platform, parameters, world, local, workload=log)
    model = None
    try:
        with _limited(scheduler):
            model = _model(scenario, seed)
            for at in saved_at:
                model = _taken_up(model, at)
            model.run()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return Trial(scheduler, model, error)
    return Trial(scheduler, model, None)

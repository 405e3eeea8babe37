"""TITAN, the local scheduler that orders a cluster's jobs (`muscle`, section 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from deap import base

from agents.decoding import Problem, schedule
from agents.genetic import Settings, evolve
from agents.messages import Message, Reminder, ScheduleReport, SeedSchedule
from agents.schedule import Placement
from agents.schedulers import PlanningScheduler
from grid.errors import GridError
from grid.kernel.state import LOCAL
from grid.streams import Stream, stream

if TYPE_CHECKING:
    from agents.cluster import ClusterAgent
    from agents.model import GridModel

CODINGS = ("order",)
"""How an individual codes a schedule."""


@dataclass(frozen=True)
class Optimised:
    """A schedule that TITAN found.

    Attributes
    ----------
    schedule : list of Placement
        Every job once, in the order of decoding.
    cp : float
        Its comprehensive performance, seconds.
    generations : int
        Generations bred after the first.
    history : list of float
        Best CP of each generation, the first included.
    """

    schedule: list[Placement]
    cp: float
    generations: int
    history: list[float]


def optimise(
    sizes: npt.ArrayLike,
    execution_times: npt.ArrayLike,
    deadlines: npt.ArrayLike,
    processors: int,
    weights: Sequence[float] = (4, 3, 1),
    seed_schedule: Sequence[Placement] | None = None,
    coding: str = "order",
    generations: int | None = None,
    rng: np.random.Generator | int | None = None,
    *,
    population: int = Settings.population,
    patience: int = Settings.patience,
    threshold: float = Settings.threshold,
    idle: str = Settings.idle,
    release: npt.ArrayLike | None = None,
    toolbox: base.Toolbox | None = None,
) -> Optimised:
    """Schedule jobs on one cluster by TITAN's genetic algorithm.

    Parameters
    ----------
    sizes, execution_times, deadlines : array_like, shape (jobs,)
        Processors, seconds, and seconds after the dispatch (inf: none).
    processors : int
        Of the cluster.
    weights : sequence of float
        (Wo, Wm, Wi) of over-deadline, makespan and idle-time.
    seed_schedule : sequence of Placement, optional
        A schedule of all the jobs to start from, such as MUSCLE's; the result is never worse.
    coding : {"order"}
        How an individual codes a schedule.
    generations : int, optional
        Most generations; by default as many as `Settings.effort` allows.
    rng : numpy.random.Generator or int, optional
        Source of randomness, or a seed; 0 by default.
    population, patience, threshold, idle
        As in `Settings`.
    release : array_like, shape (processors,), optional
        When each processor is free, seconds after the dispatch; by default at once.
    toolbox : deap.base.Toolbox, optional
        Operators of the user's, as for `evolve`.

    Raises
    ------
    GridError
        For an argument that cannot be used; the message names it.

    Notes
    -----
    `muscle`, section 3, with the order of jobs alone as coding.

    Examples
    --------
    >>> result = optimise([2, 1, 1], [4.0, 3.0, 1.0], [9.0, 9.0, 1.0], processors=2)
    >>> [(placement.job, placement.start) for placement in result.schedule], result.cp
    ([(1, 0.0), (2, 0.0), (0, 3.0)], 2.875)
    """
    if coding not in CODINGS:
        raise GridError(f"coding: found {coding!r}; accepted are {', '.join(CODINGS)}")
    if not isinstance(processors, (int, np.integer)) or processors < 1:
        raise GridError(f"processors: found {processors!r}; accepted is an integer >= 1")
    free = np.zeros(processors) if release is None else np.asarray(release, np.float64)
    if free.shape != (processors,):
        raise GridError(f"release: found shape {free.shape}; accepted is ({processors},)")
    problem = Problem(np.asarray(sizes), np.asarray(execution_times), np.asarray(deadlines), free)
    settings = Settings(
        population=population,
        patience=patience,
        threshold=threshold,
        generations=generations,
        weights=weights,
        idle=idle,
    )
    order = None if seed_schedule is None else order_by_start(seed_schedule)
    outcome = evolve(problem, settings, _stream(rng), order, toolbox)
    return Optimised(
        schedule(problem, outcome.order),
        outcome.cp,
        outcome.generations,
        outcome.logbook.select("min"),
    )


def order_by_start(placements: Sequence[Placement]) -> list[int]:
    """Return the jobs of a schedule by start; those of one start as the schedule has them."""
    return [placement.job for placement in sorted(placements, key=lambda each: each.start)]


def _stream(rng: np.random.Generator | int | None) -> Stream:
    if isinstance(rng, np.random.Generator):
        return stream(int(rng.bit_generator.random_raw()), "titan")
    seed = 0 if rng is None else rng
    if not isinstance(seed, (int, np.integer)) or seed < 0:
        raise GridError(f"rng: found {rng!r}; accepted are a Generator, an integer >= 0 and None")
    return stream(int(seed), "titan")


class TitanScheduler(PlanningScheduler):
    """Orders the jobs of its cluster by a genetic algorithm, from MUSCLE's seed schedule if any.

    Whenever jobs arrive it optimises all those that have not started, and tells the global
    scheduler how far the cluster is then booked; again when what is left falls to the threshold
    at which the next round may start.

    Attributes
    ----------
    settings : Settings
        How it searches.
    toolbox : deap.base.Toolbox
        Operators registered here (mate, mutate, select, evaluate) replace TITAN's own.
    cp : float
        Comprehensive performance of the present schedule, s after the last dispatch.
    history : list of float
        Best CP of each generation of the last search.
    """

    paper = "muscle"

    def __init__(self, model: GridModel, cluster: ClusterAgent) -> None:
        super().__init__(model, cluster)
        self.settings = replace(model.titan, weights=model.weights[cluster.index], idle=model.idle)
        self.toolbox = base.Toolbox()
        self.cp = 0.0
        self.history: list[float] = []
        self._stream = stream(model.seed, "titan", cluster.index)
        self._seeds: list[SeedSchedule] = []
        self._round = 0
        self._plans = 0

    def receive(self, message: Message) -> None:
        """Take a seed schedule, or the reminder that the cluster is about to run dry."""
        if isinstance(message, SeedSchedule):
            self._seeds.append(message)
        elif isinstance(message, Reminder) and message.plan == self._plans:
            self._report(None)

    def act(self) -> None:
        """Plan, if a seed schedule has come and its jobs are there."""
        if self._seeds:
            self.replan()

    def replan(self) -> None:
        """Optimise the order of the jobs that have not started; wait for those announced."""
        world, cluster = self.model.world, self.cluster
        announced = [slot for seed in self._seeds for slot in seed.slots]
        if any(world.jobs["status"][slot] != LOCAL for slot in announced):
            return
        waiting = world.queue(cluster.index).tolist()
        if not waiting:
            return
        keys = world.jobs["key"]
        planned = [slot for slot in waiting if keys[slot] < np.inf]
        known = set(planned) | set(announced)
        slots = [*planned, *announced, *(slot for slot in waiting if slot not in known)]
        problem = Problem(
            world.jobs["size"][slots],
            self.model.pace.predict(world.jobs["runtime"][slots])[:, cluster.index],
            world.jobs["deadline"][slots] - world.now,
            cluster.release_times(),
        )
        seeded = bool(announced) or self.model.list_seed
        order = range(len(slots)) if seeded else None
        outcome = evolve(problem, self.settings, self._stream, order, self.toolbox)
        chosen = [slots[index] for index in outcome.order]
        world.plan(cluster.index, chosen)
        self._plans += 1
        self.cp = outcome.cp
        self.history = outcome.logbook.select("min")
        jobs = len(announced) or len(slots)
        if self._seeds:
            self._round = self._seeds[-1].round
            self._seeds = []
        self._book(problem, outcome.order, chosen)
        self._report(outcome.cp, jobs)

    def _book(self, problem: Problem, order: Sequence[int], slots: Sequence[int]) -> None:
        """Note how far the cluster is booked by the new plan and by the jobs that run."""
        world, now = self.model.world, self.model.now
        jobs, release = world.jobs, problem.release.copy()
        running, counts = world.running(self.cluster.index)
        unfinished = [
            (jobs["end"][slot], jobs["execution_time"][slot], count, jobs["deadline"][slot])
            for slot, count in zip(running, counts, strict=True)
        ]
        for placement, slot in zip(schedule(problem, order), slots, strict=True):
            time = problem.execution_times[placement.job]
            release[list(placement.resources)] = placement.start + time
            finish = now + placement.start + time
            unfinished.append((finish, time, jobs["size"][slot], jobs["deadline"][slot]))
        self._release = np.sort(now + release)
        self._unfinished = np.array(unfinished, np.float64).reshape(-1, 4)
        dry = float(self._release[-1]) - self.model.round_threshold
        if self.model.scheduler.collects and dry > now:
            self.model.remind(self, dry, self._plans)

    def _report(self, cp: float | None, jobs: int = 0) -> None:
        """Tell the global scheduler how far the cluster is booked."""
        if not self.model.scheduler.collects:
            return
        self.cluster.broker.send(
            ScheduleReport,
            self.model.broker,
            cluster=self.cluster.index,
            round=self._round,
            jobs=jobs,
            makespan=max(0.0, float(self._release[-1]) - self.model.now),
            cp=cp,
            release=self._release,
            unfinished=self._unfinished[self._unfinished[:, 0] > self.model.now],
        )

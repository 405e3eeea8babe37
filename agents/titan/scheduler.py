"""TITAN, the local scheduler that orders a cluster's jobs (`muscle`, section 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from deap import base

from agents.muscle.booking import planned_processors, problem_of
from agents.numbers import is_whole
from agents.protocols import Grid
from agents.schedule import Placement
from agents.schedulers import PlanningScheduler
from agents.titan.columns import Resources
from agents.titan.decoding import Problem, numbers, schedule
from agents.titan.genetic import evolve
from agents.titan.moulding import mould
from agents.titan.seeds import checked_seed, seeded_resources
from agents.titan.settings import Settings
from agents.view import Job
from grid.errors import GridError
from grid.streams import Stream, stream

if TYPE_CHECKING:
    from agents.cluster import ClusterAgent
    from agents.model import GridModel


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
    release: npt.ArrayLike | None = None,
    toolbox: base.Toolbox | None = None,
    **settings: Any,
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
    coding : {"order", "two-dimensional"}
        The order of the jobs alone, each of which gets the processors that are free first; or the
        paper's coding, with processors for each job, which searches far worse.
    generations : int, optional
        Most generations, of the genetic algorithm alone; by default as many as `Settings.effort`
        allows, and a local search whenever they stall.
    rng : numpy.random.Generator or int, optional
        Source of randomness, or a seed; 0 by default.
    release : array_like, shape (processors,), optional
        When each processor is free, seconds after the dispatch; by default at once.
    toolbox : deap.base.Toolbox, optional
        Operators of the user's, as for `evolve`.
    **settings
        Other fields of `Settings`: population, patience, threshold, idle, moves, effort, elite,
        crossover and mutation.

    Raises
    ------
    GridError
        For an argument that cannot be used; the message names it.

    Notes
    -----
    `muscle`, section 3. Until the first generation that is no better than the one before by the
    threshold, as the paper says, is ``patience=1``; one such generation is no sign of stability.

    Examples
    --------
    >>> result = optimise([2, 1, 1], [4.0, 3.0, 1.0], [9.0, 9.0, 1.0], processors=2)
    >>> [(placement.job, placement.start) for placement in result.schedule], result.cp
    ([(1, 0.0), (2, 0.0), (0, 3.0)], 2.875)
    """
    problem = pose(sizes, execution_times, deadlines, processors, release)
    chosen = Settings(coding=coding, generations=generations, weights=weights, **settings)
    if chosen.mouldable:
        raise GridError("mouldable: found True; accepted: False, for each job has one size here")
    order, resources = None, []
    if seed_schedule is not None:
        coded = coding == "two-dimensional"
        seed = checked_seed(seed_schedule, problem.sizes, processors, coded)
        order = order_by_start(seed)
        resources = [placement.resources for placement in sorted(seed)]
    outcome = evolve(problem, chosen, stream_of(rng), order, toolbox, resources)
    return Optimised(
        schedule(problem, outcome.order, outcome.resources),
        outcome.cp,
        outcome.generations,
        outcome.logbook.select("min"),
    )


def order_by_start(placements: Sequence[Placement]) -> list[int]:
    """Return the jobs of a schedule by start; those of one start as the schedule has them."""
    return [placement.job for placement in sorted(placements, key=lambda each: each.start)]


def pose(
    sizes: npt.ArrayLike,
    execution_times: npt.ArrayLike,
    deadlines: npt.ArrayLike,
    processors: int,
    release: npt.ArrayLike | None = None,
) -> Problem:
    """Return a problem of jobs on one cluster, as `optimise` takes it; may raise `GridError`."""
    if not is_whole(processors, 1):
        raise GridError(f"processors: found {processors!r}; accepted is an integer >= 1")
    free = np.zeros(processors) if release is None else numbers("release", release)
    if free.shape != (processors,):
        raise GridError(f"release: found shape {free.shape}; accepted is ({processors},)")
    return Problem(
        numbers("sizes", sizes),
        numbers("execution_times", execution_times),
        numbers("deadlines", deadlines),
        free,
    )


def stream_of(rng: np.random.Generator | int | None) -> Stream:
    """Return a random stream from what users give as `rng`; may raise `GridError`."""
    if isinstance(rng, np.random.Generator):
        return stream(int(rng.bit_generator.random_raw()), "titan")
    seed = 0 if rng is None else rng
    if not is_whole(seed):
        raise GridError(f"rng: found {rng!r}; accepted are a Generator, an integer >= 0 and None")
    return stream(int(seed), "titan")


class TitanScheduler(PlanningScheduler):
    """Orders the jobs of its cluster by a genetic algorithm, from MUSCLE's seed schedule if any.

    Whenever jobs arrive it optimises all those that have not started. A schedule of the
    two-dimensional coding is carried out by its starts, unless the settings' `execution` says by
    its processors: processors of a cluster are equal, so by its starts no job starts later than in
    the schedule, and a failure of one processor does not hold up all the jobs that were to run on
    it. `cp` is that of the schedule with its processors.

    Attributes
    ----------
    settings : Settings
        How it searches.
    toolbox : deap.base.Toolbox
        Operators registered here (mate, mutate, select, evaluate) replace TITAN's own.
    history : list of float
        Best CP of each generation of the last search.
    """

    uses_deadlines = True
    paper = "muscle"
    settings_type = Settings

    def __init__(self, model: GridModel, cluster: ClusterAgent) -> None:
        super().__init__(model, cluster)
        self.settings = replace(
            self.settings, weights=model.weights[cluster.index], idle=model.idle
        )
        self.toolbox = base.Toolbox()
        self.history: list[float] = []
        self._stream = stream(model.seed, "titan", cluster.index)
        self._processors: dict[int, Sequence[int]] = {}

    @classmethod
    def tracks(cls, model: Grid) -> bool:
        """Tell whether it must know which processors are free, as where it names them."""
        return bool(model.settings(Settings).execution == "processors")

    def processors_of(self, order: Sequence[int]) -> Sequence[Sequence[int]] | None:
        """Return the processors on which jobs (slots) of the last plan shall run; None: any."""
        if self.settings.execution == "starts":
            return None
        return [self._processors[slot] for slot in order]

    def plan(self, jobs: Sequence[Job], release: npt.NDArray[np.float64]) -> Sequence[Job]:
        """Return the order of lowest CP that the search finds.

        It starts from the jobs as they are given, which is MUSCLE's seed schedule put behind the
        plan so far; without a seed schedule only if the settings' `start` says so. In the
        two-dimensional coding it starts from MUSCLE's processors too (`seeded_resources`). If it
        may choose sizes (`agents.titan.moulding`), it does so before the search and after it, and
        goes on from there if some are others.
        """
        slots = [job.slot for job in jobs]
        self._mould(slots, range(len(jobs)))
        problem = problem_of(self.cluster, slots, self.model.now)
        order = range(len(jobs)) if self.reports.seeds or self.settings.start == "list" else None
        resources: Resources = ()
        if self.settings.coding == "two-dimensional":
            planned = planned_processors(self.cluster, slots)
            resources = seeded_resources(problem, slots, self.reports.seeds, planned)
        outcome = evolve(problem, self.settings, self._stream, order, self.toolbox, resources)
        if self._mould(slots, outcome.order):
            problem = problem_of(self.cluster, slots, self.model.now)
            outcome = evolve(problem, self.settings, self._stream, outcome.order, self.toolbox)
        self.cp = outcome.cp
        self.history = outcome.logbook.select("min")
        found = schedule(problem, outcome.order, outcome.resources)
        if self.settings.execution == "processors":
            of_cluster = self.cluster.processors()
            self._processors = {
                slots[each.job]: of_cluster[list(each.resources)].tolist() for each in found
            }
        return [jobs[index] for index in order_by_start(found)]

    def _mould(self, slots: Sequence[int], order: Sequence[int]) -> bool:
        """Choose with how many processors jobs run, if it may, in an order; tell if some differ."""
        model, jobs = self.model, self.model.world.jobs
        if not (self.settings.mouldable and jobs.mouldable):
            return False
        rows, sizes = zip(*map(jobs.mouldings, slots), strict=True)
        here = self.cluster.index
        times = [
            model.pace.predict_moulded(slot, of_job)[:, here]
            for slot, of_job in zip(slots, rows, strict=True)
        ]
        problem = problem_of(self.cluster, slots, model.now)
        found = mould(problem, sizes, times, order, self.settings)
        changed = np.flatnonzero(found.sizes != problem.sizes).tolist()
        for job in changed:
            row = rows[job][sizes[job] == found.sizes[job]]
            jobs.mould(slots[job], row.item())
        return bool(changed)

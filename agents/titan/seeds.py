"""The schedules that TITAN starts from: what a user gives, checked, and MUSCLE's processors."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from agents.messages import SeedSchedule
from agents.numbers import is_real, is_whole
from agents.schedule import Placement
from agents.titan.columns import Integers, Resources, check_resources
from agents.titan.decoding import Problem
from grid.errors import GridError

NAME = "seed_schedule"


def checked_seed(
    given: Any, sizes: Integers, processors: int, with_resources: bool
) -> list[Placement]:
    """Return what was given as a seed schedule, in its order.

    Parameters
    ----------
    given : sequence of Placement
    sizes : array, shape (jobs,)
        Processors of each job.
    processors : int
        Of the cluster.
    with_resources : bool
        Whether the processors of each job matter, and are checked too.

    Raises
    ------
    GridError
        Unless it is a schedule of all the jobs.
    """
    if not isinstance(given, Sequence):
        raise GridError(f"{NAME}: found {given!r}; accepted is a list of Placement, or None")
    placements = [*given]
    for index, placement in enumerate(placements):
        _check(f"{NAME}[{index}]", placement, with_resources)
    jobs = [placement.job for placement in placements]
    if sorted(jobs) != [*range(len(sizes))]:
        raise GridError(
            f"{NAME}: found jobs {reprlib.repr(jobs)}; accepted is each of the {len(sizes)} "
            "jobs once, from 0"
        )
    if with_resources:
        by_job = sorted(placements, key=lambda placement: placement.job)
        check_resources(NAME, [placement.resources for placement in by_job], sizes, processors)
    return placements


def seeded_resources(
    problem: Problem,
    slots: Sequence[int],
    seeds: Iterable[SeedSchedule],
    planned: Sequence[Sequence[int]] = (),
) -> Resources:
    """Return the processors of jobs in the schedule that a search starts from (`muscle`, Fig. 2).

    Those of a plan that names processors keep them, and those of a seed schedule have MUSCLE's. It
    counts the processors of a cluster as they are free
    after the plan so far, the first one first. All other jobs, and those for which processors have
    gone since, get the processors that are free first.

    Parameters
    ----------
    problem : Problem
        The jobs: of the plan so far, then of the seed schedules, then others.
    slots : sequence of int
        Where the world keeps them.
    seeds : iterable of SeedSchedule
    planned : sequence of sequences of int
        Of each job those that the plan so far names, as `problem.release` counts them; empty: none.

    Examples
    --------
    >>> jobs = Problem([1, 2], [5.0, 4.0], [9.0, 9.0], [0.0, 0.0, 0.0])
    >>> seed = SeedSchedule(
    ...     sender="MUSCLE", receiver="C1", sent=0.0, due=0.0, round=1, jobs=(8,), finishes=(4.0,),
    ...     schedule=(Placement(7, 0.0, (0, 1)),),
    ... )
    >>> seeded_resources(jobs, [3, 7], [seed])
    [(0,), (1, 2)]
    """
    given = {placed.job: placed.resources for seed in seeds for placed in seed.schedule}
    free, processors = problem.release.copy(), None
    found = []
    for job, slot in enumerate(slots):
        by_time = np.argsort(free, kind="stable")
        wanted = given.get(slot, ())
        if wanted and processors is None:
            processors = by_time
        if planned and planned[job]:
            taken = np.array(planned[job])
        elif wanted and processors is not None and max(wanted) < len(free):
            taken = processors[list(wanted)]
        else:
            taken = by_time[: problem.sizes[job]]
        free[taken] = free[taken].max() + problem.execution_times[job]
        found.append(tuple(sorted(taken.tolist())))
    return found


def _check(where: str, placement: Any, with_resources: bool) -> None:
    """Raise `GridError` unless each of a placement's fields is of its kind."""
    if not isinstance(placement, Placement):
        raise GridError(
            f"{where}: found {reprlib.repr(placement)}; accepted is a "
            "Placement(job, start, resources)"
        )
    job, start, resources = placement
    found, accepted = None, ""
    if not is_whole(job):
        found, accepted = f"job {job!r}", "the index of a job, an integer >= 0"
    elif not (is_real(start) and 0 <= start < math.inf):
        found, accepted = f"start {start!r}", "seconds after the dispatch, a number >= 0"
    elif with_resources and not (
        isinstance(resources, (tuple, list, np.ndarray)) and all(map(is_whole, resources))
    ):
        found, accepted = f"resources {reprlib.repr(resources)}", "a tuple of processors, from 0"
    if found is not None:
        raise GridError(f"{where}: found {found}; accepted: {accepted}")

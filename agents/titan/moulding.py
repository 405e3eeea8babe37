"""Mouldable jobs: with how many processors each job of an order shall run (ours)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle

import numpy as np

from agents.muscle.moulding import allot
from agents.titan.decoding import Floats, Integers, Problem, Scoring, score, scoring
from agents.titan.settings import Settings


def mould(
    problem: Problem,
    sizes: Sequence[Integers],
    times: Sequence[Floats],
    order: Sequence[int],
    settings: Settings,
) -> Problem:
    """Return the problem with other sizes of jobs, if the order is better with them.

    It begins with the sizes that jobs have or, if they are better, with those that MUSCLE would
    choose for this cluster alone. Job after job, in the order, each of its sizes is tried, and the
    best is kept, until no job has a better one, or as many were tried as the settings have `moves`.

    Parameters
    ----------
    problem : Problem
    sizes, times : sequence of arrays, shape (sizes,)
        Processors that each job may have, and how long it runs with them, s.
    order : sequence of int
        All jobs.
    settings : Settings
        What a schedule is judged by, and what counts as an improvement.

    Examples
    --------
    >>> one = Problem([1, 1], [8.0, 8.0], [np.inf, np.inf], [0.0] * 4)
    >>> sizes, times = [np.array([1, 2, 4])] * 2, [np.array([8.0, 5.0, 3.0])] * 2
    >>> mould(one, sizes, times, [0, 1], Settings(idle="mean")).sizes
    array([2, 2])
    """
    row, processors = np.array(order, np.int64), len(problem.release)
    able = [np.flatnonzero(each <= processors).tolist() for each in sizes]
    if settings.moves == 0 or max(map(len, able), default=0) < 2:
        return problem

    def judged(problem: Problem) -> tuple[float, Scoring]:
        judge = scoring(problem, settings.weights, settings.idle)
        return float(score(row, judge)), judge

    fitting = [np.where(s <= processors, t, np.inf) for s, t in zip(sizes, times, strict=True)]
    chosen = allot(sizes, fitting, problem.deadlines, problem.release)
    allotted = replace(
        problem,
        sizes=np.array([each[index] for each, index in zip(sizes, chosen, strict=True)]),
        execution_times=np.array([each[index] for each, index in zip(times, chosen, strict=True)]),
    )
    best, judge = min(judged(problem), judged(allotted), key=lambda each: each[0])
    own, seconds = judge.sizes.copy(), judge.times.copy()
    judge = judge._replace(sizes=own, times=seconds)
    unchanged, left = 0, settings.moves
    for job in cycle(order):
        if unchanged == len(order) or left <= 0:
            break
        unchanged += 1
        kept, work = (own[job], seconds[job]), judge.work
        for index in able[job] if len(able[job]) > 1 else ():
            size, time = sizes[job][index], times[job][index]
            own[job], seconds[job] = size, time
            tried = judge._replace(work=work + size * time - kept[0] * kept[1])
            found = float(score(row, tried))
            left -= 1
            if found < best * (1.0 - settings.threshold):
                best, kept, judge, work = found, (size, time), tried, tried.work
                unchanged = 0
        own[job], seconds[job] = kept
    return replace(problem, sizes=own, execution_times=seconds)

"""Orders of jobs as the genetic algorithm varies them, compiled.

Each operator works on rows (`columns`); `next_generation` applies all of them to a whole
population. The random numbers are drawn operator by operator (all selections, all crossovers, all
mutations), as a loop over individuals does.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from agents.titan.columns import change_column, draw_columns, inherit_columns
from agents.titan.decoding import Floats, Integers, Scoring, score
from grid.kernel.compile import compiled, inlined, part
from grid.streams import Stream, below, uniform


@compiled()
def first_generation(rows: Any, cps: Any, first: int, s: Any, stream: Any) -> None:
    """Draw the rows from `first` on at random, and score every row into `cps`."""
    jobs = len(s.sizes)
    for i in range(len(rows)):
        if i >= first:
            for position in range(jobs - 1, 0, -1):
                other = below(stream, position + 1)
                job = rows[i, position]
                rows[i, position] = rows[i, other]
                rows[i, other] = job
            if rows.shape[1] > jobs:
                draw_columns(rows[i], s.columns, s.processors, stream)
        cps[i] = score(rows[i], s)


@compiled()
def spin(cps: Any, chosen: Any, wheel: Any, stream: Any) -> None:
    """Fill `chosen` with rows drawn by roulette on the fitness of `muscle`, eq. 2.

    The denominator of eq. 2 scales the whole wheel and is left out. Equal CPs: uniform.
    """
    worst = cps[0]
    for i in range(len(cps)):
        worst = max(worst, cps[i])
    total = 0.0
    for i in range(len(cps)):
        total += worst - cps[i]
        wheel[i] = total
    for k in range(len(chosen)):
        if total == 0.0:
            chosen[k] = below(stream, len(cps))
            continue
        ball = uniform(stream) * total
        low, high = 0, len(cps) - 1
        while low < high:
            middle = (low + high) // 2
            if wheel[middle] > ball:
                high = middle
            else:
                low = middle + 1
        chosen[k] = low


@compiled()
def _inherit(one: Any, other: Any, child: Any, begin: int, end: int, used: Any) -> None:
    # Jobs [begin, end) of `one` in place, the rest in the cyclic order of `other` from `end` on.
    jobs = len(used)
    for job in range(jobs):
        used[job] = 0
    for position in range(begin, end):
        child[position] = one[position]
        used[one[position]] = 1
    gap = end % jobs
    position = gap
    for _ in range(jobs):
        job = other[position]
        position = position + 1 if position + 1 < jobs else 0
        if used[job] == 0:
            child[gap] = job
            gap = gap + 1 if gap + 1 < jobs else 0


@compiled()
def cross(a: Any, b: Any, child_a: Any, child_b: Any, columns: Any, used: Any, stream: Any) -> None:
    """Write the two children of an order crossover (OX) of `a` and `b`.

    In the two-dimensional coding whole columns are inherited: each job with the processors that it
    has in the parent that gave it its place.
    """
    jobs = len(used)
    begin = below(stream, jobs)
    end = below(stream, jobs)
    begin, end = min(begin, end), max(begin, end) + 1
    _inherit(a, b, child_a, begin, end, used)
    inherit_columns(a, b, child_a, columns, used)
    _inherit(b, a, child_b, begin, end, used)
    inherit_columns(b, a, child_b, columns, used)


@part
def insert(order: Any, origin: int, target: int) -> None:
    """Move the job at one place of an order to another; those between move up."""
    job = order[origin]
    while origin < target:
        order[origin] = order[origin + 1]
        origin += 1
    while origin > target:
        order[origin] = order[origin - 1]
        origin -= 1
    order[target] = job


@inlined
def swap(order: Any, one: int, other: int) -> None:
    """Exchange the jobs at two places of an order."""
    job = order[one]
    order[one] = order[other]
    order[other] = job


@inlined
def _move(order: Any, jobs: int, stream: Any) -> None:
    swaps = uniform(stream) < 0.5
    origin = below(stream, jobs)
    target = below(stream, jobs)
    if swaps:
        swap(order, origin, target)
    else:
        insert(order, origin, target)


@compiled()
def perturb(order: Any, stream: Any) -> None:
    """Swap two jobs or move one, and again with probability 1/2.

    Both moves together search better than either alone, and repeated ones leave local optima.
    """
    more = True
    while more:
        _move(order, len(order), stream)
        more = uniform(stream) < 0.5


@compiled()
def perturb_columns(row: Any, columns: Any, processors: int, stream: Any) -> None:
    """Swap two columns, move one or change one's processors, and again with probability 1/2."""
    more = True
    while more:
        if uniform(stream) < 0.5:
            _move(row, len(columns) - 1, stream)
        else:
            change_column(row, columns, processors, stream)
        more = uniform(stream) < 0.5


@compiled()
def chance(stream: Any, probability: float) -> Any:
    """Return whether an event of this probability happens."""
    return uniform(stream) < probability


class Breeding(NamedTuple):
    """What one generation after another is bred by, and room to do it in."""

    elite: int  # schedules that survive unchanged
    crossover: float  # probability that a pair is crossed
    mutation: float  # probability that a child is mutated
    judge: Scoring
    wheel: Floats  # (population,), scratch
    chosen: Integers  # (population,), scratch
    used: Integers  # (jobs,), scratch
    stream: Stream


@inlined
def copy(source: Any, target: Any) -> None:
    """Have a row be as another one, of the same length."""
    for place in range(len(source)):
        target[place] = source[place]


@inlined
def _keep_elite(parents: Any, cps: Any, children: Any, child_cps: Any, elite: int) -> int:
    """Write the best, one for each distinct CP, for copies would stall the search; count them."""
    kept = 0
    bound = -np.inf
    while kept < elite:
        best = -1
        for i in range(len(cps)):
            if cps[i] > bound and (best < 0 or cps[i] < cps[best]):
                best = i
        if best < 0:
            break
        bound = cps[best]
        child_cps[kept] = bound
        copy(parents[best], children[kept])
        kept += 1
    return kept


@inlined
def _cross_pairs(parents: Any, children: Any, kept: int, by: Any) -> None:
    """Cross those pairs of children of which chance says so."""
    chosen = by.chosen
    for i in range(kept, len(children) - 1, 2):
        if chance(by.stream, by.crossover):
            a, b = parents[chosen[i]], parents[chosen[i + 1]]
            cross(a, b, children[i], children[i + 1], by.judge.columns, by.used, by.stream)


@inlined
def _mutate(children: Any, kept: int, by: Any) -> None:
    """Perturb those children of which chance says so."""
    for i in range(kept, len(children)):
        if chance(by.stream, by.mutation):
            if children.shape[1] > len(by.used):
                perturb_columns(children[i], by.judge.columns, by.judge.processors, by.stream)
            else:
                perturb(children[i], by.stream)


@compiled()
def next_generation(parents: Any, cps: Any, children: Any, child_cps: Any, by: Any) -> None:
    """Breed `children` from `parents` and score them; `by` is a `Breeding`.

    First the elite unchanged, best first, then the children of a roulette.
    """
    kept = _keep_elite(parents, cps, children, child_cps, by.elite)
    spin(cps, by.chosen[kept:], by.wheel, by.stream)
    for i in range(kept, len(children)):
        copy(parents[by.chosen[i]], children[i])
    _cross_pairs(parents, children, kept, by)
    _mutate(children, kept, by)
    for i in range(kept, len(children)):
        child_cps[i] = score(children[i], by.judge)

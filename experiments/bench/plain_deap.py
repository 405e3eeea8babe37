"""The genetic algorithm of TITAN as a user of DEAP writes it in plain Python, to compare with.

The same population, elite, operators, rates and records as TITAN's own; nothing compiled.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from deap import base, tools

from agents.titan.decoding import Problem


class _Fitness(base.Fitness):  # type: ignore[misc]  # DEAP has no types
    weights = (-1.0,)


class _Order(list[int]):
    def __init__(self, jobs: Sequence[int]) -> None:
        super().__init__(jobs)
        self.fitness = _Fitness()


def plain_toolbox(problem: Problem, weights: Sequence[float], draw: random.Random) -> base.Toolbox:
    """Return a Toolbox with Python operators for one problem, idle-time as ``total``."""
    sizes, times = problem.sizes.tolist(), problem.execution_times.tolist()
    deadlines, release = problem.deadlines.tolist(), problem.release.tolist()
    work = sum(size * time for size, time in zip(sizes, times, strict=True))
    processors = range(len(release))
    wo, wm, wi = weights

    def evaluate(order: _Order) -> tuple[float]:
        free, over, makespan = list(release), 0.0, 0.0
        for job in order:
            taken = sorted(processors, key=free.__getitem__)[: sizes[job]]
            finish = free[taken[-1]] + times[job]
            for processor in taken:
                free[processor] = finish
            makespan = max(makespan, finish)
            over += max(0.0, finish - deadlines[job])
        idle = sum(makespan - min(time, makespan) for time in release) - work
        return ((wo * over + wm * makespan + wi * idle) / (wo + wm + wi),)

    def select(orders: list[_Order], count: int) -> list[_Order]:
        cps = [order.fitness.values[0] for order in orders]
        fitness = [max(cps) - cp for cp in cps]
        return draw.choices(orders, fitness if any(fitness) else None, k=count)

    def mutate(order: _Order) -> tuple[_Order]:
        while True:
            i, j = draw.randrange(len(order)), draw.randrange(len(order))
            if draw.random() < 0.5:
                order[i], order[j] = order[j], order[i]
            else:
                order.insert(j, order.pop(i))
            if draw.random() < 0.5:
                return (order,)

    toolbox = base.Toolbox()
    toolbox.register("evaluate", evaluate)
    toolbox.register("select", select)
    toolbox.register("mate", tools.cxOrdered)
    toolbox.register("mutate", mutate)
    return toolbox


def plain_evolve(
    problem: Problem,
    weights: Sequence[float],
    generations: int,
    population: int = 50,
    elite: int = 20,
    crossover: float = 0.3,
) -> tools.Logbook:
    """Breed `generations` after the first, and return DEAP's record of them."""
    draw = random.Random(0)
    toolbox = plain_toolbox(problem, weights, draw)
    jobs = range(len(problem))
    orders = [_Order(draw.sample(jobs, len(jobs))) for _ in range(population)]
    statistics = tools.Statistics(lambda order: order.fitness.values[0])
    statistics.register("min", min)
    statistics.register("mean", lambda values: sum(values) / len(values))
    logbook, hall = tools.Logbook(), tools.HallOfFame(1)
    changed: list[_Order] = orders
    kept: list[_Order] = []
    for generation in range(generations + 1):
        for order in changed:
            order.fitness.values = toolbox.evaluate(order)
        orders = kept + changed
        hall.update(orders)
        logbook.record(gen=generation, **statistics.compile(orders))
        if generation == generations:
            break
        distinct = {order.fitness.values: order for order in orders}
        kept = [distinct[values] for values in sorted(distinct)[:elite]]
        changed = [toolbox.clone(a) for a in toolbox.select(orders, population - len(kept))]
        for a, b in zip(changed[::2], changed[1::2], strict=False):
            if draw.random() < crossover:
                toolbox.mate(a, b)
        for order in changed:
            toolbox.mutate(order)
    return logbook

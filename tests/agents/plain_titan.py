"""TITAN's genetic algorithm as one writes it with DEAP in plain Python: an independent reference.

Nothing here is compiled or shared with the product but the names of DEAP.
"""

from __future__ import annotations

import random

from deap import base, tools


def decode(sizes, times, release, order):
    """Return {job: (start, processors)}: each job in turn on the processors that free up first."""
    free = list(release)
    placed = {}
    for job in order:
        earliest = sorted(range(len(free)), key=lambda p: (free[p], p))[: sizes[job]]
        start = max(free[p] for p in earliest)
        for p in earliest:
            free[p] = start + times[job]
        placed[job] = (start, sorted(earliest))
    return placed


def metrics(sizes, times, deadlines, release, order):
    """Return (over-deadline, makespan, total idle-time), the last by adding up every gap."""
    placed = decode(sizes, times, release, order)
    finish = {job: start + times[job] for job, (start, _) in placed.items()}
    makespan = max(finish.values(), default=0.0)
    over = sum(max(0.0, finish[job] - deadlines[job]) for job in placed)
    idle = 0.0
    for p, held in enumerate(release):
        end = held
        for job in sorted((j for j in placed if p in placed[j][1]), key=lambda j: placed[j][0]):
            idle += placed[job][0] - end
            end = finish[job]
        idle += max(0.0, makespan - end)
    return over, makespan, idle


def cp(sizes, times, deadlines, release, order, weights=(4, 3, 1)):
    """Return the comprehensive performance of an order."""
    over, makespan, idle = metrics(sizes, times, deadlines, release, order)
    wo, wm, wi = weights
    return (wo * over + wm * makespan + wi * idle) / (wo + wm + wi)


class _Fitness(base.Fitness):
    weights = (-1.0,)


class _Order(list):
    def __init__(self, jobs=()):
        super().__init__(jobs)
        self.fitness = _Fitness()


def evolve(
    sizes,
    times,
    deadlines,
    release,
    generations,
    population=50,
    weights=(4, 3, 1),
    elite=20,
    crossover=0.3,
    mutation=1.0,
    seed=0,
):
    """Return (best order, its CP, logbook) after `generations`."""
    rng = random.Random(seed)
    jobs = len(sizes)
    work = sum(size * time for size, time in zip(sizes, times, strict=True))

    def evaluate(order):
        placed = decode(sizes, times, release, order)
        finish = {job: start + times[job] for job, (start, _) in placed.items()}
        makespan = max(finish.values())
        over = sum(max(0.0, finish[job] - deadlines[job]) for job in order)
        held = sum(min(each, makespan) for each in release)
        wo, wm, wi = weights
        idle = len(release) * makespan - held - work
        return ((wo * over + wm * makespan + wi * idle) / (wo + wm + wi),)

    def select(orders, k):
        worst = max(order.fitness.values[0] for order in orders)
        fitness = [worst - order.fitness.values[0] for order in orders]
        if not any(fitness):
            return rng.choices(orders, k=k)
        return rng.choices(orders, fitness, k=k)

    def mate(a, b):
        begin, end = sorted(rng.sample(range(jobs + 1), 2))
        children = []
        for one, other in ((a[:], b[:]), (b[:], a[:])):
            section = set(one[begin:end])
            rest = [job for job in other[end:] + other[:end] if job not in section]
            tail = jobs - end
            children.append(rest[tail:] + one[begin:end] + rest[:tail])
        a[:], b[:] = children
        return a, b

    def mutate(order):
        while True:
            i, j = rng.randrange(jobs), rng.randrange(jobs)
            if rng.random() < 0.5:
                order[i], order[j] = order[j], order[i]
            else:
                order.insert(j, order.pop(i))
            if rng.random() < 0.5:
                return (order,)

    toolbox = base.Toolbox()
    toolbox.register("evaluate", evaluate)
    toolbox.register("select", select)
    toolbox.register("mate", mate)
    toolbox.register("mutate", mutate)

    orders = [_Order(rng.sample(range(jobs), jobs)) for _ in range(population)]
    for order in orders:
        order.fitness.values = toolbox.evaluate(order)
    statistics = tools.Statistics(key=lambda order: order.fitness.values[0])
    statistics.register("min", min)
    statistics.register("mean", lambda values: sum(values) / len(values))
    logbook, hall = tools.Logbook(), tools.HallOfFame(1)
    hall.update(orders)
    logbook.record(gen=0, **statistics.compile(orders))
    for generation in range(1, generations + 1):
        distinct = {}
        for order in sorted(orders, key=lambda order: order.fitness.values):
            distinct.setdefault(order.fitness.values, order)
        kept = list(distinct.values())[:elite]
        children = [toolbox.clone(o) for o in toolbox.select(orders, population - len(kept))]
        for a, b in zip(children[::2], children[1::2], strict=False):
            if rng.random() < crossover:
                toolbox.mate(a, b)
        for order in children:
            if rng.random() < mutation:
                toolbox.mutate(order)
            order.fitness.values = toolbox.evaluate(order)
        orders = kept + children
        hall.update(orders)
        logbook.record(gen=generation, **statistics.compile(orders))
    return list(hall[0]), hall[0].fitness.values[0], logbook

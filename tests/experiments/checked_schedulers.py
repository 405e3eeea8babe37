"""Modules of a user with schedulers, good ones and those in which something is wrong."""

from __future__ import annotations

AGENTS = """
import itertools
import random
import threading
from random import Random

import numba
import numpy as np

from agents.a4 import A4Broker, DiscoveryScheduler
from agents.queueing.visiting import QueuePolicy
from agents.schedulers import (
    REJECT, GlobalScheduler, LocalScheduler, PlanningScheduler, Scheduler,
)
from grid.kernel.state import START


def fitting(self, job):
    return [cluster for cluster in self.clusters if cluster.size >= job.size]


class GoodGlobal(GlobalScheduler):
    def __init__(self, model):
        super().__init__(model)
        self.favourite = self.clusters[0]
        self.generator = np.random.default_rng(model.seed)
        self.another = Random(f"mine {model.seed}")

    def place(self, job):
        return self.generator.choice(fitting(self, job))


class Spread(GlobalScheduler):
    spans = True

    def place(self, job):
        left, processors = job.size, {}
        for cluster in sorted(self.clusters, key=lambda cluster: -cluster.free):
            processors[cluster.name] = min(left, cluster.free)
            left -= processors[cluster.name]
        return processors if left == 0 else None


class Cheapest(GlobalScheduler):
    def place(self, job):
        electricity, now = self.model.energy, self.model.now
        return min(fitting(self, job), key=lambda cluster: electricity[cluster.index].price.at(now))


class Easy(Spread):
    selection = "easy"


class EasyOnceMade(Spread):
    def __init__(self, model):
        super().__init__(model)
        self.selection = "easy"


@numba.njit
def first_free(known, job, memory):
    for cluster in range(known.clusters):
        known.take[cluster] = 0
    for cluster in range(known.clusters):
        if known.free[cluster] >= job.size:
            known.take[cluster] = job.size
            return START
    return -1


class Conservative(GlobalScheduler):
    selection = "conservative"
    place = first_free


class ForgetfulBroker(A4Broker):
    def pass_on(self, kind, to, **content):
        super().pass_on(kind, to, **content)


class Asks(DiscoveryScheduler):
    broker_class = ForgetfulBroker


class BadSelection(GoodGlobal):
    selection = "sjf"


class GoodLocal(LocalScheduler):
    def priority(self, job):
        return job.deadline


class GoodPlan(PlanningScheduler):
    def plan(self, jobs, release):
        return sorted(jobs, key=lambda job: -job.size)


class Anywhere(GlobalScheduler):
    def place(self, job):
        return self.clusters[-1]


class Lost(QueuePolicy):
    queues = "by-components"

    def visit(self, queues):
        return 99


class First(GlobalScheduler):
    def place(self, job):
        return self.clusters[0]


class TooMany(GlobalScheduler):
    def place(self, job):
        return {self.clusters[0].name: job.size}


class Raises(GlobalScheduler):
    def place(self, job):
        return fitting(self, job)[0] if job.number < 20 else 1 / 0


class Leaves(GlobalScheduler):
    def place(self, job):
        raise SystemExit(3)


class Unmade(GlobalScheduler):
    def __init__(self, model, more):
        super().__init__(model)


class NoSuper(GlobalScheduler):
    def __init__(self, model):
        pass


class Never(GlobalScheduler):
    def place(self, job):
        return fitting(self, job)[0] if job.number % 7 else None


class RejectsAll(GlobalScheduler):
    def place(self, job):
        return REJECT


class GlobalNumpy(GlobalScheduler):
    def place(self, job):
        return np.random.choice(fitting(self, job))


class GlobalPython(LocalScheduler):
    def priority(self, job):
        return random.random()


class GlobalCompiled(GlobalScheduler):
    @numba.njit
    def place(known, job, memory):
        while True:
            cluster = np.random.randint(0, known.clusters)
            if known.size[cluster] >= job.size:
                return cluster


class Unseeded(PlanningScheduler):
    def __init__(self, model, cluster):
        super().__init__(model, cluster)
        self.generator = np.random.default_rng()

    def plan(self, jobs, release):
        return [jobs[i] for i in self.generator.permutation(len(jobs))]


class Five(GlobalScheduler):
    def __init__(self, model):
        super().__init__(model)
        self.generator = np.random.default_rng(5)

    def place(self, job):
        return self.generator.choice(fitting(self, job))


class FivePython(LocalScheduler):
    def __init__(self, model, cluster):
        super().__init__(model, cluster)
        self.generator = Random(5)

    def priority(self, job):
        return self.generator.random()


class FiveBits(LocalScheduler):
    def __init__(self, model, cluster):
        super().__init__(model, cluster)
        self.generator = np.random.Generator(np.random.PCG64(5))

    def priority(self, job):
        return self.generator.random()


class FiveState(LocalScheduler):
    def priority(self, job):
        return np.random.RandomState(seed=5).random() * job.size


class FiveShared(LocalScheduler):
    def priority(self, job):
        random.seed(5 + job.number)  # not told once for each job
        return random.random()


class Hashes(GlobalScheduler):
    def place(self, job):
        clusters = fitting(self, job)
        return clusters[hash(str(job.number)) % len(clusters)]


class Shared(GlobalScheduler):
    turns = itertools.count()

    def place(self, job):
        clusters = fitting(self, job)
        return clusters[next(self.turns) % len(clusters)]


class ByStep(GlobalScheduler):
    def place(self, job):
        clusters = fitting(self, job)
        return clusters[self.model.steps % len(clusters)]


class Locked(LocalScheduler):
    def __init__(self, model, cluster):
        super().__init__(model, cluster)
        self.lock = threading.Lock()

    def priority(self, job):
        return job.size


class Lambda(GlobalScheduler):
    def __init__(self, model):
        super().__init__(model)
        self.choice = lambda clusters: clusters[0]

    def place(self, job):
        return self.choice(fitting(self, job))


class Remakes(GlobalScheduler):
    def __init__(self, model):
        super().__init__(model)
        self.choice = lambda clusters: clusters[-1]

    def __getstate__(self):
        return {name: value for name, value in vars(self).items() if name != "choice"}

    def __setstate__(self, state):
        vars(self).update(state)
        self.choice = lambda clusters: clusters[-1]

    def place(self, job):
        return self.choice(fitting(self, job))


class LeavesOut(Remakes):
    def __setstate__(self, state):
        vars(self).update(state)


class Resets(GlobalScheduler):
    def __init__(self, model):
        super().__init__(model)
        self.turn = 0

    def __getstate__(self):
        return {**vars(self), "turn": 0}

    def place(self, job):
        found = fitting(self, job)
        self.turn += 1
        return found[self.turn % len(found)]


class KeepsJobs(GlobalScheduler):
    def __init__(self, model):
        super().__init__(model)
        self.kept = []

    def place(self, job):
        self.kept.append(job)
        found = fitting(self, job)
        return found[sum(each.number for each in self.kept) % len(found)]


class Nan(LocalScheduler):
    def priority(self, job):
        return float("nan")


class Forgets(PlanningScheduler):
    def plan(self, jobs, release):
        return jobs[1:]


class Resizes(GlobalScheduler):
    def place(self, job):
        job.size = 1
        return self.clusters[0]


class Renumbers(GlobalScheduler):
    def place(self, job):
        self.clusters[0].index = 0
        return self.clusters[0]


class Nests(PlanningScheduler):
    def plan(self, jobs, release):
        return [[job] for job in jobs]


class Quits(GlobalScheduler):
    def place(self, job):
        raise GeneratorExit


class Boom(GlobalScheduler):
    def place(self, job):
        return fitting(self, job)[0]


class Loops(GlobalScheduler):
    def place(self, job):
        while True:
            try:
                len(self.clusters)
            except ValueError:
                pass


class LoopsWhenMade(LocalScheduler):
    def __init__(self, model, cluster):
        while True:
            pass


class Prints(LocalScheduler):
    def priority(self, job):
        print("a word of mine")
        return job.size


class Neither(Scheduler):
    pass
"""

CRASHING = """
import os, sys
from agents.schedulers import LocalScheduler

HASHES = str(os.environ.get("PYTHONHASHSEED"))


class Crashing(LocalScheduler):
    def priority(self, job):
        if HASHES != os.environ["FIRST_HASHES"]:
            {}
        return job.size
"""

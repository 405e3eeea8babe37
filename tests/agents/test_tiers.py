"""Decisions of users in every tier: plain Python, compiled, with memory and a stream."""

from __future__ import annotations

import re

import numba
import numpy as np
import pytest

from agents.schedulers import GlobalScheduler, LocalScheduler
from agents.selection import JobSelection
from grid.errors import GridError
from grid.platform.brokers import Advertising

from .small_grids import FAR, OUTCOME, done, ran, table, workload


@numba.njit
def least_load(known, job, memory):
    best, least = -1, np.inf
    for c in range(known.clusters):
        if job.size <= known.size[c] and known.load[c] < least:
            best, least = c, known.load[c]
    return best


class CompiledLeastLoad(GlobalScheduler):
    place = least_load


class StaticLeastLoad(GlobalScheduler):
    place = staticmethod(least_load)


class PlainLeastLoad(GlobalScheduler):
    def place(self, job):
        return min((c for c in self.clusters if c.size >= job.size), key=lambda c: c.load)


@numba.njit
def shortest(job, now):
    return job.predicted_time


class CompiledShortest(LocalScheduler):
    priority = shortest


class PlainShortest(LocalScheduler):
    def priority(self, job):
        return job.predicted_time


@pytest.mark.parametrize("latency", [0.0, 0.7])
def test_the_tiers_of_a_decision_give_the_same_run(latency):
    def outcome(global_, local):
        jobs = workload(count=150, rate=0.7, share=0.5)
        model = ran(global_, local, jobs, FAR, latency=latency)
        assert model.world.state.completed == 150
        return [model.world.log.records()[name].tobytes() for name in OUTCOME], model.messages

    expected = outcome("dll", "sjf")
    assert outcome(CompiledLeastLoad, CompiledShortest) == expected
    assert outcome(StaticLeastLoad, CompiledShortest) == expected
    assert outcome(PlainLeastLoad, PlainShortest) == expected
    assert outcome("dll", PlainShortest) == expected
    assert outcome(PlainLeastLoad, "sjf") == expected


@numba.njit
def hold_back(known, job, memory):
    """Start each job on the last cluster as soon as it fits there, and let it wait till then."""
    known.take[:] = 0
    last = known.clusters - 1
    if job.size > known.free[last]:
        return -1
    known.take[last] = job.size
    return -2


class CompiledHoldBack(GlobalScheduler):
    place = hold_back


class PlainHoldBack(GlobalScheduler):
    def place(self, job):
        last = self.clusters[-1]
        return {last.name: job.size} if last.free >= job.size else None


def test_waiting_and_starting_agree_between_the_tiers():
    def outcome(global_):
        model = ran(global_, "fcfs", workload(count=80, largest=4))
        assert model.world.state.completed == 80
        return [model.world.log.records()[name].tobytes() for name in OUTCOME]

    assert outcome(CompiledHoldBack) == outcome(PlainHoldBack)


def test_a_job_in_order_blocks_those_behind_it():
    class InOrder(PlainHoldBack):
        max_jumps = 0

    jobs = table((0, 3, 10.0), (1, 4, 5.0), (2, 1, 5.0))
    assert done(ran(InOrder, "fcfs", jobs))["start"].argsort().tolist() == [0, 1, 2]
    assert done(ran(PlainHoldBack, "fcfs", jobs))["start"].argsort().tolist() == [0, 2, 1]


class PlainMigration(GlobalScheduler):
    def place(self, job):
        fitting = [each for each in self.clusters if each.free >= job.size]
        best = min(fitting, key=lambda each: each.free, default=None)
        return best and {best.name: job.size}


@numba.njit
def migration(known, job, memory):
    best = -1
    for c in range(known.clusters):
        if known.free[c] >= job.size and (best < 0 or known.free[c] < known.free[best]):
            best = c
    known.take[:] = 0
    if best < 0:
        return -1
    known.take[best] = job.size
    return -2


class CompiledMigration(GlobalScheduler):
    place = migration


ORDERS = [("fcfs",), ("fpfs", 0), ("fpfs", 2), ("fpfs",), ("easy",)]


def migrated(policy, order=("fpfs",)):
    truth = Advertising(truth=True)
    model = ran(
        policy,
        "fcfs",
        workload(count=300, rate=3.0),
        advertising=truth,
        settings=[JobSelection(*order)],
    )
    assert model.world.state.completed == 300
    return [done(model)[name].tobytes() for name in OUTCOME]


@pytest.mark.thorough
@pytest.mark.parametrize("order", ORDERS)
def test_own_policies_try_waiting_jobs_as_selection_and_max_jumps_say(order):
    built_in = migrated("migration-only", order)
    assert migrated(PlainMigration, order) == migrated(CompiledMigration, order) == built_in
    assert (built_in == migrated("migration-only")) == (order == ("fpfs",))


def test_own_policies_may_say_themselves_which_waiting_jobs_are_tried():
    class AtMostTwo(PlainMigration):
        max_jumps = 2

    class SaidWhenMade(PlainMigration):
        def __init__(self, model):
            super().__init__(model)
            self.max_jumps = 2

    class Oldest(PlainMigration):
        selection = "fcfs"

    twice, oldest = migrated("migration-only", ("fpfs", 2)), migrated("migration-only", ("fcfs",))
    assert migrated(AtMostTwo, ("fcfs",)) == migrated(SaidWhenMade, ("fcfs",)) == twice
    assert migrated(Oldest, ("fpfs", 2)) == migrated(Oldest, ("easy",)) == oldest


@pytest.mark.parametrize("jumps", ["any", -1, 1.5, np.nan, None, True, 10**30])
def test_jumps_of_its_own_that_are_no_number_are_refused(jumps):
    class Wrong(PlainMigration):
        max_jumps = jumps

    class WrongLocal(PlainShortest):
        max_jumps = jumps

    for policies, name in ((Wrong, "fcfs"), "Wrong"), (("dll", WrongLocal), "WrongLocal"):
        with pytest.raises(GridError, match=f"^{name}: max_jumps: found .*accepted: a whole numb"):
            ran(*policies)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"max_jumps": 3, "service": "easy"}, "max_jumps: found 3; accepted: math.inf, of a "),
        ({"max_jumps": 3}, "max_jumps: found 3; accepted: math.inf, of a scheduler whose service"),
        ({"shares": {1: 2.0}}, "shares: found {1: 2.0}; accepted: none, of a scheduler whose half"),
    ],
)
def test_what_a_local_scheduler_says_of_itself_in_vain_is_refused(said, words):
    with pytest.raises(GridError, match=f"^Vain: {re.escape(words)}"):
        ran("dll", type("Vain", (PlainShortest,), said))


def test_a_selection_of_its_own_that_is_none_is_refused_by_class():
    class Wrong(PlainMigration):
        selection = "sjf"

    with pytest.raises(GridError, match=r"^Wrong: selection: found 'sjf'; accepted: 'fpfs', "):
        ran(Wrong, "fcfs")


def test_a_compiled_scheduler_has_memory_and_a_stream_of_its_own():
    class Counting(GlobalScheduler):
        @numba.njit
        def place(known, job, memory):  # noqa: N805
            memory[0] += 1.0
            return 0

        def memory(self):
            return np.full(3, 5.0)

    model = ran(Counting, "fcfs", workload(count=30))
    assert model.world.tables.memory.tolist() == [35.0, 5.0, 5.0]


@pytest.mark.parametrize(
    ("memory", "found"),
    [
        (np.zeros((2, 3)), r"an array of float64, of shape \(2, 3\);"),
        (np.zeros(3, np.int64), r"an array of int64, of shape \(3,\);"),
        (np.zeros(6)[::2], r"an array of float64, of shape \(3,\), not contiguous;"),
        ([0.0, 1.0], r"\[0.0, 1.0\];"),
        (None, "None;"),
    ],
)
def test_a_memory_that_compiled_code_cannot_have_is_told(memory, found):
    class Remembering(CompiledLeastLoad):
        def memory(self):
            return memory

    with pytest.raises(GridError, match=rf"^REMEMBERING at 0 s: memory: found {found} accepted: "):
        ran(Remembering, "fcfs")


# Splitting ----------------------------------------------------------------------------------------


def test_a_job_may_be_split_over_clusters():
    class Everywhere(GlobalScheduler):
        spans = True

        def place(self, job):
            if job.size > sum(c.free for c in self.clusters):
                return None
            left, taken = job.size, {}
            for c in self.clusters:
                taken[c.name] = min(left, c.free)
                left -= taken[c.name]
            return taken

    model = ran(Everywhere, "fcfs", table((0, 11, 10.0), (1, 18, 7.0), (2, 19, 1.0)))
    records = done(model)
    takes = model.world.log.records().takes[records["split"]]
    assert takes.tolist() == [[8, 3, 0], [8, 6, 4]]
    assert records["start"].tolist() == [0.0, 10.0]
    assert records["finish"][1] == pytest.approx(10 + 7 / 0.7)
    assert model.world.state.rejected == 1


# Plugins that go wrong ---------------------------------------------------------------------------

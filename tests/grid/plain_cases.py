"""Instances and policies, drawn at random, run both plainly and through `grid.world`, compared."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from hypothesis import assume
from hypothesis import strategies as st

from grid.jobs import job_table
from grid.kernel import state as k
from grid.platform.brokers import Broker
from grid.platform.multicluster import Cluster, Platform
from grid.platform.topology import CENTRE, Link, network
from grid.world.policies import Addresses, GlobalRules
from grid.world.world import World

from .plain_world import FAIL, REPAIR, RETIRE, WAIT, PlainWorld

SEND, SEND_WHEN_FREE, START_WHEN_FREE, SPLIT, START_THEN_SEND = range(5)
"""What becomes of a job: its `kind`, with its cluster `aim`; the last sends it after a failure."""


def rules(**flags):
    """Return rules of a global scheduler that differ from the defaults."""
    return type("Rules", (GlobalRules,), flags)()


def decide(free, restarts, number, size, kind, aim):
    """Return the answer of `place` as PlainWorld takes it: a deterministic policy of many kinds."""
    if kind == SEND or (kind == START_THEN_SEND and restarts):
        return aim
    if kind == SPLIT:
        if sum(free) < size:
            return WAIT
        take = [0] * len(free)
        for step in range(len(free)):
            cluster = (aim + step) % len(free)
            # An even number spreads the job, an odd one packs it.
            most = math.ceil(size / len(free)) if number % 2 == 0 else size
            take[cluster] = min(most, free[cluster], size - sum(take))
        for cluster, idle in enumerate(free):
            take[cluster] += min(idle - take[cluster], size - sum(take))
        return take
    if free[aim] < size:
        return WAIT
    return aim if kind == SEND_WHEN_FREE else [size * (c == aim) for c in range(len(free))]


def place_by_memory(known, job, memory):
    """Decide like `decide`, for compiling; `memory` is that of a Case."""
    kind, aim = int(memory[2 * job.number - 2]), int(memory[2 * job.number - 1])
    if kind == SEND or (kind == START_THEN_SEND and job.restarts > 0):
        return aim
    if kind == SPLIT:
        idle = 0
        for cluster in range(known.clusters):
            idle += known.free[cluster]
        if idle < job.size:
            return WAIT
        most = job.size if job.number % 2 else -(-job.size // known.clusters)
        left = job.size
        for step in range(known.clusters):
            cluster = (aim + step) % known.clusters
            known.take[cluster] = min(most, known.free[cluster], left)
            left -= known.take[cluster]
        for cluster in range(known.clusters):
            more = min(known.free[cluster] - known.take[cluster], left)
            known.take[cluster] += more
            left -= more
        return k.START
    if known.free[aim] < job.size:
        return WAIT
    if kind == SEND_WHEN_FREE:
        return aim
    for cluster in range(known.clusters):
        known.take[cluster] = job.size if cluster == aim else 0
    return k.START


def rank_by_request(job, now):
    """Rank by what a Case keeps in `requested_time`, for compiling."""
    return job.requested_time


@dataclass
class Case:
    """An instance: platform, jobs, failures, and who decides how."""

    platform: Platform
    jobs: np.ndarray  # with the rank of each in `requested_time`, where compiled code finds it
    kind: list[int]
    aim: list[int]
    latency: float = 0.0
    in_order: bool = False
    spans: bool = False
    tracked: bool = False
    planned: tuple[int, ...] = ()
    with_sets: bool = False
    leave_out: float = 0.0
    failures: list[tuple[int, int, float, float]] = field(default_factory=list)
    drains: list[tuple[int, int, float, float]] = field(default_factory=list)
    stops: list[float] = field(default_factory=list)

    def planner(self):
        """Return a planner that shuffles (the same way every time it is made)."""
        calls = itertools.count()

        def plan(cluster, jobs):
            shuffle = random.Random(next(calls))
            order = sorted(jobs, key=lambda job: job["number"])
            shuffle.shuffle(order)
            order = [job for job in order if shuffle.random() >= self.leave_out]
            everything = range(int(self.platform.sizes[cluster]))
            if not self.with_sets:
                return [(job, None) for job in order]
            return [(job, shuffle.sample(everything, int(job["size"]))) for job in order]

        return plan

    def plain(self):
        """Run it plainly."""
        world = PlainWorld(
            self.platform,
            self.latency,
            lambda world, job: decide(
                [world.believed(c) for c in world.clusters],
                job["restarts"],
                *self.about(job["number"]),
            ),
            lambda job, cluster: job["requested_time"],
            self.planner(),
            self.planned,
            self.in_order,
            self.spans,
        )
        world.arrivals = [
            {name: row[name].item() for name in self.jobs.dtype.names if name != "components"}
            | {"restarts": 0, "cluster": -1, "slides": False}
            for row in self.jobs
        ]
        for kind, failures in ((FAIL, self.failures), (RETIRE, self.drains)):
            for cluster, processor, time, repaired in failures:
                world.at(time, kind, cluster, processor)
                world.at(repaired, REPAIR, cluster, processor)
        for until in (*self.stops, 1e6):
            world.advance(until)
            world.wait(until)
            for cluster in self.planned:
                world.set_plan(cluster, world.planner(cluster, world.waiting[cluster]))
        world.advance()
        return world

    def about(self, number):
        """Return what `decide` needs beside the free processors."""
        index = number - 1
        return number, int(self.jobs["size"][index]), self.kind[index], self.aim[index]

    def memory(self):
        """Return what `place_by_memory` needs: kind and aim of each job."""
        return np.array([self.kind, self.aim], float).T.ravel()

    def world(self, place_at=0, rank_at=0, chunk=None):
        """Return a World with this instance submitted, its decisions in Python unless compiled."""

        def place(slot):
            restarts, number = world.jobs.slots[["restarts", "number"]][slot].tolist()
            answer = decide(world.known["free"].tolist(), restarts, *self.about(number))
            if not isinstance(answer, list):
                return answer
            world.take[:] = 0
            world.take[: len(answer)] = answer
            return k.START

        def rank(slot):
            return world.jobs["requested_time"][slot]

        world = World(self.platform, self.latency, self.tracked, place, rank)
        flags = rules(max_jumps=0 if self.in_order else np.inf, spans=self.spans)
        world.policies.set_global(flags, Addresses(place_at), self.memory())
        for cluster in range(world.clusters):
            world.policies.set_local(cluster, rank_at, planned=cluster in self.planned)
        step = chunk or len(self.jobs)
        world.arrivals.feed(self.jobs[at : at + step] for at in range(0, len(self.jobs), step))
        for failure in self.failures:
            world.resources.fail(*failure)
        for drained in self.drains:
            world.resources.drain(*drained)
        return world

    def run(self, world, steps=()):
        """Run a World to its end, planning where planned; `steps` only interrupt it."""
        planner = self.planner()

        def replan(cluster):
            queue = world.jobs.waiting(cluster)
            jobs = [{"number": int(n), "slot": s} for n, s in zip(
                world.jobs["number"][queue], queue.tolist(), strict=True)]  # fmt: skip
            for job in jobs:
                job["size"] = world.jobs["size"][job["slot"]]
            plan = planner(cluster, jobs)
            sets = [processors for _, processors in plan] if self.with_sets else None
            world.plan(cluster, [job["slot"] for job, _ in plan], sets)

        for until in (*sorted({*self.stops, *steps, 1e6}), math.inf):
            while (reason := world.advance(until)) == k.LANDED:
                for cluster in world.wanting_plans():
                    replan(cluster)
            assert reason in (k.TIME, k.OVER)
            if until == math.inf:
                break
            if reason == k.OVER:
                world.wait(until)
            if until in (*self.stops, 1e6):
                for cluster in self.planned:
                    replan(cluster)
        return world

    def replan_at_random(self, draw, sets, later=0.0):
        """Give some clusters to planners, who also replan at random instants."""
        clusters = range(len(self.platform.clusters))
        self.planned = tuple(sorted(draw(st.sets(st.sampled_from(clusters)))))
        self.with_sets, self.leave_out = sets, draw(st.sampled_from([0.0, 0.3]))
        self.stops = sorted(time + later for time in draw(st.sets(eighths, max_size=5)))

    def fail_at_random(self, draw, jitter=0.0, often=False):
        """Let some processors fail or be drained, each to be back some time."""
        for index in range(draw(st.integers(1, 30 if often else 6))):
            cluster = draw(st.integers(0, len(self.platform.clusters) - 1))
            processor = draw(st.integers(0, int(self.platform.sizes[cluster]) - 1))
            time = draw(eighths) + jitter * (index + math.e)
            repaired = time + draw(st.sampled_from([0.5, 2.0, 20.0]))
            kind = self.drains if draw(st.booleans()) else self.failures
            kind.append((cluster, processor, time, repaired))

    def check(self, rel=0.0):
        """Assert that both ways agree, exactly or to a relative difference of times."""
        plain, world = self.plain(), self.run(self.world())
        if rel and plain.ambiguous:
            assume(False)
        records, plain_records = sorted(rows(world)), sorted(plain.records)
        assert [r[:4] for r in records] == [r[:4] for r in plain_records]
        times = [r[4:] for r in records]
        expected = [r[4:] for r in plain_records]
        if rel:
            assert np.ravel(times) == pytest.approx(np.ravel(expected), rel=rel, nan_ok=True)
        else:
            assert repr(times) == repr(expected)
        knowledge = (world.known["free"], world.known["waiting"], world.known["at"])
        assert world.messages == plain.messages
        assert world.state.waiting[: world.clusters].tolist() == [len(q) for q in plain.waiting]
        assert world.state.waiting[-1] == len(plain.queue)
        assert world.state.free.tolist() == [plain.free(c) for c in plain.clusters]
        assert world.state.running_count.tolist() == [0] * world.clusters
        assert world.busy_area() == pytest.approx(plain.area, rel=1e-9, abs=1e-9)
        assert world.known["work"] == pytest.approx(plain.work, rel=1e-9, abs=1e-9)
        assert np.transpose(knowledge) == pytest.approx(np.array(plain.known), rel=1e-9)
        return world


def rows(world):
    """Return the records of a World as PlainWorld keeps them."""
    records = world.log.records()
    assert (records["split"] != k.NONE).tolist() == split(records).tolist()
    assert records.takes.shape == (split(records).sum(), world.clusters)
    return [
        (
            int(row["number"]),
            int(row["cluster"]),
            tuple(records.takes[row["split"]].tolist()) if split(row) else (0,) * world.clusters,
            int(row["restarts"]),
            float(row["start"]),
            float(row["finish"]),
        )
        for row in records
    ]


def split(rows):
    """Tell which finished jobs were co-allocated."""
    return (rows["cluster"] == k.NONE) & ~np.isnan(rows["start"])


def table(arrivals, sizes, runtimes, **columns):
    """Return a table of jobs from lists, or numbers for all."""
    jobs = job_table(len(arrivals))
    for name, values in {
        "arrival": arrivals,
        "size": sizes,
        "runtime": runtimes,
        **columns,
    }.items():
        jobs[name] = values
    return jobs


eighths = st.integers(0, 64).map(lambda n: n / 8)
"""Times that add up without rounding, with many ties."""


def star(draw, clusters, capacity=1000.0):
    """Draw a star of small clusters whose rates divide without rounding."""
    sizes = draw(st.lists(st.integers(1, 6), min_size=clusters, max_size=clusters))
    rates = [draw(st.sampled_from([1.0, 2.0, 0.5])) for _ in sizes]
    latencies = [draw(st.sampled_from([0.0, 0.0, 0.5, 1.25])) for _ in sizes]
    platform = Platform.star(sizes, rates, capacity, latencies)
    if not draw(st.booleans()):
        return platform
    parents = ["", draw(st.sampled_from(["", "A"])), draw(st.sampled_from(["", "A", "B"]))]
    brokers = [Broker(name, parent) for name, parent in zip("ABC", parents, strict=True)]
    below = [replace(each, broker=draw(st.sampled_from("ABC"))) for each in platform.clusters]
    return Platform(tuple(below), platform.graph, tuple(brokers))


def tree(draw, clusters, capacity):
    """Draw a tree: each node hangs on a switch, another cluster or the centre."""
    sizes = draw(st.lists(st.integers(1, 6), min_size=clusters, max_size=clusters))
    names = [f"C{index + 1}" for index in range(clusters)]
    nodes = draw(st.permutations([*names, "S1", "S2"]))
    links = []
    for index, node in enumerate(nodes):
        above = draw(st.sampled_from([CENTRE, *nodes[:index]]))
        links.append(Link(node, above, draw(capacity)))
    graph = network(names, links, ["S1", "S2"])
    return Platform(tuple(map(Cluster, names, sizes)), graph)


@st.composite
def cases(draw, kinds, slides=False, **fixed):
    """Draw a small instance; `slides` gives times without ties and links that saturate."""
    clusters = draw(st.integers(2 if slides else 1, 4))
    if slides:
        room = st.sampled_from([20.0, 50.0, 130.0, math.inf])
        platform = tree(draw, clusters, room)
    else:
        platform = star(draw, clusters)
    largest = int(platform.sizes.max())
    spans = SPLIT in kinds
    most = int(platform.sizes.sum()) + 1 if spans else largest + 1
    count = draw(st.integers(1, 24))
    gap = st.sampled_from([0.0, 0.0, 0.125, 0.5, 1.0, 3.0])
    drawn = [
        (draw(gap), draw(st.integers(1, most)), draw(eighths), draw(st.sampled_from(kinds)),
         draw(st.integers(0, clusters - 1)), draw(st.integers(0, 3)))
        for _ in range(count)
    ]  # fmt: skip
    gaps, sizes, runtimes, kind, aim, rank = map(list, zip(*drawn, strict=True))
    arrivals = np.cumsum(gaps)
    if slides:  # no two sums of these are equal
        index = np.arange(count)
        arrivals = arrivals + index * math.pi / 1000
        runtimes = np.array(runtimes) + 0.3 + (index * math.sqrt(2)) % 1 / 10
    jobs = table(arrivals, sizes, runtimes, requested_time=rank)
    jobs["origin"] = [draw(st.integers(-1, clusters - 1)) for _ in range(count)]
    if slides:
        fraction = st.sampled_from([0.0, 0.3, 0.7, 1.0])
        jobs["computation_fraction"] = [draw(fraction) for _ in range(count)]
        jobs["ppbw"] = [draw(st.sampled_from([0.0, 7.0, 30.0, 90.0])) for _ in range(count)]
    for index in range(count):
        fitting = np.flatnonzero(platform.sizes >= sizes[index])
        if kind[index] != SPLIT and len(fitting):
            aim[index] = int(fitting[aim[index] % len(fitting)])
        elif spans:
            kind[index] = SPLIT
    latency = draw(st.sampled_from([0.0, 0.25]))
    return Case(platform, jobs, kind, aim, latency, spans=spans, **fixed)

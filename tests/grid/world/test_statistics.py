"""What is summed up while a world runs, against what is worked out from the records of its jobs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from grid.distributions import Exponential, UniformSizes
from grid.jobs import job_table
from grid.kernel import state as k
from grid.kernel.policies.decisions import place_address
from grid.kernel.statistics import SNAPSHOTS
from grid.platform.multicluster import Platform
from grid.workloads.synthetic import SyntheticWorkload
from grid.world.finished import Records
from grid.world.policies import Addresses
from grid.world.records import bounded_slowdown
from grid.world.world import World
from tests.grid.kernel.queueing.test_queues import whole_or_split
from tests.grid.plain_cases import rules

CLUSTERS, PROCESSORS = 3, 20
CAPACITY, PPBW = 1000.0, 150.0


def jobs(count, load):
    """Yield jobs that offer three clusters a load, and need bandwidth if they are split."""
    sizes = UniformSizes(2, 10)
    rate = load * CLUSTERS * PROCESSORS / (sizes.mean * 60.0)
    workload = SyntheticWorkload(count=count, rate=rate, sizes=sizes, runtimes=Exponential(60.0))
    for chunk in workload.chunks():
        chunk["computation_fraction"], chunk["ppbw"] = 0.7, PPBW
        yield chunk


def world_of(count, load=0.8, warmup=0):
    world = World(Platform.star([PROCESSORS] * CLUSTERS, capacity=CAPACITY))
    address = place_address(whole_or_split, world.capacity)
    world.policies.set_global(rules(spans=True, larger_wait=True), Addresses(address), np.ones(1))
    world.count_after(warmup)
    world.arrivals.feed(jobs(count, load))
    return world


@pytest.mark.parametrize("warmup", [0, 1, 700, 3000])
def test_means_are_those_of_the_records(warmup):
    world = world_of(3000, warmup=warmup)
    world.advance(np.inf)
    records = world.log.records()
    first = np.sort(records["arrival"])[warmup:]
    statistics = world.statistics
    if warmup == 3000:
        assert statistics.jobs == 0
        assert statistics.mean_wait is statistics.mean_turnaround is statistics.coallocated is None
        assert statistics.mean_penalty == 1.0
        return
    counted = records[records["arrival"] >= first[0]]
    split = counted[counted["split"] != k.NONE]
    assert statistics.jobs == len(counted) == 3000 - warmup
    assert 0 < len(split) < len(counted)
    found = (
        statistics.mean_wait,
        statistics.mean_turnaround,
        statistics.mean_bounded_slowdown,
        statistics.coallocated,
        statistics.mean_penalty,
    )
    assert found == pytest.approx(
        (
            (counted["start"] - counted["arrival"]).mean(),
            (counted["finish"] - counted["arrival"]).mean(),
            bounded_slowdown(counted).mean(),
            len(split) / len(counted),
            ((split["finish"] - split["start"]) / split["execution_time"]).mean(),
        )
    )


@pytest.mark.parametrize("count", [1, SNAPSHOTS, SNAPSHOTS + 1, 3000])
def test_queue_over_time(count):
    world = world_of(count)
    while world.advance(world.now + 100.0) != k.OVER:
        pass
    records, statistics = world.log.records(), world.statistics
    times = statistics.queue_times
    assert len(times) - 1 == len(statistics.mean_queue) <= SNAPSHOTS
    arrivals = np.sort(records["arrival"])
    every, taken = world.state.statistics.interval, world.state.statistics.snapshots
    assert times[1:].tolist() == arrivals[every - 1 :: every][:taken].tolist()
    assert len(arrivals) - taken * every < every * (1 if taken < SNAPSHOTS else 2)
    waited = [
        (np.minimum(records["start"], end) - np.minimum(records["arrival"], end)).sum()
        for end in times
    ]
    assert statistics.mean_queue == pytest.approx(np.diff(waited) / np.diff(times))


@pytest.mark.parametrize(("load", "stable"), [(0.5, True), (0.8, True), (1.2, False), (2.0, False)])
def test_a_queue_that_keeps_growing_is_told(load, stable):
    world = world_of(20_000, load)
    world.log.stream(None)
    world.advance(np.inf)
    assert world.statistics.stable is stable
    assert len(world.log.records()) == 0


def test_records_are_handed_on_as_they_come_and_none_is_kept():
    kept = world_of(10_000)
    kept.advance(np.inf)
    records, chunks = kept.log.records(), []
    streamed, quiet = world_of(10_000), world_of(10_000)
    streamed.log.stream(chunks.append)
    streamed.advance(np.inf)
    assert len(chunks) > 1
    streamed.log.flush()
    assert max(map(len, chunks)) < 5000
    rows = np.concatenate([chunk.rows for chunk in chunks])
    takes = np.concatenate(
        [chunk.takes[chunk["split"][chunk["split"] != k.NONE]] for chunk in chunks]
    )
    columns = [name for name in rows.dtype.names if name != "split"]
    assert all(rows[name].tobytes() == records[name].tobytes() for name in columns)
    assert (takes == records.takes).all()
    assert isinstance(chunks[0], Records)
    quiet.log.stream(None)
    quiet.advance(np.inf)
    last = [world.state.statistics.array[0] for world in (quiet, streamed, kept)]
    assert last[0] == last[1] == last[2]
    assert len(quiet.log.latest(5)) == len(quiet.log.records()) == len(streamed.log.records()) == 0
    assert streamed.log.latest(5)["number"].tolist() == records["number"][-5:].tolist()


def test_who_watches_sees_all_that_left_though_none_is_kept():
    class Watching:
        """Has looked at every job that left."""

        def __init__(self, world):
            self.world, self.numbers = world, []

        def look(self):
            new = self.world.state.completed - len(self.numbers)
            self.numbers += self.world.log.latest(new)["number"].tolist()

        def planned(self, *_):
            pass

        carried = told = planned

    world, at_once = world_of(3000), job_table(20_000)
    at_once["number"], at_once["size"], at_once["runtime"] = np.arange(5000, 25_000), 1, 0.0
    at_once["arrival"] = 1e9
    world.submit(at_once)
    world.log.stream(lambda records: None)
    world.watcher = watching = Watching(world)
    world.advance(np.inf)
    assert sorted(watching.numbers) == [*range(1, 3001), *range(5000, 25_000)]


def carried(records, link, begin, end):
    """Return the mean demand over capacity of a link from begin to end, and its saturated share."""
    split = records[records["split"] != k.NONE]
    take = records.takes[split["split"], link]
    demand = take * (split["size"] - take) / (split["size"] - 1) * PPBW
    start, finish = (np.clip(split[name], begin, end) for name in ("start", "finish"))
    edges = np.unique([begin, end, *start, *finish])
    total, saturated = 0.0, 0.0
    for left, right in itertools.pairwise(edges):
        there = demand[(start <= left) & (finish >= right)].sum()
        total += there / CAPACITY * (right - left)
        saturated += (right - left) * (there > CAPACITY * (1 + 1e-9))
    return total / (end - begin), saturated / (end - begin)


@pytest.mark.parametrize("warmup", [0, 500])
def test_links_are_used_as_the_records_say(warmup):
    world = world_of(2000, warmup=warmup)
    while world.advance(world.now + 70.0) != k.OVER:
        pass
    records, statistics = world.log.records(), world.statistics
    begin, end = np.sort(records["arrival"])[warmup], records["finish"].max()
    assert 0.05 < statistics.links.saturated.min() < statistics.links.demand.max() < 0.9
    for link in range(CLUSTERS):
        right = carried(records, link, begin, end)
        assert [each[link] for each in statistics.links] == pytest.approx(right)
        for index, times in enumerate(itertools.pairwise(statistics.queue_times)):
            found = [each[index, link] for each in statistics.links_over_time]
            assert found == pytest.approx(carried(records, link, *times), abs=1e-9)

"""What is summed up while a world runs, against what is worked out from the records of its jobs."""

from __future__ import annotations

import numpy as np
import pytest

from grid.distributions import Exponential, UniformSizes
from grid.finished import Records
from grid.kernel import state as k
from grid.kernel.decisions import place_address
from grid.kernel.statistics import SNAPSHOTS
from grid.platform import Platform
from grid.records import bounded_slowdown
from grid.workloads.synthetic import SyntheticWorkload
from grid.world import World

from .test_queues import whole_or_split

CLUSTERS, PROCESSORS = 3, 20


def jobs(count, load):
    """Yield jobs that offer three clusters a load, and need bandwidth if they are split."""
    sizes = UniformSizes(2, 10)
    rate = load * CLUSTERS * PROCESSORS / (sizes.mean * 60.0)
    workload = SyntheticWorkload(count=count, rate=rate, sizes=sizes, runtimes=Exponential(60.0))
    for chunk in workload.chunks():
        chunk["computation_fraction"], chunk["ppbw"] = 0.7, 150.0
        yield chunk


def world_of(count, load=0.8, warm_up=0):
    world = World(Platform.star([PROCESSORS] * CLUSTERS))
    address = place_address(whole_or_split, world.capacity)
    world.set_global(address, np.ones(1), spans=True, larger_wait=True)
    world.count_after(warm_up)
    world.feed(jobs(count, load))
    return world


@pytest.mark.parametrize("warm_up", [0, 1, 700, 3000])
def test_means_are_those_of_the_records(warm_up):
    world = world_of(3000, warm_up=warm_up)
    world.advance(np.inf)
    records = world.records()
    first = np.sort(records["arrival"])[warm_up:]
    statistics = world.statistics
    if warm_up == 3000:
        assert statistics.jobs == 0
        assert statistics.mean_wait is statistics.utilization is statistics.coallocated is None
        assert statistics.mean_penalty == 1.0
        return
    counted = records[records["arrival"] >= first[0]]
    split = counted[counted["split"] != k.NONE]
    assert statistics.jobs == len(counted) == 3000 - warm_up
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
    start = np.maximum(records["start"], first[0])
    work = (np.maximum(records["finish"], first[0]) - start) @ records["size"]
    span = records["finish"].max() - first[0]
    assert statistics.utilization == pytest.approx(work / (span * CLUSTERS * PROCESSORS))


@pytest.mark.parametrize("count", [1, SNAPSHOTS, SNAPSHOTS + 1, 3000])
def test_queue_over_time(count):
    world = world_of(count)
    while world.advance(world.now + 100.0) != k.OVER:
        pass
    records, statistics = world.records(), world.statistics
    times = statistics.queue_times
    assert len(times) - 1 == len(statistics.mean_queue) <= SNAPSHOTS
    arrivals = np.sort(records["arrival"])
    every, taken = world.sums["interval"], world.sums["snapshots"]
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
    world.stream_records(None)
    world.advance(np.inf)
    assert world.statistics.stable is stable
    assert len(world.records()) == 0


def test_records_are_handed_on_as_they_come_and_none_is_kept():
    kept = world_of(10_000)
    kept.advance(np.inf)
    records, chunks = kept.records(), []
    streamed, quiet = world_of(10_000), world_of(10_000)
    streamed.stream_records(chunks.append)
    streamed.advance(np.inf)
    assert len(chunks) > 1
    streamed.flush()
    assert max(map(len, chunks)) < 5000
    rows = np.concatenate([chunk.rows for chunk in chunks])
    takes = np.concatenate(
        [chunk.takes[chunk["split"][chunk["split"] != k.NONE]] for chunk in chunks]
    )
    columns = [name for name in rows.dtype.names if name != "split"]
    assert all(rows[name].tobytes() == records[name].tobytes() for name in columns)
    assert (takes == records.takes).all()
    assert isinstance(chunks[0], Records)
    quiet.stream_records(None)
    quiet.advance(np.inf)
    assert quiet.sums == streamed.sums == kept.sums
    for world in (streamed, quiet):
        assert len(world.records()) == len(world.latest(5)) == 0

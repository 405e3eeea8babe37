"""Sums over jobs as they leave: the same bits in any portions, and without those of a warm-up."""

from __future__ import annotations

import numpy as np
import pytest

from grid.kernel import state as k
from grid.kernel.statistics import JOB_SUMS
from grid.metrics.job_totals import Tally
from grid.metrics.of_run import cluster_metrics, job_metrics
from grid.platform.multicluster import Platform
from grid.world.records import bounded_slowdown
from tests.grid.metrics.test_metrics import record, rejected, together
from tests.grid.world.test_statistics import CLUSTERS, PROCESSORS, world_of

PLATFORM = Platform.star([PROCESSORS] * CLUSTERS)


def numbers(tally):
    return repr((job_metrics(tally), cluster_metrics(tally)))


@pytest.mark.parametrize("step", [50.0, 3000.0, np.inf])
def test_sums_are_the_same_bits_in_any_portions(step):
    kept, streamed, tally = world_of(9000), world_of(9000), Tally(PLATFORM)
    kept.advance(np.inf)
    streamed.log.stream(tally.add)
    while streamed.advance(streamed.now + step) != k.OVER:
        pass
    assert tally.completed < 9000
    streamed.log.flush()
    assert tally.completed == 9000
    records = kept.log.records()
    assert numbers(tally) == numbers(Tally.of(records, PLATFORM))
    one_by_one = Tally(PLATFORM)
    for index in range(9000):
        one_by_one.add(records[index : index + 1])
    assert numbers(one_by_one) == numbers(tally)


@pytest.mark.parametrize("warmup", [0, 1, 700, 3000])
def test_the_kernel_sums_up_the_same(warmup):
    world = world_of(3000, warmup=warmup)
    tally = Tally(PLATFORM)
    world.log.stream(lambda records: tally.add(records, float(world.state.statistics.counted_from)))
    world.advance(np.inf)
    world.log.flush()
    names = [name for name, _ in JOB_SUMS]
    assert [tally.grid[0][name] for name in names] == [
        getattr(world.state.statistics, name) for name in names
    ]
    assert tally.grid[0]["jobs"] == 3000 - warmup
    assert tally.completed == 3000


def test_a_warmup_counts_for_nothing_but_processors_that_it_holds():
    world = world_of(3000, warmup=700)
    world.advance(np.inf)
    records = world.log.records()
    counted_from = np.sort(records["arrival"])[700]
    tally = Tally(PLATFORM)
    tally.add(records, counted_from)
    metrics = job_metrics(tally)
    counted = records[records["arrival"] >= counted_from]
    waits = counted["start"] - counted["arrival"]
    assert metrics["p95_wait"] == np.percentile(waits, 95)
    assert metrics["max_wait"] == waits.max()
    assert metrics["p95_bounded_slowdown"] == np.percentile(bounded_slowdown(counted), 95)
    assert metrics["work"] == pytest.approx(
        (counted["finish"] - counted["start"]) @ counted["size"]
    )
    start = np.maximum(records["start"], counted_from)
    held = (np.maximum(records["finish"], counted_from) - start).clip(0) @ records["size"]
    span = records["finish"].max() - counted_from
    assert metrics["utilization"] == pytest.approx(held / (span * CLUSTERS * PROCESSORS))


def test_who_rejects_a_job_does_not_meet_its_deadline():
    gone = [rejected(1, 1.0), rejected(2, 4.0), rejected(3, 5.0)]
    for each in gone[:2]:
        each["deadline"][:] = 9.0
    tally = Tally(Platform.star([4, 2, 3]))
    tally.add(together(*gone), 4.0)
    metrics = job_metrics(tally)
    assert (metrics["deadlines_met"], metrics["over_deadline"]) == (0.0, None)
    tally.add(together(record(4, 6.0, 6.0, 8.0, (1, 0, 0), deadline=9.0)), 4.0)
    metrics = job_metrics(tally)
    assert (metrics["deadlines_met"], metrics["over_deadline"]) == (1 / 2, 0.0)
    assert cluster_metrics(tally)[0]["deadlines_met"] == 1.0


def test_a_warmup_by_hand():
    tally = Tally(Platform.star([4, 2, 3]))
    tally.add(
        together(
            rejected(9, 1.0),
            record(1, 0.0, 0.0, 2.0, (4, 0, 0)),  # over before anything counts
            record(2, 1.0, 2.0, 12.0, (2, 0, 0)),  # holds 2 x 8 s from then on
            record(3, 4.0, 5.0, 9.0, (0, 1, 0), deadline=8.0),
            record(4, 4.0, 4.0, 10.0, (1, 0, 3), deadline=11.0),
            record(5, 2.0, 6.0, 14.0, (0, 1, 0), deadline=3.0),
        ),
        4.0,
    )
    metrics = job_metrics(tally)
    assert metrics["mean_wait"] == 1 / 2
    assert metrics["mean_turnaround"] == (5 + 6) / 2
    assert (metrics["over_deadline"], metrics["deadlines_met"]) == (1.0, 1 / 2)
    assert metrics["makespan"] == 6.0
    assert metrics["work"] == 4 + 4 * 6
    assert metrics["throughput"] == 2 / 6
    assert metrics["coallocated"] == 1 / 2
    assert metrics["utilization"] == (2 * 8 + 4 + 4 * 6 + 8) / (9 * 10)
    c1, c2, c3 = cluster_metrics(tally)
    assert (c1["jobs"], c2["jobs"], c3["jobs"]) == (1, 1, 1)
    assert c1["utilization"] == (2 * 8 + 6) / (4 * 10)
    assert c2["utilization"] == (4 + 8) / (2 * 10)
    assert (tally.completed, tally.rejected) == (5, [(1.0, 9)])

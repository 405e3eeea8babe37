"""The world as a whole: one instant, interruptions, growth, and what holds on long runs."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import grid.world.storage
from grid.errors import PlacementError, PlatformError
from grid.kernel import state as k
from grid.kernel.compile import compiled
from grid.kernel.policies.decisions import place_address, priority_address
from grid.platform.multicluster import Platform
from grid.world.world import World
from tests.grid.plain_cases import (
    SEND,
    SEND_WHEN_FREE,
    SPLIT,
    START_WHEN_FREE,
    Case,
    cases,
    place_by_memory,
    rank_by_request,
    rows,
    rules,
    split,
    table,
)

# One instant -------------------------------------------------------------------------------------


def test_what_happens_at_one_instant():
    told = []

    def place(job):
        number = int(world.jobs["number"][job])
        told.append((world.now, "place", number, world.state.free.tolist()))
        if number == 6:
            world.take[:2] = [0, 1]  # all that brokers have told is free
            return k.START if world.state.free[1] >= 2 else k.WAIT
        return 1 if number == 7 else 0

    def rank(job):
        number = int(world.jobs["number"][job])
        told.append((world.now, "rank", number, world.state.free.tolist()))
        return -number

    world = World(Platform.star([2, 2], latency=[0.0, 1.0]), tracked=True, place=place, rank=rank)
    # The first and the second run on C1 until 10; 3 comes from the broker of C2; 7 is under way
    # to C2; a processor of C2 fails at 2 and is repaired at 10.
    jobs = table([0, 0, 9, 9, 9, 5, 9, 10], [1, 1, 1, 1, 2, 1, 2, 1], 10.0)
    jobs["number"] = [1, 2, 3, 4, 5, 6, 7, 8]
    jobs["origin"][2] = 1
    world.submit(np.sort(jobs, order="arrival", stable=True))
    world.resources.fail(1, 0, 2.0, 10.0)
    world.advance(9.999)
    told.clear()
    world.advance(10.0)
    assert told == [
        # Completions, the repair and deliveries were before; the global queue as they were known.
        (10.0, "place", 6, [2, 2]),
        (10.0, "place", 3, [2, 1]),
        (10.0, "place", 8, [2, 1]),
        # Landed: 7 was under way, 8 is there at once; 4 and 5 were ranked at 9.
        (10.0, "rank", 7, [2, 1]),
        (10.0, "rank", 8, [2, 1]),
    ]
    # Then starts, lowest rank first: 8 takes one processor of C1, and 5 needs two.
    assert world.jobs["number"][world.jobs.running(0)[0]].tolist() == [8]
    assert world.jobs["number"][world.jobs.running(1)[0]].tolist() == [6]
    assert world.jobs["number"][world.jobs.waiting(0)].tolist() == [5, 4]
    assert world.jobs["number"][world.jobs.waiting(1)].tolist() == [7]


def test_a_job_that_takes_no_time_makes_room_at_once():
    world = World(Platform.star([1]), place=lambda job: 0, rank=lambda job: 0.0)
    world.submit(table([3.0] * 3, 1, [0.0, 0.0, 1.0]))
    assert world.advance(3.0) == k.TIME
    assert [row[4:] for row in rows(world)] == [(3.0, 3.0), (3.0, 3.0)]
    assert world.state.running_count.tolist() == [1]


def test_the_way_of_messages():
    platform = Platform.star([1, 1, 1], latency=[1.0, 2.0, 4.0])
    destination = {1: 0, 2: 0, 3: 1}
    world = World(
        platform, 0.5, place=lambda job: destination[world.jobs["number"][job]], rank=lambda job: 0
    )
    world.submit(table([0.0, 0.0, 100.0], 1, 1.0, origin=[-1, 0, 2]))
    world.advance(np.inf)
    starts = {row[0]: row[4] for row in rows(world)}
    # To its cluster; to the centre and an order back; to the centre, an order back, the transfer.
    assert starts == {1: 1.5, 2: 3.0, 3: 100.0 + 4.5 + 4.5 + (4.5 + 2.5)}
    assert world.messages == {
        "submission": 3, "metadata": 2, "order": 2, "transfer": 2, "advertisement": 6,
    }  # fmt: skip
    assert world.state.in_flight == 0


def test_brokers_tell_what_was_true():
    world = World(Platform.star([4], latency=2.0), place=lambda job: 0, rank=lambda job: 0.0)
    world.submit(table([0.0, 0.0], 3, 10.0))
    knowledge = []
    for time in (0.0, 3.9, 4.0, 13.9, 14.0, 24.0):
        world.advance(time)
        known = (
            world.known["free"],
            world.known["waiting"],
            world.known["at"],
            world.known["work"],
        )
        knowledge.append(tuple(float(column[0]) for column in known))
    assert knowledge == [
        (4, 0, 0, 60),
        (4, 0, 0, 60),
        (1, 1, 2, 60),  # one runs and one waits since 2
        (1, 1, 2, 60),
        (1, 0, 12, 30),
        (4, 0, 22, 0),
    ]


def test_two_lots_of_jobs_both_come():
    world = World(Platform.star([1]), place=lambda job: 0, rank=lambda job: 0.0)
    world.submit(table([0.0], 1, 1.0, number=1))
    world.submit(table([5.0], 1, 1.0, number=2))
    world.advance(np.inf)
    world.submit(table([7.0], 1, 1.0, number=3))
    world.submit(table([1.0], 1, 1.0, number=4))  # late: it comes after the one before
    world.advance(np.inf)
    assert [(row[0], row[4]) for row in rows(world)] == [(1, 0.0), (2, 5.0), (3, 7.0), (4, 8.0)]


SWAPPED = [("arrival", float), ("number", np.int64), ("rest", "V192")]


@pytest.mark.parametrize("jobs", [np.zeros(3), np.zeros(2, SWAPPED)])
def test_jobs_of_another_kind_are_refused(jobs):
    def run():
        world = World(Platform.star([1]), place=lambda job: 0, rank=lambda job: 0.0)
        world.submit(jobs)
        world.advance(0.0)

    with pytest.raises((TypeError, ValueError)):
        run()


def test_time_goes_no_further_than_asked_for():
    world = World(Platform.star([1]), place=lambda job: 0, rank=lambda job: 0.0)
    world.submit(table([1.0], 1, 2.0))
    assert (world.advance(0.5), world.now) == (k.TIME, 0.5)
    assert (world.advance(1.0), world.now) == (k.TIME, 1.0)
    assert world.state.running_count[0] == 1
    assert (world.advance(2.5), world.now) == (k.TIME, 2.5)
    assert world.busy_area().tolist() == [1.5]
    assert (world.advance(9.0), world.now) == (k.OVER, 3.0)


def test_jobs_too_large_are_rejected():
    world = World(Platform.star([4, 3]), place=lambda job: 0, rank=lambda job: 0.0)
    world.submit(table([0.0, 1.0, 2.0], [5, 4, 8], 1.0))
    world.advance(np.inf)
    assert repr(rows(world)[0][1:]) == "(-1, (0, 0), 0, nan, nan)"
    assert [row[0] for row in rows(world)] == [1, 2, 3]
    assert (world.state.rejected, world.state.completed) == (2, 1)


def test_more_links_than_there_is_room_for():
    with pytest.raises(PlatformError, match=r"9000 links; accepted: \d+"):
        World(Platform.star([1] * 9000))


# Interruptions -----------------------------------------------------------------------------------

anything = [SEND, SEND_WHEN_FREE, START_WHEN_FREE, SPLIT]


def all_of(world):
    """Return everything that a run leaves, to the last bit."""
    records = world.log.records()
    fields = [records.rows.tolist(), records.takes.tolist()]
    columns = ["free", "up", "waiting", "done", "demand"]
    counts = ["submitted", "started", "completed", "rejected", "restarted", "instants", "in_flight"]
    columns = [getattr(world.state, name).tolist() for name in columns]
    columns += [values.tolist() for values in world.known.values()]
    counts = [getattr(world.state, name) for name in counts]
    return repr((fields, columns, counts, world.messages, world.busy_area().tolist(), world.now))


@pytest.mark.thorough
@settings(max_examples=60)
@given(cases(anything, slides=True, tracked=True), st.booleans(), st.data())
def test_small_runs_interrupted(case, sets, data):
    case.replan_at_random(data.draw, sets, later=1e-4)
    case.fail_at_random(data.draw, jitter=1e-3)
    whole = all_of(case.run(case.world()))
    for step, chunk in ((1.0, 1), (7.0, 3)):
        steps = np.arange(0.0, 60.0, step)
        assert all_of(case.run(case.world(chunk=chunk), steps)) == whole
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grid.world.storage, "CHUNK", 1)  # of finished jobs
        patch.setattr(grid.world.storage, "SPLITS", 1)
        assert all_of(case.run(case.world(chunk=2))) == whole


@pytest.fixture(scope="module")
def compiled_at():
    return (
        place_address(compiled()(place_by_memory), k.CAPACITIES[0]),
        priority_address(compiled()(rank_by_request)),
    )


def long_case(count, seed, load, tracked=False, **columns):
    """Return many jobs of all kinds on four clusters with narrow links."""
    rng = np.random.default_rng(seed)
    platform = Platform.star(
        [32, 24, 16, 8], [1.0, 1.5, 0.7, 2.0], [60, 40, 50, math.inf], [0.0, 0.5, 0.0, 2.0]
    )
    sizes = rng.integers(1, 17, count)
    runtimes = rng.lognormal(3, 1.5, count)
    gap = (sizes * runtimes).sum() / (platform.sizes * platform.rates).sum() / load / count
    jobs = table(np.cumsum(rng.exponential(gap, count)), sizes, runtimes)
    jobs["origin"] = rng.integers(-1, 4, count)
    jobs["computation_fraction"], jobs["ppbw"] = rng.random(count), rng.choice([0, 3, 30], count)
    jobs["requested_time"] = rng.choice([1.0, 2.0, 3.0], count)
    kind = rng.choice(anything, count, p=[0.3, 0.1, 0.3, 0.3])
    wide = (kind != SPLIT) & (sizes > 8)
    aim = np.where(wide, rng.integers(0, 3, count), rng.integers(0, 4, count))
    jobs["size"] = np.where(wide, np.minimum(sizes, 16), sizes)
    case = Case(platform, jobs, kind.tolist(), aim.tolist(), 0.25, spans=True, tracked=tracked)
    if tracked:
        for time in rng.uniform(0, jobs["arrival"][-1], count // 20):
            cluster = int(rng.integers(0, 4))
            processor = int(rng.integers(0, platform.sizes[cluster]))
            case.failures.append((cluster, processor, time, time + rng.exponential(100)))
    return case


@pytest.mark.thorough
def test_long_runs_interrupted(compiled_at):
    case = long_case(2000, 1, 0.6, tracked=True)
    whole = all_of(case.run(case.world(*compiled_at)))
    assert all_of(case.run(case.world())) == whole
    end = case.jobs["arrival"][-1]
    for step, chunk in ((1.0, 1), (7.0, 3), (3600.0, 16384)):
        steps = np.arange(0.0, end, step).tolist()
        assert all_of(case.run(case.world(*compiled_at, chunk=chunk), steps)) == whole


# What holds on long runs -------------------------------------------------------------------------


def test_nothing_is_lost_nor_held_twice(compiled_at):
    case = long_case(20_000, 2, 0.7)
    world = case.run(case.world(*compiled_at))
    records, jobs = world.log.records(), case.jobs
    assert np.sort(records["number"]).tolist() == jobs["number"].tolist()
    assert world.state.submitted == world.state.completed == len(jobs)
    assert (np.diff(records["finish"]) >= 0).all()

    of = records["number"] - 1
    lasted = records["finish"] - records["start"]
    spread = split(records)
    assert 3000 < spread.sum() < 9000
    single = ~spread
    assert lasted[single] == pytest.approx(records["execution_time"][single], rel=1e-9, abs=1e-6)
    rates = case.platform.rates[records["cluster"][single]]
    assert records["execution_time"][single].tolist() == (
        (jobs["runtime"][of[single]] / rates).tolist()
    )
    late = lasted[spread] / records["execution_time"][spread]
    assert (late > 1 - 1e-9).all()
    assert (late > 1.01).sum() > 500

    # Processors held on each cluster, by each job.
    take = np.zeros((len(records), 4))
    take[spread] = records.takes[records["split"][spread]]
    take[single, records["cluster"][single]] = records["size"][single]
    assert take.sum(axis=1).tolist() == jobs["size"][of].tolist()
    assert world.busy_area() == pytest.approx(lasted @ take, rel=1e-9)
    times = np.concatenate([records["finish"], records["start"]])
    change = np.concatenate([-take, take])[np.argsort(times, kind="stable")]  # ends come first
    held = np.cumsum(change, axis=0)
    assert (held <= case.platform.sizes).all()
    assert (held[-1] == 0).all()

    # Messages take their time.
    latency, origin = world.state.latency, records["origin"]
    wait = records["start"] - records["arrival"]
    known = np.where(origin >= 0, latency[origin], 0.0)
    kind, aim = np.array(case.kind)[of], np.array(case.aim)[of]
    sent = np.isin(kind, [SEND, SEND_WHEN_FREE])
    way = known + sent * latency[aim] + sent * np.where(origin != aim, 2 * known, 0.0)
    assert (wait >= way - 1e-6).all()
    assert (wait[sent] < way[sent] + 1e-6).any()

    assert world.state.free.tolist() == case.platform.sizes.tolist()
    assert world.known["free"].tolist() == case.platform.sizes.tolist()
    assert world.known["work"].tolist() == [0.0] * 4
    assert world.state.demand.tolist() == [0.0] * 4
    assert world.state.done.tolist() == [(records["cluster"] == c).sum() for c in range(4)]


def test_work_is_conserved_when_processors_fail(compiled_at):
    case = long_case(1000, 3, 0.6, tracked=True)
    world = case.world(*compiled_at)
    lost = 0.0
    for time in sorted(failure[2] for failure in case.failures):
        world.advance(np.nextafter(time, 0))
        slots = world.jobs.slots
        before = slots[np.isin(slots["status"], [k.RUNNING, k.COALLOCATED])].copy()
        world.advance(time)
        now = {s["number"]: s["restarts"] for s in world.jobs.slots if s["status"] != k.VACANT}
        for slot in before:
            if now.get(slot["number"], slot["restarts"]) > slot["restarts"]:
                lost += slot["size"] * (time - slot["start"])
    world.advance(np.inf)
    records = world.log.records()
    assert len(records) == len(case.jobs)
    assert records["restarts"].sum() == world.state.restarted > 10
    used = (records["size"] * (records["finish"] - records["start"])).sum()
    assert world.busy_area().sum() == pytest.approx(used + lost, rel=1e-9)
    assert world.known["work"].tolist() == [0.0] * 4
    assert world.state.free.tolist() == world.state.up.tolist() == case.platform.sizes.tolist()


# Growth ------------------------------------------------------------------------------------------


def test_thousands_come_at_one_instant():
    count = 5000
    world = World(Platform.star([count // 2]), latency=1.0, place=lambda j: 0, rank=lambda j: 0.0)
    world.submit(table([1.0] * count, 1, 10.0))
    world.advance(1.0)
    assert world.state.in_flight == count
    world.advance(2.0)
    assert (world.state.running_count[0], world.state.waiting[0]) == (count // 2, count // 2)
    assert world.jobs["number"][world.jobs.waiting(0)].tolist() == list(
        range(count // 2 + 1, count + 1)
    )
    world.advance(np.inf)
    assert [row[0] for row in rows(world)] == list(range(1, count + 1))
    assert {row[4] for row in rows(world)} == {2.0, 12.0}


def test_thousands_wait_globally():
    world = World(Platform.star([1]), place=lambda j: 0 if world.now >= 5 else k.WAIT)
    world.policies.set_global(rules(max_jumps=0))
    world.policies.set_local(0, planned=True)
    world.submit(table([*[1.0] * 3000, 5.0], 1, 0.0))
    world.advance(1.0)
    assert world.state.waiting[-1] == 3000
    assert world.jobs["number"][world.jobs.waiting()].tolist() == list(range(1, 3001))


@pytest.mark.parametrize("chunk", [1000, 16384, 10**6])
def test_thousands_are_rejected_at_one_instant(chunk):
    count = 40_000
    jobs = table([1.0] * count, 2, 1.0, requested_time=1.0)
    jobs["size"][-1] = 1
    case = Case(Platform.star([1]), jobs, [SEND] * count, [0] * count)
    world = case.run(case.world(chunk=chunk))
    records = world.log.records()
    assert records["number"].tolist() == list(range(1, count + 1))
    assert np.isnan(records["start"]).sum() == world.state.rejected == count - 1
    assert world.log.latest(3)["number"].tolist() == [count - 2, count - 1, count]


@pytest.mark.slow
def test_more_clusters_than_the_smallest_kernel_has_room_for():
    count, rng = 100, np.random.default_rng(7)
    arrivals, runtimes = np.sort(rng.uniform(0, 14, count)), rng.uniform(5, 15, count)
    case = Case(
        Platform.star([2] * 40, capacity=50.0),
        table(arrivals, 3, runtimes, computation_fraction=0.3, ppbw=20.0, requested_time=0.0),
        [SPLIT] * count,
        [7 * index % 40 for index in range(count)],
        spans=True,
    )
    assert case.check(rel=1e-9).capacity == k.CAPACITIES[1]


def test_a_decision_that_nobody_takes_is_an_error():
    world = World(Platform.star([4, 4]), place=lambda job: 0)
    world.submit(table([0, 1], 1, 5.0))
    with pytest.raises(PlacementError, match=r"rank: found None; accepted: a decision"):
        world.advance(np.inf)


def test_a_copy_whose_views_would_be_arrays_of_their_own_is_refused():
    world = World(Platform.star([4, 4]), place=lambda job: 0)
    with pytest.raises(TypeError, match=r"by grid\.world\.pickling\.Pickler alone"):
        copy.deepcopy(world)

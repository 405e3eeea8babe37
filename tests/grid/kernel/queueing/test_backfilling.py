"""Disciplines that let jobs go before others, start by start against a plain simulator."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grid.jobs import job_table
from grid.kernel import state as k
from grid.kernel.compile import compiled
from grid.kernel.policies.decisions import place_address, priority_address
from grid.platform.multicluster import Platform
from grid.world.policies import Addresses
from grid.world.world import World
from tests.grid.plain_cases import rules
from tests.grid.plain_site import Job, PlainSite


@compiled()
def to_the_first(known, job, memory):
    return 0


@compiled()
def as_they_land(job, now):
    return 0.0


@compiled()
def shortest(job, now):
    return job.predicted_time


@compiled()
def longest(job, now):
    return -job.predicted_time


ORDERS = {
    "fcfs": (as_they_land, lambda job: 0.0),
    "sjf": (shortest, lambda job: job.expected),
    "ljf": (longest, lambda job: -job.expected),
}
SERVICES = ["head", "fpfs", "easy", "conservative"]


def site(jobs, processors, service, order="fcfs", max_jumps=math.inf, tracked=False):
    """Return a world of one cluster, told to expect what was requested."""
    world = World(Platform.star([processors]), tracked=tracked)
    world.policies.set_global(compiled=Addresses(place_address(to_the_first, world.capacity)))
    address = priority_address(ORDERS[order][0])
    world.policies.set_local(0, address, service=service, max_jumps=max_jumps)
    world.policies.set_prediction(np.ones(1), requested=True)
    world.submit(jobs)
    return world


def starts(world):
    records = world.log.records()
    assert not np.isnan(records["start"]).any()
    order = np.argsort(records["number"], kind="stable")
    return records["start"][order].tolist()


def plain_jobs(table):
    names = "number", "arrival", "size", "runtime", "requested_time"
    return [Job(*row) for row in zip(*(table[name].tolist() for name in names), strict=True)]


def table_of(rows):
    """Return a table of (gap, size, run time, requested time) rows."""
    jobs = job_table(len(rows))
    gaps, jobs["size"], jobs["runtime"], jobs["requested_time"] = np.array(rows, float).T
    jobs["arrival"] = np.cumsum(gaps)
    return jobs


def times(most):
    return st.sampled_from([0.0, 0.1, 1 / 3, *range(1, most)])


@st.composite
def workloads(draw, processors, exact=False):
    """Draw jobs with ties in time, equal ends, overruns, and times of 0."""
    rows = draw(
        st.lists(
            st.tuples(
                st.sampled_from([0, 0, 0, 1, 1, 2, 0.5, 7]),
                st.integers(1, processors),
                times(9),
                times(12),
            ),
            min_size=1,
            max_size=40,
        )
    )
    return table_of([(gap, s, time, time if exact else asked) for gap, s, time, asked in rows])


PROCESSORS = st.integers(1, 12)


@settings(max_examples=300)
@given(
    st.data(),
    PROCESSORS,
    st.sampled_from(SERVICES),
    st.sampled_from(list(ORDERS)),
    st.sampled_from([math.inf, 0, 1, 2, 3]),
    st.booleans(),
    st.booleans(),
)
def test_every_start(data, processors, service, order, max_jumps, exact, tracked):
    table = data.draw(workloads(processors, exact))
    world = site(table, processors, service, order, max_jumps, tracked)
    assert world.advance(np.inf) == k.OVER
    plain = PlainSite(processors, service, ORDERS[order][1], max_jumps)
    assert starts(world) == [job.start for job in plain.run(plain_jobs(table))]


@settings(max_examples=100)
@given(st.data(), PROCESSORS, st.sampled_from(SERVICES), st.lists(st.floats(0.1, 30), max_size=10))
def test_steps_change_nothing(data, processors, service, steps):
    table = data.draw(workloads(processors))
    whole, in_steps = (site(table, processors, service) for _ in range(2))
    whole.advance(np.inf)
    for until in np.cumsum(steps):
        if in_steps.advance(until) == k.OVER:
            in_steps.wait(until)
    assert in_steps.advance(np.inf) == k.OVER
    assert starts(whole) == starts(in_steps)


@settings(max_examples=100)
@given(st.data(), PROCESSORS)
def test_nobody_delays_the_head_of_an_easy_queue(data, processors):
    table = data.draw(workloads(processors, exact=True))
    world = site(table, processors, "easy")
    world.advance(np.inf)
    plain = PlainSite(processors, "easy").run(plain_jobs(table))
    for job, start in zip(plain, starts(world), strict=True):
        assert start <= job.shadow


@settings(max_examples=100)
@given(st.data(), PROCESSORS, st.sampled_from(list(ORDERS)))
def test_nobody_starts_later_than_first_reserved(data, processors, order):
    table = data.draw(workloads(processors, exact=True))
    table["requested_time"] += table["runtime"] == 0  # what takes no time reserves nothing
    world = site(table, processors, "conservative", order)
    world.advance(np.inf)
    plain = PlainSite(processors, "conservative", ORDERS[order][1]).run(plain_jobs(table))
    for job, start in zip(plain, starts(world), strict=True):
        assert start <= job.first_reserved


# Worked by hand ----------------------------------------------------------------------------------


def test_a_candidate_may_end_at_the_shadow_time_or_take_what_is_extra():
    # 1 runs until 10; 2 needs all, its shadow time is 10, with nothing extra.
    rows = [(0, 6, 10, 10), (1, 8, 5, 5), (0, 1, 9.5, 9.5), (0, 1, 9, 9)]
    world = site(table_of(rows), 8, "easy")
    world.advance(np.inf)
    assert starts(world) == [0, 10, 15, 1]
    # 2 needs one less, which is extra: 3 takes it, and 4, as long, waits until 3 has ended.
    rows[1] = (1, 7, 5, 5)
    world = site(table_of([*rows[:3], (0, 1, 9.5, 9.5)]), 8, "easy")
    world.advance(np.inf)
    assert starts(world) == [0, 10, 1, 10.5]


def test_all_releases_of_the_shadow_instant_are_extra():
    rows = [(0, 3, 10, 10), (0, 3, 10, 10), (1, 4, 5, 5), (0, 2, 50, 50)]
    world = site(table_of(rows), 8, "easy")
    world.advance(np.inf)
    assert starts(world) == [0, 0, 10, 1]  # at 10 there are 8, so that 4 are extra


def test_a_job_that_runs_longer_than_predicted_is_expected_to_end_now():
    # 1 was to end at 5: from then on 2 may start at any moment, and only what is extra is given.
    rows = [(0, 4, 20, 5), (1, 6, 5, 5), (6, 2, 1, 1), (1, 4, 1, 1)]
    world = site(table_of(rows), 8, "easy")
    world.advance(np.inf)
    assert starts(world) == [0, 20, 7, 25]


@pytest.mark.parametrize("service", ["easy", "conservative"])
def test_queues_are_served_when_a_job_should_have_ended(service):
    # 1 should have ended at 100, 2 at 110: only then is there room for 4 beside 3, which is late.
    rows = [(0, 1, 1000, 100), (0, 1, 1100, 110), (105, 4, 200, 20), (1, 1, 300, 30)]
    world = site(table_of(rows), 5, service)
    world.advance(np.inf)
    assert starts(world) == [0, 0, 1000, 110]


@pytest.mark.parametrize("service", ["easy", "conservative"])
def test_nobody_waits_for_a_failed_job_to_run_for_too_long(service):
    world = site(table_of([(0, 1, 1000, 100)]), 1, service, tracked=True)
    world.resources.fail(0, 0, 50.0, np.inf)
    world.advance(np.inf)
    assert (world.now, world.state.restarted) == (50.0, 1)


def test_a_job_that_runs_for_too_long_is_no_news_of_its_cluster():
    messages = {}
    for service in ("head", "easy"):
        world = World(Platform.star([4]), latency=1.0, place=lambda slot: 0)
        world.policies.set_local(0, priority_address(as_they_land), service=service)
        world.policies.set_prediction(np.ones(1), requested=True)
        world.submit(table_of([(0, 4, 1000, 100), (0, 2, 10, 10)]))
        world.advance(np.inf)
        messages[service] = world.messages
    assert messages["easy"] == messages["head"]


def test_a_job_overtaken_too_often_holds_back_those_behind_it():
    rows = [(0, 5, 10, 10), (1, 8, 1, 1), *[(0, 1, 1, 1)] * 3]
    expected = {0: [0, 10, 11, 11, 11], 2: [0, 10, 1, 1, 11], math.inf: [0, 10, 1, 1, 1]}
    for jumps, times_of in expected.items():
        world = site(table_of(rows), 8, "fpfs", max_jumps=jumps)
        world.advance(np.inf)
        assert starts(world) == times_of


def test_an_early_end_moves_reservations_forward():
    # 2 is reserved at 100 and 3, too long to go before it, at 110; 1 ends at 10 already.
    rows = [(0, 4, 10, 100), (1, 8, 10, 10), (1, 4, 200, 200)]
    world = site(table_of(rows), 8, "conservative")
    world.advance(np.inf)
    assert starts(world) == [0, 10, 20]


def test_processors_that_go_with_their_job_are_no_release():
    # Of the two that 1 holds one goes with it, so that 3 is to start at 20, and 4 ends before.
    jobs = table_of([(0, 2, 10, 10), (0, 1, 20, 20), (1, 3, 5, 5), (0, 1, 15, 15)])
    for drained, expected in ((False, [0, 0, 10, 15]), (True, [0, 0, 20, 1])):
        world = site(jobs, 4, "easy", tracked=True)
        if drained:
            world.resources.drain(0, 0, 0.5)
        world.advance(np.inf)
        assert starts(world) == expected


@compiled()
def split_the_first(known, job, memory):
    """Split job 1 evenly over two clusters, and send the others to the first."""
    if job.number > 1:
        return 0
    known.take[0] = known.take[1] = job.size // 2
    return k.START


def site_of_parts(service, penalty):
    """Return a world in which the first job is split, and the others go to the first cluster."""
    world = World(Platform.star([8, 4]))
    address = Addresses(place_address(split_the_first, world.capacity))
    world.policies.set_global(rules(spans=True, penalty=penalty), address)
    world.policies.set_local(0, priority_address(as_they_land), service=service)
    return world


@pytest.mark.parametrize("penalty", [0.0, 1.0])
@pytest.mark.parametrize("service", ["easy", "conservative"])
def test_parts_of_jobs_that_are_split_are_releases(service, penalty):
    world = site_of_parts(service, penalty)
    # 1 holds 4 of 8 until 10; 2 needs 6, so that at 10 two are extra.
    world.submit(table_of([(0, 8, 10, 0), (1, 6, 5, 0), (0, 3, 20, 0), (0, 2, 20, 0)]))
    world.advance(np.inf)
    assert starts(world) == [0, 10, 15, 1]


@pytest.mark.parametrize("penalty", [0.0, 1.0])
@pytest.mark.parametrize("service", ["easy", "conservative"])
def test_queues_are_served_when_a_job_that_is_split_should_have_ended(service, penalty):
    world = site_of_parts(service, penalty)
    world.policies.set_prediction(np.ones(2), requested=True)
    # 2 should have ended at 100, 1 at 110: only then is there room for 4 beside 3, which is late.
    rows = [(0, 8, 1100, 110), (0, 1, 1000, 100), (105, 4, 200, 20), (1, 1, 300, 30)]
    world.submit(table_of(rows))
    world.advance(np.inf)
    assert starts(world) == [0, 0, 1000, 110]


# Several clusters, failures ----------------------------------------------------------------------


@settings(max_examples=100)
@given(
    st.data(),
    st.sampled_from(SERVICES[1:]),
    st.lists(
        st.tuples(st.integers(0, 1), st.integers(0, 3), st.integers(0, 60), st.integers(1, 9)),
        max_size=4,
    ),
    st.booleans(),
)
def test_processors_that_fail_or_go_are_held_by_nobody(data, service, changes, drains):
    jobs = data.draw(workloads(4))
    outcomes = []
    for step in (np.inf, 1.7):
        world = World(Platform.star([6, 4]), tracked=True, place=lambda slot: slot % 2)
        for cluster in range(2):
            world.policies.set_local(cluster, priority_address(as_they_land), service=service)
        world.policies.set_prediction(np.ones(2), requested=True)
        world.submit(jobs)
        for cluster, processor, time, down in changes:
            (world.resources.drain if drains else world.resources.fail)(
                cluster, processor, time, time + down
            )
        while world.advance(world.now + step) != k.OVER:
            for cluster in range(2):
                slots, counts = world.jobs.running(cluster)
                assert world.state.free[cluster] + counts.sum() == world.state.up[cluster]
                ends = (world.jobs["start"] + world.jobs["predicted_time"])[slots]
                if service != "fpfs":
                    assert (np.diff(ends) >= 0).all()
            holders = world.tables.processors["holder"]
            held = np.bincount(holders[holders >= 0], minlength=len(world.jobs.slots))
            running = world.jobs["status"] == k.RUNNING
            assert (held == np.where(running, world.jobs["size"], 0)).all()
        assert world.state.completed == len(jobs)
        outcomes.append(world.log.records().rows.tobytes())
    assert outcomes[0] == outcomes[1]


def in_order(links, node):
    """Return the jobs of a tree in order."""
    if node == k.NONE:
        return []
    return [*in_order(links, links["left"][node]), node, *in_order(links, links["right"][node])]


def check_sizes(world, waiting):
    """Check that the jobs of each size that wait are in a tree of theirs, in the same order."""
    slots, by_size = world.storage.tables.slots, world.storage.tables.by_size
    root, sizes = world.storage.state.smallest[0], []
    while root != k.NONE:
        size = slots["size"][root]
        jobs = in_order(by_size, root)
        assert jobs == [job for job in waiting if slots["size"][job] == size]
        for job in jobs:
            below = in_order(by_size, job)
            assert by_size["shortest"][job] == slots["predicted_time"][below].min()
        sizes.append(size)
        root = by_size["larger"][root]
    assert sizes == sorted(set(slots["size"][waiting]))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("service", ["fpfs", "easy", "conservative"])
@pytest.mark.parametrize(("processors", "order"), [(1, "sjf"), (12, "fcfs"), (200, "ljf")])
def test_long_queues_are_searched_where_a_job_may_start(service, processors, order):
    rng = np.random.default_rng(processors)
    count = 150 if service == "conservative" else 800
    sizes = np.minimum(rng.integers(1, processors + 1, count), rng.integers(1, 40, count))
    asked = rng.choice([1.0, 5.0, 30.0, 400.0], count)
    table = table_of(np.column_stack([rng.exponential(1.0, count), sizes, asked * 0.7, asked]))
    world = site(table, processors, service, order)
    longest_queue = 0
    for until in np.linspace(50.0, table["arrival"][-1], 5):
        world.advance(until)
        waiting = in_order(world.storage.tables.slots, world.storage.state.root[0])
        assert len(waiting) == world.storage.state.waiting[0]
        if service != "conservative":
            check_sizes(world, waiting)
        longest_queue = max(longest_queue, len(waiting))
    assert longest_queue > count // 10
    world.advance(np.inf)
    plain = PlainSite(processors, service, ORDERS[order][1], math.inf)
    assert starts(world) == [job.start for job in plain.run(plain_jobs(table))]

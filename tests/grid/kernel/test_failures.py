"""Processors that fail and are repaired, alone and with all else that a grid can do."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grid.errors import GridError, PlatformError
from grid.kernel import state as k
from grid.platform.changes import Change, Failures
from grid.platform.multicluster import Platform
from grid.world.world import World
from tests.grid.plain_cases import (
    SEND,
    SEND_WHEN_FREE,
    SPLIT,
    START_THEN_SEND,
    START_WHEN_FREE,
    Case,
    cases,
    rows,
    rules,
    table,
)


@pytest.mark.thorough
@settings(max_examples=200)
@given(cases([SEND], tracked=True), st.data())
def test_sent_jobs(case, data):
    case.fail_at_random(data.draw)
    case.check()


@pytest.mark.thorough
@settings(max_examples=200)
@given(cases([SEND, START_WHEN_FREE, SEND_WHEN_FREE], tracked=True), st.booleans(), st.data())
def test_both_levels(case, in_order, data):
    case.in_order = in_order
    case.fail_at_random(data.draw)
    case.check()


@pytest.mark.thorough
@settings(max_examples=100)
@given(cases([SEND, START_THEN_SEND, START_THEN_SEND], tracked=True), st.data())
def test_jobs_started_first_and_sent_later(case, data):
    case.fail_at_random(data.draw, often=True)
    case.check()


@pytest.mark.thorough
@settings(max_examples=200)
@given(cases([SEND, START_WHEN_FREE, SEND_WHEN_FREE], tracked=True), st.booleans(), st.data())
def test_plans(case, sets, data):
    case.replan_at_random(data.draw, sets)
    case.fail_at_random(data.draw)
    case.check()


everything = [SEND, SEND_WHEN_FREE, START_WHEN_FREE, SPLIT]


@pytest.mark.thorough
@settings(max_examples=300)
@given(cases(everything, slides=True, tracked=True), st.booleans(), st.booleans(), st.data())
def test_all_at_once(case, in_order, sets, data):
    case.in_order = in_order
    case.replan_at_random(data.draw, sets, later=1e-4)
    case.fail_at_random(data.draw, jitter=1e-3)
    case.check(rel=1e-9)


def test_a_processor_that_goes_twice_has_no_job_offered_again():
    """Job 1 is refused at 2.75 s: by stale news it would fit on C2, which has room at 3.375 s."""
    platform = Platform.star([5, 3], [0.5, 2.0], latency=[0.0, 1.25])
    jobs = table([1.5, 2.5], [1, 2], [5.875, 3.5], origin=[1, 0])
    drains = [(0, 2, 3.375, 3.875), (1, 0, 1.375, 3.375), (0, 2, 0.375, 20.375)]
    case = Case(platform, jobs, [START_THEN_SEND] * 2, [1, 1], tracked=True, drains=drains)
    case.check()
    assert [row[4] for row in sorted(rows(case.run(case.world())))] == [3.375 + 1.25, 2.5]


def served(sizes, place=lambda job: 0):
    return World(Platform.star(sizes), tracked=True, place=place, rank=lambda job: 0.0)


def test_the_lost_job_starts_again_before_those_behind_it():
    world = served([3])
    world.submit(table([0.0, 1.0, 1.0], [2, 2, 1], [10, 5, 5]))
    world.resources.fail(0, 1, 4.0, 6.0)
    assert world.advance(np.inf) == k.OVER
    found = [(number, restarts, start) for number, _, _, restarts, start, _ in rows(world)]
    assert found == [(1, 1, 4.0), (2, 0, 14.0), (3, 0, 14.0)]
    assert world.busy_area().tolist() == [2 * 4 + 2 * 10 + 2 * 5 + 5]
    assert world.state.restarted == 1
    assert (world.state.restarts[0], world.state.lost_work[0]) == (1, 8.0)


def test_a_completion_precedes_a_failure_and_a_repair_precedes_it_too():
    world = served([1])
    world.submit(table([0.0, 12.0], 1, [10.0, 1.0]))
    world.resources.fail(0, 0, 10.0, 12.0)
    world.resources.fail(0, 0, 12.0, 20.0)
    world.advance(np.inf)
    assert [row[3:] for row in rows(world)] == [(0, 0.0, 10.0), (0, 20.0, 21.0)]


def test_a_processor_is_back_when_no_cause_is_left():
    world = World(Platform.star([3]), 0.0, True, lambda job: 0, lambda job: 0.0)
    world.submit(table([0.0], 1, 100.0))
    world.resources.fail(0, 2, 1.0, 50.0)
    world.resources.fail(0, 2, 2.0, 3.0)
    world.resources.drain(0, 2, 2.5, 60.0)
    for time, up in ((2.0, 2), (3.0, 2), (50.0, 2), (60.0, 3)):
        world.advance(time)
        assert (world.state.up[0], world.state.free[0]) == (up, up - 1)


def test_a_drained_processor_goes_when_its_job_has_ended():
    world = World(Platform.star([3]), 0.0, True, lambda job: 0, lambda job: 0.0)
    world.submit(table([0.0, 1.0], 3, 10.0))
    world.resources.drain(0, 0, 5.0, 12.0)
    for time, up, free in ((5.0, 3, 0), (9.9, 3, 0), (10.0, 2, 2), (12.0, 3, 0)):
        world.advance(time)
        assert (world.state.up[0], world.state.free[0]) == (up, free)
    world.advance(math.inf)
    assert [row[3:] for row in sorted(rows(world))] == [(0, 0.0, 10.0), (0, 12.0, 22.0)]


def test_a_processor_that_shall_go_is_told_not_to_be_up_while_its_job_still_runs():
    world = World(Platform.star([3, 3]), 0.5, True, lambda job: 0, lambda job: 0.0)
    world.submit(table([0.0], 2, 10.0))
    world.resources.drain(0, 0, 2.0, 8.0)
    world.resources.fail(0, 0, 3.0, 4.0)  # takes the job off, and the processor with it
    world.resources.drain(0, 1, 5.0, 6.0)
    for time, up, told in (
        (2.0, 3, 3), (2.5, 3, 2), (3.5, 2, 2), (5.5, 2, 1), (6.5, 2, 2), (8.5, 3, 3)
    ):  # fmt: skip
        world.advance(time)
        assert (world.state.up[0], world.known["up"][0]) == (up, told)
    assert world.known["up"].tolist() == world.state.remaining.tolist()


def test_changes_of_a_platform_happen_when_they_are_due():
    platform = Platform.star([4, 4])
    changes = (
        Change("C1", "fail", 10.0, 20.0, 1),
        Change("C1", "drain", 30.0),
        Change("C2", "join", 40.0, processors=3),
    )
    world = World(replace(platform, changes=changes), 0.0, False, lambda job: k.WAIT)
    assert world.known["up"].tolist() == world.known["free"].tolist() == [4, 1]
    world.submit(table([0.0], 1, 1.0))
    ups = []
    for time in (9.9, 10.0, 20.0, 30.0, 40.0):
        world.advance(time)
        world.wait(time)
        assert world.known["up"].tolist() == world.state.up.tolist() == world.state.free.tolist()
        ups.append(world.state.up.tolist())
    assert ups == [[4, 1], [3, 1], [4, 1], [0, 1], [0, 4]]


@pytest.mark.parametrize(("up", "down"), [(50.0, 10.0), (5.0, 20.0)])
def test_processors_are_up_as_often_as_the_failure_model_says(up, down):
    """Availability of an alternating renewal process: up / (up + down)."""
    world = World(
        Platform.star([64]), 0.0, False, lambda job: k.WAIT, failures=Failures(up, down), seed=3
    )
    world.submit(table([0.0, 1e9], 1, 1.0))
    seen = []
    for time in np.arange(200.0, 4000.0, 7.3):
        world.advance(time)
        seen.append(int(world.state.up[0]))
    assert np.mean(seen) / 64 == pytest.approx(up / (up + down), rel=0.03)


def waiting_in_vain(place, size, latency=0.0, arrival=50.0):
    """Return a world with a job that waits, and a quarter of its processors down at any time."""
    world = World(
        Platform.star([size]), latency, False, place, lambda job: 0.0,
        failures=Failures(30.0, 10.0), seed=2,
    )  # fmt: skip
    world.submit(table([arrival], size, 1.0))
    return world


@pytest.mark.parametrize("latency", [0.0, 0.1])
def test_failures_alone_end_a_run_once_a_job_waits_though_nothing_is_down(latency):
    world = waiting_in_vain(lambda job: k.WAIT, 10, latency)
    assert world.advance(50.0) == k.TIME
    assert world.state.up[0] < 10
    assert world.advance(math.inf) == k.OVER
    assert 50.0 < world.now < 1e5
    assert world.known["up"].tolist() == world.state.up.tolist() == [10]


def test_a_job_that_needs_all_processors_gets_them_in_the_end():
    world = waiting_in_vain(lambda job: 0, 14)
    assert world.advance(math.inf) == k.OVER
    assert world.state.completed == 1


def test_failures_alone_end_a_run_where_something_is_always_down():
    """With two thousand processors, of which a quarter is down."""
    world = waiting_in_vain(lambda job: 0, 2000, 0.1)
    assert world.advance(math.inf) == k.OVER
    assert (world.state.started, world.state.in_vain) == (0, 1_000_000)


def test_failures_go_on_after_a_time_that_nobody_waited_for():
    world = World(
        Platform.star([8]),
        place=lambda job: 0,
        rank=lambda job: 0.0,
        failures=Failures(5.0, 1.0),
    )
    for arrival in (0.0, 1000.0):
        world.wait(arrival)
        world.submit(table([arrival], 1, 1.0))
        assert world.advance(math.inf) == k.OVER
    assert world.state.completed == 2


def test_a_run_with_failures_ends_with_its_last_job_and_is_the_same_however_it_is_stopped():
    def run(stops):
        world = World(
            Platform.star([8]), 0.5, False, lambda job: 0, lambda job: 0.0,
            failures=Failures(200.0, 20.0), seed=5,
        )  # fmt: skip
        world.submit(table(np.arange(0.0, 400.0, 4.0), 2, 12.0))
        for stop in stops:
            world.advance(stop)
        assert world.advance(math.inf) == k.OVER
        assert world.state.completed == 100
        assert world.state.restarted > 0
        return world.now, [tuple(row) for row in rows(world)]

    assert run([]) == run(np.arange(1.0, 700.0, 3.3))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (("C1", "explode", 1.0), "what is 'explode'; accepted: fail, drain, join"),
        (("C1", "fail", -1.0), "at is -1.0"),
        (("C1", "fail", 2.0, 2.0), "until is 2.0"),
        (("C1", "join", 2.0, 3.0), "until is 3.0"),
        (("C3", "fail", 2.0), "change 1, of cluster C3: no such cluster; accepted: C1, C2"),
        ((["C1"], "fail", 2.0), "no such cluster"),
        (("C1", "fail", 2.0, math.inf, 0), "processors is 0; accepted: an integer from 1 to 4"),
        (("C1", "fail", 2.0, math.inf, 5), "processors is 5"),
        (("C1", "fail", 2.0, math.inf, 1.5), "processors is 1.5"),
    ],
)
def test_impossible_changes_are_refused(values, words):
    with pytest.raises(PlatformError, match=re.escape(words)):
        replace(Platform.star([4, 4]), changes=(Change(*values),))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            [("C1", "join", 5.0), ("C2", "join", 5.0), ("C1", "join", 9.0, math.inf, 2)],
            "change 3, of cluster C1: what is 'join', as in change 1; accepted: one join of a",
        ),
        (
            [("C1", "drain", 3.0, 9.0), ("C1", "join", 5.0)],
            "change 1, of cluster C1: at is 3.0, when its processors are not there; accepted: from "
            "5.0 on, when they join (change 2)",
        ),
        (
            [("C1", "join", 5.0, math.inf, 2), ("C1", "fail", 4.0, 9.0, 1)],
            "change 2, of cluster C1: at is 4.0",
        ),
    ],
)
def test_changes_that_contradict_each_other_are_refused(changes, words):
    with pytest.raises(PlatformError, match=re.escape(words)):
        replace(Platform.star([4, 4]), changes=tuple(Change(*each) for each in changes))


def test_what_is_there_may_fail_before_the_rest_joins():
    changes = Change("C1", "join", 5.0, math.inf, 2), Change("C1", "fail", 4.0, 9.0)
    world = World(replace(Platform.star([4]), changes=changes), place=lambda job: k.WAIT)
    world.submit(table([0.0, 10.0], 1, 1.0))
    ups = []
    for time in (3.9, 4.0, 5.0, 9.0):
        world.advance(time)
        ups.append(int(world.state.up[0]))
    assert ups == [2, 0, 0, 4]


@pytest.mark.parametrize(("up", "down"), [(0.0, 1.0), (1.0, 0.0), (-1.0, 1.0), (math.nan, 1.0)])
def test_impossible_failure_models_are_refused(up, down):
    with pytest.raises(PlatformError, match=r"mean_(up|down)_time: found"):
        Failures(up, down)


def test_a_co_allocated_job_is_lost_with_one_processor():
    def place(job):
        if world.state.free.sum() < 4:
            return k.WAIT
        world.take[:3] = world.state.free
        world.take[2] = 4 - world.take[:2].sum()
        return k.START

    world = served([2, 2, 2], place)
    world.policies.set_global(rules(spans=True))
    world.submit(table([0.0], 4, 10.0))
    world.resources.fail(1, 0, 3.0, 100.0)
    world.advance(3.0)
    assert (world.state.free.tolist(), world.known["work"].tolist()) == (
        [0, 0, 1],
        [20.0, 10.0, 10.0],
    )
    world.advance(np.inf)
    assert rows(world) == [(1, -1, (2, 1, 1), 1, 3.0, 13.0)]
    assert world.state.restarts.tolist() == [1, 1, 0]
    assert world.state.lost_work.tolist() == [6.0, 6.0, 0.0]
    assert world.known["work"].tolist() == [0.0, 0.0, 0.0]


def test_a_job_once_started_globally_then_sent_is_offered_again_when_given_back():
    offered = []

    def place(job):
        offered.append(float(world.now))
        if len(offered) > 1:
            return 0
        world.take[:2] = [0, 1]
        return k.START

    world = served([1, 1], place)
    world.submit(table([0.0], 1, 10.0))
    world.resources.fail(1, 0, 2.0)
    world.resources.fail(0, 0, 5.0, 6.0)
    world.advance(np.inf)
    assert offered == [0.0, 2.0, 5.0]  # given back by the cluster that had lost its processor
    assert rows(world) == [(1, 0, (0, 0), 2, 6.0, 16.0)]


def test_a_job_once_started_globally_lands_behind_those_that_landed_before():
    answers = iter([k.START, 0, 0, 0])

    def place(job):
        world.take[:2] = [0, 1]
        return next(answers)

    world = served([1, 1], place)
    world.submit(table([0.0, 1.0, 1.0], 1, 10.0))  # the second and the third land at 1
    world.resources.fail(1, 0, 2.0)  # the first at 2
    world.advance(np.inf)
    assert [row[0] for row in rows(world)] == [2, 3, 1]


def test_nothing_is_left_to_happen_when_a_lost_job_was_due():
    def place(job):
        world.take[:2] = [1, 0] if world.state.up[0] else [0, 1]
        return k.START

    world = World(Platform.star([1, 1], [1.0, 10.0]), tracked=True, place=place)
    world.submit(table([0.0], 1, 100.0))
    world.resources.fail(0, 0, 5.0)
    assert world.advance(np.inf) == k.OVER
    assert world.now == 15.0


@pytest.mark.parametrize(
    ("cluster", "processor", "time", "repaired"),
    [(0, 2, 9.0, 10.0), (0, -1, 9.0, 10.0), (1, 2, 9.0, 10.0), (2, 0, 9.0, 10.0),
     (-1, 0, 9.0, 10.0), (0, 0, 1.0, 10.0), (0, 0, 9.0, 8.0), (0, 0, np.nan, 10.0),
     (0, 0, 9.0, np.nan)],
)  # fmt: skip
def test_failures_that_cannot_be(cluster, processor, time, repaired):
    world = served([2, 2])
    world.submit(table([0.0, 8.0], 1, 1.0))
    world.advance(5.0)
    with pytest.raises(GridError):
        world.resources.fail(cluster, processor, time, repaired)


def test_failures_of_an_untracked_world():
    world = World(Platform.star([2]), place=lambda job: 0)
    with pytest.raises(GridError, match="untracked"):
        world.resources.fail(0, 0, 1.0)

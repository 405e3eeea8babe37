"""Processors that fail and are repaired, alone and with all else that a grid can do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grid.errors import GridError
from grid.kernel import state as k
from grid.platform import Platform
from grid.world import World

from .plain_cases import (
    SEND,
    SEND_WHEN_FREE,
    SPLIT,
    START_THEN_SEND,
    START_WHEN_FREE,
    cases,
    rows,
    table,
)


@settings(max_examples=200, deadline=None)
@given(cases([SEND], tracked=True), st.data())
def test_sent_jobs(case, data):
    case.fail_at_random(data.draw)
    case.check()


@settings(max_examples=200, deadline=None)
@given(cases([SEND, START_WHEN_FREE, SEND_WHEN_FREE], tracked=True), st.booleans(), st.data())
def test_both_levels(case, in_order, data):
    case.in_order = in_order
    case.fail_at_random(data.draw)
    case.check()


@settings(max_examples=100, deadline=None)
@given(cases([SEND, START_THEN_SEND, START_THEN_SEND], tracked=True), st.data())
def test_jobs_started_first_and_sent_later(case, data):
    case.fail_at_random(data.draw, often=True)
    case.check()


@settings(max_examples=200, deadline=None)
@given(cases([SEND, START_WHEN_FREE, SEND_WHEN_FREE], tracked=True), st.booleans(), st.data())
def test_plans(case, sets, data):
    case.replan_at_random(data.draw, sets)
    case.fail_at_random(data.draw)
    case.check()


everything = [SEND, SEND_WHEN_FREE, START_WHEN_FREE, SPLIT]


@settings(max_examples=300, deadline=None)
@given(cases(everything, slides=True, tracked=True), st.booleans(), st.booleans(), st.data())
def test_all_at_once(case, in_order, sets, data):
    case.in_order = in_order
    case.replan_at_random(data.draw, sets, later=1e-4)
    case.fail_at_random(data.draw, jitter=1e-3)
    case.check(rel=1e-9)


def served(sizes, place=lambda job: 0):
    return World(Platform.star(sizes), tracked=True, place=place, rank=lambda job: 0.0)


def test_the_lost_job_starts_again_before_those_behind_it():
    world = served([2])
    world.submit(table([0.0, 1.0, 1.0], [2, 1, 1], [10, 5, 5]))
    world.fail(0, 1, 4.0, 6.0)
    assert world.advance(np.inf) == k.OVER
    found = [(number, restarts, start) for number, _, _, restarts, start, _ in rows(world)]
    assert found == [(1, 1, 6.0), (2, 0, 16.0), (3, 0, 16.0)]
    assert world.busy_area().tolist() == [2 * 4 + 2 * 10 + 5 + 5]
    assert world.count("restarted") == 1


def test_a_completion_precedes_a_failure_and_a_repair_precedes_it_too():
    world = served([1])
    world.submit(table([0.0, 12.0], 1, [10.0, 1.0]))
    world.fail(0, 0, 10.0, 12.0)
    world.fail(0, 0, 12.0, 20.0)
    world.advance(np.inf)
    assert [row[3:] for row in rows(world)] == [(0, 0.0, 10.0), (0, 20.0, 21.0)]


def test_a_failure_of_a_failed_processor_changes_nothing():
    world = served([3])
    world.submit(table([0.0], 1, 100.0))
    world.fail(0, 2, 1.0, 50.0)
    world.fail(0, 2, 2.0, 3.0)
    world.advance(2.0)
    assert (world.up[0], world.free[0]) == (2, 1)
    world.advance(3.0)
    assert (world.up[0], world.free[0]) == (3, 2)
    world.advance(50.0)
    assert (world.up[0], world.free[0]) == (3, 2)


def test_a_co_allocated_job_is_lost_with_one_processor():
    def place(job):
        if world.free.sum() < 4:
            return k.WAIT
        world.take[:3] = world.free
        world.take[2] = 4 - world.take[:2].sum()
        return k.START

    world = served([2, 2, 2], place)
    world.set_global(spans=True)
    world.submit(table([0.0], 4, 10.0))
    world.fail(1, 0, 3.0, 100.0)
    world.advance(3.0)
    assert (world.free.tolist(), world.known["load"].tolist()) == ([0, 0, 1], [20.0, 10.0, 10.0])
    world.advance(np.inf)
    assert rows(world) == [(1, -1, (2, 1, 1), 1, 3.0, 13.0)]
    assert world.known["load"].tolist() == [0.0, 0.0, 0.0]


def test_a_job_once_started_globally_then_sent_returns_to_its_cluster():
    offered = []

    def place(job):
        offered.append(float(world.now))
        if len(offered) > 1:
            return 0
        world.take[:2] = [0, 1]
        return k.START

    world = served([1, 1], place)
    world.submit(table([0.0], 1, 10.0))
    world.fail(1, 0, 2.0)
    world.fail(0, 0, 5.0, 6.0)
    world.advance(np.inf)
    assert offered == [0.0, 2.0]
    assert rows(world) == [(1, 0, (0, 0), 2, 6.0, 16.0)]


def test_a_job_once_started_globally_lands_behind_those_that_landed_before():
    answers = iter([k.START, 0, 0, 0])

    def place(job):
        world.take[:2] = [0, 1]
        return next(answers)

    world = served([1, 1], place)
    world.submit(table([0.0, 1.0, 1.0], 1, 10.0))  # the second and the third land at 1
    world.fail(1, 0, 2.0)  # the first at 2
    world.advance(np.inf)
    assert [row[0] for row in rows(world)] == [2, 3, 1]


def test_nothing_is_left_to_happen_when_a_lost_job_was_due():
    def place(job):
        world.take[:2] = [1, 0] if world.up[0] else [0, 1]
        return k.START

    world = World(Platform.star([1, 1], [1.0, 10.0]), tracked=True, place=place)
    world.submit(table([0.0], 1, 100.0))
    world.fail(0, 0, 5.0)
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
        world.fail(cluster, processor, time, repaired)


def test_failures_of_an_untracked_world():
    world = World(Platform.star([2]), place=lambda job: 0)
    with pytest.raises(GridError, match="untracked"):
        world.fail(0, 0, 1.0)

"""Running jobs that planners stop for others."""

from __future__ import annotations

import numpy as np
import pytest

from grid.errors import PlacementError
from grid.kernel import state as k
from grid.platform.multicluster import Platform
from grid.world.world import World
from tests.grid.plain_cases import table


def one_runs(tracked=True):
    """Return a World in which job 1 runs on all of a cluster, and job 2 waits there from 3 s on."""
    world = World(Platform.star([4]), tracked=tracked, place=lambda job: 0)
    world.policies.set_local(0, planned=True)
    world.submit(table([0.0, 3.0], [4, 3], [10.0, 5.0]))
    assert world.advance(np.inf) == k.LANDED
    world.wanting_plans()
    world.plan(0, world.jobs.waiting(0), [[0, 1, 2, 3]] if tracked else None)
    assert world.advance(np.inf) == k.LANDED
    (first,) = world.jobs.running(0)[0].tolist()
    (second,) = world.jobs.waiting(0).tolist()
    world.wanting_plans()
    return world, first, second


def test_a_job_that_is_preempted_waits_for_another_plan_and_begins_anew():
    world, first, second = one_runs()
    left = world.state.left.tolist()
    world.jobs.preempt(first, second)
    assert sorted(world.jobs.waiting(0).tolist()) == sorted([first, second])
    assert world.state.free.tolist() == [4]
    assert world.state.left.tolist() == left  # all of its work is still to be done
    world.plan(0, [second], [[1, 2, 3]])
    world.advance(8.0)
    assert world.advance(np.inf) == k.OVER  # the other one waits for ever without a plan
    world.plan(0, [first], [[0, 1, 2, 3]])
    assert world.advance(np.inf) == k.OVER
    found = {row["number"]: (row["start"], row["finish"]) for row in world.log.records()}
    assert found == {1: (8, 18), 2: (3, 8)}
    assert [row["restarts"] for row in world.log.records()] == [0, 1]
    assert world.state.restarts.tolist() == world.state.preemptions.tolist() == [1]
    assert world.state.lost_work.tolist() == [4 * 3.0]
    assert world.busy_area().tolist() == [4 * 3.0 + 3 * 5.0 + 4 * 10.0]
    assert world.state.left.tolist() == [0]


def test_what_cannot_be_preempted():
    world, first, second = one_runs()
    with pytest.raises(PlacementError, match=rf"slot {second}: accepted: jobs that run by a plan"):
        world.jobs.preempt(second, first)
    with pytest.raises(
        PlacementError, match=r"preemption of job 1 \(size 4\) by slot 99: accepted"
    ):
        world.jobs.preempt(first, 99)
    with pytest.raises(PlacementError, match=r"by slot 0|by slot 1"):
        world.jobs.preempt(first, first)
    untracked, first, second = one_runs(tracked=False)
    with pytest.raises(PlacementError, match="untracked world"):
        untracked.jobs.preempt(first, second)

"""Schedules replayed on the kernel: as planned without saturation, later with it."""

from __future__ import annotations

import pytest

from agents.oas import HEURISTICS, Instance, approximate
from agents.oas.replay import replay, without_limits
from tests.agents.small_oas import possible


@pytest.mark.parametrize("seed", range(4))
def test_a_schedule_without_saturation_goes_as_planned(seed):
    instance = Instance.from_dict(possible(seed, 8, clusters=(4, 4, 4), link=120))
    for name in HEURISTICS:
        answer = approximate(name, instance)
        went = replay(instance, answer.schedule)
        assert went.makespan == pytest.approx(answer.makespan, rel=1e-12)
        assert went.slowdown == pytest.approx(1.0)


def test_a_schedule_that_ignores_links_is_slowed_down_by_them():
    instance = Instance.from_dict(possible(1, 8, clusters=(4, 4, 4), link=60))
    answer = approximate("insertion", without_limits(instance))
    went = replay(instance, answer.schedule)
    assert went.makespan > answer.makespan
    assert went.slowdown > 1
    free = replay(without_limits(instance), answer.schedule)
    assert free.makespan == pytest.approx(answer.makespan, rel=1e-12)

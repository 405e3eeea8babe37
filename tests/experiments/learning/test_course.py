"""A course asks for what a compiled policy decides: those who answer alike give its schedule."""

from __future__ import annotations

import numpy as np
import pytest

from agents.learned.policy import LearnedPolicy
from agents.learned.units import Unit, numbers_of
from experiments.learning.course import Course
from experiments.learning.lessons import Lessons, value_of
from experiments.scenario.scenario import Scenario


def policy_of(agent, units, seed=1):
    rng = np.random.default_rng(seed)
    first = LearnedPolicy(agent=agent, service="fpfs", weights={})

    def drawn(terms):
        return {name: float(rng.normal()) for name in terms}

    network = [Unit(float(rng.normal()), 0.5, drawn(first.of_units)) for _ in range(units)]
    weights = {"time": 1.0, "arrival": 0.3} if agent == "local" else drawn(first.searched)
    return first.model_copy(update={"weights": weights, "units": tuple(network)})


def scores_of(policy, rows):
    """Return what a network says of rows of terms, written plainly."""
    numbers = numbers_of(policy.weights, policy.units, policy.searched)
    count = len(policy.searched)
    own, units = numbers[:count], numbers[count:].reshape(-1, 2 + count)
    found = rows @ own
    for gain, bias, *weights in units:
        found = found + gain * np.maximum(0.0, bias + rows @ weights)
    return found


@pytest.mark.parametrize(
    ("agent", "units", "changes"),
    [
        ("global", 5, {"local_scheduler": "easy"}),
        ("global", 0, {"local_scheduler": "fcfs", "latency": 5.0}),
        ("local", 0, {"local_scheduler": "fpfs", "global_scheduler": "dll"}),
        ("local", 5, {"local_scheduler": "fpfs", "global_scheduler": "dll"}),
    ],
)
def test_who_answers_as_a_policy_does_gives_its_schedule(agent, units, changes):
    scenario = Scenario.load("quickstart").changed(jobs=120, mode="open", **changes)
    policy = policy_of(agent, units)
    lesson = Lessons.of(scenario, 5, 1.0).training[0]
    course = Course([lesson], agent, "bounded_slowdown", 0)
    seen, _ = course.reset()
    over, earned = False, 0.0
    while not over:
        mask = course.action_masks()
        rows = seen[:, :-1].astype(np.float64)
        assert (seen[:, -1] == mask[:-1]).all()
        scores = np.where(mask[:-1], scores_of(policy, rows), np.inf)
        seen, reward, over, cut, _ = course.step(len(rows) if mask[-1] else int(scores.argmin()))
        assert not cut
        earned += reward
    run = scenario.changed(**{f"{agent}_scheduler": policy.scheduler()})
    expected = Lessons.of(run, 5, 1.0).training[0]
    slowdown = value_of(expected, "mean_bounded_slowdown")
    assert -earned == pytest.approx(slowdown, rel=1e-9)
    assert slowdown > 1.1  # there was something to choose


def test_runs_follow_each_other():
    scenario = Scenario.load("quickstart").changed(jobs=5, mode="open")
    lessons = Lessons.of(scenario, 1, 1.0).training[:3]
    course = Course(lessons, "global", "wait", 2)
    firsts = [course.reset()[0][:, 0].tolist() for _ in range(4)]
    assert firsts[3] == firsts[0]
    assert len({tuple(each) for each in firsts[:3]}) == 3
    other = Course(lessons, "global", "wait", 0)
    assert other.reset()[0][:, 0].tolist() == firsts[1]

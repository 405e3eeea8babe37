"""What agents are rewarded for adds up to what the run came to."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from agents.schedulers import GlobalScheduler
from experiments.environments.rewards import REWARDS
from experiments.run import run
from experiments.scenario.scenario import Scenario
from grid.errors import GridError
from metasched.envs import GridEnv, VectorGridEnv
from tests.experiments.environments.test_grid_env import played, unequal


@pytest.mark.parametrize("metric", ["makespan", "p95_wait", "utilization"])
def test_a_metric_is_given_once_as_the_run_ends(metric):
    scenario = unequal(warmup=20)
    env = GridEnv(scenario, reward=metric)
    seen, _ = env.reset(seed=4)
    came, over = [], False
    while not over:
        first = int(np.where(seen["action_mask"][:-1], seen["clusters"][:, 4], np.inf).argmin())
        seen, reward, over, _, _ = env.step(first)
        came.append(reward)
    expected = run(scenario, seed=4).summary()["metrics"][metric]
    assert came[-1] == pytest.approx(expected if metric == "utilization" else -expected)
    assert not any(came[:-1])


@pytest.mark.parametrize("staging", [0.0, 20.0])
def test_the_sum_of_an_episode_is_a_mean(staging):
    scenario = unequal(staging_time=staging, local_share=0.5)
    was = run(scenario, seed=2)
    of, names = was.jobs.set_index("job"), scenario.platform.names
    expected = {
        "bounded_slowdown": -was.summary()["metrics"]["mean_bounded_slowdown"],
        "wait": -was.summary()["metrics"]["mean_wait"],
        "turnaround": -was.summary()["metrics"]["mean_turnaround"],
    }
    assert {*expected, "deadlines_met"} == {*REWARDS}
    for name, value in expected.items():
        for reward in (name, REWARDS[name]):  # compiled, and not
            env = GridEnv(scenario, reward=reward)
            sent = played(env, lambda _, told: names.index(of["cluster"][told["job"]]), seed=2)
            assert sent[0] == pytest.approx(value)


def test_met_deadlines_count():
    scenario = dataclasses.replace(unequal(assign_deadlines=True), global_scheduler="dll")
    was = run(scenario, seed=2)
    of, names = was.jobs.set_index("job"), scenario.platform.names
    env = GridEnv(scenario, reward="deadlines_met")
    earned, *_ = played(env, lambda _, told: names.index(of["cluster"][told["job"]]), seed=2)
    assert 0.0 < earned < 1.0
    assert earned == pytest.approx(was.summary()["metrics"]["deadlines_met"])


def test_jobs_have_no_deadlines_that_nobody_asked_for():
    env = GridEnv(unequal(), reward="deadlines_met")
    with pytest.raises(GridError, match="deadlines_met: found no job with a deadline; accepted"):
        env.reset(seed=1)


@pytest.mark.thorough
def test_a_number_in_a_table_of_metrics_is_a_reward():
    earned, *_ = played(
        GridEnv("quickstart", local="fcfs", reward="messages/order"), lambda *_: 0, seed=1
    )
    sent = Scenario.load("quickstart").changed(global_scheduler=ToTheFirst, local_scheduler="fcfs")
    assert earned == pytest.approx(-run(sent, seed=1).summary()["metrics"]["messages"]["order"])


def test_a_number_that_a_table_lacks_is_told_with_those_that_it_has():
    env = GridEnv("quickstart", local="fcfs", reward="messages/ordr")
    with pytest.raises(GridError, match=r"^reward messages/ordr: found none of this run; did you "):
        played(env, lambda *_: 0, seed=1)


@pytest.mark.parametrize(
    ("reward", "told"),
    [
        ("mean_age", "found 'mean_age'; did you mean mean_age/... or mean_wait?"),
        ("size", "reward: found 'size'"),
        ("drew", "reward: found 'drew'"),
        ("cp_basis", "reward: found 'cp_basis'"),
    ],
)
def test_what_is_no_number_of_a_run_is_no_reward(reward, told):
    with pytest.raises(GridError) as refused:
        GridEnv("quickstart", local="fcfs", reward=reward)
    assert told in str(refused.value)


class ToTheFirst(GlobalScheduler):
    def place(self, job):
        return self.clusters[0]


@pytest.mark.parametrize("many", [False, True])
def test_jobs_that_end_after_the_time_give_nothing(many):
    """Nor where no decision is left after it, so that the run goes on to its end."""
    given = {"local": "easy", "reward": "turnaround", "time": 690.0}
    env = VectorGridEnv(1, "quickstart", **given) if many else GridEnv("quickstart", **given)
    env.reset(seed=1)
    earned, over, cut = 0.0, False, False
    while not np.any(over or cut):
        _, reward, over, cut, _ = env.step(np.array([0]) if many else 0)
        earned += float(np.sum(reward))
    sent = Scenario.load("quickstart").changed(global_scheduler=ToTheFirst, local_scheduler="easy")
    jobs = run(sent, seed=1).jobs
    ended = jobs[jobs["finish"] <= 690.0]
    assert 0 < len(ended) < len(jobs)
    wanted = -(ended["finish"] - ended["arrival"]).sum() / len(jobs)
    assert earned == pytest.approx(wanted)

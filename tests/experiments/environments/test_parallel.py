"""A run as an environment of PettingZoo."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from pettingzoo.test import parallel_api_test
from pettingzoo.test.seed_test import parallel_seed_test

from experiments.run import run
from grid.errors import GridError
from metasched.envs import GridEnv, parallel_env

from .test_grid_env import any_that_fits, first, gathering, unequal


def test_pettingzoo_finds_no_fault():
    parallel_api_test(parallel_env(unequal(jobs=40)), num_cycles=300)
    parallel_seed_test(lambda: parallel_env(unequal(jobs=40), window=8), num_cycles=100)


@pytest.mark.parametrize("latency", [0.0, 30.0])
def test_built_in_policies_give_their_own_run(latency):
    """DLL over FCFS, each decided about from outside."""
    scenario = dataclasses.replace(unequal(latency=latency), local_scheduler="fcfs")
    names = scenario.platform.names
    of = run(scenario, seed=5).jobs.set_index("job")
    reward, rows = gathering()
    env = parallel_env(scenario, reward=reward)
    seen, told = env.reset(seed=5)
    asked_at_once = 0
    while env.agents:
        actions = {name: first(seen[name]) for name in names}
        if (job := told["global"]["job"]) is not None:
            actions["global"] = names.index(of["cluster"][job])
        else:
            actions["global"] = len(names)
        asked_at_once += sum(seen[name]["action_mask"][:-1].any() for name in names) > 1
        seen, _, over, cut, told = env.step(actions)
    assert all(over.values())
    assert not any(cut.values())
    assert not any(each["action_mask"][:-1].any() for each in seen.values())
    ended = {row["number"]: row for row in rows}
    assert len(ended) == 150
    for number, row in ended.items():
        was = of.loc[number]
        assert (names[row["cluster"]], row["start"], row["finish"]) == (
            was["cluster"], was["start"], was["finish"]
        )  # fmt: skip


def test_rewards_are_of_ones_own_jobs():
    env = parallel_env(unequal(), reward="wait")
    seen, _ = env.reset(seed=1)
    for agent in env.agents:
        env.action_space(agent).seed(1)
    earned = dict.fromkeys(env.agents, 0.0)
    while env.agents:
        actions = {
            name: env.action_space(name).sample(each["action_mask"]) for name, each in seen.items()
        }
        seen, rewards, *_ = env.step(actions)
        for name, each in rewards.items():
            earned[name] += each
    assert earned["global"] < 0.0
    assert earned["global"] == pytest.approx(sum(earned[name] for name in ("C1", "C2", "C3")))


def test_bad_actions_are_told_in_one_line():
    env = parallel_env(unequal(), window=4)
    with pytest.raises(GridError, match=r"^step: found no episode; accepted: reset$"):
        env.step({})
    env.reset(seed=1)
    with pytest.raises(
        GridError, match=r"^global: action: found None for job 1 at 3\.3194 s; accepted:"
    ):
        env.step({})
    with pytest.raises(
        GridError, match=r"^C2: action: found 0 for jobs \[\] at 3\.3194 s; accepted: 4,"
    ):
        env.step({"global": np.int64(1), "C1": 4, "C2": 0, "C3": 4})


def test_what_means_nothing_is_refused():
    env = parallel_env(unequal(), jobs=5)
    with pytest.raises(GridError, match=r"^options: found 'sett'; accepted: 'set'$"):
        env.reset(seed=1, options={"sett": ["load=0.9"]})
    for seed in (-1, 1.0, "1"):
        for each in (env, GridEnv(unequal())):
            with pytest.raises(GridError, match=f"^seed: found {seed!r}; accepted: a whole number"):
                each.reset(seed=seed)


def test_an_episode_that_is_truncated_is_over():
    env = parallel_env(unequal(), jobs=5)
    seen, _ = env.reset(seed=1)
    while env.agents:
        seen, _, _, cut, _ = env.step({name: any_that_fits(each) for name, each in seen.items()})
    assert all(cut.values())
    with pytest.raises(GridError, match=r"^step: the episode is over; accepted: reset$"):
        env.step({name: any_that_fits(each) for name, each in seen.items()})

"""Many worlds at once: each is as one of Gymnasium's, step by step."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium.utils.seeding import np_random

from experiments.environments.play import Play, Rules, scenario_of
from experiments.environments.speed import bench_envs
from experiments.scenario.scenario import Scenario
from grid.errors import GridError
from grid.platform.multicluster import Platform
from metasched.envs import GridEnv, VectorGridEnv

WORLDS = 3


def chosen(seen, over, rng):
    """Return an action for each world that may be taken; any, where another run begins."""
    return np.array(
        [
            99 if over[at] else rng.choice(np.flatnonzero(seen["action_mask"][at]))
            for at in range(WORLDS)
        ]
    )


class Plain:
    """One world, which goes from decision to decision without what is compiled for many."""

    def __init__(
        self, of, agent="global", *, global_=None, local=None, reward="bounded_slowdown", **given
    ):
        self.play = Play(scenario_of(of, global_, local), [agent], Rules(reward, **given))
        self.name = agent

    def reset(self, seed=None):
        if seed is not None:
            self.draws = np_random(seed)[0]
        self.play.begin(int(self.draws.integers(2**31)) if seed is None else seed, None)
        return self.play.seen(self.name), self.play.info(self.name)

    def step(self, action):
        play = self.play
        earned = play.act({self.name: action})[self.name]
        told = play.seen(self.name), earned, not play.asked, play.truncated, play.info(self.name)
        return told


def assert_alike(one, other):
    (seen, told), (expected, by_it) = one, other
    assert told == by_it
    assert all((seen[name] == expected[name]).all() for name in expected)


def longest(jobs):
    """Reward jobs by their run times, as no compiled reward does."""
    return jobs["finish"] - jobs["start"]


def failing():
    """Return a scenario in which clusters are too small for some jobs, and processors fail."""
    platform = Platform.star([4, 16, 8], rates=[1.0, 2.0, 0.5])
    given = {"jobs": 60, "max_size": 16, "load": 0.9, "mode": "open", "mean_up_time": 5000.0}
    return Scenario("unequal", platform, given | {"mean_down_time": 500.0}, "dll", "easy")


@pytest.mark.parametrize(
    ("scenario", "given"),
    [
        ("quickstart", {"local": "fcfs", "jobs": 60}),
        ("quickstart", {"local": "titan", "time": 90.0, "reward": "turnaround"}),
        ("site", {"agent": "local", "jobs": 60, "window": 16}),
        ("failing", {"agent": "C2", "reward": "wait"}),
        ("late", {"agent": "C1", "global_": "ect", "local": "titan", "window": 8}),
        ("failing", {"reward": "wait"}),
        ("site", {"agent": "local", "window": 8, "reward": longest, "time": 9000.0}),
        ("failing", {"reward": "max_wait"}),
        ("late", {"reward": "deadlines_met", "local": "easy"}),
    ],
)
def test_each_world_is_as_an_environment_alone(scenario, given):
    """What is seen, earned and told, through several episodes; only sums are rounded otherwise."""
    of = {
        "failing": failing(),
        "late": failing().changed(latency=30.0, jobs=50, assign_deadlines=True, mean_up_time=0.0),
    }
    of = of.get(scenario, scenario)
    many = VectorGridEnv(WORLDS, of, **given)
    alone = [Plain(of, **given) for _ in range(WORLDS)]
    one = GridEnv(of, **given)
    seen, info = many.reset(seed=5)
    expected = [env.reset(5 + at) for at, env in enumerate(alone)]
    assert_alike(one.reset(seed=5), expected[0])
    over, episodes, rng = np.zeros(WORLDS, bool), 0, np.random.default_rng(1)
    done = False  # with the first episode of the one alone
    for _ in range(260):
        for at, (there, told) in enumerate(expected):
            assert all((seen[name][at] == there[name]).all() for name in seen)
            if there["action_mask"][:-1].any():
                job = told["job"] if "job" in told else told["jobs"][0]
                assert (info["time"][at], info["job"][at]) == (told["time"], job)
        actions = chosen(seen, over, rng)
        seen, earned, ended, cut, info = many.step(actions)
        for at, env in enumerate(alone):
            reward, stopped = 0.0, (False, False)
            if over[at]:
                expected[at], over[at] = env.reset(), False
                episodes += 1
            else:
                there, reward, *stopped, told = env.step(actions[at])
                expected[at], over[at] = (there, told), any(stopped)
            if at == 0 and not done:
                found, earns, *halted, said = one.step(actions[0])
                assert_alike((found, said), expected[0])
                assert (earns, *halted) == (pytest.approx(reward, rel=1e-12), *stopped)
                done = any(stopped)
            assert (ended[at], cut[at]) == tuple(stopped)
            assert earned[at] == pytest.approx(reward, rel=1e-12)
    assert episodes >= WORLDS


def test_spaces_are_of_all_worlds():
    env = VectorGridEnv(WORLDS, "quickstart", jobs=5)
    seen, _ = env.reset(seed=2)
    assert env.observation_space.contains(seen)
    assert env.single_observation_space.contains({name: each[1] for name, each in seen.items()})
    assert env.action_space.nvec.tolist() == [5, 5, 5]
    again, _ = VectorGridEnv(WORLDS, "quickstart", jobs=5).reset(seed=2)
    assert all((seen[name] == again[name]).all() for name in seen)
    for seeds in ([2, 3, 4], np.int64(2)):
        again, _ = VectorGridEnv(WORLDS, "quickstart", jobs=5).reset(seed=seeds)
        assert all((seen[name] == again[name]).all() for name in seen)
    before = dict(seen)
    after, *_ = env.step(np.zeros(WORLDS, int))
    assert all(after[name] is before[name] for name in after)


def test_what_cannot_be_done_is_refused_in_a_line():
    for given, message in (
        ({"n": 0}, "n: found 0; accepted: a number from 1"),
        ({"agent": "locals"}, "agent: found 'locals'"),
        ({"reward": "wait_"}, "reward: found 'wait_'"),
    ):
        with pytest.raises(GridError, match=message):
            VectorGridEnv(**{"n": 2, "scenario": "quickstart"} | given)
    env = VectorGridEnv(2, failing())
    with pytest.raises(GridError, match="step: found no episode; accepted: reset"):
        env.step(np.zeros(2, int))
    seen, _ = env.reset(seed=1)
    with pytest.raises(GridError, match=r"step: found an array of shape \(3,\); accepted: 2 act"):
        env.step(np.zeros(3, int))
    with pytest.raises(GridError, match=r"seed: found \[1\]; accepted: a number, or one for each"):
        env.reset(seed=[1])
    for seed, found in ((-1, -1), (1.0, 1.0), ([1, -2], -2)):
        with pytest.raises(GridError, match=f"seed: found {found}; accepted: a whole number from"):
            env.reset(seed=seed)
    for actions, kind in (([0.9, 0.0], "float64"), (["0", "1"], "<U1"), ([True, False], "bool")):
        with pytest.raises(GridError, match=f"step: found an array of {kind}; accepted: whole nu"):
            env.step(actions)
    seen, _ = env.reset(seed=1)
    while seen["action_mask"].all():
        seen, *_ = env.step(np.ones(2, int))
    world, masked = np.argwhere(seen["action_mask"] == 0)[0].tolist()
    actions = seen["action_mask"].argmax(axis=1)
    actions[world] = masked
    with pytest.raises(GridError, match=f"world {world}: action: found {masked}; accepted: "):
        env.step(actions)


def test_the_speed_of_environments_is_measured():
    found = bench_envs(worlds=2, steps=10, turns=1)
    assert [each.name for each in found] == ["GridEnv", "VectorGridEnv(2)"] * 2
    assert all(each.value > 0.0 for each in found)


def test_a_site_may_have_the_processors_of_its_log(tmp_path):
    """More than that of the scenario: all jobs start at one instant."""
    lines = [f"{at} 0 0 {10 + at} 1 -1 -1 1 {20 + at} " + "-1 " * 9 for at in range(1, 201)]
    (tmp_path / "log.swf").write_text("; MaxProcs: 300\n" + "\n".join(lines))
    site = Scenario.load("site").changed(workload=str(tmp_path / "log.swf"))
    one, many = GridEnv(site, "local"), VectorGridEnv(1, site, "local")
    seen, (expected, _) = many.reset(seed=1)[0], one.reset(seed=1)
    for _ in range(200):
        assert (seen["jobs"][0] == expected["jobs"]).all()
        seen, reward, over, *_ = many.step(np.zeros(1, int))
        expected, earned, ended, *_ = one.step(0)
        assert (reward[0], over[0]) == (pytest.approx(earned), ended)
    assert over[0]

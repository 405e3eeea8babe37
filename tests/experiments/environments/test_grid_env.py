"""A run as an environment of Gymnasium: the same run, decided about from outside."""

from __future__ import annotations

import dataclasses
import json
import math
import re
import sys
import warnings
from collections import defaultdict
from importlib import import_module

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from experiments.environments.observing import LONG, MANY
from experiments.run import run
from experiments.scenario.scenario import Scenario
from grid.errors import GridError
from grid.platform.multicluster import Platform
from metasched.envs import GridEnv

FAILING = {"mean_up_time": 5000.0, "mean_down_time": 500.0}


def unequal(**parameters):
    """Return a scenario of clusters of which not each can hold each job."""
    platform = Platform.star([4, 16, 8], rates=[1.0, 2.0, 0.5])
    given = {"jobs": 150, "max_size": 16, "load": 0.9, "mode": "open", **parameters}
    return Scenario("unequal", platform, given, "dll", "easy")


def played(env, choose, **reset):
    """Return what an episode earned, and how it ended; ask what to do at each decision."""
    seen, info = env.reset(**reset)
    earned, over, cut = 0.0, False, False
    while not (over or cut):
        seen, reward, over, cut, info = env.step(choose(seen, info))
        earned += reward
    return earned, over, info


def gathering():
    """Return a reward that gives nothing and keeps the jobs, and these."""
    rows = []

    def nothing(jobs):
        rows.extend(jobs.rows.copy())
        return np.zeros(len(jobs))

    return nothing, rows


@pytest.mark.sampled(1)
@pytest.mark.parametrize("scenario", ["quickstart", "unequal", "late"])
def test_gymnasium_finds_no_fault(scenario):
    """Of either kind of agent."""
    of = {"unequal": unequal(), "late": unequal(latency=30.0)}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*alternative render modes.*")
        check_env(GridEnv(of.get(scenario, scenario), local="easy", strict=False))
        check_env(GridEnv(of.get(scenario, scenario), "C2", global_="dll", strict=False))


@pytest.mark.thorough
@pytest.mark.parametrize("policy", ["dll", "ect", "round-robin"])
@pytest.mark.parametrize("parameters", [{}, {"latency": 30.0}, {"mode": "batch"}, FAILING])
def test_a_built_in_policy_gives_its_own_run(policy, parameters, tmp_path):
    """Failures have jobs sent anew, perhaps elsewhere."""
    scenario = dataclasses.replace(unequal(**parameters), global_scheduler=policy)
    names, sent = scenario.platform.names, defaultdict(list)
    of = run(scenario, seed=5, events=tmp_path / "events").jobs.set_index("job")
    for line in map(json.loads, (tmp_path / "events").read_text().splitlines()):
        if line["event"] == "sent":
            sent[line["job"]].insert(0, names.index(line["receiver"]))
    reward, rows = gathering()
    env = GridEnv(scenario, reward=reward)

    def same(seen, told):
        return sent[told["job"]].pop() if seen["action_mask"][:-1].any() else len(names)

    _, over, info = played(env, same, seed=5)
    assert over
    assert not any(sent.values())
    assert (of["restarts"].sum() > 0) == ("mean_up_time" in parameters)
    assert info["job"] is None
    assert len(rows) == len(of) == 150
    for row in rows:
        was = of.loc[row["number"]]
        assert (names[row["cluster"]], row["start"], row["finish"]) == (
            was["cluster"], was["start"], was["finish"]
        )  # fmt: skip


def one(**parameters):
    """Return a scenario of one cluster."""
    return dataclasses.replace(unequal(**parameters), platform=Platform.star([16]))


def first(seen):
    """Have the first in line start, and nobody else."""
    return 0 if seen["jobs"][0, 4] else len(seen["jobs"])


def any_that_fits(seen):
    return int(seen["action_mask"].argmax())


def shortest(seen):
    there = seen["jobs"][:, 0] > 0
    at = int(np.where(there, seen["jobs"][:, 1], np.inf).argmin())
    return at if seen["jobs"][at, 4] else len(there)


@pytest.mark.parametrize(
    ("policy", "choose"), [("fcfs", first), ("fpfs", any_that_fits), ("sjf", shortest)]
)
@pytest.mark.parametrize("parameters", [{}, {"prediction_error": 1.0}, FAILING])
def test_a_built_in_local_scheduler_gives_its_own_run(policy, choose, parameters):
    scenario = dataclasses.replace(one(**parameters), local_scheduler=policy)
    of = run(scenario, seed=3).jobs.set_index("job")
    reward, rows = gathering()
    env = GridEnv(scenario, "local", reward=reward, window=150)
    _, over, _ = played(env, lambda seen, _: choose(seen), seed=3)
    assert over
    assert len(rows) == len(of) == 150
    assert (of["start"] > of["arrival"]).sum() > 50
    for row in rows:
        was = of.loc[row["number"]]
        assert (row["start"], row["finish"]) == (was["start"], was["finish"])


@pytest.mark.parametrize("latency", [0.0, 30.0])
def test_the_others_are_built_in(latency):
    scenario = dataclasses.replace(unequal(latency=latency), local_scheduler="fcfs")
    of = run(scenario, seed=3).jobs.set_index("job")
    of = of[of["cluster"] == "C2"]
    reward, rows = gathering()
    env = GridEnv(scenario, "C2", reward=reward)
    _, over, _ = played(env, lambda seen, _: first(seen), seed=3)
    assert over
    assert len(rows) == len(of) > 20
    for row in rows:
        was = of.loc[row["number"]]
        assert (row["start"], row["finish"]) == (was["start"], was["finish"])
    assert env._runs.lanes[0].episode.completed == 150


def test_a_small_window_and_no_patience_end():
    env = GridEnv(one(), "local", window=3)
    env.action_space.seed(1)
    seen_waiting = []

    def choose(seen, info):
        assert env.observation_space.contains(seen)
        assert len(info["jobs"]) <= 3
        seen_waiting.append(seen["cluster"][2])
        assert seen["action_mask"].any()
        return env.action_space.sample()

    _, over, _ = played(env, choose, seed=1)
    assert over
    assert env._runs.lanes[0].episode.completed == 150
    assert max(seen_waiting) > 0.2


@pytest.mark.parametrize("parameters", [{}, {"latency": 30.0}, {"load": 0.3, "jobs": 30}])
def test_whatever_may_be_done_ends_and_the_same_seed_is_the_same(parameters):
    seen_by = []
    for _ in range(2):
        reward, rows = gathering()
        env = GridEnv(unequal(**parameters), reward=reward)
        env.action_space.seed(3)
        seen, told = [], []

        def choose(now, info, env=env, seen=seen, told=told):
            assert env.observation_space.contains(now)
            assert now["action_mask"].any()
            seen.append(np.concatenate([each.ravel() for each in now.values()]))
            told.append(info["job"])
            return env.action_space.sample()

        _, over, _ = played(env, choose, seed=1)
        assert over
        assert len(rows) == len({row["number"] for row in rows}) == len({*told})
        seen_by.append((np.array(seen), np.array([tuple(row) for row in rows])))
    for first, second in zip(*seen_by, strict=True):
        np.testing.assert_array_equal(first, second)


def test_it_never_waits_for_nothing():
    """A job may wait as long as something else will happen, and then has to go."""
    env = GridEnv(unequal(jobs=40))

    def lazy(seen, _):
        may = np.flatnonzero(seen["action_mask"])
        return may[-1]

    earned, over, _ = played(env, lazy, seed=1)
    assert over
    assert earned < -1.0


@pytest.mark.parametrize("loss", [0.1, 0.3])
def test_no_job_is_left_whatever_is_lost(loss):
    """News that is lost offers nobody again, but at the end all are."""
    env = GridEnv(unequal(loss=loss, jobs=60), reward="wait")
    masks = []

    def lazy(seen, _):
        masks.append(seen["action_mask"])
        return int(np.flatnonzero(seen["action_mask"])[-1])

    earned, over, _ = played(env, lazy, seed=1)
    assert over
    assert env._runs.lanes[0].episode.completed == 60
    assert any(not mask[-1] for mask in masks)
    assert earned < -100.0


def test_a_job_may_wait_for_a_cluster_that_joins():
    platform = Platform.from_dict(
        {
            "clusters": [{"name": "A", "size": 8, "rate": 0.01}, {"name": "B", "size": 8}],
            "changes": [{"cluster": "B", "what": "join", "at": 1e6}],
        }
    )
    scenario = dataclasses.replace(unequal(jobs=10, max_size=8), platform=platform)
    env = GridEnv(scenario)

    def picky(seen, _):
        return 1 if seen["action_mask"][1] else 2

    _, over, _ = played(env, picky, seed=1)
    assert over
    assert env._runs.lanes[0].episode.now > 1e6
    assert env._runs.lanes[0].episode.completed == 10


def test_what_is_seen_is_what_brokers_know():
    env = GridEnv(unequal(latency=30.0))
    seen, info = env.reset(seed=4)

    def shrunk(value, most):
        return math.log1p(min(max(value, 0.0), most)) / math.log1p(most)

    for _ in range(60):
        episode = env._runs.lanes[0].episode
        now, slot = episode.now, episode.world.state.job
        asked = {name: episode.world.jobs[name].item(slot) for name in ("arrival", "deadline")}
        size, runtime = (
            episode.world.jobs[name].item(slot) for name in ("size", "predicted_runtime")
        )
        job = [
            size / 16, shrunk(runtime, LONG),
            shrunk(now - asked["arrival"], LONG), shrunk(asked["deadline"] - now, LONG),
        ]  # fmt: skip
        np.testing.assert_allclose(seen["job"], job, rtol=1e-6)
        for at, of in enumerate(episode.scheduler.clusters):
            row = [
                of.size / 16, of.free / of.size, of.up / of.size, shrunk(of.waiting, MANY),
                shrunk(of.load, LONG), shrunk(of.age, LONG), shrunk(runtime / of.rate, LONG),
            ]  # fmt: skip
            np.testing.assert_allclose(seen["clusters"][at], row, rtol=1e-6)
            assert seen["action_mask"][at] == (of.size >= size)
        assert seen["waiting"][0] == pytest.approx(shrunk(episode.queued, MANY))
        number = episode.world.jobs["number"].item(slot)
        assert info == {"time": now, "job": number, "replaced": False}
        seen, _, _, _, info = env.step(env.action_space.sample())


def test_episodes_can_be_cut_and_changed():
    def narrow(seen, _):
        return int(np.flatnonzero(seen["action_mask"])[0])

    env = GridEnv(unequal(), jobs=20)
    _, over, _ = played(env, narrow, seed=1)
    assert not over
    assert env._runs.lanes[0].episode.world.log.count >= 20
    env = GridEnv(unequal(), time=100.0)
    _, over, info = played(env, narrow, seed=1)
    assert not over
    assert info["time"] > 100.0
    _, over, _ = played(GridEnv(unequal()), narrow, seed=1, options={"set": ["jobs=5"]})
    assert over
    first, second = (GridEnv(unequal()).reset(seed=1)[1]["time"] for _ in range(2))
    env.reset(seed=1)
    later = [env.reset()[1]["time"] for _ in range(3)]
    assert first == second
    assert len({first, *later}) == 4


@pytest.mark.parametrize("reward", ["deadlines_met", lambda jobs: np.ones(len(jobs))])
def test_a_cut_episode_is_rewarded_for_as_many_jobs_as_it_shall_have(reward):
    """More may have left by the first decision after."""

    def least_loaded(seen, _):
        loads = np.where(seen["action_mask"][:-1], seen["clusters"][:, 4], np.inf)
        return int(loads.argmin())

    env, more = GridEnv("quickstart", local="easy", reward=reward, jobs=5), 0
    for seed in range(4):
        options = {"set": ["assign_deadlines=true"]}
        earned, _, _ = played(env, least_loaded, seed=seed, options=options)
        assert earned == pytest.approx(1.0, rel=1e-12)
        more += env._runs.lanes[0].episode.world.log.count - 5
    assert more


def test_without_gymnasium_it_is_told_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    monkeypatch.delitem(sys.modules, "metasched.envs")
    with pytest.raises(ImportError, match=re.escape("pip install 'metasched[learn]'")):
        import_module("metasched.envs")


def test_bad_input_is_told_in_one_line(tmp_path):
    def refused(text, call, *given, **named):
        with pytest.raises(GridError) as error:
            call(*given, **named)
        assert text in str(error.value)
        assert "\n" not in str(error.value)

    refused("agent: found 'globl'; did you mean global?", GridEnv, "quickstart", "globl")
    refused(
        "agent: found 'local'; accepted: global, C1, C2, C3, C4", GridEnv, "quickstart", "local"
    )
    refused("window: found 0; accepted: a number from 1", GridEnv, "site", "local", window=0)
    refused("MUSCLE, which works in rounds", GridEnv("quickstart", "C1").reset)
    refused("did you mean wait?", GridEnv, "quickstart", reward="wat")
    refused("did you mean makespan?", GridEnv, "quickstart", reward="makespam")
    whole = "found with reward makespan, which is of whole runs; accepted: without"
    refused(f"jobs: {whole}", GridEnv, "quickstart", reward="makespan", jobs=5)
    refused(f"time: {whole}", GridEnv, "quickstart", reward="makespan", time=5.0)
    cost = GridEnv(unequal(jobs=1), reward="cost")
    cost.reset(seed=1)
    refused("reward cost: found None for this run; accepted: a number", cost.step, 1)
    refused("global_: found 'ect', for which the agent decides", GridEnv, "site", global_="ect")
    refused("local: found 'easy', for which the agent", GridEnv, "site", "local", local="easy")
    refused("jobs: found 0; accepted: a number from 1", GridEnv, "quickstart", jobs=0)
    refused("time: found -1", GridEnv, "quickstart", time=-1)
    refused("nowhere.toml: no such file", GridEnv, "nowhere.toml")
    env = GridEnv(unequal())
    refused("step: found no episode; accepted: reset", env.step, 0)
    seen, info = env.reset(seed=1)
    while seen["action_mask"][0]:
        seen, _, _, _, info = env.step(1)
    refused(f"action: found 0 for job {info['job']} at ", env.step, 0)
    refused("; accepted: ", env.step, 7)
    lenient = GridEnv(unequal(), strict=False)
    lenient.reset(seed=1)
    while lenient.action_space.mask[0]:
        lenient.step(1)
    assert lenient.step(0)[-1]["replaced"]
    assert not lenient.step(1)[-1]["replaced"]
    refused("load: found -1", env.reset, options={"set": ["load=-1"]})
    for changes in ("load=0.5", None, [1]):
        refused("options: set: found ", env.reset, options={"set": changes})
    refused("options: found 'load'; accepted: 'set'", env.reset, options={"load": 0.3})
    refused(
        "options: set: found 3 clusters; accepted: 4, as before",
        GridEnv("muscle", local="easy").reset,
        options={"set": ["clusters=3"]},
    )
    (tmp_path / "jobs.csv").write_text("job,arrival,size,runtime\n1,0,4,10\n2,1,4,10\n")
    log = dataclasses.replace(unequal(), workload=str(tmp_path / "jobs.csv"), parameters={})
    refused(
        "without effect: load (a log gives the jobs); accepted: without",
        GridEnv(log).reset,
        options={"set": ["load=0.5"]},
    )
    for action in (0.0, None, "0", [0], True, np.float32(2)):
        env.reset(seed=1)
        refused("action: found ", env.step, action)
    refused("strict: found 'no'; accepted: True or False", GridEnv, "quickstart", strict="no")
    refused("time: found '5'", GridEnv, "quickstart", time="5")
    wide = unequal(min_size=10, max_size=16, jobs=3)
    wide = dataclasses.replace(wide, platform=Platform.star([4, 16]), global_scheduler="dll")
    refused("reset: nobody is asked", GridEnv(wide, "C1").reset)
    env = GridEnv(unequal(jobs=2), reward=lambda jobs: np.full(len(jobs), math.nan))
    refused("found nan for job", played, env, lambda seen, _: 1)
    env = GridEnv(unequal(jobs=2), reward=lambda jobs: 1.0)
    refused("found shape (); accepted: one number for each of", played, env, lambda seen, _: 1)
    env = GridEnv(unequal(jobs=2))
    played(env, lambda seen, _: 1)
    refused("step: the episode is over; accepted: reset", env.step, 0)
    env, cut = GridEnv(unequal(jobs=40), jobs=2), False
    env.reset(seed=1)
    while not cut:
        *_, over, cut, _ = env.step(1)
        assert not over
    refused("step: the episode is over; accepted: reset", env.step, 1)

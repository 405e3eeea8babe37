"""What PPO trains is what its file says, and runs compiled."""

from __future__ import annotations

import json
import os
import sys

import numpy as np
import pytest

from agents.learned.policy import read
from experiments.learning.lessons import Lessons, Trial
from experiments.scenario.scenario import Scenario
from tests.experiments.commands import call
from tests.experiments.learning.test_course import policy_of, scores_of


def need_library():
    """Skip a test where nothing trains networks, unless that is required."""
    if os.environ.get("METASCHED_PPO") != "required":
        without = "sb3-contrib is not installed: pip install 'metasched[ppo]'"
        pytest.importorskip("sb3_contrib", reason=without)


def words_of(agent, path, *more):
    scenario, local = ("quickstart", "easy") if agent == "global" else ("site", "fpfs")
    words = ["learn", scenario, "--agent", agent, "--local", local, "--method", "ppo"]
    return [*words, "--set", "jobs=60", "--set", "mode=open", "--out", path, *more]


@pytest.mark.thorough
@pytest.mark.parametrize("agent", ["global", "local"])
def test_what_is_trained_is_in_the_file(agent, tmp_path):
    need_library()
    found = []
    for name in ("a", "b") if agent == "global" else ("a",):
        path = tmp_path / name
        done = call(*words_of(agent, path, "--steps", 8000, "--seed", 2, "--json"))
        assert done.exit_code == 0, done.output
        found.append((json.loads(done.stdout) | {"policy": ""}, path.read_text()))
    assert found[0] == found[-1]
    told, _ = found[0]
    training = told["training"]
    assert (told["method"], training["choices"]) == ("ppo", 8192)
    assert training["updates"] == 2
    assert 0 <= training["best"] <= 2
    assert training["after"] <= training["before"]

    policy = read(tmp_path / "a")
    scenario = "quickstart" if agent == "global" else "site"
    local = "easy" if agent == "global" else "fpfs"
    changed = Scenario.load(scenario).changed(jobs=60, mode="open", local_scheduler=local)
    lessons = Lessons.of(changed, 2, 1.0)
    for which, expected in (
        (lessons.training, training["after"]),
        (lessons.held_out, told["held_out"]["mean"]),
    ):
        trial = Trial(policy, which, "mean_bounded_slowdown")
        assert trial.loss(policy.scheduler().weights) == pytest.approx(expected)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("agent", ["global", "local"])
def test_the_numbers_of_a_network_say_what_it_does(agent):
    need_library()
    import torch

    from experiments.learning import ppo

    rng = np.random.default_rng(3)
    policy = policy_of(agent, 0)
    terms = len(policy.searched)
    sample = rng.lognormal(2.0, 1.0, (300, terms))
    torch.manual_seed(1)
    net = ppo._Scores(policy, sample)
    with torch.no_grad():
        net.gains.normal_()
    rows = rng.lognormal(2.0, 1.0, (40, 10, terms))
    seen = np.concatenate([rows, np.ones((40, 10, 1))], axis=2)
    told = net.forward_actor(torch.tensor(seen.reshape(40, -1)).float()).detach().numpy()
    assert (told[:, -1] == 0.0).all()
    found = scores_of(policy.with_numbers(net.numbers()), rows)
    away = found + told[:, :-1]  # but for what all choices have alike
    assert away - away[:, :1] == pytest.approx(0.0, abs=2e-3)


def test_units_of_jobs_do_not_read_when_they_came():
    need_library()
    from experiments.learning import ppo

    policy = ppo.with_network(policy_of("local", 0))
    assert len(policy.units) == ppo.UNITS
    assert all("arrival" not in unit.weights for unit in policy.units)
    numbers = ppo._Scores(policy, np.ones((2, len(policy.terms)))).numbers()
    at = list(policy.terms).index("arrival")
    units = numbers[len(policy.terms) :].reshape(ppo.UNITS, -1)
    assert (units[:, 2 + at] == 0.0).all()


@pytest.mark.parametrize(
    ("agent", "more", "message"),
    [
        ("global", ["--objective", "p95_wait"], "--objective: found 'p95_wait' with ppo; accepted"),
        ("local", ["--local", "easy"], "--local: found 'easy' with ppo; accepted: fpfs"),
        ("global", ["--workers", "2"], "--workers: found with ppo, which has one process"),
        ("global", ["--teacher", "dll"], "--method: found with --teacher; accepted: one of them"),
    ],
)
def test_what_it_cannot_train_is_refused_in_a_line(agent, more, message, tmp_path):
    done = call(*words_of(agent, tmp_path / "p", *more))
    assert done.exit_code == 2, done.output
    assert message in done.stderr
    assert not (tmp_path / "p").exists()


def test_without_its_library_it_says_so(tmp_path, monkeypatch):
    monkeypatch.delitem(sys.modules, "experiments.learning.ppo", raising=False)
    monkeypatch.delattr("experiments.learning.ppo", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    done = call(*words_of("global", tmp_path / "p"))
    assert done.exit_code == 2, done.output
    assert "found ppo without torch; accepted: pip install 'metasched[ppo]'" in done.stderr


def test_where_nothing_is_to_be_chosen_nothing_is_trained(tmp_path):
    need_library()
    words = "learn", "site", "--method", "ppo", "--set", "jobs=1", "--out", tmp_path / "p"
    done = call(*words, "--agent", "local", "--local", "fpfs")
    assert done.exit_code == 2, done.output
    assert "--method: found ppo with nothing to choose; accepted: runs with choices" in done.stderr

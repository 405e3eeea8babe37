"""Clones decide as their teachers do, as far as what they see tells."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from agents.balancers import DynamicLeastLoadScheduler
from agents.learned import choices
from agents.learned.policy import read
from agents.schedulers import GlobalScheduler, LocalScheduler
from experiments.learning.cloning import Decision, _sent, agreement, clone, fit
from experiments.learning.lessons import Lessons
from experiments.run.running import run
from experiments.scenario.scenario import Scenario
from experiments.show.numbers import percent
from grid.errors import GridError
from grid.platform.changes import Change
from grid.platform.multicluster import Platform
from tests.experiments.commands import call
from tests.experiments.small_studies import Silent

LANDING = "--teacher: found with global scheduler 'muscle', or a latency, by which jobs do not land"
HERE = "tests.experiments.learning.test_cloning"
LARGEST = f"{HERE}:Largest"
FAILING = "--set", "latency=0", "--set", "mean_up_time=400", "--set", "mean_down_time=500"


class Largest(LocalScheduler):
    """The largest job first."""

    def priority(self, job):
        """Rank by size."""
        return -job.size


class Shy(GlobalScheduler):
    """Has each job wait until a cluster is free."""

    def place(self, job):
        """Choose the first that is empty."""
        return next((each for each in self.clusters if each.free == each.size), None)


def cloned(tmp_path, *words, teacher="dll", jobs=150):
    """Return what is told of a clone, and the policy."""
    out = tmp_path / "clone.json"
    words = "quickstart", "--set", "mode=open", "--set", f"jobs={jobs}", "--out", out, *words
    got = call("learn", "--local", "fcfs", *words, "--teacher", teacher, "--json")
    assert got.exit_code == 0, got.output
    return json.loads(got.stdout), read(out)


@pytest.mark.thorough
def test_the_clone_of_the_least_loaded_is_that(tmp_path):
    told, policy = cloned(tmp_path)
    assert told["weights"] == dict.fromkeys(choices.OF_CLONES, 0.0) | {"load": 1.0}
    assert told["formula"] == policy.formula == "log(1 + l)"
    assert (told["teacher"], told["training"]["runs"], told["held_out"]["runs"]) == ("dll", 8, 8)
    assert told["training"]["decisions"] == 8 * 150
    assert told["training"]["agreed"] == told["held_out"]["agreed"] == 1.0
    assert told["held_out"]["same_starts"] == 1.0
    others = {each["policy"]: each for each in told["held_out"]["others"]}
    assert {*others} == {"muscle", "dll", "ect"}
    assert others["dll"]["difference"] == 0.0
    scenario = Scenario.load("quickstart").changed(mode="open", jobs=150, local_scheduler="fcfs")
    one, other = (
        run(replace(scenario, global_scheduler=kind), seed=99).jobs
        for kind in (policy.scheduler(), DynamicLeastLoadScheduler)
    )
    assert one.equals(other)


@pytest.mark.thorough
def test_the_clone_of_home_knows_where_jobs_were_submitted(tmp_path):
    told, policy = cloned(tmp_path, teacher="home", jobs=60)
    sought = {name for name, weight in policy.weights.items() if weight}
    assert sought == {"home", "load"}  # for those that were submitted nowhere go as by dll
    assert policy.formula.endswith(" log(1 + l) - o")
    assert told["held_out"]["agreed"] == told["held_out"]["same_starts"] == 1.0


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("teacher", "formula", "service"),
    [
        ("sjf", "log t", "head"),
        ("fcfs", "0", "head"),
        ("fpfs", "0", "fpfs"),
        ("easy", "0", "easy"),
        ("conservative", "0", "conservative"),
        (LARGEST, "-log n", "head"),
    ],
)
def test_clones_of_local_schedulers_are_their_orders(tmp_path, teacher, formula, service):
    out = tmp_path / "clone.json"
    words = "site", "--set", "jobs=300", "--set", "load=0.9", "--local", "easy", "--agent", "local"
    got = call("learn", *words, "--teacher", teacher, "--out", out, "--json")
    assert got.exit_code == 0, got.output
    told, policy = json.loads(got.stdout), read(out)
    assert (policy.formula, policy.service) == (formula, service)
    assert told["held_out"]["same_starts"] == 1.0
    if service not in ("easy", "conservative"):  # what they backfill, no rank tells
        assert told["training"]["agreed"] > 0.999
        assert told["held_out"]["agreed"] > 0.999
    others = {each["policy"]: each for each in told["held_out"]["others"]}
    assert others[teacher]["difference"] == 0.0
    assert {"easy", teacher} <= {*others}


@pytest.mark.thorough
def test_jobs_that_a_planner_starts_are_decisions_too(tmp_path):
    """They start in the way of the scenario's own local scheduler."""
    out = tmp_path / "clone.json"
    words = "site", "--set", "jobs=60", "--set", "load=0.9", "--local", "easy", "--agent", "local"
    got = call("learn", *words, "--teacher", "titan", "--out", out)
    assert got.exit_code == 0, got.output
    assert "decisions of titan in 8 runs: it decides alike in" in " ".join(got.stdout.split())
    assert read(out).service == "easy"


@pytest.mark.thorough
def test_a_teacher_that_ranks_may_replace_a_planner(tmp_path):
    words = "--global", "dll", "--agent", "local", "--local", "titan", "--set", "latency=0"
    _, policy = cloned(tmp_path, *words, teacher="sjf", jobs=20)
    assert (policy.formula, policy.service) == ("log t", "head")


@pytest.mark.thorough
def test_what_its_terms_do_not_tell_is_told(tmp_path):
    told, policy = cloned(tmp_path, teacher="round-robin", jobs=60)
    assert told["held_out"]["agreed"] < 0.6
    assert 0.0 < told["held_out"]["same_starts"] < 0.9
    out = tmp_path / "again.json"
    words = "quickstart", "--set", "mode=open", "--set", "jobs=60", "--local", "fcfs"
    got = call("learn", *words, "--teacher", "round-robin", "--out", out)
    said = " ".join(got.stdout.split())
    assert "decisions of round-robin in 8 runs: it decides alike in" in said
    share = percent(told["held_out"]["same_starts"])
    assert f"where {share} of the jobs start when and where they do under round-robin" in said
    assert read(out) == policy


def test_terms_are_those_that_compiled_scores_have():
    """As they come back from an observation, of 32 bits, in runs with news of any age."""
    rng, count = np.random.default_rng(3), 0
    weights = rng.normal(size=(6, len(choices.OF_CLONES)))
    for row in weights:
        kind = choices.choosing(dict(zip(choices.OF_CLONES, row.tolist(), strict=True)))
        scenario = Scenario.load("quickstart").changed(
            mode="open", jobs=60, latency=5, load=0.9, local_scheduler="easy"
        )
        lesson = Lessons.of(scenario, 5, 1.0).training[0]
        for each in _sent(lesson, kind):
            scores = np.where(each.allowed, each.terms @ row, np.inf)
            assert scores[each.chosen] == pytest.approx(scores.min(), abs=1e-3)
            count += 1
    assert count == 6 * 60


def test_weights_that_are_known_are_found():
    rng = np.random.default_rng(7)
    known = np.zeros(len(choices.TERMS))
    known[[1, 4, 6]] = 1.0, -0.5, 2.0
    terms = rng.uniform(0.0, 5.0, (600, 4, len(known)))
    allowed = rng.uniform(size=(600, 4)) < 0.8
    allowed[:, 0] = True
    chosen = np.where(allowed, terms @ known, np.inf).argmin(axis=1).tolist()
    decisions = [*map(Decision, terms, allowed, chosen)]
    found = fit(decisions)
    assert np.flatnonzero(found).tolist() == [1, 4, 6]
    assert found == pytest.approx(known / 2.0, abs=0.06)
    assert agreement(found, decisions) > 0.97
    assert agreement(known, decisions) == 1.0


def test_processors_that_are_to_go_leave_no_decision_to_tell(tmp_path):
    """Of a local scheduler: of what was free then, only jobs are known."""
    change = Change("C1", "fail", 0.0, 1000.0, 4)
    platform = replace(Platform.star([8]), changes=(change,))
    away = Scenario("away", platform, {"jobs": 20, "mode": "open"}, "dll", "fpfs")
    with pytest.raises(GridError, match=r"^changes: found with --teacher of local schedulers; acc"):
        clone(away, "local", "sjf", "mean_wait", 0, 1.0, Silent())


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--teacher", "dll", "--agent", "local"], "local scheduler 'dll': it is a global one"),
        (["--teacher", "fcfs", "--agent", "local"], LANDING),
        (["--teacher", "first-fit"], "--teacher: found 'first-fit', which splits jobs; accepted"),
        (["--teacher", "dll", "--steps", "9"], "--steps: found with --teacher; accepted: one of"),
        (["--teacher", "dl"], "global scheduler 'dl': unknown; did you mean"),
        (["--teacher", f"{HERE}:Shy"], f"--teacher: found '{HERE}:Shy', which has jobs wait or go"),
        (
            ["--teacher", "dll", *FAILING],
            "--teacher: found 'dll' with mean_up_time, which has jobs wait or go back; accepted: "
            "without it, and one",
        ),
        (
            ["--teacher", "sjf", "--agent", "local", "--global", "dll", *FAILING],
            "mean_up_time: found with --teacher of local schedulers; accepted: without",
        ),
    ],
)
def test_teachers_that_cannot_be_cloned(tmp_path, words, says):
    out = tmp_path / "clone.json"
    given = "quickstart", "--set", "mode=open", "--set", "jobs=20", "--local", "fcfs"
    got = call("learn", *given, "--out", out, *words)
    assert got.exit_code == 2, got.output
    assert says in got.stderr
    assert not out.exists()

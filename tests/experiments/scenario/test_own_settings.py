"""Settings of users' policies are parameters of scenarios, studies and commands."""

from __future__ import annotations

import json
import pickle

import pytest
from click.testing import CliRunner

from experiments.cli.app import main
from experiments.run.checkpoints import read
from experiments.run.result_files import ResultFiles
from experiments.scenario.scenario import Scenario
from experiments.studies.study import Study
from grid.errors import GridError

MODULE = """
from dataclasses import dataclass

from agents.schedulers import GlobalScheduler
from grid.settings import setting


@dataclass(frozen=True)
class Patience:
    longest: float = setting(60.0, "Work of a cluster that more jobs join.", unit="s", above=0)


@dataclass(frozen=True)
class Load:
    load: float = setting(1.0, "One.")


@dataclass(frozen=True)
class Longer:
    longest: float = setting(9.0, "Another.")


@dataclass(frozen=True)
class Chances:
    chances: tuple[float, ...] = setting((0.5, 0.5), "Chances.", least=0, most=1)
    ends: tuple[int, int] = setting((1, 2), "Ends.")
    mixed: float | str = setting("auto", "One or the other.", choices=("auto",))


class Nearest(GlobalScheduler):
    settings_type = Patience

    def place(self, job):
        fitting = [cluster for cluster in self.clusters if cluster.size >= job.size]
        near = (each for each in fitting if each.load <= self.settings.longest)
        return next(near, fitting[-1])


class OfChances(Nearest):
    settings_type = Chances


class OfLoad(Nearest):
    settings_type = Load


class OfLslt(Nearest):
    @dataclass(frozen=True)
    class Kind:
        lslt: float = setting(1.0, "One.")

    settings_type = Kind


class OfAnother(Nearest):
    settings_type = Longer
"""
SCENARIO = """
global = "{module}:Nearest"
local = "fcfs"

[parameters]
mode = "open"
jobs = 40
longest = 12.5

[[clusters]]
name = "C1"
size = 12

[[clusters]]
name = "C2"
size = 12
"""
STUDY = """
scenario = "mine.toml"
vary = {longest = [10, 100]}
replications = {least = 2}

[policies]
global = ["own_settings:Nearest", "dll"]
local = "fcfs"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "own_settings.py").write_text(MODULE)
    (tmp_path / "mine.toml").write_text(SCENARIO.replace("{module}", "own_settings"))
    (tmp_path / "study.toml").write_text(STUDY)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def call(*words):
    return CliRunner().invoke(main, [*words])


def rows(*words):
    found = json.loads(call("validate", *words, "--json").stdout)["parameters"]
    return {row["name"]: row for row in found}


def test_they_are_set_listed_and_matter(folder):
    row = rows("mine.toml")["longest"]
    assert row == {
        "name": "longest",
        "group": "Patience",
        "value": 12.5,
        "default": 60.0,
        "changed": True,
        "matters": True,
        "meaning": "Work of a cluster that more jobs join (s).",
    }
    assert rows("mine.toml", "--set", "longest=20")["longest"]["value"] == 20
    other = rows("quickstart", "--global", "own_settings:Nearest", "--local", "fcfs")
    assert other["longest"]["value"] == 60
    assert "longest" not in rows("quickstart")


def test_they_change_what_the_policy_does(folder):
    scenario = Scenario.load("mine.toml")
    assert scenario.model().scheduler.settings.longest == 12.5
    firsts = []
    for longest in (0.001, 1e6):
        model = scenario.changed(longest=longest).model()
        model.run()
        firsts.append((model.world.log.records()["cluster"] == 0).sum())
    assert firsts[0] < firsts[1] == 40


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("chances=x", "chances: found 'x'; accepted: a list of numbers, from 0, at most 1"),
        ("chances=0.5,2", "chances.1: found 2; accepted: at most 1"),
        ("ends=1,2,3", "ends: found [1, 2, 3]; accepted: a list of 2 whole numbers"),
        ("mixed=x", "mixed: found 'x'; accepted: a number or 'auto'"),
    ],
)
def test_the_form_that_is_accepted_is_told(folder, given, says):
    scenario = Scenario.load("mine.toml").changed(global_scheduler="own_settings:OfChances")
    changed = scenario.changed(["chances=0.2,0.3", "ends=3,4"]).parameters
    assert (changed.chances, changed.ends) == ((0.2, 0.3), (3, 4))
    with pytest.raises(GridError) as error:
        scenario.changed([given], "--set")
    assert str(error.value) == f"--set: {says}"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--set", "longest=-1"], "--set: longest: found -1; accepted: above 0"),
        (["--set", "longest=x"], "--set: longest: found 'x'; accepted: a number"),
        (["--set", "longst=1"], "--set: longst: unknown parameter; did you mean longest"),
        (
            ["--global", "own_settings:OfLoad"],
            "own_settings:Load.load: found the name of a parameter of scenarios; accepted: another",
        ),
        (
            ["--global", "own_settings:OfLslt"],
            "own_settings:OfLslt.Kind.lslt: found the name of agents.",
        ),
    ],
)
def test_what_is_not_accepted_is_told_in_a_line(folder, words, says):
    result = call("validate", "mine.toml", *words)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"metasched: {says}")
    assert result.stderr.count("\n") == 1


def test_under_another_policy_they_have_no_effect(folder):
    result = call("validate", "mine.toml", "--global", "dll")
    assert "parameters without effect: longest (neither scheduler reads it)" in result.stderr
    other = Scenario.load("mine.toml").changed(global_scheduler="own_settings:OfAnother")
    assert other.parameters.longest == 12.5
    assert other.model().scheduler.settings.longest == 12.5


def test_results_under_another_policy_can_be_read(folder):
    result = call("run", "mine.toml", "--global", "dll", "--out", "of_dll")
    assert result.exit_code == 0
    assert "longest" not in json.loads((folder / "of_dll/summary.json").read_text())["parameters"]
    verified = call("verify", "of_dll")
    assert (verified.exit_code, verified.stderr) == (0, "")
    assert call("run", "mine.toml", "--out", "own").exit_code == 0
    assert json.loads((folder / "own/summary.json").read_text())["parameters"]["longest"] == 12.5


def test_scenarios_are_pickled_with_them(folder):
    scenario = Scenario.load("mine.toml")
    again = pickle.loads(pickle.dumps(scenario))
    assert again.parameters == scenario.parameters
    assert type(again.parameters) is type(scenario.parameters)
    assert again.changed(longest=3).parameters.longest == 3


def test_results_are_read_without_the_policy(folder):
    assert call("run", "mine.toml", "--out", "out").exit_code == 0
    summary = json.loads((folder / "out" / "summary.json").read_text())
    assert summary["parameters"]["longest"] == 12.5
    (folder / "own_settings.py").unlink()
    assert ResultFiles.read("out").parameters.jobs == 40


@pytest.mark.thorough
def test_workers_and_checkpoints_know_them(folder):
    result = call("run", "mine.toml", "--replications", "2", "--json")
    assert result.exit_code == 0, result.output
    whole = call("run", "mine.toml", "--checkpoint", "kept", "--json")
    again = call("run", "--resume", "kept", "--json")
    metrics = [json.loads(each.stdout)["metrics"] for each in (whole, again)]
    assert metrics[0] == metrics[1]
    assert read("kept").scenario.parameters.longest == 12.5


@pytest.mark.thorough
def test_studies_vary_them(folder):
    outcome = Study.load("study.toml").run("study.db")
    means = outcome.points.set_index(["policy", "longest"])["mean_turnaround"]
    of_mine, of_dll = means["own_settings:Nearest over fcfs"], means["dll over fcfs"]
    assert of_mine.nunique() == 2
    assert of_dll.nunique() == 1

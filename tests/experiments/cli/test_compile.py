"""`metasched compile`."""

from __future__ import annotations

import re

from click.testing import CliRunner

from agents.registry import GLOBAL, LOCAL
from experiments.cli import compile as command
from experiments.cli.app import main
from experiments.scenario.files import packaged_names
from experiments.scenario.scenario import Scenario
from grid.kernel.loop import Kind


def test_what_scenarios_need_is_compiled_and_told_with_its_time():
    got = CliRunner().invoke(main, ["compile", "quickstart", "two_sites"])
    assert got.exit_code == 0
    lines = got.stdout.splitlines()
    assert [re.fullmatch(r"(\S+) +[0-9.]+ s", line)[1] for line in lines] == [
        *("quickstart", "two_sites", "all"),
    ]


def test_all_is_the_kernel_in_each_kind_and_all_packaged_scenarios():
    names = [words for words, _ in command._all()]
    assert names[: len(Kind)] == [f"the kernel, {kind.value}" for kind in Kind]
    assert {"quickstart", "site", "muscle", "hierarchy"} <= {*names[len(Kind) :]}


def test_other_policies_are_compiled_too(monkeypatch):
    ran = []
    monkeypatch.setattr("experiments.run.running.run", ran.append)
    dict(command._all())["other policies"]()
    pairs = [(each.global_scheduler, each.local_scheduler) for each in ran]
    packaged = [Scenario.load(name) for name in packaged_names()]
    pairs += [(each.global_scheduler, each.local_scheduler) for each in packaged]
    assert {name for name, _ in pairs} >= GLOBAL.keys()
    assert {name for _, name in pairs} >= LOCAL.keys() - {"recorded"}


def test_an_unknown_scenario_is_told_before_anything_is_compiled():
    got = CliRunner().invoke(main, ["compile", "quickstart", "quickstrat"])
    assert got.exit_code == 2
    assert got.stdout == ""
    assert "did you mean quickstart" in got.stderr

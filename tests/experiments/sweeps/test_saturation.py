"""The search for the load above which queues grow without end."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from experiments.cli.app import main
from experiments.scenario.scenario import Scenario
from experiments.sweeps.bracket import JUST_BORNE, Bracket
from experiments.sweeps.saturation import Saturation, find_saturation
from experiments.sweeps.statistics import Interval
from grid.capacity import ordered_capacity
from grid.errors import GridError
from grid.platform.multicluster import Platform
from grid.workloads.component_sizes import parse_sizes

EXACT = ordered_capacity([parse_sizes("D(0.9)[1,8]", 32).density()], [32]).utilization
"""Of single-component jobs on a cluster of their own: one minus the capacity loss, 0.9286."""


def quiet(line):
    """Be told how it goes on."""


@given(truth=st.floats(0.01, 0.99), width=st.floats(0.001, 0.2), doubt=st.floats(0.0, 0.1))
def test_a_bracket_closes_around_what_growth_tells(truth, width, doubt):
    bracket = Bracket(width)
    while (load := bracket.next_load()) is not None:
        assert bracket.low < load < bracket.high
        assert load not in bracket.growth
        growth = JUST_BORNE + (load - truth)
        bracket.learn(load, Interval(growth, doubt))
    assert bracket.low <= truth <= bracket.high
    assert bracket.high - bracket.low <= 2 * (doubt + width) + 1e-9
    for load in bracket.growth:
        told = {"borne": load <= truth, "not borne": load >= truth, "open": True}
        assert told[bracket.verdict(load)]


def single_component(jobs, clusters):
    settings = ["composition=100", f"jobs={jobs}", f"clusters={clusters}"]
    return Scenario.load("queues").changed(settings, global_scheduler="ls-or")


@pytest.mark.thorough
def test_single_component_jobs_on_one_cluster():
    found = find_saturation(single_component(20_000, 1), 0, quiet, width=0.02)
    assert found.bracket.low < EXACT < found.bracket.high
    assert found.bracket.high - found.bracket.low < 0.12


@pytest.mark.slow
def test_single_component_jobs_on_four_clusters():
    found = find_saturation(single_component(1_000_000, 4), 0, quiet, workers=2)
    assert found.bracket.low < EXACT < found.bracket.high
    assert found.bracket.high - found.bracket.low < 0.02


@pytest.mark.thorough
def test_any_scenario_of_mode_open():
    """A server that is never idle while somebody waits bears every load below 1."""
    parameters = {"mode": "open", "jobs": 20_000, "max_size": 1, "assign_deadlines": False}
    scenario = Scenario("server", Platform.star([1]), parameters, "dll", "fcfs")
    found = find_saturation(scenario, 1, quiet, width=0.05).bracket
    assert 0.85 < found.low < found.high == 1


def test_a_bracket_that_stays_wider_than_asked_for_says_so():
    bracket = Bracket(0.2)
    while (load := bracket.next_load()) is not None:
        bracket.learn(load, Interval(JUST_BORNE, 0.0 if load < 0.6 else 9.0))
        bracket.low = max(bracket.low, 0.5)
    (remark,) = Saturation(Scenario.load("queues"), 0, 2, bracket).remarks
    assert remark.startswith("wider than the width asked for, 0.2: of loads from 0.625 to 0.875 ")
    bracket.low = 0.76
    (remark,) = Saturation(Scenario.load("queues"), 0, 2, bracket).remarks
    assert "of load 0.875 runs did not tell; more jobs a run would" in remark
    bracket.high = 0.6
    assert Saturation(Scenario.load("queues"), 0, 2, bracket).remarks == []


@pytest.mark.parametrize(
    ("growths", "says"),
    [
        ({0.5: 1, 0.75: 4}, "between 0.5 and 0.75"),
        (
            {0.5: 1, 0.75: 1, 0.875: 0},
            "above 0.75; of loads above it, up to 0.875, runs did not tell",
        ),
        ({0.5: 4, 0.25: 4, 0.125: 0}, "below 0.25; of loads below it, to 0.125, runs did not tell"),
        ({0.5: 1}, "above 0.5, the highest load that was tried"),
        ({0.5: 4}, "below 0.5, the lowest load that was tried"),
        ({0.5: 0, 0.75: 0}, "not found; of loads from 0.5 to 0.75 no runs told"),
    ],
)
def test_only_loads_that_were_tried_are_told(growths, says):
    bracket = Bracket(0.2)
    for load, growth in growths.items():
        bracket.learn(load, Interval(growth or JUST_BORNE, 0.1))
    found = Saturation(Scenario.load("queues"), 0, 2, bracket).found
    assert found == f"maximal utilization: {says}"


@pytest.mark.parametrize(
    "changes",
    [["computation_fraction=0.5"], ["staging_time=10"], ["rate=2"], ["global=fixed-penalty"]],
)
def test_a_load_is_no_utilization_where_jobs_take_longer(changes):
    scenario = Scenario.load("queues")
    for name, _, value in (each.partition("=") for each in changes):
        if name == "rate":
            clusters = [
                replace(each, rate=float(at + 1))
                for at, each in enumerate(scenario.platform.clusters)
            ]
            scenario = replace(
                scenario, platform=replace(scenario.platform, clusters=tuple(clusters))
            )
        elif name == "global":
            scenario = replace(scenario, global_scheduler=value)
        else:
            scenario = scenario.changed([f"{name}={value}"])
    bracket = Bracket(0.2)
    for load, growth in {0.5: 1, 0.75: 4}.items():
        bracket.learn(load, Interval(growth, 0.1))
    found = Saturation(scenario, 0, 2, bracket)
    assert found.found == "maximal load: between 0.5 and 0.75"
    assert "another share of them is in use" in found.remarks[0]


def test_a_load_that_is_given_is_said_to_be_without_effect():
    scenario = Scenario.load("queues").changed(["load=0.9", "chunk=70"])
    found = Saturation(scenario, 0, 2, Bracket(0.2))
    assert found.without_effect == {
        "load": "the search sets it",
        "chunk": "the global scheduler is not b3",
    }
    assert "load" not in found.summary()["parameters"]
    assert Saturation(Scenario.load("queues"), 0, 2, Bracket(0.2)).without_effect == {}


def test_planned_changes_of_a_platform_are_refused():
    later = {"cluster": "a", "what": "join", "at": 1e9}
    platform = Platform.from_dict({"clusters": [{"name": "a", "size": 64}], "changes": [later]})
    with pytest.raises(GridError, match=r"^changes of the platform: found 1; accepted: none, for"):
        find_saturation(replace(Scenario.load("queues"), platform=platform), 0, quiet)


def test_each_load_has_the_verdict_of_its_own_runs():
    """What other loads tell of one narrows the bracket, and changes no verdict that was told."""
    bracket, told = Bracket(0.2), {}
    growths = {0.5: Interval(2.0, 1.0), 0.25: Interval(1.0, 0.1), 0.75: Interval(1.0, 0.1)}
    for load, growth in growths.items():
        bracket.learn(load, growth)
        told[load] = bracket.verdict(load)
    assert told == {0.5: "open", 0.25: "borne", 0.75: "borne"}
    assert {load: bracket.verdict(load) for load in growths} == told
    assert (bracket.low, bracket.untold) == (0.75, [])


REJECTING = """
global = "dll"
local = "fcfs"
parameters = {mode = "open", jobs = 2000, max_size = 10, assign_deadlines = false}
[[clusters]]
name = "A"
size = 8
"""


@pytest.mark.thorough
def test_a_load_of_which_part_is_rejected_is_no_utilization(tmp_path):
    """Sizes from 1 to 10 are as likely: those of 9 and 10 are 20 % of the jobs, 35 % of work."""
    (tmp_path / "wide.toml").write_text(REJECTING)
    words = ["saturation", str(tmp_path / "wide.toml"), "--width", "0.3", "--replications", "2"]
    shown = CliRunner().invoke(main, words)
    assert shown.exit_code == 0
    assert "maximal utilization" not in shown.stdout
    assert "rejected: up to " in shown.stdout
    told = json.loads(CliRunner().invoke(main, [*words, "--json"]).stdout)
    assert told["high"] is None
    line = f"maximal load offered, with what was rejected of it: above {told['low']:.5g}; of "
    assert line in shown.stdout
    for each in told["rejected"]:
        assert (each["jobs"], each["work"]) == pytest.approx((0.2, 0.35), abs=0.04)


@pytest.mark.thorough
def test_a_policy_that_rejects_all_bears_nothing(tmp_path, monkeypatch):
    (tmp_path / "refusing.py").write_text(
        "from agents.schedulers import REJECT, GlobalScheduler\n"
        "class All(GlobalScheduler):\n    def place(self, job):\n        return REJECT\n"
    )
    (tmp_path / "wide.toml").write_text(REJECTING)
    monkeypatch.chdir(tmp_path)
    got = CliRunner().invoke(main, ["saturation", "wide.toml", "--global", "refusing:All"])
    assert (got.exit_code, got.stdout) == (1, "")
    assert got.stderr.splitlines()[-1] == "metasched: all jobs of all runs were rejected"
    assert "borne" not in got.stderr


@pytest.mark.thorough
def test_the_command_tells_what_it_finds():
    words = ["saturation", "queues", "--global", "gs", "--set", "jobs=1000", "--width", "0.2"]
    result = CliRunner().invoke(main, [*words, "--json"])
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert (told["scenario"], told["global"], told["replications"]) == ("queues", "gs", 8)
    assert 0.5 <= told["low"] < told["high"] <= 1
    assert told["loads"] == sorted(told["loads"], key=lambda each: each["load"])
    assert {"load", "growth", "ci95", "verdict"} == set(told["loads"][0])
    shown = CliRunner().invoke(main, words)
    assert told["high"] == 1  # which is not tried
    assert f"maximal utilization: above {told['low']:.5g}; of loads above" in shown.stdout


@pytest.mark.parametrize(
    ("settings", "width", "says"),
    [
        (["mode=batch"], 0.01, "^changed: mode: found 'batch'; accepted: 'open'"),
        (["jobs=999"], 0.01, "^changed: jobs: found 999; accepted: a whole number from 1000"),
        ([], 1.0, "^width: found 1.0; accepted: a number above 0, below 1"),
    ],
)
def test_what_has_no_maximal_utilization_is_refused(settings, width, says):
    with pytest.raises(GridError, match=says):
        find_saturation(Scenario.load("queues").changed(settings), 0, quiet, width=width)


def test_a_log_is_refused(tmp_path):
    (tmp_path / "jobs.csv").write_text("arrival,size,runtime\n0,1,1\n")
    scenario = Scenario.load("queues").changed((), workload=str(tmp_path / "jobs.csv"))
    with pytest.raises(GridError, match="workload: found a log; accepted: synthetic jobs"):
        find_saturation(scenario, 0, quiet)


def test_metrics_of_ones_own_have_no_meaning():
    got = CliRunner().invoke(main, ["saturation", "queues", "--metric", "own:f"])
    assert got.exit_code == 2
    assert "saturation: no such option '--metric'" in got.stderr
    assert "--metric" not in CliRunner().invoke(main, ["saturation", "--help"]).stdout

"""Scenarios, policies and parameters, listed for people and for programs."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner

from agents.registry import GLOBAL, LOCAL, installed
from experiments.cli.app import main
from experiments.cli.listing import GROUPS, groups_of
from experiments.scenario.files import packaged_names
from experiments.scenario.parameters import Parameters
from experiments.scenario.scenario import Scenario

ALL = type(Scenario.load("quickstart").parameters).model_fields
OWN = """
from agents.schedulers import LocalScheduler


class Smallest(LocalScheduler):
    def priority(self, job):
        return job.size
"""


def listed(*words):
    result = CliRunner().invoke(main, [*words])
    assert result.exit_code == 0, result.output
    return result.stdout


def rows(*words):
    return json.loads(listed(*words, "--json"))


@pytest.mark.thorough
@pytest.mark.parametrize("name", packaged_names())
def test_what_validate_says_fits_a_screen(name, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    whole = listed("validate", name)
    assert "…" not in whole  # of what is no screen, such as a file
    monkeypatch.setenv("COLUMNS", "80")
    lines = listed("validate", name).splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines[1:])) <= 80  # the first has the title
    changed = [row for row in rows("validate", name)["parameters"] if row["changed"]]
    told = {line.split()[0] for line in lines if line.strip()}
    assert changed
    assert {row["name"] for row in changed} <= told


def test_all_parameters_are_listed_on_request():
    lines = [line.split() for line in listed("validate", "quickstart", "--all").splitlines()]
    names = [words[0] for words in lines if words]
    for name in ALL:
        assert name in names
    assert names.count("co-allocation") == 1


def test_the_platform_is_as_it_would_be_run(tmp_path):
    site = tmp_path / "mine.toml"
    site.write_text(
        "[[clusters]]\nname = 'A'\nsize = 8\nlatency = 0.25\n"
        "[[changes]]\ncluster = 'A'\nwhat = 'fail'\nat = 77\n"
    )
    told = rows("validate", str(site))["platform"]
    assert told["clusters"] == [{"name": "A", "size": 8, "rate": 1.0}]
    assert told["links"] == [{"between": ["A", "switch"], "capacity": 1000.0, "latency": 0.25}]
    assert told["changes"] == [{"cluster": "A", "what": "fail", "at": 77}]
    lines = [line.split() for line in listed("validate", str(site), "--all").splitlines()]
    assert ["A", "8", "1", "switch", "1000", "0.25"] in lines
    assert ["A", "fail", "all", "77", "-"] in lines
    log = tmp_path / "log.swf"
    log.write_text("; MaxProcs: 48\n1 0 0 9 4 -1 -1 4 9" + 9 * " -1")
    told = rows("validate", "site", "--workload", str(log))
    assert told["platform"]["clusters"][0]["size"] == 48


def test_parameters_are_as_they_would_be_run():
    found = rows("validate", "quickstart", "--set", "jobs=7", "--set", "load=0.7")
    told = {row["name"]: row for row in found["parameters"]}
    assert [*told] == [*ALL]
    assert told["jobs"]["value"] == 7
    assert told["jobs"]["default"] == 1000
    assert told["jobs"]["changed"]
    assert not told["load"]["changed"]
    assert told["load"]["matters"]
    assert not told["queue"]["matters"]  # the mode is open
    assert told["population"]["matters"]
    assert not told["round_time"]["matters"]
    assert "Synthetic jobs" in told["jobs"]["meaning"]
    other = rows("validate", "quickstart", "--local", "fcfs", "--global", "oas")["parameters"]
    matters = {row["name"]: row["matters"] for row in other}
    assert matters["round_time"]
    assert not matters["population"]
    assert not matters["half_life"]


def test_every_parameter_has_a_group():
    assert {*GROUPS} <= {*Parameters.model_fields}
    groups = groups_of(type(Scenario.load("quickstart").parameters))
    declared = {"co-allocation", "order of jobs", "OAS", "distance", "energy", "TITAN", "A4"}
    assert {*groups.values()} == {*GROUPS.values(), *declared, "Slurm"}


def test_classes_and_files_of_policies_and_scenarios_are_named():
    for row in rows("policies"):
        module, name = row["class"].split(":")
        found = import_module(module)
        assert hasattr(found, name)
        assert Path(row["file"]) == Path(found.__file__).resolve()
    for row in rows("scenarios"):
        assert Path(row["file"]).stem == row["name"]
        assert Path(row["file"]).is_file()
    words = " ".join(listed("policies", "--level", "local").split())
    assert "SjfScheduler in agents/disciplines.py" in words
    assert "experiments/scenarios/quickstart.toml" in listed("scenarios")


def test_those_of_a_level_or_a_paper_alone():
    assert [row["name"] for row in rows("policies", "--level", "local")] == [*LOCAL]
    assert [row["name"] for row in rows("policies", "--level", "global")] == [*GLOBAL]
    of_paper = rows("policies", "--level", "global", "--paper", "muscle")
    assert {"muscle", "dll", "wrand", "a4"} == {row["name"] for row in of_paper}
    assert {row["paper"] for row in rows("scenarios", "--paper", "queues")} == {"queues"}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("policies", "--level", "local", "--paper", "oas"), "a paper without local policies; "),
        (("scenarios", "--paper", "maxutil"), "a paper without scenarios; accepted: beosim, "),
        (("policies", "--paper", "musle"), "found 'musle'; did you mean muscle?"),
    ],
)
def test_a_paper_with_nothing_to_list_is_told_from_none(words, told):
    found = CliRunner().invoke(main, words)
    assert found.exit_code == 2
    assert told in found.output


def test_tables_lose_nothing_in_a_narrow_terminal(monkeypatch):
    whole = listed("policies")
    monkeypatch.setenv("COLUMNS", "40")
    assert listed("policies") == whole
    assert "batch: rounds of jobs" in listed("validate", "quickstart")
    assert "…" not in listed("run", "quickstart", "--set", "jobs=30")


def test_a_scenario_of_a_users_own_names_its_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "smallest_first.py").write_text(OWN)
    (tmp_path / "mine.toml").write_text(
        'global = "ect"\nlocal = "smallest_first:Smallest"\n[[clusters]]\nname = "C1"\nsize = 4\n'
    )
    found = rows("validate", "mine.toml")
    assert found["file"] == str(tmp_path / "mine.toml")
    assert found["local"] == {
        "name": "smallest_first:Smallest",
        "class": "smallest_first:Smallest",
        "file": str(tmp_path / "smallest_first.py"),
    }
    shown = listed("validate", "mine.toml")
    assert "local     smallest_first:Smallest: Smallest in smallest_first.py" in shown
    assert "scenario  mine.toml" in shown
    sys.modules.pop("smallest_first", None)


@pytest.fixture
def package(tmp_path, monkeypatch):
    """An installed package that names schedulers: one, one that is not there, one of ours."""
    (tmp_path / "smallest_of_all.py").write_text(OWN)
    info = tmp_path / "small_schedulers-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: small-schedulers\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[metasched.schedulers]\nsmallest = smallest_of_all:Smallest\n"
        "lost = nowhere_at_all:Lost\nfcfs = smallest_of_all:Smallest\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    installed.cache_clear()
    yield tmp_path
    installed.cache_clear()


def test_schedulers_of_installed_packages_have_names(package):
    told = {row["name"]: row for row in rows("policies")}
    assert told["smallest"]["class"] == "smallest_of_all:Smallest"
    assert told["smallest"]["level"] == "local"
    assert told["lost"]["title"].startswith("cannot be loaded: scheduler 'lost': no module")
    assert told["fcfs"]["class"] == "agents.disciplines:FcfsScheduler"
    assert {"smallest", "lost"} <= {row["name"] for row in rows("policies", "--level", "local")}
    assert "smallest" not in {row["name"] for row in rows("policies", "--level", "global")}
    assert "lost" in listed("policies")
    assert "nowhere_at_all:Lost" in listed("policies")
    assert " in\n" not in listed("policies")
    got = rows("run", "quickstart", "--local", "smallest", "--set", "jobs=20")
    assert got["local"] == "smallest"
    scenario = package / "mine.toml"
    scenario.write_text('local = "smallest"\n[[clusters]]\nname = "A"\nsize = 8\n')
    assert rows("validate", str(scenario))["local"]["class"] == "smallest_of_all:Smallest"
    wrong = CliRunner().invoke(main, ["run", "quickstart", "--local", "smalest"])
    assert "did you mean smallest?" in wrong.stderr

"""Scenarios in Python, and the modules that scenarios name."""

from __future__ import annotations

import sys

import pytest

from experiments.scenario.scenario import Scenario
from tests.experiments.scenario_files import SITE, run_of


def test_a_script_is_a_scenario(written):
    script = """
from agents.balancers import RoundRobinScheduler
from agents.schedulers import LocalScheduler
from experiments.scenario.scenario import Scenario
from grid.platform.multicluster import Platform


class Mine(LocalScheduler):
    def priority(self, job):
        return -job.size


scenario = Scenario(
    "scripted", Platform.star([8, 4]), {"mode": "open", "jobs": 25, "max_size": 4},
    RoundRobinScheduler, Mine,
)
if __name__ == "__main__":
    raise SystemExit("not when it is loaded")
"""
    scenario = Scenario.load(written(script, "mine.py"))
    model, records = run_of(scenario)
    assert (scenario.name, len(records)) == ("scripted", 25)
    assert model.clusters[1].scheduler.name == "MINE C2"


POLICIES = """
from agents.schedulers import GlobalScheduler


class Here(GlobalScheduler):
    label = "{}"

    def place(self, job):
        return self.clusters[0] if job.size <= self.clusters[0].size else None
"""


@pytest.fixture
def two_folders(tmp_path, monkeypatch):
    """Return a folder whose modules are those that a scenario means, and go to another one."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    for folder in ("own", "elsewhere"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "own_policies.py").write_text(POLICIES.format(folder.upper()))
    (tmp_path / "elsewhere" / "other_policies.py").write_text(POLICIES.format("OTHER"))
    monkeypatch.chdir(tmp_path / "elsewhere")
    yield tmp_path / "own"
    for name in ("own_policies", "other_policies"):
        sys.modules.pop(name, None)


def test_modules_of_a_file_are_those_of_its_folder_then_of_the_current_one(two_folders):
    path = two_folders / "mine.toml"
    path.write_text('global = "own_policies:Here"\nlocal = "fcfs"\n' + SITE)
    scenario = Scenario.load(path.as_posix())
    assert scenario.model().scheduler.name == "OWN"
    other = scenario.changed(global_scheduler="other_policies:Here")
    assert other.model().scheduler.name == "OTHER"


def test_a_script_imports_its_neighbours(two_folders):
    path = two_folders / "mine.py"
    path.write_text(
        "from experiments.scenario import Scenario\nfrom grid.platform import Platform\n"
        "from own_policies import Here\n"
        'scenario = Scenario("mine", Platform.star([8]), global_scheduler=Here)\n'
    )
    assert Scenario.load("../own/mine.py").model().scheduler.name == "OWN"


def test_an_error_in_a_script_is_shown_as_it_is(written):
    with pytest.raises(ZeroDivisionError):
        Scenario.load(written("1 / 0", "wrong.py"))

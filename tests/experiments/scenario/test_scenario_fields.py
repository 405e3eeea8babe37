"""What programs hand to a scenario that it cannot take: told by name, found and accepted."""

from __future__ import annotations

import numpy as np
import pytest

import metasched
from experiments.scenario.checked import ScenarioError
from experiments.scenario.scenario import Scenario
from grid.errors import GridError
from grid.platform.multicluster import Platform


@pytest.fixture(scope="module")
def quickstart():
    return Scenario.load("quickstart")


@pytest.mark.parametrize(
    ("field", "found", "accepted"),
    [
        ("platform", "nix.toml", "a Platform (grid.platform.reading.read_platform reads one"),
        ("platform", 3, "a Platform"),
        ("global_scheduler", 3, "a name, module:Class, or a subclass of agents.schedulers.Global"),
        ("global_scheduler", None, "a name"),
        ("local_scheduler", int, "a name, module:Class, or a subclass of agents.schedulers.Local"),
        ("own_metrics", [len], "a list of module:function"),
        ("own_metrics", "met:small", "a list of module:function"),
        ("own_metrics", 3, "a list of module:function"),
        ("outputs", "seed_schedules", "a list of seed_schedules"),
        ("workload", "", "SITE=FILE, or one file, or None"),
        ("workload", 3, "a list of SITE=FILE, or one file"),
        ("workload", [3], "a list of SITE=FILE, or one file"),
        ("name", 3, "a string"),
        ("title", None, "a string"),
    ],
)
def test_a_field_of_another_kind_is_told_by_its_name(quickstart, field, found, accepted):
    with pytest.raises(ScenarioError) as error:
        quickstart.changed(**{field: found})
    told = str(error.value)
    assert f": {field}: found " in told
    assert f"; accepted: {accepted}" in told


def test_parameters_that_are_no_table_are_told():
    with pytest.raises(ScenarioError, match="mine: parameters: found 3; accepted: values of"):
        Scenario("mine", Platform.star([4]), 3)


@pytest.mark.parametrize("seed", ["a", None, True, -1, 1.5, 2.0])
def test_a_seed_is_a_whole_number_from_0(seed):
    with pytest.raises(GridError) as error:
        metasched.run("quickstart", seed=seed)
    assert str(error.value) == f"quickstart: seed: found {seed!r}; accepted: a whole number from 0"


def test_a_seed_of_numpy_is_a_number(quickstart):
    assert quickstart.changed(jobs=5, warmup=0).model(np.int64(3)).seed == 3


@pytest.mark.parametrize("name", [3, None, b"quickstart"])
def test_what_names_no_scenario_is_told(name):
    with pytest.raises(ScenarioError, match=r"^scenario: found .*; accepted: a name; .* a \.toml"):
        Scenario.load(name)


def test_a_text_is_one_setting(quickstart):
    assert quickstart.changed("load=0.9").parameters.load == 0.9
    assert quickstart.changed(each for each in ["load=0.9", "jobs=7"]).parameters.jobs == 7
    for settings in ("load", 3, [3]):
        with pytest.raises(ScenarioError, match=r"^changed: found .*; accepted: name=value$"):
            quickstart.changed(settings)


def test_parameters_are_changed_by_their_own_names_alone(quickstart):
    with pytest.raises(ScenarioError, match="changed: parameters: unknown parameter"):
        quickstart.changed(parameters={"jobs": 3})

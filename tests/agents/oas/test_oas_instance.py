"""Instances: what is none, and the arithmetic of the model."""

from __future__ import annotations

from fractions import Fraction

import pytest

from agents.oas import Instance
from agents.oas.model import link_demand, run_time
from grid.errors import GridError
from tests.agents.small_oas import POWERS, some


def test_a_job_slows_down_with_its_slowest_node_and_loads_links_by_equation_4():
    instance = Instance.from_dict(
        {
            "clusters": [
                {"nodes": 4, "effective_power": power, "link_mbps": 1000} for power in POWERS
            ],
            "jobs": [{"tasks": 8, "base_time": 670000, "bandwidth": 40, "sigma": 0.7}],
        }
    )
    assert run_time(instance, 0, (4, 4, 0)) == Fraction(670000) * 37 / 30
    assert run_time(instance, 0, (4, 0, 4)) == 670000 * Fraction("1.7")
    assert [link_demand(instance.jobs[0], n) for n in (0, 4, 8)] == [0, Fraction(640, 7), 0]


@pytest.mark.parametrize(
    ("where", "key", "value", "message"),
    [
        ("jobs", "tasks", 13, r"jobs\[0\].tasks: found 13; accepted: at most 5, the nodes"),
        ("jobs", "tasks", 0, r"jobs\[0\].tasks: found 0; accepted: a whole number from 1"),
        ("jobs", "tasks", 1.5, r"jobs\[0\].tasks: found 1.5"),
        ("jobs", "base_time", 0, r"base_time: found 0; accepted: a number from 1e-06 to 1e\+12"),
        ("jobs", "base_time", 10**400, r"jobs\[0\].base_time: found 1000"),
        ("jobs", "bandwidth", -1, r"bandwidth: found -1; accepted: a number from 0 to 1e\+12"),
        ("jobs", "sigma", 1.1, r"jobs\[0\].sigma: found 1.1; accepted: a number from 0 to 1"),
        ("jobs", "sigma", None, r"jobs\[0\].sigma: found None"),
        ("jobs", "colour", 1, r"jobs\[0\].colour: unknown key; accepted: tasks, base_time"),
        ("clusters", "effective_power", 0, r"clusters\[0\].effective_power: found 0; accepted"),
        ("clusters", "effective_power", 1e-7, "effective_power: found 1e-07; .* from 1e-06 to 1$"),
        ("clusters", "effective_power", 1.5, r"clusters\[0\].effective_power: found 1.5"),
        ("clusters", "link_mbps", float("inf"), r"clusters\[0\].link_mbps: found inf"),
        ("clusters", "nodes", True, r"clusters\[0\].nodes: found True"),
    ],
)
def test_an_instance_that_is_none_is_refused_by_its_key(where, key, value, message):
    instance = some(0, 2)
    instance[where][0][key] = value
    with pytest.raises(GridError, match=message):
        Instance.from_dict(instance)


@pytest.mark.parametrize(
    ("instance", "message"),
    [
        ([], "instance: found"),
        ({"clusters": []}, "jobs: not found; accepted: all of clusters, jobs"),
        ({"clusters": [], "jobs": []}, "clusters: found none; accepted: at least one"),
        ({"clusters": 3, "jobs": []}, "clusters: found 3; accepted: a list of objects"),
        ({"clusters": [3], "jobs": []}, r"clusters\[0\]: found 3; accepted: an object of nodes"),
    ],
)
def test_what_is_no_instance_is_refused(instance, message):
    with pytest.raises(GridError, match=message):
        Instance.from_dict(instance)

"""Metrics of a user's own: on the command line, in scenarios, over replications."""

from __future__ import annotations

import json
import sys

import pytest
from click.testing import CliRunner

from experiments.cli import main
from experiments.own_metrics import own_metric
from experiments.run import run
from experiments.scenario import Scenario
from grid.errors import GridError

MODULE = """
import numpy as np

def longest_wait(result):
    return result.counted["wait"].max()

def jobs_that_count(result):
    return len(result.counted)

def nothing(result):
    return float("nan")

def words(result):
    return "long"

def mean_wait(result):
    return 1.0

def broken(result):
    raise RuntimeError("of the metric")
"""
SMALL = ["quickstart", "--set", "jobs=60", "--set", "warmup=20", "--global", "ect"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "own.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("own", None)
    return tmp_path


def metasched(*words):
    return CliRunner().invoke(main, [*words])


def test_a_metric_is_among_the_metrics_of_a_run(folder):
    found = metasched(
        "run", *SMALL, "--metric", "own:longest_wait", "--metric", "own:jobs_that_count",
        "--metric", "own:nothing", "--json", "--out", "out",
    )  # fmt: skip
    assert found.exit_code == 0, found.output
    summary = json.loads(found.stdout)
    assert summary["own_metrics"] == ["own:longest_wait", "own:jobs_that_count", "own:nothing"]
    metrics = summary["metrics"]
    assert metrics["longest_wait"] == metrics["max_wait"] > 0
    assert metrics["jobs_that_count"] == 60  # beside the 20 of the warm-up
    assert metrics["nothing"] is None
    verified = metasched("verify", "out", "--json")
    assert verified.exit_code == 0, verified.output
    assert "metrics/longest_wait" in verified.stdout


def test_people_see_it_too(folder):
    found = metasched("run", *SMALL, "--metric", "own:longest_wait")
    assert found.exit_code == 0
    assert "longest_wait" in found.output


def test_a_scenario_names_it_and_replications_have_its_mean(folder):
    (folder / "mine.toml").write_text(
        'global = "ect"\nlocal = "fcfs"\nown_metrics = ["own:jobs_that_count"]\n'
        '[[clusters]]\nname = "C1"\nsize = 4\n'
        '[parameters]\nmode = "open"\njobs = 40\nmax_size = 4\n'
    )
    found = metasched("run", "mine.toml", "--replications", "2", "--json")
    assert found.exit_code == 0, found.output
    means = json.loads(found.stdout)["metrics"]
    assert means["jobs_that_count"] == {"mean": 40.0, "ci95": 0.0}


def test_a_function_works_on_results_as_it_is(folder):
    import own

    scenario = Scenario.load("quickstart").changed(["jobs=60", "warmup=20"])
    result = run(scenario)
    told = run(scenario.changed(own_metrics=("own:longest_wait",)), keep_jobs=False)
    assert told.own_metrics == {"longest_wait": own.longest_wait(result)}
    assert "own_metrics" not in result.summary()


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("own", "metric 'own': unknown; accepted: module:function"),
        ("missing:f", "metric 'missing:f': no module 'missing'"),
        ("own:f", "metric 'own:f': module 'own' has no function 'f'"),
        ("own:words", "metric 'own:words': found 'long'; accepted: a number, or None"),
        ("own:mean_wait", "metric 'own:mean_wait': mean_wait is there already"),
    ],
)
def test_what_is_no_metric_is_refused_in_one_line(metric, message, folder):
    found = metasched("run", *SMALL, "--metric", metric, "--out", "out")
    assert found.exit_code == 2
    assert found.stderr.startswith(f"metasched: {message}")
    assert found.stderr.count("\n") == 1
    assert not (folder / "out" / "summary.json").exists()


def test_what_there_is_not_is_refused_before_the_run(folder):
    scenario = Scenario.load("quickstart").changed(own_metrics=("own:f",))
    with pytest.raises(GridError, match="no function 'f'"):
        scenario.model()
    assert metasched("validate", "quickstart", "--metric", "own:f").exit_code == 2
    assert own_metric("own:broken") is not None


def test_an_error_in_a_metric_shows_where_it_is(folder):
    found = metasched("run", *SMALL, "--metric", "own:broken")
    assert found.exit_code == 1
    assert "RuntimeError: of the metric" in found.stderr
    assert "def broken" not in found.stderr
    assert "in broken" in found.stderr


def test_a_scenario_that_names_no_list_is_refused(folder):
    (folder / "mine.toml").write_text(
        'own_metrics = "own:f"\n[[clusters]]\nname = "C1"\nsize = 4\n'
    )
    found = metasched("validate", "mine.toml")
    assert found.exit_code == 2
    assert "own_metrics: found 'own:f'; accepted: a list of module:function" in found.stderr

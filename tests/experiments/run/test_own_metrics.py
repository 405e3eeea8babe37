"""Metrics of a user's own: on the command line, in scenarios, over replications."""

from __future__ import annotations

import csv
import json
import sys

import pytest
from click.testing import CliRunner

from experiments.cli.app import main
from experiments.run.own_metrics import TAKEN, own_metric
from experiments.run.running import run
from experiments.scenario.scenario import Scenario
from experiments.studies.outcome import StudyOutcome
from grid.errors import GridError

MODULE = """
import sys
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

rejected = policy = load = mean_wait

def leaves(result):
    sys.exit(0)

def keyed():
    return 1.0

def weighted(result, weight):
    return weight

def scaled(result, scale=2.0, *more, **others):
    return scale

class Wait:
    def __init__(self, result):
        pass

def endless(result):
    return float("-inf")

def huge(result):
    return 10**400

def broken(result):
    raise RuntimeError("of the metric")

def odd(result):
    if int(1000 * result.counted["turnaround"].mean()) % 5 == 0:
        raise ValueError("odd")
    return result.counted["wait"].mean()
"""


def _line_of(text):
    return MODULE[: MODULE.index(text)].count("\n") + 1


SCENARIO = """
global = "ect"
local = "fcfs"
own_metrics = ["own:jobs_that_count"]
clusters = [{name = "C1", size = 4}]
parameters = {mode = "open", jobs = 40, max_size = 4}
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
        "--metric", "own:nothing", "--metric", "own:scaled", "--json", "--out", "out",
    )  # fmt: skip
    assert found.exit_code == 0, found.output
    summary = json.loads(found.stdout)
    names = ["longest_wait", "jobs_that_count", "nothing", "scaled"]
    assert summary["own_metrics"] == [f"own:{name}" for name in names]
    metrics = summary["metrics"]
    assert metrics["longest_wait"] == metrics["max_wait"] > 0
    assert metrics["jobs_that_count"] == 60  # beside the 20 of the warm-up
    assert metrics["nothing"] is None
    assert metrics["scaled"] == 2.0
    verified = metasched("verify", "out", "--json")
    assert verified.exit_code == 0, verified.output
    assert "metrics/longest_wait" in verified.stdout


SPOILS = """
def spoils(result):
    result.jobs.loc[:, "wait"] = -1.0
    return result.jobs["wait"].max()
"""


def test_what_a_metric_does_to_the_jobs_no_other_sees(folder):
    (folder / "own.py").write_text(MODULE + SPOILS)
    chosen = ["own:spoils", "own:longest_wait"]
    result = run(Scenario.load("quickstart").changed(["jobs=60"], own_metrics=chosen))
    metrics = result.summary()["metrics"]
    assert metrics["spoils"] == -1.0
    assert metrics["longest_wait"] == metrics["max_wait"] == result.jobs["wait"].max() > 0


def test_people_see_it_too(folder):
    found = metasched("run", *SMALL, "--metric", "own:longest_wait")
    assert found.exit_code == 0
    assert "longest_wait" in found.output


@pytest.mark.thorough
def test_a_scenario_names_it_and_replications_have_its_mean(folder):
    (folder / "mine.toml").write_text(SCENARIO)
    found = metasched("run", "mine.toml", "--replications", "2", "--json")
    assert found.exit_code == 0, found.output
    means = json.loads(found.stdout)["metrics"]
    assert means["jobs_that_count"] == {"mean": 40.0, "ci95": 0.0}


STUDY = """
scenario = "quickstart"
metric = "odd"
own_metrics = ["own:odd"]
policies = [{global = "ect", local = "easy"}, {global = "dll", local = "fcfs"}]
set = {jobs = 30, load = 0.6, mode = "open"}
replications = {least = 8}
"""


@pytest.mark.thorough
def test_a_metric_that_fails_in_some_runs_of_a_study(folder):
    """It costs those runs, of all policies: else the one that fails would not be compared."""
    (folder / "study.toml").write_text(STUDY)
    found = metasched("study", "study.toml", "--out", "study.db", "--workers", "1", "--json")
    told, failed = json.loads(found.stdout), found.stderr.splitlines()[-1]
    runs = StudyOutcome.read(folder / "study.db").runs
    lacks = runs[runs["odd"].isna()]
    assert 0 < len(lacks) < len(runs)
    assert found.exit_code == 1
    assert failed.startswith("metasched: Metric own:odd failed in ")
    for policy, of in lacks.groupby("policy"):
        one = f"--seed {of['seed'].iloc[0]} --set jobs=30 --set load=0.6 --set mode=open"
        assert f"{len(of)} of 8 runs of {policy} (one: {one})" in failed
    left = 8 - lacks["replication"].nunique()
    assert [row["n"] for row in told["ranking"]] == [left] * 2
    have = runs[~runs["replication"].isin(lacks["replication"])]
    means = have.groupby("policy")["odd"].mean()
    for row in told["ranking"]:
        assert row["mean"] == pytest.approx(means[row["policy"]])


def test_a_study_names_a_metric_by_its_function(folder):
    (folder / "study.toml").write_text(STUDY.replace('"odd"', '"own:odd"', 1))
    found = metasched("study", "study.toml", "--out", "study.db")
    assert found.exit_code == 2
    assert "metric: found 'own:odd'; " in found.stderr
    assert "accepted: odd, with own_metrics = ['own:odd']" in found.stderr


def test_metrics_of_the_command_come_beside_those_of_the_scenario(folder):
    (folder / "mine.toml").write_text(SCENARIO)
    found = metasched("run", "mine.toml", "--metric", "own:longest_wait", "--json")
    metrics = json.loads(found.stdout)["metrics"]
    assert metrics["jobs_that_count"] == 40
    assert metrics["longest_wait"] > 0


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
        ("./own.py:f", "metric './own.py:f': found a path; accepted: the name of a Python file"),
        ("missing:f", "metric 'missing:f': no module 'missing'"),
        ("own:f", "metric 'own:f': module 'own' has no function 'f'"),
        ("own:Wait", "metric 'own:Wait': found a class; accepted: a function of one argument"),
        ("own:keyed", "metric 'own:keyed': found keyed(); accepted: a function of one argument"),
        ("own:weighted", "metric 'own:weighted': found weighted(result, weight); accepted: "),
        ("own:mean_wait", "metric 'own:mean_wait': mean_wait is there already"),
        ("own:rejected", "metric 'own:rejected': rejected is there already; accepted: a new name"),
        ("own:policy", "metric 'own:policy': policy is there already; accepted: a new name"),
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


@pytest.mark.parametrize(
    ("metric", "why"),
    [
        (
            "broken",
            f"RuntimeError: of the metric (own.py:{_line_of('raise')})",
        ),
        ("words", "found 'long'; accepted: a finite number, None or NaN"),
        ("endless", "found -inf; accepted: a finite number, None or NaN"),
        ("huge", "found 1000"),
        (
            "leaves",
            f"SystemExit: 0 (own.py:{_line_of('sys.exit')})",
        ),
    ],
)
def test_a_metric_that_fails_costs_no_more_than_itself(metric, why, folder):
    found = metasched(
        "run", *SMALL, "--metric", f"own:{metric}", "--metric", "own:longest_wait",
        "--json", "--out", "out", "--events", "out/events.jsonl",
    )  # fmt: skip
    assert found.exit_code == 1
    assert found.stderr.startswith(f"metasched: metric own:{metric}: {why}")
    of_metrics = [line for line in found.stderr.splitlines() if "metric own:" in line]
    assert of_metrics[0].endswith("; it is null")
    assert len(of_metrics) == 1
    metrics = json.loads(found.stdout)["metrics"]
    assert metrics[metric] is None
    assert metrics["longest_wait"] == metrics["max_wait"]
    assert json.loads((folder / "out" / "summary.json").read_text())["metrics"][metric] is None
    assert {"jobs.csv", "timeline.csv", "events.jsonl"} <= {
        path.name for path in (folder / "out").iterdir()
    }
    assert metasched("verify", "out").exit_code == 0


def test_all_frames_of_a_metric_that_fails_are_shown_on_request(folder):
    found = metasched("run", *SMALL, "--metric", "own:broken", "--traceback")
    assert found.exit_code == 1
    assert "in broken" in found.stderr
    assert "in measured" in found.stderr


@pytest.mark.thorough
def test_a_metric_that_fails_in_replications_is_null_and_said_once(folder):
    words = ["run", *SMALL, "--replications", "2", "--json", "--out", "out"]
    found = metasched(*words, "--metric", "own:broken", "--metric", "own:jobs_that_count")
    assert found.exit_code == 1
    summary = json.loads(found.stdout)
    assert summary["metrics"]["broken"] == {"mean": None, "ci95": None}
    assert summary["metrics"]["jobs_that_count"]["mean"] == 60
    first = summary["seeds"][0]
    second = summary["seeds"][1]
    line = f"metasched: metric own:broken: failed in 2 of 2 runs (--seed {first}, {second}); it is"
    assert found.stderr.count("own:broken") == 1
    assert line in found.stderr
    header = (folder / "out" / "replications.csv").read_text().splitlines()[0]
    assert "failed" not in header


@pytest.mark.thorough
def test_means_are_of_the_replications_that_have_a_metric(folder):
    words = ["run", "quickstart", "--set", "jobs=30", "--set", "load=0.6", "--set", "mode=open"]
    words += ["--metric", "own:odd", "--metric", "own:nothing"]
    words += ["--replications", "6", "--seed", "1"]
    found = metasched(*words, "--json", "--out", "out")
    assert found.exit_code == 1
    summary = json.loads(found.stdout)
    with (folder / "out" / "replications.csv").open() as file:
        rows = list(csv.DictReader(file))
    numbers = [float(row["odd"]) for row in rows if row["odd"]]
    failed = [row["seed"] for row in rows if not row["odd"]]
    assert 0 < len(numbers) < 6
    assert summary["metrics"]["odd"]["mean"] == pytest.approx(sum(numbers) / len(numbers))
    assert summary["metrics"]["odd"]["n"] == len(numbers)
    assert summary["metrics"]["nothing"] == {"mean": None, "ci95": None}
    assert f"failed in {len(failed)} of 6 runs (--seed {', '.join(failed)})" in found.stderr
    told = metasched(*words).stdout
    assert f"odd: none in {len(failed)} of 6 runs: its mean is of the others\n" in told
    assert "nothing: none in 6 of 6 runs\n" in told


def test_no_metric_of_a_run_can_be_named_as_one_of_the_users(folder):
    found = json.loads(metasched("run", *SMALL, "--json").stdout)["metrics"]
    assert {*found} <= TAKEN


@pytest.mark.thorough
def test_no_column_of_tables_of_several_runs_can_be(folder):
    """Else a metric would take the place of what tells the runs apart."""
    ran = metasched("run", *SMALL, "--replications", "2", "--out", "several")
    assert ran.exit_code == 0, ran.output
    with (folder / "several" / "replications.csv").open() as file:
        of_runs = [name for name in next(csv.reader(file)) if "/" not in name]
    (folder / "few.toml").write_text(
        'scenario = "quickstart"\nset.jobs = 30\nvary.load = [0.5, 0.8]\n'
        'own_metrics = ["own:load"]\nreplications.least = 2\n'
        'policies = {global = ["dll", "ect"], local = "fcfs"}\n'
    )
    refused = metasched("study", "few.toml", "--out", "few.db")
    assert refused.exit_code == 2
    assert "few.toml: vary: load: found a metric, too; accepted: one of another" in refused.stderr
    text = (folder / "few.toml").read_text().replace('own_metrics = ["own:load"]\n', "")
    (folder / "few.toml").write_text(text)
    study = metasched("study", "few.toml", "--out", "few.db", "--workers", "1", "--json")
    tables = json.loads(study.stdout)
    columns = {*tables["ranking"][0], *tables["points"][0], *tables["effects"][0]} - {"load"}
    assert {name for name in (*of_runs, *columns) if " " not in name} <= TAKEN


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "what"),
    [("n", "a column of results"), ("work", "a metric"), ("jobs", None)],
)
def test_no_setting_that_varies_can_be_named_as_a_number_of_runs(name, what, folder):
    (folder / "settings.py").write_text(
        "from dataclasses import dataclass\n"
        "from agents.registry import global_scheduler\n"
        "from grid.settings import setting\n\n"
        "@dataclass(frozen=True)\nclass Settings:\n"
        '    n: int = setting(1, "Candidates.", least=1)\n'
        '    work: int = setting(1, "Work.", least=1)\n\n'
        'class Own(global_scheduler("ect")):\n    settings_type = Settings\n'
    )
    (folder / "few.toml").write_text(
        f'scenario = "quickstart"\nset.load = 0.5\nset.mode = "open"\nvary.{name} = [20, 30]\n'
        'policies = {global = ["dll", "settings:Own"], local = "fcfs"}\nreplications.least = 2\n'
    )
    found = metasched("study", "few.toml", "--out", "few.db", "--workers", "1")
    if what is None:  # a parameter of the product's own is no number of a run
        assert found.exit_code == 0, found.output
    else:
        line = f"few.toml: vary: {name}: found {what}, too; accepted: one of another name\n"
        assert (found.exit_code, line in found.stderr) == (2, True), found.output
        assert not (folder / "few.db").exists()


def test_a_scenario_that_names_no_list_is_refused(folder):
    (folder / "mine.toml").write_text(
        'own_metrics = "own:f"\n[[clusters]]\nname = "C1"\nsize = 4\n'
    )
    found = metasched("validate", "mine.toml")
    assert found.exit_code == 2
    assert "own_metrics: found 'own:f'; accepted: a list of module:function" in found.stderr

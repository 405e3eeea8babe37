"""Predictions as a user sets them, and the numbers that say how good they were."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from click.testing import CliRunner

from agents.disciplines import FcfsScheduler
from agents.registry import GLOBAL
from experiments.cli.app import main
from experiments.run.running import run
from experiments.scenario.notes import notes
from experiments.scenario.scenario import Scenario
from grid.errors import GridError
from grid.platform.multicluster import Platform
from tests.experiments.log_files import record
from tests.experiments.matrix import MODES, OF_ANY_JOBS, Combination, scenario_of

PLATFORM = Platform.star([20, 16], [1.0, 1.5])


def result(scenario_changes=(), **parameters):
    parameters = {"mode": "open", "jobs": 80, "patience": 5, **parameters}
    return run(Scenario("errs", PLATFORM, parameters, **dict(scenario_changes)), seed=3)


@pytest.mark.thorough
@pytest.mark.parametrize("error", [0.0, 0.7, (2.0, 0.5)])
@pytest.mark.parametrize("mode", ["open", "batch"])
def test_the_quality_of_predictions_is_told(error, mode):
    ended = result(prediction_error=error, mode=mode)
    summary, jobs = ended.summary(), ended.jobs
    for numbers, rows in (
        (summary["metrics"], jobs),
        *((row, jobs[jobs["cluster"] == row["name"]]) for row in summary["clusters"]),
    ):
        errors, accuracies = [], []
        for actual, predicted in zip(rows["execution_time"], rows["predicted_time"], strict=True):
            errors.append(abs(predicted - actual) / actual)
            accuracies.append(min(predicted / actual, actual / predicted))
        assert numbers["mean_prediction_error"] == pytest.approx(np.mean(errors))
        assert numbers["prediction_accuracy"] == pytest.approx(np.mean(accuracies))
    if error == 0.0:
        assert summary["metrics"]["mean_prediction_error"] == 0
        assert summary["metrics"]["prediction_accuracy"] == 1
    if error == (2.0, 0.5):
        told = [row["mean_prediction_error"] for row in summary["clusters"]]
        assert told == pytest.approx([1.0, 0.5])


def test_lateness_counts_from_what_happens():
    ended = result(prediction_error=1.0)
    late = np.maximum(ended.jobs["finish"] - ended.jobs["deadline"], 0).sum()
    assert late > 0
    assert ended.summary()["metrics"]["over_deadline"] == pytest.approx(late)


def test_an_error_costs_performance():
    """What MUSCLE and TITAN plan by wrong times is later than by right ones."""
    exact, wrong = (
        [result(prediction_error=error, min_deadline_ratio=0, max_deadline_ratio=1)
         .summary()["metrics"]["over_deadline"]]
        for error in (0.0, 2.0)
    )  # fmt: skip
    assert wrong > exact


def test_a_log_teaches(tmp_path):
    """Two users, one of short and one of long jobs, who all request an hour."""
    rows = [
        f"{j} {30 * j} 0 {(20, 300)[j % 2] + j % 3} 4 -1 -1 4 3600 -1 1 {j % 2} -1 {j % 2} "
        + "-1 " * 4
        for j in range(1, 61)
    ]
    (tmp_path / "log.swf").write_text("\n".join(rows))

    def told(prediction):
        got = CliRunner().invoke(
            main,
            ["run", "quickstart", "--workload", str(tmp_path / "log.swf"), "--json",
             "--set", f"prediction={prediction}"],
        )  # fmt: skip
        assert got.exit_code == 0, got.output
        assert json.loads(got.stdout)["jobs"]["completed"] == 60
        return json.loads(got.stdout)["metrics"]["mean_prediction_error"]

    assert told("exact") == 0
    assert told("learned") < 0.1 * told("requested")


def test_a_table_of_jobs_teaches(tmp_path):
    """The third job of user 7 is predicted from the two before, that of nobody from all three."""
    (tmp_path / "jobs.csv").write_text(
        "arrival,size,runtime,requested_time,user\n"
        "0,1,10,50,7\n100,1,20,50,7\n200,1,30,50,7\n300,1,40,,\n400,1,5,50,\n500,1,30,12,7\n"
    )
    ended = result({"workload": tmp_path / "jobs.csv"}, prediction="learned")
    rates = {"C1": 1.0, "C2": 1.5}
    predicted = ended.jobs["predicted_time"] * ended.jobs["cluster"].map(rates)
    assert predicted.tolist() == pytest.approx([50, 10, 15, 20, 50, 25])


SLOW = {"oas": pytest.mark.slow}  # it optimises at nearly each arrival
EACH = [pytest.param(name, "fcfs", marks=SLOW.get(name, ())) for name in GLOBAL]
EACH += [("round-robin", name) for name in OF_ANY_JOBS]


@pytest.mark.thorough
@pytest.mark.parametrize(("policy", "local"), EACH)
@pytest.mark.parametrize("selection", ["fpfs", "easy"])
def test_predictions_matter_where_that_is_said_and_nowhere_else(policy, local, selection):
    differed = said = False
    for mode, seed in itertools.product(MODES, range(2)):
        try:
            scenario = scenario_of(Combination(policy, local, "plain", mode, seed))
            given = {"selection": selection, "prediction_error": 0.8}
            wrong = scenario.with_parameters(given, "test")
            tables = [
                run(each, seed).jobs.drop(columns="predicted_time")
                for each in (wrong, wrong.with_parameters({"prediction_error": 0.0}, "test"))
            ]
        except GridError:  # some policies take no load above 1, or no split jobs
            continue
        matters = not any("prediction_error" in line for line in notes(wrong))
        same = tables[0].equals(tables[1])
        assert matters or same
        differed, said = differed or not same, said or matters
    assert differed == (said and local != "fair-share")  # whose jobs are all of one user here


def test_own_schedulers_may_read_predictions_whatever_they_are_made_from():
    class Plain(FcfsScheduler):
        """A queue of a user's own."""

    class Sure(FcfsScheduler):
        """One that says so."""

        reads_predictions = False

    given = {"prediction_error": 0.5}
    for local, told in ((Plain, False), (Sure, True), ("fcfs", True)):
        lines = notes(Scenario("own", PLATFORM, given, "round-robin", local))
        assert any("prediction_error" in line for line in lines) == told


def test_one_that_chooses_among_clusters_chooses_nothing_on_one():
    given = {"prediction_error": 0.5}
    for sizes, told in (([8], True), ([8, 8], False)):
        lines = notes(Scenario("few", Platform.star(sizes), given, "ect", "fcfs"))
        assert any("they change no schedule" in line for line in lines) == told


@pytest.mark.parametrize(
    ("local", "options", "shown"),
    [("easy", [], True), ("fcfs", [], False), ("fcfs", ["--set", "prediction=requested"], True)],
)
def test_how_far_off_predictions_were_is_shown_where_it_matters(local, options, shown, tmp_path):
    path = tmp_path / "mine.swf"
    path.write_text("\n".join(record(number, number, 10, 2, time=60) for number in (1, 2, 3)))
    words = ["run", "site", "--local", local, "--workload", str(path), *options]
    got = CliRunner().invoke(main, words)
    assert got.exit_code == 0, got.stderr
    assert ("off: mean prediction error" in got.stdout) == shown

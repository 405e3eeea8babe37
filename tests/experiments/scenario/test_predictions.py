"""Predictions as a user sets them, and the numbers that say how good they were."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from experiments.cli.app import main
from experiments.run.running import run
from experiments.scenario.scenario import Scenario
from grid.platform.multicluster import Platform

PLATFORM = Platform.star([20, 16], [1.0, 1.5])


def result(scenario_changes=(), **parameters):
    parameters = {"mode": "open", "jobs": 80, "patience": 5, **parameters}
    return run(Scenario("errs", PLATFORM, parameters, **dict(scenario_changes)), seed=3)


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

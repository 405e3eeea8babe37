"""Predictors from the command line."""

from __future__ import annotations

import json

import pytest

from tests.experiments.commands import call

OWN = """
from metasched import Predictor

class Twice(Predictor):
    def predict(self, job):
        return 2 * job.runtime

class Other:
    pass
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "guess_of_mine.py").write_text(OWN)
    return tmp_path


def run(*words):
    return call("run", "quickstart", "--set", "jobs=30", "--no-live", *words)


def test_a_run_with_one_is_verified_and_says_whose_it_was(folder):
    ran = run("--predictor", "guess_of_mine:Twice", "--json", "--out", "out")
    assert ran.exit_code == 0, ran.output
    told = json.loads(ran.stdout)
    assert told["parameters"]["prediction"] == "guess_of_mine:Twice"
    assert told["metrics"]["mean_prediction_error"] == pytest.approx(1.0)
    assert told["metrics"]["prediction_accuracy"] == pytest.approx(0.5)
    assert call("verify", "out").exit_code == 0
    same = run("--set", "prediction=guess_of_mine:Twice", "--json")
    assert json.loads(same.stdout)["metrics"] == told["metrics"]


@pytest.mark.thorough
def test_replications_and_studies_take_one(folder):
    ran = run("--predictor", "guess_of_mine:Twice", "--replications", "2")
    assert ran.exit_code == 0, ran.output
    (folder / "study.toml").write_text(
        'scenario = "quickstart"\n[replications]\nleast = 2\n[set]\njobs = 40\n'
        '[vary]\nprediction = ["exact", "guess_of_mine:Twice"]\n'
        '[[policies]]\nglobal = "ect"\nlocal = "fcfs"\n'
    )
    studied = call("study", "study.toml", "--out", "study.db", "--workers", "1", "--json")
    assert studied.exit_code == 0, studied.output
    assert "guess_of_mine:Twice" in studied.stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--predictor", "exat"], "prediction: found 'exat'; did you mean exact?"),
        (["--predictor", ""], "accepted: exact, requested, learned, pace, or module:Class"),
        (["--predictor", "nowhere:Twice"], "no module 'nowhere'"),
        (["--predictor", "guess_of_mine:Twce"], "did you mean Twice?"),
        (
            ["--predictor", "guess_of_mine:Other"],
            "; accepted: a subclass of metasched.Predictor",
        ),
        (["--predictor", "learned"], "or a log whose jobs name a user or an application"),
        (["--predictor", "pace"], "or a log whose jobs name an application and a problem size"),
        (
            ["--predictor", "exact", "--set", "prediction=exact"],
            "--predictor: found with --set prediction; accepted: one of the two",
        ),
    ],
)
def test_what_is_no_predictor_is_said_in_a_line(folder, words, says):
    refused = run(*words)
    assert refused.exit_code == 2
    assert says in refused.stderr
    assert refused.stderr.count("\n") == 1

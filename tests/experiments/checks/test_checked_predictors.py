"""`metasched check` of predictors."""

from __future__ import annotations

import json

import pytest

from agents.registry import PREDICTORS
from tests.experiments.commands import call

AGENTS = """
import random
import numpy as np
from metasched import Predictor

class Good(Predictor):
    def __init__(self, model):
        super().__init__(model)
        self.last = {}
    def predict(self, job):
        return self.last.get(job.user, min(job.requested_time, 30.0))
    def ended(self, job):
        self.last[job.user] = job.runtime

class Each(Predictor):
    on_each_cluster = True
    def predict(self, job):
        return [job.size + 1.0 for _ in self.model.clusters]

class Infinite(Predictor):
    def predict(self, job):
        return job.requested_time

class Raises(Predictor):
    def predict(self, job):
        return 1 / 0

class Global(Predictor):
    def predict(self, job):
        return random.uniform(1, 30)

class Kept(Predictor):
    seen = []
    def predict(self, job):
        self.seen.append(job.number)
        return float(len(self.seen))

class Lambda(Predictor):
    def __init__(self, model):
        super().__init__(model)
        self.guess = lambda job: 5.0
    def predict(self, job):
        return self.guess(job)

class Unmade(Predictor):
    def __init__(self):
        pass

class Silent(Predictor):
    pass
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "guesses_to_check.py").write_text(AGENTS)


def verdicts(name):
    checked = call("check", name, "--json")
    told = json.loads(checked.stdout)
    failed = {each["check"]: each["detail"] for each in told["checks"] if each["holds"] is False}
    assert checked.exit_code == bool(failed)
    return failed


@pytest.mark.thorough
def test_one_that_is_good_in_another_process_too():
    assert verdicts("guesses_to_check:Good") == {}


@pytest.mark.sampled(1)
@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("name", [*PREDICTORS, "guesses_to_check:Good", "guesses_to_check:Each"])
def test_good_ones_pass(name):
    assert verdicts(name) == {}


@pytest.mark.sampled(1)
@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize(
    ("name", "check", "found"),
    [
        ("Infinite", "its decisions are possible", "found inf; accepted: seconds"),
        ("Raises", "it raises no exception", "ZeroDivisionError"),
        ("Global", "no randomness but its own", "when others are drawn"),
        ("Kept", "run again, same result", "another result"),
        ("Lambda", "its state can be saved", "self.guess"),
        ("Unmade", "it can be made", "Unmade: found __init__(self)"),
    ],
)
def test_what_is_wrong_is_said(name, check, found):
    assert found in verdicts(f"guesses_to_check:{name}")[check]


@pytest.mark.parametrize(
    ("name", "says", "hinted"), [("Silent", "no method `predict`", 0), ("Unmade", "__init__", 1)]
)
def test_the_hint_about_an_init_is_for_those_that_have_one(name, says, hinted):
    checks = json.loads(call("check", f"guesses_to_check:{name}", "--json").stdout)["checks"]
    (made,) = (each for each in checks if each["holds"] is False)
    assert says in made["detail"]
    assert ("hint" in made) == bool(hinted)

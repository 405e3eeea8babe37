"""Policies that fail in worker processes: whose fault it is, and in which run."""

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner

from experiments.cli.app import main

POLICIES = """
import multiprocessing
from agents.schedulers import GlobalScheduler

def in_a_worker():
    return multiprocessing.current_process().name != "MainProcess"

class Least(GlobalScheduler):
    def place(self, job):
        return min((c for c in self.clusters if c.size >= job.size), key=lambda c: c.waiting)

class Shy(Least):
    def __init__(self, *given):
        if in_a_worker():
            raise ValueError("not here")
        super().__init__(*given)

class Minus(Least):
    def place(self, job):
        return -1 if in_a_worker() else super().place(job)

class Flaky(Least):
    def place(self, job):
        if 100.0 < job.arrival < 100.9:
            raise ValueError("at an odd time")
        return super().place(job)
"""
STUDY = """
scenario = "quickstart"
policies = [{global = "unsure:Flaky", local = "fcfs"}, {global = "ect", local = "fcfs"}]
set = {jobs = 100}
vary = {load = [0.6]}
replications = {least = 6}
"""


@pytest.fixture
def call(tmp_path, monkeypatch):
    (tmp_path / "unsure.py").write_text(POLICIES)
    (tmp_path / "study.toml").write_text(STUDY)
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(main, [str(word) for word in words])


def replicated(name):
    words = ["run", "quickstart", "--set", "jobs=100", "--local", "fcfs", "--replications", 6]
    return [*words, "--global", f"unsure:{name}"]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("policy", "status", "says"),
    [
        ("Shy", 1, "metasched: raised in making Shy, before the run\n"),
        ("Minus", 2, "metasched: first short run of a worker process: MINUS at "),
    ],
)
def test_what_fails_in_workers_alone_is_told_as_any_failure(call, capfd, policy, status, says):
    got = call(*replicated(policy))
    assert got.exit_code == status
    assert says in got.stderr
    assert "killed" not in got.stderr
    assert "initializer" not in capfd.readouterr().err


@pytest.mark.thorough
def test_the_run_that_fails_is_named_and_can_be_repeated(call):
    found = call(*replicated("Flaky"))
    assert found.exit_code == 1
    (seed,) = re.findall(r"^metasched: in the run of --seed (\d+)$", found.stderr, re.M)
    words = [word for word in replicated("Flaky") if word not in ("--replications", 6)]
    assert "ValueError: at an odd time" in call(*words, "--seed", seed).stderr


@pytest.mark.thorough
def test_a_study_names_policy_and_setting_too(call):
    found = call("study", "study.toml", "--out", "study.db", "--workers", 1)
    assert found.exit_code == 1
    named = r"in the run of --seed \d+ \(unsure:Flaky over fcfs, load 0.6, replication \d\)\n"
    assert re.search(named, found.stderr)
    assert "ValueError: at an odd time" in found.stderr

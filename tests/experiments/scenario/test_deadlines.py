"""Deadlines are drawn only where somebody reads them, and every output says so."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from agents.reads import reads_deadlines
from agents.registry import GLOBAL, LOCAL, any_scheduler
from experiments.cli.app import main
from experiments.run.running import run
from experiments.scenario.scenario import Scenario

LINE = "deadlines: drawn, as the jobs bring none (parameter assign_deadlines)"
TWO = """
[[policies]]
name = "one"
global = "muscle"
local = "titan"
[[policies]]
name = "two"
global = "dll"
local = "fcfs"
"""
OWN = """
from agents.schedulers import LocalScheduler

class {name}(LocalScheduler):
{declared}
    def priority(self, job):
        return {rank}
"""


@pytest.fixture
def log(tmp_path, monkeypatch):
    """Return a log of 29 jobs without deadlines."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    lines = [f"{j} {7 * j} 0 {5 + j} 2 -1 -1 2 60 " + "-1 " * 9 for j in range(1, 30)]
    (tmp_path / "my.swf").write_text("\n".join(lines))
    return "my.swf"


def call(*words):
    got = CliRunner().invoke(main, [*map(str, words)])
    assert got.exit_code == 0, got.output
    return got


def ran(log, *words):
    """Return the summary of a run of the log, and what people are told of it."""
    words = "run", "quickstart", "--workload", log, "--no-live", *words
    return json.loads(call(*words, "--json").stdout), call(*words).stdout


def test_which_of_the_packaged_schedulers_read_deadlines():
    reading = {name for name in GLOBAL | LOCAL if reads_deadlines(any_scheduler(name))}
    assert reading == {"muscle", "a4", "greenest", "titan"}


@pytest.mark.parametrize("pair", [("dll", "fcfs"), ("b3", "titan")])  # titan has no job to order
def test_a_log_without_deadlines_has_none_where_nobody_reads_them(log, pair):
    summary, told = ran(log, "--global", pair[0], "--local", pair[1])
    assert summary["deadlines"] is None
    for row in (summary["metrics"], *summary["clusters"]):
        assert row["over_deadline"] is row["deadlines_met"] is None
    assert "deadline" not in told
    assert " late" not in told


@pytest.mark.parametrize(
    ("schedulers", "chosen"),
    [
        (("muscle", "fcfs"), ()),
        (("dll", "titan"), ()),
        (("dll", "fcfs"), ("--set", "assign_deadlines=true")),
    ],
)
def test_it_is_said_where_deadlines_were_drawn(log, schedulers, chosen):
    summary, told = ran(log, "--global", schedulers[0], "--local", schedulers[1], *chosen)
    assert summary["deadlines"] == "drawn"
    assert summary["metrics"]["drawn_deadlines"] == 1.0
    assert summary["metrics"]["deadlines_met"] is not None
    assert LINE in told.splitlines()


@pytest.mark.parametrize(("lacking", "word"), [("", "mixed"), ("90", "given")])
def test_deadlines_of_a_table_of_jobs_are_the_users(tmp_path, lacking, word, log):
    (tmp_path / "jobs.csv").write_text(
        f"arrival,size,runtime,deadline\n0,2,5,40\n1,2,5,{lacking}\n2,2,9,70\n"
    )
    summary, told = ran("jobs.csv")
    assert summary["deadlines"] == word
    assert ("deadlines: drawn for jobs that bring none" in told) == (word == "mixed")
    summary, told = ran("jobs.csv", "--global", "dll", "--local", "fcfs")
    assert summary["deadlines"] == "given"
    assert "deadlines met" in told


@pytest.mark.thorough
def test_replications_and_pages_say_it_too(log, tmp_path):
    words = "run", "quickstart", "--set", "jobs=30"
    assert LINE in call(*words, "--replications", 2).stdout.splitlines()
    call(*words, "--no-live", "--out", "result")
    call("report", "result", "-o", "page.html")
    assert "Deadlines: drawn, as the jobs bring none" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    ("name", "declared", "rank", "reads"),
    [
        ("Plain", "", "job.arrival", False),
        ("Due", "", "job.deadline", True),
        ("Told", "    uses_deadlines = True", "job.arrival", True),
        ("Not", "    uses_deadlines = False", "job.deadline", False),
    ],
)
def test_a_policy_of_ones_own_reads_them_if_its_module_says_so(log, name, declared, rank, reads):
    with open(f"own_{name.lower()}.py", "w") as file:
        file.write(OWN.format(name=name, declared=declared, rank=rank))
    scenario = Scenario.load("quickstart").changed(
        ["jobs=9"], global_scheduler="dll", local_scheduler=f"own_{name.lower()}:{name}"
    )
    assert scenario.draws_deadlines == reads
    assert (run(scenario).deadlines == "drawn") == reads


def test_the_schedule_does_not_depend_on_deadlines_that_nobody_reads(log):
    scenario = Scenario.load("quickstart").changed(
        ["jobs=90"], global_scheduler="dll", local_scheduler="fcfs"
    )
    columns = ["job", "arrival", "size", "start", "finish", "placement"]
    drawn = run(scenario.changed(["assign_deadlines=true"])).jobs[columns]
    assert run(scenario).jobs[columns].equals(drawn)


@pytest.mark.thorough
def test_policies_of_a_study_have_the_same_deadlines(log, tmp_path):
    (tmp_path / "mine.toml").write_text(
        'scenario = "quickstart"\nmetric = "deadlines_met"\n[set]\njobs = 40\n'
        'round_threshold = "auto"\n[replications]\nleast = 2\n' + TWO
    )
    got = call("study", "mine.toml", "--out", "mine.db")
    assert "Deadlines: drawn, as the jobs bring none" in " ".join(got.stdout.split())


@pytest.mark.parametrize(
    ("metric", "why"),
    [("mcp", "jobs are not allocated in rounds"), ("over_deadline", "no job has a deadline")],
)
def test_a_study_by_what_no_run_has_is_refused(metric, why, log, tmp_path):
    (tmp_path / "mine.toml").write_text(
        f'scenario = "quickstart"\nmetric = "{metric}"\n[set]\njobs = 40\n'
        '[policies]\nglobal = ["dll", "ect"]\nlocal = ["fcfs"]\n'
    )
    got = CliRunner().invoke(main, ["study", "mine.toml", "--out", "mine.db"])
    assert got.exit_code == 2
    assert got.stderr.splitlines()[-1].endswith(
        f"mine.toml: metric: found '{metric}'; accepted: one that runs have; {why}"
    )


@pytest.mark.thorough
def test_a_study_says_which_policies_lack_a_metric(log, tmp_path):
    (tmp_path / "mine.toml").write_text(
        'scenario = "quickstart"\nmetric = "mean_wait"\nreport = ["mcp"]\n[set]\njobs = 40\n'
        "[replications]\nleast = 2\n" + TWO
    )
    told = " ".join(call("study", "mine.toml", "--out", "mine.db").stdout.split())
    assert "two has no value of MCP: jobs are not allocated in rounds." in told

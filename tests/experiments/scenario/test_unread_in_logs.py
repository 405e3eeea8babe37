"""What is told of parameters, and columns, that mean nothing to the jobs of a log."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from experiments.cli.app import main
from experiments.scenario.notes import notes
from experiments.scenario.scenario import Scenario
from experiments.studies.study import Study
from tests.experiments.scenario.test_notes import PLATFORM, told


@pytest.mark.parametrize(
    ("size", "policy", "origin", "reasons"),
    [
        (2, "muscle", "", "lslt, coallocate (no job is larger than the largest cluster)"),
        (5, "muscle", "", "lslt (bsbw is 0: no job needs links)"),
        (2, "gp", "", "aging (all jobs wait in one queue, whose head goes first anyway)"),
        (2, "gp", "A", ""),
    ],
)
def test_what_the_jobs_of_a_log_give_no_occasion_for(size, policy, origin, reasons, tmp_path):
    (tmp_path / "jobs.csv").write_text(f"arrival,size,runtime,origin\n0,{size},1,{origin}\n")
    (tmp_path / "two.toml").write_text(
        f'workload = "jobs.csv"\nglobal = "{policy}"\nlocal = "fcfs"\n'
        'clusters = [{name = "A", size = 4}, {name = "B", size = 4}]\n'
    )
    own = ["aging=9"] if policy == "gp" else ["coallocate=true", "lslt=50"]
    given = [word for each in own for word in ("--set", each)]
    found = CliRunner().invoke(main, ["validate", str(tmp_path / "two.toml"), *given])
    said = [line for line in found.output.splitlines() if "without effect" in line]
    assert [line.partition("effect: ")[2] for line in said] == ([reasons] if reasons else [])


def test_jobs_that_cannot_run_on_the_largest_cluster_are_split(tmp_path):
    (tmp_path / "jobs.csv").write_text("arrival,size,runtime@A,runtime@B,runtime@C\n0,6,,5,5\n")
    (tmp_path / "three.toml").write_text(
        'workload = "jobs.csv"\nglobal = "muscle"\nlocal = "fcfs"\nclusters = [{name = "A", '
        'size = 8}, {name = "B", size = 4}, {name = "C", size = 4}]\n'
    )
    given = "--set", "coallocate=true", "--set", "lslt=50", "--set", "bsbw=5"
    found = CliRunner().invoke(main, ["validate", str(tmp_path / "three.toml"), *given])
    assert (found.exit_code, "without effect" in found.output) == (0, False)


def test_a_log_runs_in_mode_open(tmp_path):
    (tmp_path / "jobs.csv").write_text("arrival,size,runtime\n0,2,1\n")
    for mode, said in (("open", 0), ("batch", 1), ("per-cluster", 1)):
        found = notes(
            Scenario("mine", PLATFORM, {"mode": mode}, workload=str(tmp_path / "jobs.csv"))
        )
        line = "parameters without effect: mode (a log runs in mode open)"
        assert found.count(line) == said


SILENT = "message_rate (computation_fraction is 1: no job communicates)"


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("log", "set_", "told_so"),
    [
        ("size,runtime\n2,1\n", [], True),
        ("size,runtime,computation_fraction\n2,1,1\n", [], True),
        ("size,runtime,computation_fraction\n2,1,0.9\n", [], False),
        ("size,runtime\n2,1\n", ["computation_fraction=0.9"], False),
    ],
)
def test_messages_are_told_to_cost_nothing_where_no_job_of_a_log_communicates(
    log, set_, told_so, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    first, *rows = log.splitlines()
    table = [f"arrival,{first}", *(f"{at},{row}" for at in range(3) for row in rows)]
    (tmp_path / "jobs.csv").write_text("\n".join(table) + "\n")
    (tmp_path / "far.toml").write_text(
        'workload = "jobs.csv"\nglobal = "b3"\nlocal = "fcfs"\n'
        'clusters = [{name = "A", size = 4, latency = 1}, {name = "B", size = 4, latency = 1}]\n'
    )
    (tmp_path / "study.toml").write_text(
        'title = "T"\nscenario = "far.toml"\nmetric = "mean_wait"\n'
        'policies = [{global = "b3", local = "fcfs"}]\n'
        "[vary]\nmessage_rate = [0.0, 5.0]\n" + (f"[set]\n{set_[0]}\n" if set_ else "")
    )
    given = [word for each in ("message_rate=5", *set_) for word in ("--set", each)]
    for words in (
        ["run", "far.toml", *given],
        ["run", "far.toml", *given, "--replications", "2"],
        ["validate", "far.toml", *given],
    ):
        found = CliRunner().invoke(main, words)
        assert found.exit_code == 0, found.output
        assert (SILENT in found.stderr) == told_so, words
    taken = "computation_fraction 1: jobs that are split are taken not to communicate"
    notes = [each for each in Study.load("study.toml").notes if each != taken]
    assert notes == told_so * [f"vary: parameters without effect: {SILENT}"]


def test_split_jobs_of_a_log_are_told_to_communicate_for_nothing():
    line = "workload: what split jobs communicate slows none of them: "
    lines = told({}, "a.swf", global_scheduler="gs", local_scheduler="fcfs")
    assert any(each.startswith(line) for each in lines)
    lines = told({}, "a.swf", global_scheduler="b3", local_scheduler="fcfs")
    assert not any(each.startswith(line) for each in lines)


def test_jobs_of_a_table_that_communicate_nothing_are_not_told_to(tmp_path):
    (tmp_path / "jobs.csv").write_text("arrival,size,runtime\n0,2,5\n")
    for more, told_so in (
        ([], False),
        (["--set", "bsbw=20", "--set", "computation_fraction=0.5"], True),
    ):
        words = ["run", "quickstart", "--global", "gs", "--local", "fcfs"]
        found = CliRunner().invoke(main, [*words, "--workload", str(tmp_path / "jobs.csv"), *more])
        assert found.exit_code == 0, found.output
        assert ("what split jobs communicate" in found.stderr) == told_so

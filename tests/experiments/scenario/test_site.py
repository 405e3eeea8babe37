"""`metasched run site`: one cluster, as its log describes it."""

from __future__ import annotations

import json

import pytest

from experiments.scenario.notes import notes
from experiments.scenario.scenario import Scenario
from grid.workloads.table import stated_by
from tests.experiments.commands import call
from tests.experiments.scenario_files import run_of

LOG = """; MaxProcs: 8
1 100 0 10 6 -1 -1 6 {0} -1 1 -1 -1 -1 -1 -1 -1 -1
2 101 0 5 8 -1 -1 8 {0} -1 1 -1 -1 -1 -1 -1 -1 -1
3 101 0 9 1 -1 -1 1 {1} -1 1 -1 -1 -1 -1 -1 -1 -1
"""


def summary(*words):
    result = call("run", "site", *words, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_metrics_of_a_log(written):
    log = written(LOG.format(10, 9), "log.swf")
    found = summary("--local", "easy", "--workload", log, "--set", "processors=128")
    assert found["platform"]["clusters"] == [{"name": "C1", "size": 128, "rate": 1.0}]
    assert found["metrics"]["mean_wait"] == 0
    found = summary("--local", "easy", "--workload", log)
    assert found["platform"]["clusters"][0]["size"] == 8
    metrics = found["metrics"]
    assert metrics["mean_wait"] == 3  # only the second waits, for the end of the first
    assert metrics["mean_turnaround"] == 11
    assert metrics["makespan"] == 15
    assert metrics["utilization"] == (60 + 40 + 9) / (8 * 15)
    assert metrics["mean_bounded_slowdown"] == pytest.approx((1 + 1.4 + 1) / 3)
    found = summary("--local", "fcfs", "--workload", log)
    assert found["metrics"]["makespan"] == 24


@pytest.mark.parametrize("size", ["1o0", "-5", "0"])
@pytest.mark.parametrize("of_run", [("run", "site", "--no-live"), ("validate", "site")])
def test_a_size_of_the_machine_that_cannot_be_read_is_told(size, of_run, written):
    log = written(LOG.format(10, 9).replace("MaxProcs: 8", f"MaxProcs: {size}"), "log.swf")
    note = f"those of the largest usable job, for the head says MaxProcs '{size}'; accepted: a whol"
    told = call(*of_run, "--workload", log)
    assert told.exit_code == 0
    assert note in told.stderr
    assert note in call(*of_run, "--workload", log, "--set", "window_end=5").stderr
    assert "MaxProcs" not in call(*of_run, "--workload", log, "--set", "processors=64").stderr


@pytest.mark.parametrize("of_run", [("run", "site", "--no-live"), ("validate", "site")])
def test_a_second_size_of_the_machine_is_told_if_it_differs(of_run, written):
    log = written("; MaxProcs: 8\n; MaxProcs: 16\n" + LOG.format(10, 9), "log.swf")
    note = "nodes: the head says MaxProcs '16' after '8'; accepted: the first\n"
    assert note in call(*of_run, "--workload", log).stderr
    assert "MaxProcs" not in call(*of_run, "--workload", log, "--set", "processors=64").stderr
    log = written("; MaxProcs: 8\n" + LOG.format(10, 9), "log.swf")
    assert "MaxProcs" not in call(*of_run, "--workload", log).stderr


def test_the_log_of_a_cluster_says_the_size_of_its_machine(written):
    one = written(LOG.format(10, 9).replace("MaxProcs: 8", "MaxProcs: 64"), "one.swf")
    two = written(LOG.format(10, 9).replace("MaxProcs: 8", "MaxProcs: abc"), "two.swf")
    found = summary("--workload", f"C1={one}")
    assert found["platform"]["clusters"][0]["size"] == 64
    note = "nodes: those of the largest usable job, for the head says MaxProcs 'abc'"
    assert note in call("run", "site", "--workload", f"C1={two}").stderr
    several = ("--set", "clusters=2", "--workload", f"C1={two}", "--workload", f"C2={one}")
    assert [each["size"] for each in summary(*several)["platform"]["clusters"]] == [8, 64]
    assert note.replace("nodes:", "nodes: C1:") in call("run", "site", *several).stderr


@pytest.mark.parametrize(
    ("named", "workload", "why"),
    [
        (
            "7",
            "log.swf",
            "slurm_partitions (no job is in a partition that it names); slurm_qos (no",
        ),
        ("2", "log.swf", "slurm_qos (no job has a QOS)"),
        ("2", None, "slurm_partitions, slurm_qos (there is no log)"),
    ],
)
def test_what_slurm_finds_no_job_for_is_named(named, workload, why, written, tmp_path):
    written("1 0 0 60 1 -1 -1 1 60 -1 1 1 -1 -1 -1 2 -1 -1\n", "log.swf")
    given = {
        "slurm_conf": written("PartitionName=1 Default=YES\nPartitionName=2\n", "slurm.conf"),
        "slurm_qos": written("Name|Priority\na|1\n", "qos"),
        "slurm_partitions": {named: "1"},
        "workload": workload and str(tmp_path / workload),
    }
    site = Scenario.load("site").changed(local_scheduler="slurm", **given)
    lines = notes(site, stated=stated_by(site.model().workload))
    assert lines[0].startswith(f"parameters without effect: {why}")


@pytest.mark.parametrize("unsaid", [-1, 0])
def test_what_a_log_does_not_say(unsaid, written):
    log = written(LOG.format(unsaid, unsaid).replace("; MaxProcs: 8\n", ""), "log.swf")
    found = summary("--workload", log)
    assert (found["platform"]["clusters"][0]["size"], found["local"]) == (8, "easy")
    assert found["parameters"]["prediction"] == "exact"
    refused = call("run", "site", "--workload", log, "--set", "prediction=requested", "--json")
    assert refused.exit_code == 2
    assert "prediction: found 'requested'; accepted: 'exact', or a log whose jobs" in refused.stderr
    refused = call("run", "site", "--set", "processors=0")
    assert refused.exit_code == 2
    assert "processors: found 0" in refused.stderr


def test_jobs_without_a_requested_time_are_told(written):
    log = written(LOG.format(10, -1), "log.swf")
    told = call("run", "site", "--workload", log)
    assert (
        "prediction requested: 1 job without a requested time: expected to take the mean of"
        in told.stderr
    )
    told = call("run", "site", "--workload", log, "--set", "prediction=exact")
    assert "prediction:" not in told.stderr
    told = call("run", "site", "--workload", log, "--local", "fcfs")  # which goes by none
    assert "prediction requested:" not in told.stderr
    told = call("run", "site", "--workload", written(LOG.format(9, 9), "log.swf"))
    assert "prediction:" not in told.stderr


def test_one_parameter_by_two_names_is_refused(written):
    words = "found load and utilization, names of one parameter; accepted: one of them"
    refused = call("run", "site", "--set", "load=0.5", "--set", "utilization=0.9")
    assert (refused.exit_code, refused.stderr) == (2, f"metasched: --set: {words}\n")
    text = '[[clusters]]\nname = "A"\nsize = 8\n[parameters]\nload = 0.5\nutilization = 0.9\n'
    path = written(f'global = "dll"\nlocal = "easy"\n{text}', "two.toml")
    refused = call("run", path)
    assert (refused.exit_code, refused.stderr) == (2, f"metasched: {path}: {words}\n")
    shown = call("run", "site", "--set", "processors=16", "--set", "jobs=20")
    assert shown.exit_code == 0  # another name than the scenario's own


def test_a_result_of_a_log_is_verified(written, tmp_path):
    log = written(LOG.format(10, 9), "log.swf")
    assert call("run", "site", "--workload", log, "--out", tmp_path / "out").exit_code == 0
    verified = call("verify", tmp_path / "out")
    assert verified.exit_code == 0, verified.output


def test_jobs_are_killed_if_wanted(written):
    log = written(LOG.format(8, 9), "log.swf")
    scenario = Scenario.load("site").changed(workload=log)
    _, records = run_of(scenario)
    assert records["runtime"].tolist() == [10, 5, 9]
    assert records["predicted_time"].tolist() == [10, 8, 9]
    assert records["start"].tolist() == [0, 10, 1]
    model, records = run_of(scenario.changed(["kill_at_request=true"]))
    assert records["runtime"].tolist() == [8, 5, 9]
    assert records["start"].tolist() == [0, 8, 13]  # the third no longer ends in time
    assert model.workload.cleaning.rules == {"run time above the requested time: cut to it": 1}

"""What a study says of numbers that its runs lack, or that are not what they seem."""

from __future__ import annotations

import math

import pytest

from experiments.studies.outcome import StudyOutcome
from experiments.studies.study import Study
from grid.errors import GridError
from tests.experiments.made_up_studies import STUDY, made_up
from tests.experiments.small_studies import Silent
from tests.experiments.studies.test_study_outcome import read

NONE = math.nan


@pytest.mark.thorough
def test_of_what_no_run_has_nothing_is_concluded(tmp_path):
    (tmp_path / "study.toml").write_text(
        """scenario = "quickstart"\nmetric = "deadlines_met"
[policies]\nglobal = ["dll", "ect"]\nlocal = "fcfs"
[set]\nassign_deadlines = false\nmode = "open"\n[workloads]\na = "a.csv"\nb = "b.csv"
[replications]\nleast = 2\n"""
    )
    for name in "ab":
        rows = "".join(f"{at},2,{at + ord(name)}\n" for at in range(9))
        (tmp_path / f"{name}.csv").write_text(f"arrival,size,runtime\n{rows}")
    outcome = Study.load(tmp_path / "study.toml").run(tmp_path / "out.db", 1, watch=Silent())
    told = " ".join(outcome.sentences())
    assert "No run has a value of deadlines met: no job has a deadline." in told
    assert "sure" not in told
    assert "count as one" not in told


@pytest.mark.thorough
def test_it_is_said_of_whom_pb_says_no_more_than_mcp_and_why_a_policy_has_none(tmp_path):
    (tmp_path / "study.toml").write_text(
        """scenario = "quickstart"\nmetric = "pb_planned"\nreport = ["rounds"]
[policies]\nglobal = ["muscle"]\nlocal = ["titan", "fcfs"]
[set]\nround_threshold = "auto"\njobs = 40\n[replications]\nleast = 2\n"""
    )
    outcome = Study.load(tmp_path / "study.toml").run(tmp_path / "out.db", 1, watch=Silent())
    told = " ".join(outcome.sentences())
    assert "planned PB of muscle over titan says no more than MCP: each round, or the run" in told
    assert (
        "muscle over fcfs has no value of planned PB: jobs are not allocated in rounds, or no "
        in told
    )
    assert (outcome.runs["rounds"] > 0).all()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("latencies", ["[1, 0]", "[0, 1]"])
def test_a_metric_may_be_one_that_some_settings_do_not_have(tmp_path, latencies):
    (tmp_path / "study.toml").write_text(
        f"""scenario = "quickstart"\nmetric = "mean_age/1"\nreport = ["mean_wait"]
[policies]\nglobal = ["ect", "dll"]\nlocal = ["fcfs"]
[set]\nmode = "open"\njobs = 50
[vary]\nlatency = {latencies}\n[replications]\nleast = 2\n"""
    )
    out = tmp_path / "out.db"
    Study.load(tmp_path / "study.toml").run(out, 1, watch=Silent())
    outcome = StudyOutcome.read(out)
    lacks = outcome.runs["mean_age/1"].isna()
    assert lacks.groupby(outcome.runs["latency"]).all().to_dict() == {0.0: True, 1.0: False}
    told = " ".join(outcome.sentences())
    assert "2 of 4 runs of ect over fcfs" in told
    assert "no policy is ranked" in told  # at latency 0
    assert outcome.ranking.groupby("latency")["rank"].count().to_dict() == {0.0: 0, 1.0: 2}
    (tmp_path / "study.toml").write_text(
        (tmp_path / "study.toml").read_text().replace("mean_age/1", "mean_age")
    )
    with pytest.raises(
        GridError, match="found 'mean_age', which is a table; accepted: a number in it"
    ):
        Study.load(tmp_path / "study.toml").run(tmp_path / "other.db", 1, watch=Silent())


def test_a_number_of_a_table_that_no_run_has_is_refused(tmp_path):
    (tmp_path / "study.toml").write_text(
        """scenario = "quickstart"\nreport = ["mean_age/1"]
[policies]\nglobal = ["ect", "dll"]\nlocal = ["fcfs"]
[set]\nmode = "open"\njobs = 50\nlatency = 0\n"""
    )
    why = "report: found 'mean_age/1'; accepted: a number that some run has"
    with pytest.raises(GridError, match=why):
        Study.load(tmp_path / "study.toml").run(tmp_path / "out.db", 1, watch=Silent())


@pytest.mark.thorough
def test_a_metric_may_be_one_that_some_policies_do_not_have(tmp_path):
    (tmp_path / "slurm.conf").write_text(
        "PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\n"
        "PartitionName=a Default=YES\nPartitionName=b PriorityTier=2\n"
    )
    text = """scenario = "site"\nreport = ["preemptions"]
[policies]\nglobal = "dll"\nlocal = ["slurm", "easy"]
[set]\njobs = 20\nslurm_conf = "slurm.conf"\n[replications]\nleast = 2\n"""
    (tmp_path / "study.toml").write_text(text)
    out = tmp_path / "out.db"
    Study.load(tmp_path / "study.toml").run(out, 1, watch=Silent())
    runs = StudyOutcome.read(out).runs
    lacks = runs["preemptions"].isna()
    assert lacks.groupby(runs["policy"]).all().to_dict() == {
        "dll over slurm": False,
        "dll over easy": True,
    }
    text = text.replace('"slurm", ', "").replace('slurm_conf = "slurm.conf"', "")
    (tmp_path / "study.toml").write_text(text)
    with pytest.raises(GridError, match="report: found 'preemptions'; accepted: a number"):
        Study.load(tmp_path / "study.toml").run(tmp_path / "other.db", 1, watch=Silent())


def test_policies_that_rejected_all_jobs_are_said_to_lack_a_metric_for_that(tmp_path):
    text = STUDY.replace('["utilization"]', '["over_deadline", "mcp"]')

    def result(policy, workload, setting, replication):
        found = {"mean_wait": 1.0, "mean_turnaround": 9.0, "over_deadline": 2.0, "mcp": NONE}
        return dict.fromkeys(found, NONE) | {"rejected": 3.0} if "dll" in policy else found

    told = read(tmp_path, result, text=text).sentences()
    assert (
        "dll over fcfs has no value of over-deadline of all jobs: all jobs were rejected." in told
    )
    assert "dll over fcfs has no value of MCP: all jobs were rejected." in told
    assert "ect over fcfs has no value of MCP: jobs are not allocated in rounds." in told
    (tmp_path / "some").mkdir()
    some = read(tmp_path / "some", lambda *of: result(*of) | {"mean_wait": 1.0}, text=text)
    told = some.sentences()  # it rejected those alone that had deadlines
    assert "dll over fcfs has no value of over-deadline of all jobs in any run." in told


@pytest.mark.parametrize(
    ("vary", "told"),
    [
        ("link_mbps = [100, 1000]", ": its means are of the others."),
        ("assign_deadlines = [true, false]", ", as no job has a deadline."),
    ],
)
def test_why_some_runs_lack_a_metric_is_told_and_that_means_are_of_others_if_so(
    vary, told, tmp_path
):
    text = STUDY.replace("link_mbps = [100, 1000]", vary).replace("utilization", "deadlines_met")

    def result(policy, workload, setting, replication):
        there = setting.get("assign_deadlines", replication > 1)
        return {"mean_turnaround": 9.0, "deadlines_met": 0.5 if there else NONE}

    often = f"{5 if 'assign' in vary else 4} of 10 runs of"
    which = f"{often} ect over fcfs and {often} dll over fcfs"
    found = read(tmp_path, result, text=text).sentences()
    assert f"No value of deadlines met in {which}{told}" in found


@pytest.mark.parametrize("muscle", ["muscle", "agents.muscle.scheduler:MuscleScheduler"])
def test_it_is_told_that_muscle_had_no_deadlines_to_go_by(muscle, tmp_path):
    none, text = float("nan"), STUDY.replace('"dll"', f'"{muscle}"')

    def result(policy, workload, setting, replication):
        drawn = none if setting["link_mbps"] == 100 or replication == 0 else 1.0
        return {"mean_turnaround": 5.0 + replication, "drawn_deadlines": drawn}

    told = " ".join(StudyOutcome.read(made_up(tmp_path / "r", result, text)).sentences())
    assert (
        f"In 6 of 10 runs of {muscle} over fcfs no job has a deadline: the workload levels" in told
    )
    outcome = StudyOutcome.read(made_up(tmp_path / "b", result))
    assert "the workload levels" not in " ".join(outcome.sentences())


@pytest.mark.parametrize(("restarts", "told_so"), [(0, False), (2, True)])
def test_what_waits_are_after_restarts_is_told(restarts, told_so, tmp_path):
    numbers = {"mean_turnaround": 9.0, "mean_wait": 1.0, "restarts": restarts}
    text = STUDY.replace('["utilization"]', '["mean_wait"]')
    told = read(tmp_path, lambda *_: numbers, text=text).sentences()
    assert any("up to the last start of a job" in line for line in told) is told_so


@pytest.mark.thorough
def test_what_policies_lack_is_told_as_of_runs(tmp_path):
    """Carbon, users, and whoever reads components: of all workloads, or of which."""
    rows = [f"{20 * at},4,{100 + 7 * (at % 5)}" for at in range(30)]
    (tmp_path / "plain.csv").write_text("\n".join(["arrival,size,runtime", *rows]))
    named = ["arrival,size,runtime,components,user", *(f"{row},2+2,7" for row in rows)]
    (tmp_path / "named.csv").write_text("\n".join(named))
    (tmp_path / "study.toml").write_text(
        """scenario = "quickstart"\nmetric = "mean_wait"
        policies = {global = "greenest", local = ["fcfs", "fair-share"]}
        set = {mode = "open", assign_deadlines = false, prediction = "exact"}
        workloads = {plain = "plain.csv", named = "named.csv"}
        replications = {least = 2, window = "4m"}"""
    )
    loaded = Study.load(tmp_path / "study.toml")
    told = [
        "no carbon intensity is given: GREENEST goes by processor-seconds",
        "workload plain: local scheduler fair-share: no job names a user; all are served in order "
        "of landing",
        "workload named: 30 jobs name components without effect: the global scheduler reads the "
        "size of a job, not its components",
    ]
    assert loaded.notes[:3] == told
    outcome = loaded.run(tmp_path / "out.db", 1, watch=Silent())
    assert {f"{line[0].upper()}{line[1:]}." for line in told} <= {*outcome.sentences()}

"""Tables with an execution time for each cluster, from the command line."""

from __future__ import annotations

import json

import pytest

from agents.pace import predict
from tests.experiments.commands import call

PLATFORM = """
[[clusters]]
name = "C1"
size = 16
[[clusters]]
name = "C2"
size = 16
"""
JOBS = """job,arrival,size,runtime@C1,runtime@C2
1,0,16,10,30
2,1,4,12,
3,2,10,9,8
4,4,20,,3
5,5,8,20,
"""


@pytest.fixture
def grid(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "platform.toml").write_text(PLATFORM)
    (tmp_path / "jobs.csv").write_text(JOBS)
    return tmp_path


def run(*words):
    given = ("--platform", "platform.toml", "--workload", "jobs.csv", "--no-live")
    return call("run", "muscle", *given, "--local", "easy", *words)


@pytest.mark.parametrize("global_", ["muscle", "a4", "ect", "first-fit"])
def test_a_run_of_them_is_verified_and_explained(grid, global_):
    ran = run("--global", global_, "--out", "out", "--events", "out/events.jsonl")
    assert ran.exit_code == 0, ran.output
    assert "1 job rejected, larger than can ever run: job 4" in ran.output
    lines = (grid / "out" / "jobs.csv").read_text().splitlines()
    assert {"2", "5"} == {line.split(",")[0] for line in lines if line.endswith(("C1:4", "C1:8"))}
    assert call("verify", "out").exit_code == 0
    assert "it can run on C1 only" in call("explain", "out", "2").output
    assert "it can run on" not in call("explain", "out", "1").output
    submitted = map(json.loads, (grid / "out" / "events.jsonl").read_text().splitlines())
    only = {each["job"]: each.get("clusters") for each in submitted if each["event"] == "submitted"}
    assert only == {1: None, 2: ["C1"], 3: None, 4: ["C2"], 5: ["C1"]}


def test_verify_finds_a_time_of_another_cluster(grid):
    assert run("--global", "ect", "--out", "out").exit_code == 0
    rows = (grid / "out" / "jobs.csv").read_text()
    assert "3,2.0,10,2.0,10.0,C2:10" in rows
    (grid / "out" / "jobs.csv").write_text(rows.replace("2.0,10.0,C2:10", "2.0,11.0,C2:10"))
    found = call("verify", "out")
    assert found.exit_code == 1
    assert "job 3: runs for 9.0 s; its execution time is 8.0" in " ".join(found.output.split())


def test_who_counts_on_one_power_refuses_them(grid):
    ran = run("--global", "oas")
    assert ran.exit_code == 2
    assert ran.stderr.count("\n") == 1
    assert "oas: found jobs with execution times on each cluster" in ran.stderr


def test_so_do_the_optimum_of_a_run_and_the_front(grid):
    assert run("--out", "out", "--events", "out/events.jsonl").exit_code == 0
    for words in (("gap", "out"), ("pareto", "jobs.csv", "--processors", "16")):
        found = call(*words)
        assert found.exit_code == 2
        assert "found" in found.stderr
        assert "execution times" in found.stderr


def test_inspect_names_their_clusters_and_convert_says_what_is_lost(grid):
    assert "execution times on each cluster: C1, C2" in call("inspect", "jobs.csv").output
    lost = call("convert", "jobs.csv", "jobs.swf")
    assert "execution times on each cluster left out: no place for it" in lost.output
    kept = call("convert", "jobs.csv", "jobs.parquet")
    assert "execution times" not in kept.output
    assert call("convert", "jobs.parquet", "again.csv").exit_code == 0
    rows = (grid / "again.csv").read_text().splitlines()
    assert rows[0] == "job,arrival,size,runtime,runtime@C1,runtime@C2"
    assert rows[2] == "2,1.0,4,12.0,12.0,"


HARDWARE = PLATFORM.replace("size = 16", 'size = 16\nhardware = "{}"').format(
    "workstations", "shared-memory"
)
MODELS = """job,arrival,size,application,problem_size
1,0,4,jacobi,4000
2,1,8,fft,1e8
"""


def test_a_run_of_applications_takes_what_pace_predicts(grid):
    (grid / "platform.toml").write_text(HARDWARE)
    (grid / "jobs.csv").write_text(MODELS)
    ran = run("--global", "ect", "--out", "out")
    assert ran.exit_code == 0, ran.output
    assert call("verify", "out").exit_code == 0
    rows = (grid / "out" / "jobs.csv").read_text().splitlines()[1:]
    for row, (application, n) in zip(rows, (("jacobi", 4000), ("fft", 1e8)), strict=True):
        _, _, size, start, finish, placement, *_ = row.split(",")
        assert placement.startswith("C2:")
        wanted = predict(application, "shared-memory", int(size), n)
        assert float(finish) - float(start) == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("platform.toml", 'hardware = "shared-memory"', "", "cluster C2 names no hardware"),
        (
            "platform.toml",
            "shared-memory",
            "sharedmemory",
            "'sharedmemory': unknown; did you mean shared-",
        ),
        ("jobs.csv", "jacobi", "jacoby", "jobs.csv:2: PACE: applications: 'jacoby': unknown"),
        ("jobs.csv", "4000", "1e20", "accepted: from 1e-06 to 1e+12 s"),
    ],
)
def test_what_pace_cannot_use_is_said_in_a_line(grid, name, old, new, message):
    (grid / "platform.toml").write_text(HARDWARE)
    (grid / "jobs.csv").write_text(MODELS)
    (grid / name).write_text((grid / name).read_text().replace(old, new))
    ran = run()
    assert ran.exit_code == 2
    assert ran.stderr.count("\n") == 1
    assert message in ran.stderr


def test_without_deadlines_muscle_names_no_cluster_on_which_jobs_cannot_run(grid):
    (grid / "jobs.csv").write_text("job,arrival,size,runtime@C1,runtime@C2\n1,0,4,,9\n2,3,4,7,9\n")
    (grid / "platform.toml").write_text(PLATFORM.replace("16", "20", 1))
    ran = run("--set", "assign_deadlines=false", "--out", "out")
    assert "it sends the jobs to the largest cluster on which they can run\n" in ran.stderr
    (grid / "jobs.csv").write_text("job,arrival,size,runtime@C1,runtime@C2\n1,0,4,5,9\n2,3,4,7,9\n")
    ran = run("--set", "assign_deadlines=false", "--out", "out")
    assert "it sends the jobs to the largest cluster, C1\n" in ran.stderr


@pytest.mark.parametrize(
    ("global_", "selection", "job"),
    [
        ("dll", "fpfs", "18,,5,,"),
        ("b3", "fpfs", "20,,5,5,5"),  # of which 85 % are 17 processors, and C2 has 16
        ("b3", "fcfs", "20,,5,5,5"),
    ],
)
def test_jobs_that_their_clusters_have_no_room_for_are_rejected(global_, selection, job, grid):
    clusters = [
        f'[[clusters]]\nname = "C{i}"\nsize = {size}\n'
        for i, size in ((1, 20), (2, 16), (3, 12), (4, 9))
    ]
    (grid / "platform.toml").write_text("".join(clusters))
    columns = ",".join(f"runtime@C{i}" for i in range(1, 5))
    (grid / "jobs.csv").write_text(f"arrival,size,{columns}\n0,{job}\n1,4,5,5,5,5\n2,4,5,5,5,5\n")
    ran = run("--global", global_, "--set", f"selection={selection}", "--out", "out")
    assert ran.exit_code == 0, ran.output
    assert "1 job rejected" in ran.output
    assert call("verify", "out").exit_code == 0

"""What the command leaves behind: numbers of clusters, rounds, and jobs that nobody started."""

from __future__ import annotations

import csv
import json
import re
import statistics
import sys
from pathlib import Path

import pytest

import metasched
from grid.errors import GridError
from tests.experiments.commands import call

QUICK = ["--set", "jobs=40"]


def rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    "words",
    [("--out", "."), ("--rounds", "jobs.csv"), ("--events", "link"), ("--checkpoint", "link")],
)
def test_a_workload_is_not_written_over(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    log, text = tmp_path / "jobs.csv", "arrival,size,runtime\n0,1,5\n"
    log.write_text(text)
    (tmp_path / "link").symlink_to(log)
    for workload in ("jobs.csv", "C2=jobs.csv"):
        got = call("run", "quickstart", "--workload", workload, *words)
        assert got.exit_code == 2, got.output
        path = "jobs.csv" if words[1] == "." else words[1]
        assert f"metasched: {path}: found a file that is read; accepted: another" in got.stderr
        assert log.read_text() == text


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"live": "x"}, "live: found 'x'; accepted: True, False or None"),
        ({"saving": 5}, "saving: found 5; accepted: a Saving, or None"),
    ],
)
def test_what_run_cannot_be_told_is_refused(given, told):
    with pytest.raises(GridError) as caught:
        metasched.run("quickstart", **given)
    assert str(caught.value) == told


# Clusters -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("global_", ["muscle", "round-robin"])
def test_numbers_of_clusters_are_those_of_the_rows(global_, tmp_path):
    table = tmp_path / "in.csv"
    lines = [f"{j},{j % 7},{1 + j % 10},{3 + j % 31},{40 + j}" for j in range(1, 60)]
    lines += [f"{j},{j % 7},{1 + j % 5},{3 + j % 31}," for j in range(60, 70)]
    lines.sort(key=lambda line: int(line.split(",")[1]))
    table.write_text("\n".join(["job,arrival,size,runtime,deadline", *lines]))
    words = ["quickstart", "--global", global_, "--local", "fcfs", "--workload", table]
    got = call("run", *words, "--set", "assign_deadlines=false", "--out", tmp_path / "out")
    assert got.exit_code == 0, got.output
    deadline = {row["job"]: float(row["deadline"] or "inf") for row in rows(table)}
    jobs = rows(tmp_path / "out" / "jobs.csv")
    clusters = json.loads((tmp_path / "out" / "summary.json").read_text())["clusters"]
    assert sum(row["jobs"] for row in clusters) == len(jobs) == 69
    for cluster in clusters:
        waits, turnarounds, slowdowns, met = [], [], [], []
        for job in jobs:
            if job["placement"].partition(":")[0] != cluster["name"]:
                continue
            arrival, start, finish = (float(job[key]) for key in ("arrival", "start", "finish"))
            waits.append(start - arrival)
            turnarounds.append(finish - arrival)
            slowdowns.append(max(1.0, (finish - arrival) / max(finish - start, 10.0)))
            if deadline[job["job"]] < float("inf"):
                met.append(finish <= deadline[job["job"]])
        assert cluster["max_wait"] == max(waits) > 0
        assert 0 < cluster["deadlines_met"] == sum(met) / len(met) <= 1
        for key, values in (
            ("mean_wait", waits),
            ("mean_turnaround", turnarounds),
            ("mean_bounded_slowdown", slowdowns),
        ):
            assert cluster[key] == pytest.approx(statistics.fmean(values), rel=1e-9)


# Rounds -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("global_", ["muscle", "wrand"])
def test_rounds_of_mode_batch_beside_the_two_files(global_, tmp_path):
    out = tmp_path / "out"
    words = ["muscle", *QUICK, "--global", global_, "--set", "queue=10"]
    got = call("run", *words, "--out", out, "--rounds", tmp_path / "rounds.csv", "--json")
    assert (got.exit_code, got.stderr) == (0, "")
    assert sorted(path.name for path in out.iterdir()) == [
        "jobs.csv",
        "summary.json",
        "timeline.csv",
    ]
    metrics = json.loads(got.stdout)["metrics"]
    rounds = rows(tmp_path / "rounds.csv")
    assert metrics["cp_basis"] == "realised rounds"
    assert len(rounds) == metrics["rounds"] > 1
    for key in ("mcp", "pb"):
        mean = statistics.fmean(float(row[key]) for row in rounds)
        assert metrics[key] == pytest.approx(mean)
    arrivals = [float(job["arrival"]) for job in rows(out / "jobs.csv")]
    assert [float(row["dispatched"]) for row in rounds] == sorted(set(arrivals))
    counts = [sum(int(row[f"jobs C{c}"]) for c in range(1, 5)) for row in rounds]
    assert counts == [arrivals.count(float(row["dispatched"])) for row in rounds]


def test_rounds_of_mode_open_are_those_that_muscle_dispatched(tmp_path):
    # The folder of the results need not be there before the run.
    file = tmp_path / "out" / "rounds.csv"
    words = ["quickstart", *QUICK, "--set", "mode=open", "--json"]
    got = call("run", *words, "--out", file.parent, "--rounds", file)
    assert (got.exit_code, got.stderr) == (0, "")
    metrics = json.loads(got.stdout)["metrics"]
    assert len(rows(file)) == metrics["rounds"] > 1
    # A TITAN answers the last of the rounds that it plans together: of others no CP is known.
    told = [float(row["mcp"]) for row in rows(file) if row["mcp"]]
    assert metrics["mcp_planned"] == pytest.approx(statistics.fmean(told))
    assert metrics["cp_basis"] == "whole run"
    assert metrics["mcp"] == metrics["mcp_overall"] != metrics["mcp_planned"]


def test_a_run_without_rounds_says_so_and_writes_the_header(tmp_path):
    file = tmp_path / "rounds.csv"
    words = ["quickstart", *QUICK, "--set", "mode=open", "--global", "ect", "--local", "fcfs"]
    got = call("run", *words, "--rounds", file)
    assert got.exit_code == 0
    assert got.stderr == f"metasched: no rounds; {file} has the header only\n"
    assert file.read_text().startswith("round,dispatched,mcp,pb,cp C1,jobs C1,")
    assert rows(file) == []


@pytest.mark.parametrize("where", ["", "file/rounds.csv"])
def test_a_place_for_rounds_that_cannot_be_written_is_refused_before_the_run(where, tmp_path):
    (tmp_path / "file").write_text("mine")
    got = call("run", "quickstart", "--rounds", tmp_path / where, "--out", tmp_path / "out")
    assert got.exit_code == 2
    assert got.stdout == ""
    assert got.stderr.startswith("metasched: ")
    assert got.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


# Jobs that nobody started -------------------------------------------------------------------------


@pytest.fixture
def idle(tmp_path, monkeypatch):
    """Make a scheduler that starts nothing but job 1."""
    (tmp_path / "idle.py").write_text(
        "from agents.schedulers import GlobalScheduler\n"
        "class Idle(GlobalScheduler):\n"
        "    def place(self, job):\n"
        "        return self.clusters[0] if job.number == 1 else None\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("idle", None)
    return ["quickstart", *QUICK, "--global", "idle:Idle", "--local", "fcfs"]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("mode", ["open", "batch"])
def test_jobs_that_nobody_started_fail_the_run(idle, mode, tmp_path):
    line = "metasched: 39 of 40 jobs not finished: no scheduler started them\n"
    got = call("run", *idle, "--set", f"mode={mode}", "--json", "--out", tmp_path / "out")
    assert (got.exit_code, got.stderr) == (1, line)
    summary = json.loads(got.stdout)
    assert summary["unfinished"] == 39
    assert summary["global"] == "idle:Idle"
    assert json.loads((tmp_path / "out" / "summary.json").read_text()) == summary
    got = call("run", *idle, "--set", f"mode={mode}")
    assert (got.exit_code, got.stderr) == (1, line)
    assert "39 jobs not finished: no scheduler started them" in got.stdout
    assert got.stdout.startswith("quickstart: idle:Idle over fcfs, seed 0\n")
    got = call("run", *idle, "--set", f"mode={mode}", "--replications", 2)
    assert got.stderr.endswith("metasched: 78 jobs not finished: no scheduler started them\n")


def test_rounds_may_not_be_written_over_the_results(tmp_path):
    out = tmp_path / "out"
    for name in ("jobs.csv", "summary.json"):
        got = call("run", "quickstart", *QUICK, "--out", out, "--rounds", out / ".." / "out" / name)
        assert got.exit_code == 2
        assert "found a file of the results too" in got.stderr
    assert not out.exists()


def test_messages_that_were_lost_are_counted(tmp_path):
    lost = {}
    for loss in (0.0, 0.3):
        words = [*QUICK, "--set", f"loss={loss}", "--set", "advertise=both", "--out", tmp_path]
        assert call("run", "quickstart", *words).exit_code == 0
        lost[loss] = json.loads((tmp_path / "summary.json").read_text())["metrics"]["messages_lost"]
    assert lost[0.0] == 0
    assert lost[0.3] > 20


def test_the_columns_of_jobs_are_those_of_the_page(tmp_path):
    assert call("run", "quickstart", *QUICK, "--out", tmp_path).exit_code == 0
    page = (Path(__file__).parents[3] / "docs" / "results.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"Columns of `jobs.csv`.*\n\n((?:\|.*\n)+)", page)
    assert re.findall(r"^\| `(\w+)`", table, re.MULTILINE) == [*rows(tmp_path / "jobs.csv")[0]]

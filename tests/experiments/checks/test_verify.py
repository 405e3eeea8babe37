"""`metasched verify`: true results pass, and what cannot be read is told."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from experiments.checks.verify import verify
from grid.errors import GridError
from tests.experiments.checks.changing_grid import PLATFORM
from tests.experiments.commands import call


@pytest.mark.parametrize(
    "name", ["split", "table", "open", "batch", "lossy", "log", "sites", "changed", "failing"]
)
def test_true_results_hold(name, results):
    got = call("verify", results / name, "--json")
    assert got.exit_code == 0, got.output
    checks = json.loads(got.stdout)
    assert checks["holds"]
    assert len(checks["checks"]) == (11 if name in ("batch", "changed", "failing") else 10)
    unchecked = checks["checks"][-1]["unchecked"]
    assert {"global", "metrics/mcp_planned", "metrics/messages/scheduling"} <= {*unchecked}
    assert ("metrics/rounds" in unchecked) == (name != "batch")
    assert not {"metrics/mcp", "metrics/mean_wait", "seed", "clusters/*/cp"} & {*unchecked}


def test_the_logs_that_were_read_are_named(results):
    told = call("verify", results / "sites", "--json").stdout
    assert f"read again: C1={results / 'log.swf'}, C2=" in told


def test_jobs_of_two_sites_may_be_alike_in_all_but_run_time(tmp_path):
    (tmp_path / "platform.toml").write_text(PLATFORM)
    words = ["--platform", tmp_path / "platform.toml", "--set", "mode=open", "--out", tmp_path]
    for name, time in (("C1", 30), ("C2", 15)):  # the second one ends first
        (tmp_path / f"{name}.csv").write_text(f"job,arrival,size,runtime\n1,0,2,{time}\n")
        words += ["--workload", f"{name}={tmp_path / name}.csv"]
    for schedulers in (["--global", "home", "--local", "fcfs"], ["--global", "muscle"]):
        assert call("run", "muscle", *words, *schedulers).exit_code == 0
        assert call("verify", tmp_path).exit_code == 0


@pytest.mark.parametrize("staging", [0, 12])
def test_jobs_may_be_alike_in_all_that_jobs_csv_has(tmp_path, staging):
    """The first in the workload ends last, and the third runs as long as the fourth needs."""
    rows = ["1,0,10,50,C1", "1,0,10,50,C2", "2,100,1,30,C3", "2,100,1,42,C4"]
    (tmp_path / "jobs.csv").write_text("\n".join(["job,arrival,size,runtime,origin", *rows]) + "\n")
    out = tmp_path / "out"
    words = ["--workload", tmp_path / "jobs.csv", "--out", out, "--local", "fcfs"]
    words += ["--set", f"staging_time={staging}"]
    for policy in ("dll", "home", "ect"):
        assert call("run", "muscle", *words, "--global", policy).exit_code == 0
        got = call("verify", out)
        assert got.exit_code == 0, got.output


def test_what_needs_to_know_which_of_several_jobs_left_is_not_checked(tmp_path):
    (tmp_path / "jobs.csv").write_text(
        "job,arrival,size,runtime,origin\n1,0,10,50,C1\n1,0,10,50,C2\n"
    )
    out = tmp_path / "out"
    words = "--workload", tmp_path / "jobs.csv", "--out", out, "--local", "fcfs"
    assert call("run", "muscle", *words, "--global", "home").exit_code == 0
    header, *rows = (out / "jobs.csv").read_text().splitlines()
    (out / "jobs.csv").write_text(f"{header}\n{rows[1]}\n")  # as if the first had not ended
    *_, numbers = verify(out)
    assert {"metrics/migrated", "metrics/mean_bounded_slowdown"} <= {*numbers.unchecked}


def test_what_failures_cost_is_told(results):
    summary = json.loads((results / "failing" / "summary.json").read_text())
    assert summary["metrics"]["restarts"] > 3
    for row in (summary["metrics"], *summary["clusters"]):
        assert (row["lost_work"] > 0) == (row["restarts"] > 0)
    summary = json.loads((results / "open" / "summary.json").read_text())
    assert (summary["metrics"]["restarts"], summary["metrics"]["lost_work"]) == (0, 0.0)


def test_a_result_without_jobs_holds(tmp_path, results):
    (tmp_path / "jobs.csv").write_text("arrival,size,runtime\n0,99,5\n")
    words = "quickstart", "--workload", tmp_path / "jobs.csv", "--out", tmp_path / "r"
    got = call("run", *words)
    assert got.exit_code == 1
    assert "metasched: 1 job of 1 rejected: larger than can ever run" in got.stderr
    assert call("verify", tmp_path / "r").exit_code == 0


@pytest.mark.parametrize(("warmup", "met"), [(0, 1 / 3), (1, 1 / 2)])
def test_a_rejected_job_misses_its_deadline(tmp_path, warmup, met):
    jobs = "arrival,size,runtime,deadline\n0,99,5,50\n1,99,5,50\n2,99,5,\n3,2,5,90\n"
    (tmp_path / "jobs.csv").write_text(jobs)
    words = ["quickstart", "--workload", tmp_path / "jobs.csv", "--out", tmp_path / "r"]
    words += ["--set", "assign_deadlines=false", "--set", f"warmup={warmup}"]
    assert call("run", *words).exit_code == 0
    summary = json.loads((tmp_path / "r" / "summary.json").read_text())
    assert summary["metrics"]["deadlines_met"] == met
    assert {row["deadlines_met"] for row in summary["clusters"]} <= {1.0, None}
    assert call("verify", tmp_path / "r").exit_code == 0


def test_people_get_a_table(results):
    got = call("verify", results / "table")
    assert "no processor is held twice" in got.stdout
    _, verdict, left = got.stdout.partition(f"{results / 'table'}: 10 checks hold\n")
    assert verdict
    lines = left.splitlines()
    assert lines[0].startswith("Not checked, ")
    assert "- plans and predictions: mcp_planned, pb_planned, cp_basis and 4 more" in lines
    assert lines[-1].startswith("- run: scenario, dropped, deadlines and ")
    assert len(got.stdout.splitlines()) <= 24  # a screen


def test_a_log_may_be_elsewhere(results, tmp_path):
    shutil.copytree(results / "log", tmp_path / "copy")
    summary = json.loads((tmp_path / "copy" / "summary.json").read_text())
    summary["workload"] = "gone.swf"
    (tmp_path / "copy" / "summary.json").write_text(json.dumps(summary))
    got = call("verify", tmp_path / "copy")
    assert got.exit_code == 2
    assert "gone.swf" in got.stderr
    assert "--workload" in got.stderr
    assert call("verify", tmp_path / "copy", "--workload", results / "log.swf").exit_code == 0


BAD = {
    "no folder": (None, None, "copy: no such folder"),
    "no summary": ("summary.json", None, "summary.json"),
    "no jobs": ("jobs.csv", None, "jobs.csv"),
    "no JSON": ("summary.json", "{", "summary.json"),
    "another JSON": ("summary.json", "[1]", "summary.json"),
    "another table": ("jobs.csv", "a,b\n1,2\n", "jobs.csv:1"),
    "a short row": ("jobs.csv", "job,arrival,size,start,finish,placement\n1,2\n", "jobs.csv:2"),
    "no number": ("jobs.csv", "job,arrival,size,start,finish,placement\n1,x,1,,,\n", "arrival"),
    "no time": ("jobs.csv", "job,arrival,size,start,finish,placement\n1,0,1,nan,,\n", "start"),
    "no place": ("jobs.csv", "job,arrival,size,start,finish,placement\n1,0,1,0,1,C\n", "placement"),
}


@pytest.mark.parametrize(("file", "text", "named"), BAD.values(), ids=BAD)
def test_what_cannot_be_read_is_told_in_a_line(file, text, named, results, tmp_path):
    if file is not None:
        shutil.copytree(results / "open", tmp_path / "copy")
        (tmp_path / "copy" / file).unlink()
        if text is not None:
            (tmp_path / "copy" / file).write_text(text)
    got = call("verify", tmp_path / "copy")
    assert got.exit_code == 2, got.output
    assert got.stdout == ""
    assert got.stderr.count("\n") == 1
    assert named in got.stderr


def test_synthetic_jobs_have_no_log(results):
    with pytest.raises(GridError, match="synthetic"):
        verify(results / "open", "some.swf")


def test_a_result_is_only_read_whatever_code_it_names(tmp_path, monkeypatch):
    """And so it can be looked at where that code is not."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "of_mine.py").write_text(
        "from pathlib import Path\nfrom agents.pace import Predictor\n"
        "Path('ran').write_text('')\n\n\nclass Five(Predictor):\n"
        "    def predict(self, job):\n        return 5.0\n"
    )
    jobs = "--set", "jobs=20", "--set", "mode=batch", "--no-live"
    told = "--out", "out", "--events", "events.jsonl"
    assert call("run", "quickstart", *jobs, "--predictor", "of_mine:Five", *told).exit_code == 0
    shutil.move("events.jsonl", "out/events.jsonl")
    sys.modules.pop("of_mine")
    Path("ran").unlink()
    for words in (
        ("verify", "out"),
        ("report", "out", "-o", "page.html"),
        ("report", "out", "out", "-o", "both.html"),
        ("explain", "out", "1"),
        ("plot", "out", "-o", "plot.png"),
        ("gap", "out"),
    ):
        found = call(*words)
        assert found.exit_code == 0, (words, found.output)
        assert not Path("ran").exists(), words
        assert "of_mine" not in sys.modules, words
    (tmp_path / "of_mine.py").unlink()
    assert call("verify", "out").exit_code == 0

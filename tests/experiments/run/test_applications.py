"""How good predictions were for each application."""

from __future__ import annotations

import io
import json

import pandas as pd
import pytest
from rich.console import Console

from agents.pace import predict
from experiments.show.run_tables import _table_of
from tests.experiments.commands import call

ROWS = """arrival,size,runtime,application,problem_size
0,2,10,fft,1e8
1,4,30,jacobi,4000
2,2,40,fft,1e8
3,1,7,,
400,8,9,jacobi,2000
500,30,9,jacobi,2000
"""
PLATFORM = """
[[clusters]]
name = "A"
size = 8
hardware = "cluster"
[[clusters]]
name = "B"
size = 16
rate = 2
hardware = "workstations"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jobs.csv").write_text(ROWS)
    (tmp_path / "platform.toml").write_text(PLATFORM)
    return tmp_path


def run(*words):
    given = ("--workload", "jobs.csv", "--platform", "platform.toml", "--no-live")
    return call("run", "quickstart", *given, "--global", "ect", "--local", "fcfs", *words)


def test_errors_of_each_are_those_of_its_jobs(folder):
    ran = run("--predictor", "pace", "--json", "--out", "out")
    assert ran.exit_code == 0, ran.output
    told = json.loads(ran.stdout)["applications"]
    assert told["count"] == 3
    jobs = pd.read_csv(folder / "out" / "jobs.csv").set_index("job").loc[1:5]
    where, times = jobs["placement"].str[0], jobs["finish"] - jobs["start"]
    rates = where.map({"A": 1, "B": 2})
    assert times.tolist() == pytest.approx([*([10, 30, 40, 7, 9] / rates)])
    hardware = where.map({"A": "cluster", "B": "workstations"})
    expected = [
        *(predict("fft", hardware[job], 2, 1e8) for job in (1, 3)),
        *(predict("jacobi", hardware[job], size, n) for job, size, n in ((2, 4, 4e3), (5, 8, 2e3))),
        3600 / rates[4],  # nothing is known of it, and no job has ended
    ]
    off = abs(pd.Series(expected, (1, 3, 2, 5, 4)) - times) / times
    for row, of in zip(told["largest"], ((1, 3), (2, 5), (4,)), strict=True):
        assert row["name"] == {1: "fft", 2: "jacobi", 4: "none"}[of[0]]
        assert row["jobs"] == len(of)
        assert row["mean_prediction_error"] == pytest.approx(off[[*of]].mean())
    assert call("verify", "out").exit_code == 0


def test_people_see_them_where_predictions_are_not_exact(folder):
    shown = run("--predictor", "pace").output
    assert "application jobs" in shown
    assert "off: mean prediction error" in shown
    exact = run("--predictor", "exact")
    assert "application" not in exact.output
    assert "off: mean prediction error" not in exact.output
    assert "applications" not in json.loads(run("--json").stdout)


def test_names_of_applications_are_shown_without_controls():
    """Jobs of a service are named by their users, and so are those of many logs."""
    table = _table_of("application", [{"name": "a\n\x1b[31mb", "jobs": 1}], {"jobs": "jobs"})
    console = Console(file=io.StringIO(), width=80)
    console.print(table)
    assert r"a\n\x1b[31mb" in console.file.getvalue()

"""Jobs that processors hardly ever stay up for are told of before they run."""

from __future__ import annotations

import math
import os
import signal
import time

import pytest
from click.testing import CliRunner

from experiments.cli.app import main
from experiments.run.failure_warnings import hardly_ending
from experiments.scenario.scenario import Scenario
from grid.platform.multicluster import Platform

PLATFORM = Platform.star([4, 8, 8], [4.0, 1.0, 2.0])


def line_of(tmp_path, rows, mean_up_time, **changes):
    (tmp_path / "jobs.csv").write_text("\n".join(["job,arrival,size,runtime", *rows]))
    scenario = Scenario("mine", PLATFORM, {}, "dll", "fcfs", str(tmp_path / "jobs.csv"), **changes)
    return hardly_ending(scenario, scenario.model().workload, mean_up_time)


@pytest.mark.parametrize(
    ("row", "exponent"),
    [("7,0,4,100", 4 * 25), ("7,0,5,100", 5 * 50), ("7,0,8,100", 8 * 50)],
)
def test_a_job_is_told_of_from_a_million_starts_on(tmp_path, row, exponent):
    limit = exponent / math.log(1e6)
    assert line_of(tmp_path, [row], limit * 1.001) is None
    line = line_of(tmp_path, [row], limit * 0.999)
    assert line.startswith("job 7: ")
    assert line.endswith("can be expected to start 1e6 times before it ends")


def test_the_worst_job_is_named_and_the_others_counted(tmp_path):
    rows = ["1,0,1,1", "2,0,4,1000", "3,1,8,1000", "4,2,8,900", "5,3,99,9000"]
    line = line_of(tmp_path, rows, 10.0)
    assert line == (
        "job 3: 8 processors for 500 s, each of which fails after 10 s on average (mean_up_time): "
        "can be expected to start 1e174 times before it ends, and 2 more jobs over a million times"
    )


@pytest.mark.parametrize("mode", ["open", "batch"])
def test_synthetic_jobs_are_drawn_anew(mode):
    chosen = {"mode": mode, "jobs": 30, "max_size": 8, "mean_up_time": 0.01, "mean_down_time": 1.0}
    scenario = Scenario("mine", PLATFORM, chosen, "dll", "fcfs")
    model = scenario.model(3)
    line = hardly_ending(scenario, model.workload, 0.01)
    assert line.endswith("and 29 more jobs over a million times")
    assert hardly_ending(scenario, model.workload, 1e6) is None
    assert hardly_ending(scenario, model.workload, 0.01) == line
    assert model.world.state.submitted == 0  # which takes nothing from the run
    assert scenario.failures.mean_up_time == 0.01


def test_nothing_is_said_where_nothing_fails():
    words = ["run", "quickstart", "--set", "jobs=30", "--json"]
    assert CliRunner().invoke(main, words).stderr == ""
    words += ["--set", "mean_up_time=1e6", "--set", "mean_down_time=1"]
    assert CliRunner().invoke(main, words).stderr == ""


@pytest.mark.thorough
@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_ends_such_a_run_in_order(start, tmp_path):
    words = ["run", "quickstart", "--set", "mean_up_time=0.1", "--set", "mean_down_time=1"]
    process = start(*words, "--out", tmp_path / "out")
    told = iter(process.stderr.readline, "")
    assert any(line.startswith("metasched: job ") for line in told)  # beside what is loading
    time.sleep(2.0)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in told
    assert (tmp_path / "out" / "summary.json").exists()

"""Whose jobs are, in files, tables and curves."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from experiments.run.running import run
from experiments.run.whose import Whose
from experiments.scenario.scenario import Scenario
from experiments.show.page import page_of
from experiments.show.run_data import Ran, of_groups, shares
from grid.jobs import job_table
from grid.workloads.table import Table
from tests.experiments.commands import call

HEAD = ["job", "arrival", "size", "start", "finish", "placement"]
SACCT = (
    "JobIDRaw|Submit|Start|End|ElapsedRaw|AllocCPUS|State|User|Account|Partition|QOS\n"
    "1|2021-01-01T00:00:00|2021-01-01T00:00:00|2021-01-01T00:01:40|100|4|COMPLETED|ann|physics|cpu|low\n"
    "2|2021-01-01T00:00:10|2021-01-01T00:01:40|2021-01-01T00:02:40|60|4|COMPLETED|bob|maths|cpu|low\n"
    "3|2021-01-01T00:00:20|2021-01-01T00:02:40|2021-01-01T00:02:50|10|2|COMPLETED|ann|physics|gpu|\n"
)


@pytest.fixture
def out(tmp_path):
    (tmp_path / "log.txt").write_text(SACCT)
    words = "--workload", tmp_path / "log.txt", "--set", "nodes=4", "--out", tmp_path / "out"
    got = call("run", "site", "--local", "fcfs", *words)
    assert got.exit_code == 0, got.output
    return tmp_path / "out"


def test_synthetic_jobs_are_nobodys(tmp_path):
    assert call("run", "quickstart", "--no-live", "--out", tmp_path).exit_code == 0
    with (tmp_path / "jobs.csv").open() as file:
        assert next(csv.reader(file)) == HEAD


def test_jobs_tell_what_their_log_tells(out):
    with (out / "jobs.csv").open() as file:
        head, *rows = csv.reader(file)
    assert head == [*HEAD, "user", "partition", "account", "qos"]
    assert [row[7:] for row in rows] == [
        ["cpu", "physics", "low"],
        ["cpu", "maths", "low"],
        ["gpu", "physics", ""],
    ]
    users = [row[6] for row in rows]
    assert users[0] == users[2] != users[1]
    assert call("verify", out).exit_code == 0


def test_another_user_is_found_out(out):
    path = out / "jobs.csv"
    text = path.read_text()
    path.write_text(text.replace("maths", "physics"))
    got = call("verify", out, "--json")
    assert got.exit_code == 1
    (wrong,) = (each for each in json.loads(got.stdout)["checks"] if not each["holds"])
    assert "account physics" in wrong["detail"]
    assert "the workload has" in wrong["detail"]
    path.write_text(text.replace("account,qos", "qos,account"))
    got = call("verify", out)
    assert got.exit_code == 2
    assert f"{path}:1: found other columns" in got.stderr


def test_who_used_how_much_is_in_the_page(out):
    ran = Ran.read(out)
    assert of_groups(ran, "account") == [
        ("physics", {"jobs": 2, "work": 420.0, "mean_wait": 70.0}),
        ("maths", {"jobs": 1, "work": 240.0, "mean_wait": 90.0}),
    ]
    names, codes = shares(ran)["partition"]
    assert (names, codes.tolist()) == (["partition cpu", "partition gpu"], [0, 0, 1])
    page = page_of([ran])
    assert 'id="of_account"' in page
    assert "By partition" in page


def test_the_jobs_of_a_result_have_the_same_columns(out):
    log = out.parent / "log.txt"
    scenario = Scenario.load("site").changed(["nodes=4"], local_scheduler="fcfs", workload=str(log))
    jobs = run(scenario).jobs
    assert jobs["account"].tolist() == ["physics", "maths", "physics"]
    assert list(Ran.of(run(scenario)).jobs)[-4:] == [
        "user",
        "partition",
        "account",
        "qos",
    ]


def test_those_who_use_little_are_summed_up():
    jobs = job_table(9)
    jobs["size"], jobs["runtime"], jobs["user"] = 1, 10.0, np.arange(9)
    assert Whose(Table(jobs)).columns == ("user",)
    assert Whose(Table(jobs)).of(np.array([3, 0]))[0].tolist() == ["3", "0"]
    jobs["user"] = -1
    assert Whose(Table(jobs)).columns == ()

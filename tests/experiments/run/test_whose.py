"""Whose jobs are, in files, tables and curves."""

from __future__ import annotations

import csv
import json

import numpy as np
import pandas as pd
import pytest

from experiments.run.running import run
from experiments.run.whose import Whose
from experiments.scenario.scenario import Scenario
from experiments.show.page import page_of
from experiments.show.run_data import Ran, ginis, of_groups, shares
from grid.jobs import job_table
from grid.metrics.fairness import gini
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
    names, codes = shares([ran])[0]["partition"]
    assert (names, codes.tolist()) == (["partition cpu", "partition gpu"], [0, 0, 1])
    page = page_of([ran])
    assert 'id="of_account"' in page
    assert 'id="share_account0"' in page
    assert "each user, partition or account in its jobs" in page
    assert "warm-up do not count" not in page
    assert "By partition" in page


def test_the_same_users_are_shown_of_several_runs(out):
    one, other = Ran.read(out), Ran.read(out)
    users = one.jobs["user"].to_numpy()
    other.jobs["user"] = users[[1, 1, 0]]  # bob has used more than ann, of both together too
    names = [f"user {users[1]}", f"user {users[0]}"]
    found = shares([one, other], ["user"])
    assert [of["user"][0] for of in found] == [names, names]
    assert [of["user"][1].tolist() for of in found] == [[1, 0, 1], [0, 0, 1]]
    assert shares([one])[0]["user"][0] == names[::-1]


def test_beyond_those_who_used_most_all_others_are_one(out, monkeypatch):
    monkeypatch.setattr("experiments.show.run_data.MOST_CURVES", 1)
    names, codes = shares([Ran.read(out)], ["account"])[0]["account"]
    assert (names, codes.tolist()) == (["account physics", "all others"], [0, 1, 0])


def test_those_whose_jobs_were_all_rejected_have_used_nothing(out):
    ran = Ran.read(out)
    ran.jobs.loc[1, ["start", "finish"]] = np.nan
    assert [*shares([ran])[0]] == ["partition", "qos"]


def test_gini_coefficients_over_time_end_at_those_of_the_summary(out):
    ran = Ran.read(out)
    bounds, found = ginis(ran)
    assert [*found] == ["user", "partition", "account"]  # all that tell a QOS have the same
    assert (bounds[0], bounds[-1], len(bounds)) == (0, 170, len(found["user"]["gini_wait"]) + 1)
    # Mean waits are 70 and 90 s at last; work is 420 and 240 processor-seconds.
    assert found["user"]["gini_wait"][-1] == pytest.approx(20 / (4 * 80))
    assert found["user"]["gini_wait"][-1] == pytest.approx(ran.summary["metrics"]["gini_wait"])
    assert found["user"]["gini_work"][-1] == pytest.approx(180 / (4 * 330))


def test_gini_coefficients_are_of_jobs_after_the_warm_up(out):
    (out.parent / "more.txt").write_text(
        SACCT + SACCT.splitlines()[2].replace("2|", "4|", 1) + "\n"
    )
    words = "--workload", out.parent / "more.txt", "--set", "nodes=4", "--set", "warmup=1"
    got = call("run", "site", "--local", "fcfs", *words, "--out", out)
    assert got.exit_code == 0, got.output
    ran = Ran.read(out)
    _, found = ginis(ran)
    assert found["user"]["gini_wait"][-1] == pytest.approx(ran.summary["metrics"]["gini_wait"])
    assert ran.summary["metrics"]["gini_wait"] > 0
    work = pd.read_csv(out / "users.csv")["work"]
    assert found["user"]["gini_work"][-1] == pytest.approx(gini(work))
    assert page_of([ran]).count("Jobs of the warm-up do not count.") == 2


def test_where_nobody_is_named_nothing_is_shown(tmp_path):
    assert call("run", "quickstart", "--no-live", "--out", tmp_path).exit_code == 0
    ran = Ran.read(tmp_path)
    assert (shares([ran]), ginis(ran)[1]) == ([{}], {})
    page = page_of([ran])
    assert "Gini" not in page.partition("<script")[0]
    assert "Shares of the processor time" not in page


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

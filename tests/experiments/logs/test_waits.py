"""How well simulated schedules explain the waits that a log recorded."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import metasched
from tests.experiments.commands import call


@pytest.fixture(scope="module")
def was(tmp_path_factory):
    """A table of jobs whose waits are those of FCFS on 128 processors."""
    site = metasched.load("site").changed(jobs=400, local_scheduler="fcfs")
    jobs = metasched.run(site).jobs.rename(columns={"execution_time": "runtime"})
    jobs["recorded_wait"] = jobs["wait"]
    path = tmp_path_factory.mktemp("logs") / "was.csv"
    jobs[["arrival", "size", "runtime", "recorded_wait"]].to_csv(path, index=False)
    return path


def told(*words):
    got = call("inspect", *words, "--json")
    assert got.exit_code == 0, got.stderr
    return json.loads(got.stdout)["simulated"]


def test_who_made_a_schedule_explains_it(was):
    found = told(was, "--simulate", "fcfs,easy", "--processors", 128)
    assert found["jobs"] == 400
    assert found["left_out"] == 0
    assert found["agreement"]["fcfs"]["off"] == pytest.approx(0, abs=1e-6)
    assert found["agreement"]["fcfs"]["correlation"] == pytest.approx(1)
    assert found["agreement"]["easy"]["off"] > 1
    assert found["agreement"]["easy"]["correlation"] < 0.99


def test_the_log_may_need_a_larger_machine_than_its_largest_job(tmp_path):
    path = tmp_path / "log.csv"
    rows = ["arrival,size,runtime,recorded_wait", "0,4,100,0", "10,3,50,5", "20,2,30,80"]
    path.write_text("\n".join(rows) + "\n")
    # 4 and 3 from 15 on; the third from 100 on, where the first ends.
    assert told(path, "--simulate", "fcfs")["most_in_use"] == 7
    line = "as recorded, up to 7 processors were in use at once: see --processors"
    assert line in call("inspect", path, "--simulate", "fcfs").stdout
    assert line not in call("inspect", path, "--simulate", "fcfs", "--processors", 7).stdout


@pytest.mark.thorough
def test_slurm_explains_another_schedule_less_than_its_maker_does(was):
    found = told(was, "--simulate", "slurm", "--processors", 128)
    assert found["jobs"] == 400
    assert 0 < found["agreement"]["slurm"]["correlation"] < 1


def test_the_numbers_are_those_of_the_jobs(was):
    found = told(was, "--simulate", "easy", "--processors", 128)
    table = pd.read_csv(was)
    easy = metasched.run(
        metasched.load("site").changed(workload=str(was), nodes=128, local_scheduler="easy")
    ).jobs["wait"]
    recorded = table["recorded_wait"]
    for name, waits in (("recorded", recorded), ("easy", easy)):
        assert found["waits"]["mean"][name] == pytest.approx(waits.mean())
        assert found["waits"]["90 %"][name] == pytest.approx(np.percentile(waits, 90))
    ranks = recorded.rank().corr(easy.rank())
    assert found["agreement"]["easy"]["correlation"] == pytest.approx(ranks)
    assert found["agreement"]["easy"]["off"] == pytest.approx((recorded - easy).abs().median())
    late = table["arrival"] % 86_400 >= 20 * 3600
    assert found["by_hour"]["20-24"]["jobs"] == late.sum()
    assert found["by_hour"]["20-24"]["easy"] == pytest.approx(easy[late].mean())
    some = table["size"].between(17, 32)
    assert found["by_size"]["17-32"]["jobs"] == some.sum()
    assert found["by_size"]["17-32"]["recorded"] == pytest.approx(recorded[some].mean())
    assert sum(each["jobs"] for each in found["by_size"].values()) == 400


def test_what_is_printed_and_written(was, tmp_path):
    got = call("inspect", was, "--simulate", "fcfs,easy", "--out", tmp_path / "out")
    assert got.exit_code == 0
    heads = [line.split() for line in got.stdout.splitlines() if line.startswith("wait,")]
    assert heads == [["wait,", "d", "recorded", "fcfs", "easy"]]
    assert "Waits of 400 jobs, recorded and simulated" in got.stdout
    titles = [line for line in got.stdout.splitlines() if line.startswith("Mean wait by")]
    assert {title.rpartition(", ")[2] for title in titles} == {"d"}  # as above
    written = json.loads((tmp_path / "out" / "log.json").read_text())
    assert written["simulated"]["jobs"] == 400
    assert written["wait"]["known"] == 400


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--simulate", "esy"), "local scheduler 'esy': unknown; did you mean easy?"),
        (("--simulate", "dll"), "local scheduler 'dll': it is a global one"),
        (("--simulate", "easy,easy"), "--simulate: found easy twice; accepted: once"),
        (("--simulate", "recorded"), "--simulate: found recorded; accepted: others"),
        (("--simulate", ""), "--simulate: local scheduler '': unknown"),
        (("--simulate", "easy,"), "--simulate: local scheduler '': unknown"),
        (("--speed", "5"), "was.csv, of format csv; accepted: with batsim"),
        (("--processors", "9"), "--processors: found alone; accepted: with --simulate"),
        (("--simulate", "easy", "--processors", "0"), "accepted: a whole number from 1"),
    ],
)
def test_bad_input_is_a_line(options, message, was):
    got = call("inspect", was, *options)
    assert (got.exit_code, got.stdout) == (2, "")
    assert message in got.stderr.splitlines()[-1]


def test_a_log_without_waits_and_jobs_that_do_not_fit(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text("arrival,size,runtime\n0,1,1\n")
    got = call("inspect", path, "--simulate", "easy")
    assert got.exit_code == 2
    assert (
        f"--simulate: found no recorded wait in {path}; accepted: a log that has some" in got.stderr
    )
    path.write_text("arrival,size,runtime,recorded_wait\n0,4,1,0\n")
    got = call("inspect", path, "--simulate", "easy", "--processors", 2)
    assert (
        f"found no job of {path} that starts on 2 processors under easy; accepted: more"
        in got.stderr
    )
    path.write_text("arrival,size,runtime,recorded_wait\n0,1,1,0\n0,9,1,3\n0,2,5,\n")
    found = told(path, "--simulate", "easy", "--processors", 4)
    assert (found["jobs"], found["left_out"], found["unrecorded"]) == (1, 1, 1)
    shown = call("inspect", path, "--simulate", "easy, fcfs").stdout
    assert "without 1 job of which no wait is recorded" in shown
    assert "without 1 job that the machine cannot hold" not in shown
    assert "on 9 processors, those of the largest usable job" in shown
    assert found["agreement"]["easy"]["correlation"] is None


def test_all_jobs_run_on_the_one_machine_that_the_largest_needs(tmp_path):
    path = tmp_path / "jobs.csv"
    rows = ["arrival,size,runtime,recorded_wait,origin", "0,4,10,0,K", "1,4,10,3,L", "2,16,10,,"]
    path.write_text("\n".join(rows) + "\n")
    found = told(path, "--simulate", "easy")
    assert (found["jobs"], found["processors"]) == (2, 16)
    assert found["waits"]["mean"] == {"recorded": 1.5, "easy": 0}
    path.write_text("arrival,size,recorded_wait,runtime@K\n0,4,0,10\n")
    got = call("inspect", path, "--simulate", "easy")
    words = "found run times on each cluster, runtime@NAME; accepted: one run time of each job"
    assert (got.exit_code, got.stdout) == (2, "")
    assert f"--simulate: {path}: {words}" in got.stderr


def test_working_hours_are_those_of_the_logs_clock(tmp_path):
    # Friday, 28 March 2003, 7:30 in Stockholm; summer time begins on Sunday.
    log, hours = tmp_path / "log.swf", (0, 1, 10, 11, 24, 71.5, 72)
    head = ["; UnixStartTime: 1048833000", "; TimeZoneString: Europe/Stockholm", "; MaxProcs: 4"]
    lines = [
        f"{n} {round(3600 * hour)} {n} 60 1 -1 -1 1 60 -1 1 1 -1 -1 -1 -1 -1 -1"
        for n, hour in enumerate(hours, 1)
    ]
    log.write_text("\n".join([*head, *lines]) + "\n")
    found = told(log, "--simulate", "fcfs")["by_weekday"]
    # 7:30, 8:30, 17:30 and 18:30 of Friday, 7:30 of Saturday, 8:00 and 8:30 of Monday.
    assert {name: each["jobs"] for name, each in found.items()} == {
        "weekdays 8-18": 4,
        "weekdays, rest": 2,
        "weekends": 1,
    }
    assert found["weekdays, rest"]["recorded"] == pytest.approx((1 + 4) / 2)
    assert "time of the week" in call("inspect", log, "--simulate", "fcfs").stdout

"""The schedule that a log recorded, run as it was beside simulated ones."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.balancers import DynamicLeastLoadScheduler
from agents.disciplines import RecordedScheduler
from agents.model import GridModel
from agents.schedulers import LocalScheduler
from experiments.scenario.recorded import beyond
from experiments.scenario.scenario import Scenario
from experiments.show.page import page_of
from experiments.show.run_data import Ran
from experiments.studies.study import Study
from grid.errors import GridError
from grid.jobs import job_table
from grid.platform.multicluster import Platform
from grid.workloads.table import Table
from tests.experiments.commands import call
from tests.experiments.small_studies import Silent

SWF = """; MaxProcs: 8
; UnixStartTime: 1000000000
1 0 0 100 4 -1 -1 4 200 -1 1 1 -1 -1 -1 -1 -1 -1
2 10 5 100 4 -1 -1 4 200 -1 1 2 -1 -1 -1 -1 -1 -1
3 20 -1 50 8 -1 -1 8 100 -1 1 2 -1 -1 -1 -1 -1 -1
4 30 70 50 8 -1 -1 8 100 -1 1 2 -1 -1 -1 -1 -1 -1
5 40 75 20 1 -1 -1 1 100 -1 1 2 -1 -1 -1 -1 -1 -1
"""


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "mine.swf"
    path.write_text(SWF)
    return path


def table(rows):
    jobs = job_table(len(rows))
    for place, (arrival, size, runtime, wait) in enumerate(rows):
        jobs["arrival"][place], jobs["size"][place] = arrival, size
        jobs["runtime"][place], jobs["recorded_wait"][place] = runtime, wait
    return np.sort(jobs, order="arrival")


@pytest.mark.thorough
def test_a_machine_that_had_more_than_was_said_has_them(tmp_path):
    over, out = tmp_path / "over.swf", tmp_path / "out"
    row = "0 100 3 -1 -1 3 200 -1 1 1 -1 -1 -1 -1 -1 -1\n"
    over.write_text(f"; MaxProcs: 4\n; UnixStartTime: 1041377305\n1 0 {row}2 10 {row}")
    words = ["--local", "recorded", "--workload", over, "--set", "processors=4"]
    assert call("run", "site", *words, "--out", out).exit_code == 0
    summary = json.loads((out / "summary.json").read_text())
    assert [each["size"] for each in summary["platform"]["clusters"]] == [6]
    assert call("verify", out).exit_code == 0
    assert call("report", out, "-o", tmp_path / "page.html").exit_code == 0
    assert call("run", "site", *words, "--replications", 2).exit_code == 0


def test_jobs_start_when_they_did(log, tmp_path):
    got = call(
        *("run", "site", "--local", "recorded", "--workload", log, "--no-live"),
        *("--out", tmp_path / "out"),
    )
    assert got.exit_code == 0, got.output
    rows = [line.split(",") for line in (tmp_path / "out" / "jobs.csv").read_text().split()]
    names = rows[0]
    start = {int(row[names.index("job")]): float(row[names.index("start")]) for row in rows[1:]}
    assert start == {1: 0.0, 2: 15.0, 4: 100.0, 5: 115.0}
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["metrics"]["mean_wait"] == pytest.approx((0 + 5 + 70 + 75) / 4)
    assert "1: no recorded wait: dropped" in got.stdout
    # Job 4 began while job 2, until 115, held 4 of the 8 processors; job 5 when it had ended.
    rule = (
        "began while more than the 8 processors of C1 were in use, with theirs: C1 is given the "
        "most that were, 12"
    )
    assert f"2: {rule}" in " ".join(got.stdout.split())
    assert summary["cleaning"]["rules"][rule] == 2
    assert summary["platform"]["clusters"][0]["size"] == 12
    assert call("verify", tmp_path / "out").exit_code == 0


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 50), st.integers(1, 6), st.integers(1, 40), st.integers(0, 60)),
        min_size=1,
        max_size=30,
    ),
    size=st.integers(1, 20),
)
def test_any_recorded_schedule(rows, size):
    jobs = table(rows)
    starts = jobs["arrival"] + jobs["recorded_wait"]
    ends = starts + jobs["runtime"]
    in_use = [int(jobs["size"][(starts <= at) & (at < ends)].sum()) for at in starts]
    of_instant = [max(in_use[j] for j in range(len(jobs)) if starts[j] == at) for at in starts]
    early, most = beyond(jobs, jobs["runtime"], size)
    assert most == max(in_use)
    assert early == sum(used > size for used in of_instant)
    room = Platform.star([max(size, most)])
    model = GridModel(room, Table(jobs), DynamicLeastLoadScheduler, RecordedScheduler, interval=7.0)
    model.run()
    found = np.sort(model.world.log.records().rows, order="number")
    assert found["start"].tolist() == starts[np.argsort(jobs["number"])].tolist()


def test_each_stays_where_it_ran(tmp_path):
    (tmp_path / "two.toml").write_text(
        'global = "home"\nlocal = "recorded"\n[parameters]\nmode = "open"\n'
        '[[clusters]]\nname = "A"\nsize = 4\n[[clusters]]\nname = "B"\nsize = 4\n'
    )
    rows = "arrival,size,runtime,origin,recorded_wait\n0,4,10,A,3\n1,4,5,B,0\n2,4,5,B,3\n"
    (tmp_path / "jobs.csv").write_text(rows)
    scenario = Scenario.load(tmp_path / "two.toml").changed(workload=str(tmp_path / "jobs.csv"))
    model = scenario.model()
    model.run()
    found = np.sort(model.world.log.records().rows, order="number")
    assert found["start"].tolist() == [3.0, 1.0, 5.0]
    assert found["finish"].tolist() == [13.0, 6.0, 10.0]
    assert scenario.as_run(model).platform.sizes.tolist() == [4, 8]


def test_jobs_run_as_long_as_they_did(tmp_path):
    (tmp_path / "slow.toml").write_text(
        'global = "home"\nlocal = "recorded"\n[parameters]\nmode = "open"\n'
        '[[clusters]]\nname = "A"\nsize = 4\nrate = 0.5\n'
    )
    rows = "arrival,size,runtime,origin,recorded_wait\n0,4,10,A,0\n5,4,10,A,5\n"
    (tmp_path / "jobs.csv").write_text(rows)
    scenario = Scenario.load(tmp_path / "slow.toml").changed(workload=str(tmp_path / "jobs.csv"))
    told = "job 1 would run for 20 s on A; accepted: 10 s, as in the log"
    with pytest.raises(GridError, match=told):
        scenario.model()
    as_there = scenario.changed(["speeds={A={A=1}}"])
    assert as_there.model().world.platform.sizes.tolist() == [4]


@pytest.mark.parametrize(("arrival", "window"), [(0.0, 0.0), (1234.567, 0.0), (0.0, 20.0)])
def test_rounded_sums_are_no_overlap(arrival, window, tmp_path):
    draws = np.random.default_rng(3)
    rows, free_at = [], 0.0
    for submit in np.cumsum(draws.exponential(0.1, 500)).tolist():
        start, run = max(submit, free_at), float(draws.exponential(0.1))
        rows.append(f"{arrival + submit!r},4,{run!r},{start - submit!r}")
        free_at = start + run
    (tmp_path / "was.csv").write_text("\n".join(["arrival,size,runtime,recorded_wait", *rows]))
    scenario = Scenario.load("site").changed(
        [f"window_start={window}"], workload=str(tmp_path / "was.csv"), local_scheduler="recorded"
    )
    model = scenario.model()
    model.run()
    assert model.world.platform.sizes.tolist() == [4]
    found = np.sort(model.world.log.records().rows, order="submission")
    wanted = model.workload.jobs["arrival"] + model.workload.jobs["recorded_wait"]
    assert found["start"] == pytest.approx(wanted, abs=1e-6)


def test_who_starts_jobs_itself_has_the_machine_as_it_is(log):
    words = "run", "site", "--global", "no-share", "--no-live", "--json", "--workload", log
    recorded, easy = (
        json.loads(call(*words, "--local", each).stdout)["metrics"] for each in ("recorded", "easy")
    )
    assert recorded == easy


def test_what_recorded_asks_for_cannot_be_left_out(log):
    words = "run", "site", "--local", "recorded", "--no-live", "--workload", log
    got = call(*words, "--set", "only_recorded=false")
    told = "parameters without effect: only_recorded (local scheduler recorded has it so)"
    assert told in got.stderr


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ((), "workload: synthetic; accepted: a log, under local scheduler recorded"),
        (("--set", "load_factor=2"), "load_factor: found 2.0; accepted: 1.0, under local"),
        (("--set", "latency=3"), "latency: found 3.0; accepted: 0.0, under local sched"),
        (("--set", "kill_at_request=true"), "kill_at_request: found True; accepted: false, under"),
        (("--set", "mean_up_time=9"), "mean_up_time: found 9.0; accepted: 0, under local schedul"),
        (("--set", "clusters=2"), "found several clusters; accepted: global scheduler home"),
        (
            ("--set", "clusters=2", "--global", "home"),
            "found 4 jobs without an origin; accepted: jobs of which the log says where they ran",
        ),
    ],
)
def test_what_cannot_be_as_it_was(options, told, log):
    of_log = ("--workload", log) if options else ()
    got = call("run", "site", "--local", "recorded", "--no-live", *of_log, *options)
    assert got.exit_code == 2
    assert told in got.stderr
    assert got.stderr.splitlines()[-1].startswith("metasched: ")


def test_a_log_without_waits(tmp_path):
    path = tmp_path / "none.swf"
    path.write_text("1 0 -1 100 4 -1 -1 4 200 -1 1 1 -1 -1 -1 -1 -1 -1\n")
    got = call("run", "site", "--local", "recorded", "--no-live", "--workload", path)
    assert got.exit_code == 2
    assert got.stderr.splitlines()[-1].endswith("and a recorded wait")


@pytest.mark.thorough
def test_a_study_compares_the_same_jobs(log, tmp_path):
    (tmp_path / "study.toml").write_text(
        'scenario = "site"\nmetric = "mean_wait"\n[policies]\nglobal = ["dll"]\n'
        f'local = ["recorded", "easy"]\n[workloads]\nmine = "{log.name}"\n'
        "[replications]\nleast = 2\n"
    )
    outcome = Study.load(tmp_path / "study.toml").run(tmp_path / "found.db", 1, watch=Silent())
    means = outcome.points.set_index("policy")["mean_wait"].to_dict()
    assert means["dll over recorded"] == pytest.approx(37.5)
    easy = call(
        *("run", "site", "--local", "easy", "--workload", log, "--json"),
        *("--set", "only_recorded=true"),
    )
    assert means["dll over easy"] == json.loads(easy.stdout)["metrics"]["mean_wait"]
    (rule,) = outcome.provenance["cleaning"]
    assert (rule["times"], rule["rule"]) == (1, "no recorded wait: dropped")
    text = " ".join(outcome.sentences())
    assert (
        "In 2 of 2 runs of dll over recorded, the log has more processors of C1 in use at once "
        "than there are; there it is given as many, at most 12."
    ) in text


@pytest.mark.thorough
def test_windows_of_logs_are_told_to_hide_other_jobs(log, tmp_path):
    beside = "recorded, in a window of a log: jobs from before and after it held processors, too"
    words = ("run", "site", "--workload", log, "--no-live", "--local")
    window = ("--set", "window_start=5", "--out")
    assert beside not in call(*words, "recorded").stderr
    for name in ("recorded", "easy"):
        told = call(*words, name, *window, tmp_path / name).stderr
        assert (beside in told) == (name == "recorded")
    for folders in (["recorded"], ["recorded", "easy"]):
        page = page_of([Ran.read(tmp_path / each) for each in folders])
        assert page.count(beside[1:]) == 1
        assert "highest utilization" not in page
    (tmp_path / "study.toml").write_text(
        'scenario = "site"\n[policies]\nglobal = ["dll"]\nlocal = ["recorded", "easy"]\n'
        f'[workloads]\nmine = "{log.name}"\n[replications]\nleast = 2\nwindow = "10s"\n'
    )
    outcome = Study.load(tmp_path / "study.toml").run(tmp_path / "found.db", 1, watch=Silent())
    assert " ".join(outcome.provenance["changes"]).count(beside) == 1


class AtTen(LocalScheduler):
    """Starts all that came at 10 s, and what comes later as it lands."""

    service = "timed"

    def priority(self, job):
        return 10.0


def test_times_of_ones_own():
    jobs = table([(0, 3, 5, -1), (1, 3, 5, -1), (2, 1, 5, -1), (12, 1, 5, -1)])
    model = GridModel(Platform.star([4]), Table(jobs), DynamicLeastLoadScheduler, AtTen)
    model.run()
    found = np.sort(model.world.log.records().rows, order="number")
    # The second does not fit at 10 beside the first, and holds back others, as a head does.
    assert found["start"].tolist() == [10.0, 15.0, 15.0, 20.0]


def test_an_unknown_service_is_refused():
    class Strange(AtTen):
        service = "timely"

    jobs = Table(table([(0, 1, 1, 0)]))
    with pytest.raises(GridError, match="service: found 'timely'; accepted: head, fpfs, "):
        GridModel(Platform.star([4]), jobs, DynamicLeastLoadScheduler, Strange)


def test_explain_says_that_it_waits_for_its_recorded_start(tmp_path):
    log = tmp_path / "was.csv"
    log.write_text("arrival,size,runtime,recorded_wait,deadline\n0,1,60,0,100\n5,2,60,55,2\n")
    out = tmp_path / "r"
    words = "--workload", log, "--local", "recorded", "--set", "nodes=4", "--out", out
    got = call("run", "site", *words, "--events", out / "events.jsonl")
    assert "1: deadline before the arrival: kept" in got.stdout
    assert "enough were free meanwhile, but recorded starts it when it did in truth" in (
        call("explain", out, "2").stdout
    )


def test_the_machine_is_as_large_as_a_job_whose_wait_is_not_recorded(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text("arrival,size,runtime,recorded_wait\n0,4,10,0\n1,2,10,5\n2,16,10,\n")
    found = call("run", "site", "--local", "recorded", "--workload", path, "--json")
    assert json.loads(found.stdout)["platform"]["clusters"][0]["size"] == 16

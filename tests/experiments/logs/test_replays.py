"""Scenarios that replay logs and tables of jobs."""

from __future__ import annotations

import dataclasses
import gzip

import numpy as np
import pytest

from experiments.scenario.notes import notes
from experiments.scenario.scenario import Scenario
from grid.errors import GridError, WorkloadError
from grid.logs.cleaning import OUTSIDE, ZERO_RUNTIME
from grid.platform.multicluster import Platform
from tests.experiments.scenario_files import SITE, run_of

LOG = [(j, 100 * j, 5 + j % 7, 1 + j % 4) for j in range(1, 41)]


def swf(rows):
    lines = [f"{j} {t} 0 {run} {size} -1 -1 {size} 60 " + "-1 " * 9 for j, t, run, size in rows]
    return "; a log\n" + "\n".join(lines) + "\n"


def test_a_log_is_replayed(written, tmp_path):
    written(swf(LOG), "log.swf")
    path = written(SITE + "\n[parameters]\nmode = 'open'", "mine.toml")
    text = (tmp_path / "mine.toml").read_text().replace("title", 'workload = "log.swf"\ntitle', 1)
    scenario = Scenario.load(written(text))
    assert path == str(tmp_path / "mine.toml")
    _, records = run_of(scenario)
    assert records["number"].tolist() == [row[0] for row in LOG]
    assert np.diff(records["arrival"]).tolist() == [100.0] * 39
    assert records["size"].tolist() == [row[3] for row in LOG]
    assert records["runtime"].tolist() == [float(row[2]) for row in LOG]
    assert np.isfinite(records["deadline"]).all()


def test_a_scenario_file_names_the_logs_of_its_sites(written, tmp_path):
    for name in ("a.swf", "b.swf"):
        written(swf(LOG), name)
    logs = 'workload = ["A=a.swf", "B=b.swf"]\n'
    platform = "\n".join(f'[[clusters]]\nname = "{name}"\nsize = 8\n' for name in "AB")
    scenario = Scenario.load(written(logs + 'global = "no-share"\n' + platform))
    assert scenario.workload == [f"A={tmp_path / 'a.swf'}", f"B={tmp_path / 'b.swf'}"]
    _, records = run_of(scenario)
    assert np.bincount(records["cluster"]).tolist() == [len(LOG), len(LOG)]


def test_a_packed_log_is_the_same(written, tmp_path):
    platform = Platform.star([8, 4])
    plain = Scenario("mine", platform, workload=written(swf(LOG), "log.swf"))
    (tmp_path / "log.swf.gz").write_bytes(gzip.compress(swf(LOG).encode()))
    packed = Scenario("mine", platform, workload=str(tmp_path / "log.swf.gz"))
    assert run_of(plain)[1].tobytes() == run_of(packed)[1].tobytes()


def test_window_load_deadlines_and_origins_of_a_log(written):
    platform = Platform.star([8, 4])
    scenario = Scenario("mine", platform, workload=written(swf(LOG), "log.swf"))
    model, records = run_of(scenario.changed(["window_start=500", "window_end=1500"]))
    assert records["number"].tolist() == list(range(6, 16))
    cleaning = model.workload.cleaning
    assert (cleaning.records, cleaning.dropped, cleaning.rules) == (40, 0, {OUTSIDE: 30})
    zero = [(j, t, run if j % 3 else 0, size) for j, t, run, size in LOG]
    cut = Scenario("mine", platform, workload=written(swf(zero), "zero.swf"))
    model, _ = run_of(cut.changed(["window_start=500", "window_end=1500"]))
    assert model.workload.cleaning.rules == {OUTSIDE: 30, ZERO_RUNTIME: 4}
    _, records = run_of(scenario.changed(["load_factor=4"]))
    assert np.diff(records["arrival"]).tolist() == [25.0] * 39
    assert records["runtime"].tolist() == [float(row[2]) for row in LOG]
    _, records = run_of(scenario.changed(["local_share=1", "latency=0.5"]))
    assert set(records["origin"].tolist()) == {0, 1}
    _, records = run_of(scenario.changed(["assign_deadlines=false"]))
    assert np.isinf(records["deadline"]).all()
    _, records = run_of(scenario.changed(["min_deadline_ratio=3", "max_deadline_ratio=3"]))
    assert records["deadline"] == pytest.approx(records["arrival"] + 4 * records["runtime"])
    with pytest.raises(WorkloadError, match="empty") as caught:
        scenario.changed(["window_start=1e9"]).model()
    assert "\n" not in str(caught.value)


def test_a_window_that_ends_before_it_starts_is_refused(written):
    scenario = Scenario("mine", Platform.star([8]), workload=written(swf(LOG), "log.swf"))
    with pytest.raises(GridError, match="window"):
        scenario.changed(["window_start=50", "window_end=20"]).model()


def test_one_log_a_site(written):
    platform = Platform.star([8, 4])
    first, second = written(swf(LOG), "first.swf"), written(swf(LOG[5:25]), "second.swf")
    scenario = Scenario(
        "mine", platform, {"latency": 1.0}, workload=[f"C1={first}", f"C2={second}"]
    )
    _, records = run_of(scenario)
    assert len(records) == 60
    assert np.bincount(records["origin"]).tolist() == [40, 20]
    for origin in (0, 1):
        mine = records[records["origin"] == origin]
        assert mine["arrival"].min() == 0.0  # aligned at the first submission
    again = scenario.changed(["local_share=0.5"])  # origins that logs bring stay
    assert np.bincount(run_of(again)[1]["origin"]).tolist() == [40, 20]
    for entry, words in (
        (first, "found no cluster, among 2 logs; accepted: cluster=file for each of several logs"),
        ("C2=", "workload C2=: found no file; accepted: cluster=file"),
        ("C2=a.swf,C3=b.swf", "found several in one; .* logs, each as a workload of its own"),
        (f"C9={first}", "unknown cluster; accepted: C1, C2"),
    ):
        with pytest.raises(WorkloadError, match=words):
            Scenario("mine", platform, workload=[f"C1={first}", entry]).model()
    with pytest.raises(WorkloadError, match="a second log of C1"):
        Scenario("mine", platform, workload=[f"C1={first}", f"C1={second}"]).model()
    with pytest.raises(WorkloadError, match=r"gone\.swf"):
        Scenario("mine", platform, workload=["C1=gone.swf"]).model()


def test_jobs_of_a_site_may_have_come_from_anywhere(tmp_path):
    table = tmp_path / "jobs.csv"
    table.write_text("arrival,size,runtime,origin\n0,4,9,C1\n1,4,9,C2\n2,4,9,Leiden\n3,4,9,\n")
    alone = Scenario("mine", Platform.star([8, 4]), workload=str(table))
    with pytest.raises(WorkloadError, match="origin is 'Leiden'; accepted: one of C1, C2, or"):
        alone.model()
    of_site = Scenario("mine", Platform.star([8, 4]), workload=[f"C2={table}"])
    model, records = run_of(of_site)
    assert records["origin"].tolist() == [1] * 4
    assert "origin other than C2, whose log it is: C2 taken" in model.workload.cleaning.rules
    assert [*model.workload.cleaning.rules.values()] == [2]


def test_deadlines_that_a_table_brings_stay(written):
    text = "arrival,size,runtime,deadline,origin\n0,1,5,9,C2\n1,2,5,,\n"
    scenario = Scenario("mine", Platform.star([8, 4]), workload=written(text, "jobs.csv"))
    _, records = run_of(scenario)
    assert records["deadline"][0] == 9.0
    assert np.isfinite(records["deadline"][1])
    assert records["origin"].tolist() == [1, -1]


def test_a_log_that_ends_when_it_begins_has_a_step():
    model = Scenario.load("muscle-case-study").changed(["step=auto"]).model()
    assert model.interval > 0
    model.run()
    assert model.world.state.completed == 6


def test_jobs_of_a_log_communicate_as_synthetic_ones_do_unless_columns_tell(written):
    platform = Platform.star([8, 8], capacity=100)
    header = "arrival,size,runtime,computation_fraction"
    logs = [
        f"C1={written(swf([(1, 0, 60, 12), (2, 500, 60, 1)]), 'log.swf')}",
        f"C2={written(header + chr(10) + '0,12,60,0.5', 'table.csv')}",
    ]
    scenario = Scenario("mine", platform, workload=logs).changed(
        ["computation_fraction=0.7", "bsbw=360", "coallocate=true"]
    )
    jobs = np.concatenate(list(scenario.model().workload.chunks()))
    wide = 360 * 4 * 11 / 144
    assert jobs["ppbw"] == pytest.approx([wide, wide, 0.0])
    assert jobs["computation_fraction"].tolist() == [0.7, 0.5, 0.7]
    told = written(header + ",ppbw\n0,12,60,1,0", "told.csv")
    jobs = next(dataclasses.replace(scenario, workload=told).model().workload.chunks())
    assert (jobs["ppbw"].item(), jobs["computation_fraction"].item()) == (0.0, 1.0)
    assert "bsbw" not in " ".join(notes(scenario))


@pytest.mark.parametrize(
    ("policy", "settings"),
    [("first-fit", []), ("b1", ["lslt=1000"]), ("muscle", ["coallocate=true"])],
)
def test_links_slow_the_split_jobs_of_a_log(written, policy, settings):
    log = written(swf([(1, 0, 100, 12)]), "log.swf")
    scenario = Scenario(
        "mine", Platform.star([8, 8]), {"mode": "open"}, policy, "fcfs", workload=log
    ).changed(["computation_fraction=0.7", "bsbw=360", *settings])
    finish = [
        run_of(scenario.changed([f"link_mbps={link}"]))[1]["finish"].item() for link in (1e6, 80)
    ]
    assert finish[0] == pytest.approx(100)
    assert finish[1] > 110

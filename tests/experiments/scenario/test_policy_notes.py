"""What is told of schedulers that lack what they go by."""

from __future__ import annotations

import pytest

from experiments.scenario.notes import notes
from experiments.scenario.scenario import Scenario
from grid.platform.multicluster import Platform
from grid.workloads.table import stated_by

PLATFORM = Platform.star([20, 4], latency=0.1)


def test_it_is_said_that_nobody_starts_before_an_aged_head():
    said = (
        "aging: while the head of a queue has waited for 100 s, no other job starts at any "
        "cluster; it is tried when a job departs"
    )
    for aging, policy, times in ((100, "lp-gf", 1), (0, "lp-gf", 0), (100, "gs", 0)):
        scenario = Scenario.load("queues").changed(aging=aging, global_scheduler=policy)
        assert notes(scenario).count(said) == times


@pytest.mark.parametrize(
    ("policy", "settings", "said"),
    [
        ("b3", [], 1),
        ("b3", ["computation_fraction=1"], 0),
        ("b3", ["computation_fraction=0.8"], 0),
        ("muscle", [], 0),
        ("muscle", ["coallocate=true"], 1),
        ("fixed-penalty", [], 0),
        ("dll", [], 0),
    ],
)
def test_it_is_said_that_split_jobs_of_a_log_do_not_communicate(tmp_path, policy, settings, said):
    (tmp_path / "jobs.csv").write_text("arrival,size,runtime\n0,1,10\n")
    given = {"workload": str(tmp_path / "jobs.csv"), "global_scheduler": policy}
    scenario = Scenario.load("quickstart").changed(settings, **given)
    line = "computation_fraction 1: jobs that are split are taken not to communicate"
    assert notes(scenario, stated=stated_by(scenario.model(0).workload)).count(line) == said
    table = "arrival,size,runtime,computation_fraction\n0,1,10,1\n"
    (tmp_path / "jobs.csv").write_text(table)
    assert line not in notes(scenario, stated=stated_by(scenario.model(0).workload))


def test_it_is_said_that_idle_processors_draw_nothing_if_nobody_says_what():
    said = "idle_watts: not given; processors that no job holds draw 0 W"
    for given, times in (([], 0), (["busy_watts=100"], 1), (["busy_watts=9", "idle_watts=0"], 0)):
        assert notes(Scenario.load("quickstart").changed(given)).count(said) == times


@pytest.mark.parametrize(
    ("name", "prediction", "said"),
    [
        ("muscle", [], "whatever times users requested; prediction requested goes by those"),
        ("muscle", ["prediction=exact"], ""),
        ("muscle", ["prediction_error=0.1"], ""),
        ("site", [], ""),
    ],
)
def test_it_is_said_if_schedulers_know_run_times_since_nobody_said_otherwise(
    name, prediction, said, tmp_path
):
    path = tmp_path / "jobs.csv"
    none = "for none requests a time; prediction learned goes by those that ended"
    for asked, told in (("60", said), ("", none if said or name == "site" else "")):
        path.write_text(f"arrival,size,runtime,requested_time\n0,1,10,{asked}\n")
        given = {"workload": str(path), "local_scheduler": "easy"}
        scenario = Scenario.load(name).changed(prediction, **given)
        found = notes(scenario, stated=stated_by(scenario.model(0).workload))
        known = "prediction exact: jobs are expected to take as long as they do, "
        assert [line for line in found if line.startswith(known)] == [f"{known}{told}"] * bool(told)


@pytest.mark.parametrize(
    ("origin", "local", "said"), [("C1", "fcfs", 0), ("", "fcfs", 1), ("C1", "easy", 1)]
)
def test_jobs_at_home_are_predicted_where_their_local_scheduler_goes_by_it(
    tmp_path, origin, local, said
):
    path = tmp_path / "jobs.csv"
    head = "arrival,size,runtime,requested_time,origin"
    path.write_text(f"{head}\n0,1,10,60,{origin}\n")
    given = {"assign_deadlines": False}
    scenario = Scenario("mine", PLATFORM, given, "home", local, workload=str(path))
    found = notes(scenario, stated=stated_by(scenario.model().workload))
    assert sum(line.startswith("prediction exact") for line in found) == said

"""A result in numbers."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from agents.model import GridModel
from agents.schedulers import REJECT
from experiments.run import run
from experiments.run.summary import version
from experiments.run.totals import WHOLE
from experiments.scenario.checked import checked
from experiments.scenario.scenario import Scenario
from grid.jobs import job_table
from grid.platform.changes import Change
from grid.platform.multicluster import Platform
from grid.workloads.source import Cleaning
from grid.workloads.table import Table
from tests.agents import small_grids
from tests.experiments.small_results import (
    PLATFORM,
    Arrival,
    First,
    Never,
    plain,
    printed,
    result_of,
    table,
)


def test_summary_has_the_contract_and_no_key_without_cause(result):
    summary = result.summary()
    assert summary["scenario"] == "three jobs"
    assert summary["seed"] == 3
    assert summary["wall_s"] == 0.5
    assert summary["jobs"] == {"submitted": 3, "completed": 2, "rejected": 1, "dropped": 0}
    assert summary["rejected_jobs"] == [8]
    assert [row["name"] for row in summary["clusters"]] == ["C1", "C2", "C3", "C4"]
    assert summary["simulated_s"] == math.pi
    assert set(summary) == {
        *("scenario", "seed", "jobs", "deadlines", "metrics", "clusters", "links", "wall_s"),
        *("rejected_jobs", "rejections", "simulated_s"),
        *("global", "local", "workload", "parameters", "platform", "version"),
    }
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary


def test_what_rounds_came_to_is_unknown_without_rounds(result):
    summary = result.summary()
    names = ("mcp", "pb", "mcp_overall", "pb_overall", "mcp_planned", "pb_planned", "rounds")
    assert [summary["metrics"][name] for name in (*names, "cp_basis")] == [None] * 8
    for row in summary["clusters"]:
        assert [row[name] for name in ("cp", "cp_overall", "cp_planned")] == [None] * 3
    assert not {"CP", "MCP", "rounds", "idle"} & {*printed(result).replace(",", " ").split()}


def test_whole_run_is_one_round_where_rounds_overlap(result):
    result = replace(result, in_rounds=True)
    metrics, first = result.summary()["metrics"], result.summary()["clusters"][0]
    makespan, work = math.pi, 2 * math.pi + 3 * 0.1
    cp = (3 * makespan + (20 * makespan - work) / 20) / 8
    assert result.basis == metrics["cp_basis"] == WHOLE
    assert metrics["rounds"] == 0
    assert metrics["mcp"] == metrics["mcp_overall"] == pytest.approx(cp)
    assert metrics["pb"] == metrics["pb_overall"] == pytest.approx(math.sqrt(3 * cp**2 / 3))
    assert metrics["mcp_planned"] is metrics["pb_planned"] is None
    assert first["cp"] == first["cp_overall"] == pytest.approx(cp)
    assert first["cp_planned"] is None
    assert metrics["messages"] == {
        **{
            "submission": 3,
            "metadata": 0,
            "order": 0,
            "transfer": 2,
            "scheduling": 0,
            "discovery": 0,
        },
        "advertisement": metrics["messages"]["advertisement"],
    }


@pytest.fixture
def installed_anew():
    """Have the version looked up in the test, and by those after it."""
    version.cache_clear()
    yield
    version.cache_clear()


@pytest.mark.usefixtures("installed_anew")
def test_summary_says_what_ran(result, monkeypatch):
    monkeypatch.setattr(metadata, "version", {"metasched": "1.2.3"}.__getitem__)
    summary = result.summary()
    assert summary["global"] == f"{First.__module__}:First"
    assert summary["local"] == f"{First.__module__}:Arrival"
    assert summary["workload"] is None
    parameters = checked({"assign_deadlines": False}, "")  # which is what "auto" came to
    assert summary["parameters"] == parameters.model_dump(mode="json")
    assert Platform.from_dict(summary["platform"]).clusters == PLATFORM.clusters
    assert summary["version"] == "1.2.3"
    unlimited = replace(result.scenario, platform=Platform.star([20, 16, 12, 10], 1, math.inf))
    summary = replace(result, scenario=unlimited).summary()
    assert [link["capacity"] for link in summary["platform"]["links"]] == [None] * 4
    json.dumps(summary, allow_nan=False)


@pytest.mark.parametrize(
    ("workload", "told"),
    [
        ("log.swf", "log.swf"),
        (Path("a", "log.swf"), str(Path("a", "log.swf"))),
        (("C1=1.swf", "C2=2.swf"), ["C1=1.swf", "C2=2.swf"]),
    ],
)
def test_summary_says_which_log(result, workload, told):
    named = replace(
        result.scenario,
        workload=workload,
        global_scheduler="muscle",
        local_scheduler="agents.disciplines:SjfScheduler",
    )
    summary = replace(result, scenario=named).summary()
    assert (summary["global"], summary["local"]) == ("muscle", named.local_scheduler)
    assert summary["workload"] == told


def test_a_scheduler_of_a_script_is_called_by_its_class(tmp_path):
    (tmp_path / "mine.py").write_text(
        "from agents.schedulers import GlobalScheduler\n"
        "from experiments.scenario import Scenario\n"
        "from grid.platform import Platform\n"
        "class Mine(GlobalScheduler):\n"
        "    pass\n"
        "scenario = Scenario('mine', Platform.star([4]), {}, Mine)\n"
    )
    assert Scenario.load(str(tmp_path / "mine.py")).to_dict()["global"] == "Mine"


@pytest.mark.usefixtures("installed_anew")
def test_version_is_not_known_where_nothing_is_installed(result, monkeypatch):
    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    assert result.summary()["version"] is None


def test_cleaning_and_extras_are_told():
    cleaning = Cleaning(9, {"no size: dropped": 6, "run time 0: counted as 1 s": 1}, 6)
    model = plain(table(cleaning=cleaning))
    model.run()
    result = result_of(model, "log", 0.1, {"seed_schedules": [[1, 2]]})
    summary = result.summary()
    assert summary["jobs"]["dropped"] == 6
    assert summary["cleaning"] == {"records": 9, "rules": cleaning.rules}
    assert summary["seed_schedules"] == [[1, 2]]


def test_every_rejected_job_is_listed():
    jobs = job_table(1500)
    jobs["arrival"], jobs["size"], jobs["runtime"] = np.arange(1500), 21, 1.0
    model = plain(Table(jobs))
    model.run()
    result = result_of(model, "too large", 0.1)
    summary = result.summary()
    assert summary["jobs"] == {"submitted": 1500, "completed": 0, "rejected": 1500, "dropped": 0}
    assert summary["rejected_jobs"] == list(range(1, 1501))
    assert summary["metrics"]["rounds"] is None
    assert summary["metrics"]["mcp"] is summary["metrics"]["mean_wait"] is None
    assert [row["cp"] for row in summary["clusters"]] == [None] * 4
    json.dumps(summary, allow_nan=False)
    assert len(result.rounds_table()) == 0
    assert "1,500 jobs rejected, larger than any cluster, and the global scheduler" in printed(
        result
    )


def test_jobs_that_no_one_starts_are_not_lost_in_silence():
    model = plain(place=Never)
    model.run()
    result = result_of(model, "idle", 0.1)
    assert result.summary()["unfinished"] == 2
    assert result.summary()["why_unfinished"] == result.why_unfinished
    assert "interrupted" not in result.summary()
    why = "no scheduler started them; Never.place returned None each time"
    assert f"2 jobs not finished: {why}" in " ".join(printed(result).split())
    assert result.why_unfinished == why
    for given, hint in (
        ({"loss": 0.1}, "change repeats none"),
        ({"loss": 0.1, "advertise": "both"}, ""),
    ):
        lossy = replace(result, scenario=result.scenario.changed(**given))
        assert lossy.why_unfinished.endswith(hint or why)


@pytest.mark.parametrize("answer", ["cluster", {"C1": 4}, REJECT])
def test_a_policy_that_answered_once_is_not_said_to_have_returned_none(answer):
    class Once(Never):
        def place(self, job):
            first = self.clusters[0] if answer == "cluster" else answer
            return first if job.number == 1 else None

    jobs = small_grids.table((0, 4, 5.0), (1, 4, 5.0))
    model = small_grids.model_of(Once, "fcfs", jobs, Platform.star([4]))
    model.run()
    assert result_of(model, "once", 0.1).why_unfinished == "no scheduler started it"


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        (
            [(0, 4, 5.0), (0, 3, 9.0), (1, 4, 5.0)],
            "3 jobs not finished: 2 that no scheduler started, 1 thrown back by failures",
        ),
        ([(0, 4, 5.0)], "1 job not finished: 1 thrown back by failures"),
        ([(0, 4, 2.0), (9, 4, 5.0)], "1 job not finished: no scheduler started it"),
    ],
)
def test_jobs_that_failures_threw_back_had_been_started(rows, why):
    model = small_grids.model_of(
        "ect", "fcfs", small_grids.table(*rows), Platform.star([4]), tracked=True
    )
    for processor in range(4):
        model.world.resources.fail(0, processor, 3.0)
    model.run()
    assert why in printed(result_of(model, "failing", 0.1))


@pytest.mark.parametrize(
    ("policy", "sizes", "are"),
    [
        ("gs", (8, 1, 1), "1 of the jobs is"),
        ("gs", (8, 8, 1), "2 of the jobs are"),
        ("ect", (3, 2, 1), "the job is"),  # no cluster has 3 up
    ],
)
def test_jobs_that_cannot_be_held_are_told_from_those_that_wait(policy, sizes, are):
    rows = [(20 + 5 * index, size, 9.0) for index, size in enumerate(sizes)]
    down = Change("C1", "fail", at=10)
    platform = replace(Platform.star([8, 2]), changes=(down,))
    model = small_grids.model_of(policy, "fcfs", small_grids.table(*rows), platform, tracked=True)
    model.run()
    result = result_of(model, "behind", 0.1)
    why = f"8 processors of C1 are away, and {are} too large for what is up"
    which = "it" if policy == "ect" else "them"
    assert result.why_unfinished == f"no scheduler started {which}; {why}"


def test_unfinished_jobs_are_told_with_what_is_away_at_the_end():
    """Whatever else they may wait for: whether it would start them is not known."""
    changes = (
        Change("C1", "fail", at=1),
        Change("C2", "drain", at=1, processors=2),
        Change("C3", "drain", at=1, until=9),
    )
    model = GridModel(replace(PLATFORM, changes=changes), table(), Never, Arrival)
    model.run()
    result = result_of(model, "away", 0.1)
    assert result.away == {"C1": 20, "C2": 2}
    why = "no scheduler started them; Never.place returned None each time; 20 processors of C1 "
    why += "and 2 of C2 are away"
    assert result.why_unfinished == why
    lossy = replace(result, scenario=result.scenario.changed(loss=0.1))
    assert lossy.why_unfinished.startswith(f"{why}; advertisements may have been lost too, and")


@pytest.mark.parametrize("arrivals", [[0.0, 0.0], [0.0, 2.0, 2.0], [1.0, 2.0, 2.0, 5.0]])
def test_no_interval_of_the_timeline_is_empty(arrivals, tmp_path):
    path = tmp_path / "few.csv"
    path.write_text(
        "job,arrival,size,runtime\n" + "".join(f"{n},{at},1,3\n" for n, at in enumerate(arrivals))
    )
    timeline = run(Scenario("few", Platform.star([4]), {}, "dll", "fcfs", path)).timeline
    assert timeline["to"].tolist() == sorted({*arrivals} - {0.0})
    assert timeline["from"].tolist() == [0.0, *timeline["to"]][:-1]


CHANGED = """
global = "b1"
local = "fcfs"
clusters = [{name = "A", size = 8}, {name = "B", size = 8}]
changes = [{cluster = "A", what = "drain", at = 5, until = 50}%s]
[parameters]
mode = "open"
jobs = 30
max_size = 14
bsbw = 600
computation_fraction = 0.6
advertise = "periodic"
period = 20
latency = 0.5
"""


@pytest.mark.parametrize("failing", ["", "mean_up_time = 2000\nmean_down_time = 50\n"])
def test_a_run_ends_with_its_jobs_whatever_is_planned_for_later(tmp_path, failing):
    found = []
    for name, later in (("now", ""), ("later", ', {cluster = "B", what = "drain", at = 999999}')):
        (tmp_path / f"{name}.toml").write_text(CHANGED % later + failing)
        result = run(tmp_path / f"{name}.toml")
        summary = result.summary()
        found.append([summary[key] for key in ("simulated_s", "metrics", "links", "clusters")])
        last = result.jobs["finish"].max()
        assert last <= result.simulated_s <= last + 100
        assert summary["links"][0]["mean_demand"] > 0
    assert found[0] == found[1]


def test_who_ends_at_the_deadline_is_in_time(tmp_path):
    """Of 1.5 operations a second, the sum of run times is rounded: 12 s, and a trace."""
    (tmp_path / "one.toml").write_text(
        'global = "home"\nlocal = "fcfs"\n[[clusters]]\nname = "A"\nsize = 2\nrate = 1.5\n'
        '[parameters]\nmode = "open"\nassign_deadlines = false\n'
    )
    times = "".join(f"{job},2,2,{time},12,A\n" for job, time in enumerate((5, 3, 5, 2), 1))
    (tmp_path / "jobs.csv").write_text(f"job,arrival,size,runtime,deadline,origin\n{times}")
    scenario = Scenario.load(tmp_path / "one.toml").changed(workload=str(tmp_path / "jobs.csv"))
    result = run(scenario)
    assert result.jobs["finish"].max() > 12.0
    metrics = result.summary()["metrics"]
    assert (metrics["deadlines_met"], metrics["over_deadline"]) == (1.0, 0.0)
    assert result.jobs["over_deadline"].tolist() == [0.0] * 4

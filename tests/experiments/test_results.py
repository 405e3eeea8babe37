import csv
import io
import json
import math
import os
from dataclasses import replace
from functools import partial
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from agents.model import GridModel
from agents.muscle import MuscleScheduler
from agents.schedulers import GlobalScheduler, LocalScheduler
from agents.titan import TitanScheduler
from experiments.files import check_file, check_folder
from experiments.parameters import Parameters
from experiments.report import print_result
from experiments.results import REALISED, WHOLE, Result
from experiments.scenario import Scenario
from grid.distributions import BoundedPareto, UniformSizes
from grid.errors import GridError
from grid.jobs import job_table
from grid.platform import Platform
from grid.rounds import round_performance, run_performance
from grid.workloads.deadlines import ServiceClass
from grid.workloads.source import Cleaning
from grid.workloads.synthetic import BatchWorkload, SyntheticWorkload
from grid.workloads.table import Table
from tests.agents import small_grids

PLATFORM = Platform.star([20, 16, 12, 10], [1.0, 1.2, 1.4, 1.6])
MIX = {
    "sizes": UniformSizes(1, 10),
    "runtimes": BoundedPareto(5, 100),
    "classes": (ServiceClass("all", 1.0, 0, 5),),
    "origins": (0.1,) * 4,
    "seed": 1,
}


class First(GlobalScheduler):
    """Sends every job to the first cluster that can hold it."""

    def place(self, job):
        return next(cluster for cluster in self.clusters if cluster.size >= job.size)


class Never(GlobalScheduler):
    """Starts nothing."""

    def place(self, job):
        return None


class Arrival(LocalScheduler):
    """Serves jobs in order of arrival."""

    def priority(self, job):
        return job.arrival


def table(count=3, sizes=(2, 99, 3), cleaning=None):
    jobs = job_table(count)
    jobs["number"] = [7, 8, 9][:count]
    jobs["arrival"] = [0.0, 0.1, 1 / 3][:count]
    jobs["size"] = sizes[:count]
    jobs["runtime"] = [math.pi, 1.0, 0.1][:count]
    return Table(jobs, cleaning or Cleaning())


def plain(workload=None, place=First, **settings):
    return GridModel(PLATFORM, workload or table(), place, Arrival, **settings)


def muscle(workload):
    return GridModel(PLATFORM, workload, MuscleScheduler, TitanScheduler, seed=1)


def result_of(model, name, wall_s, extras=None):
    """Return the result of a model as that of a scenario with its platform and schedulers."""
    given = type(model.scheduler), type(model.clusters[0].scheduler)
    scenario = Scenario(name, model.world.platform, {}, *given)
    return Result.of(model, scenario, wall_s, extras)


@pytest.fixture(scope="module")
def batch():
    """A finished run of MUSCLE over TITAN in mode `batch`, without latency."""
    model = muscle(BatchWorkload(mean_batch=20, count=150, **MIX))
    model.run()
    return model


@pytest.fixture
def result():
    model = plain(seed=3)
    model.run()
    return result_of(model, "three jobs", 0.5)


def printed(result):
    console = Console(file=io.StringIO(), width=80)
    print_result(result, console)
    return console.file.getvalue()


# Summary ------------------------------------------------------------------------------------------


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
        *("scenario", "seed", "jobs", "metrics", "clusters", "wall_s"),
        *("rejected_jobs", "simulated_s"),
        *("global", "local", "workload", "parameters", "platform", "version"),
    }
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary


def test_whole_run_is_one_round_without_rounds(result):
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


def test_summary_says_what_ran(result, monkeypatch):
    monkeypatch.setattr(metadata, "version", {"metasched": "1.2.3"}.__getitem__)
    summary = result.summary()
    assert summary["global"] == f"{__name__}:First"
    assert summary["local"] == f"{__name__}:Arrival"
    assert summary["workload"] is None
    assert summary["parameters"] == Parameters().model_dump(mode="json")
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
        result.scenario, workload=workload, global_scheduler="muscle", local_scheduler="m:Mine"
    )
    summary = replace(result, scenario=named).summary()
    assert (summary["global"], summary["local"]) == ("muscle", "m:Mine")
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
    assert summary["metrics"]["rounds"] == 0
    assert summary["metrics"]["mcp"] is summary["metrics"]["mean_wait"] is None
    assert [row["cp"] for row in summary["clusters"]] == [None] * 4
    json.dumps(summary, allow_nan=False)
    assert len(result.rounds_table()) == 0
    assert "1,500 jobs rejected, larger than can ever run: 1, 2, 3," in printed(result)


def test_jobs_that_no_one_starts_are_not_lost_in_silence():
    model = plain(place=Never)
    model.run()
    result = result_of(model, "idle", 0.1)
    assert result.summary()["unfinished"] == 2
    assert "interrupted" not in result.summary()
    assert "2 jobs not finished: no scheduler started them" in printed(result)
    assert result.why_unfinished == "no scheduler started them"


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        (
            [(0, 4, 5.0), (0, 3, 9.0), (1, 4, 5.0)],
            "3 jobs not finished: 2 that no scheduler started, 1 thrown back by failures",
        ),
        ([(0, 4, 5.0)], "1 job not finished: 1 thrown back by failures"),
        ([(0, 4, 2.0), (9, 4, 5.0)], "1 job not finished: no scheduler started them"),
    ],
)
def test_jobs_that_failures_threw_back_had_been_started(rows, why):
    model = small_grids.model_of(
        "ect", "fcfs", small_grids.table(*rows), Platform.star([4]), tracked=True
    )
    for processor in range(4):
        model.world.fail(0, processor, 3.0)
    model.run()
    assert why in printed(result_of(model, "failing", 0.1))


# Rounds -------------------------------------------------------------------------------------------


def test_exact_predictions_come_true_in_mode_batch(batch):
    realised = round_performance(batch.world.records(), PLATFORM, batch.weights, batch.idle)
    assert len(batch.rounds) == len(realised.cps) > 3
    assert realised.jobs.tolist() == [each.jobs.tolist() for each in batch.rounds]
    assert realised.cps == pytest.approx(np.array([each.cps for each in batch.rounds]), rel=1e-9)


def test_mode_batch_means_over_realised_rounds_for_every_scheduler(batch):
    result = result_of(batch, "batch", 1.0)
    metrics, rounds = result.summary()["metrics"], result.rounds_table()
    assert metrics["cp_basis"] == REALISED
    assert metrics["rounds"] == len(rounds) == len(batch.rounds)
    assert metrics["mcp"] == pytest.approx(rounds["mcp"].mean())
    assert metrics["pb"] == pytest.approx(rounds["pb"].mean())
    assert result.summary()["clusters"][2]["cp"] == pytest.approx(rounds["cp C3"].mean())
    assert rounds.filter(like="jobs").to_numpy().sum() == 150
    assert rounds["round"].tolist() == list(range(1, len(rounds) + 1))
    shares = rounds.loc[0, ["jobs C1", "jobs C2", "jobs C3", "jobs C4"]].to_numpy(float)
    cps = rounds.loc[0, ["cp C1", "cp C2", "cp C3", "cp C4"]].to_numpy(float)
    assert rounds.loc[0, "mcp"] == pytest.approx((shares * cps).sum() / shares.sum())
    assert metrics["mcp_planned"] == pytest.approx(metrics["mcp"], rel=1e-9)
    whole = run_performance(batch.world.records(), PLATFORM, batch.weights, batch.idle)
    assert metrics["mcp_overall"] == whole.mcp()[0] > metrics["mcp"]
    assert metrics["pb_overall"] == whole.pb()[0]
    last = result.summary()["clusters"][3]
    assert last["cp_overall"] == whole.cps[0, 3]
    assert last["cp_planned"] == pytest.approx(last["cp"], rel=1e-9)
    other = plain(BatchWorkload(mean_batch=20, count=150, **MIX))
    other.run()
    numbers = result_of(other, "batch", 1.0).summary()["metrics"]
    assert (numbers["cp_basis"], numbers["rounds"]) == (REALISED, metrics["rounds"])
    assert numbers["mcp_planned"] is numbers["pb_planned"] is None
    assert metrics["messages"]["scheduling"] == batch.messages_posted
    assert sum(metrics["messages"].values()) == batch.messages


def test_an_interrupted_run_keeps_its_complete_rounds(batch):
    model = muscle(BatchWorkload(mean_batch=20, count=150, **MIX))
    while model.now <= batch.rounds[2].dispatched:
        model.interval = 10.0
        model.step()
    result = result_of(model, "batch", 1.0)
    whole = result_of(batch, "batch", 1.0)
    summary = result.summary()
    assert summary["interrupted"] is True
    assert summary["unfinished"] == summary["jobs"]["submitted"] - summary["jobs"]["completed"] > 0
    complete = summary["metrics"]["rounds"]
    assert complete == len(model.rounds) - 1
    assert result.rounds.cps.tolist() == whole.rounds.cps[:complete].tolist()
    assert "jobs not finished: the run was interrupted" in printed(result)


def test_mode_open_is_one_round_for_every_scheduler_beside_what_titans_planned():
    model = muscle(SyntheticWorkload(rate=0.2, count=60, **MIX))
    model.run()
    assert len(model.rounds) > 3
    model.rounds[1].cps[0] = math.nan  # as if this TITAN had not answered
    told = [each for index, each in enumerate(model.rounds) if index != 1]
    result = result_of(model, "open", 1.0)
    metrics = result.summary()["metrics"]
    whole = run_performance(model.world.records(), PLATFORM, model.weights, model.idle)
    assert metrics["cp_basis"] == WHOLE
    assert metrics["mcp"] == metrics["mcp_overall"] == whole.mcp()[0]
    assert metrics["pb"] == metrics["pb_overall"] == whole.pb()[0]
    assert metrics["rounds"] == len(model.rounds)
    mcps = [float((each.cps * each.jobs).sum() / each.jobs.sum()) for each in told]
    assert metrics["mcp_planned"] == pytest.approx(np.mean(mcps))
    assert result.summary()["clusters"][0]["cp"] == whole.cps[0, 0]
    assert result.summary()["clusters"][0]["cp_planned"] == pytest.approx(
        np.mean([each.cps[0] for each in told])
    )
    assert len(result.rounds_table()) == len(model.rounds)
    assert np.isnan(result.rounds_table().loc[1, "mcp"])
    for each in model.rounds:
        each.cps[:] = math.nan  # as by local schedulers that tell no CP
    metrics = result_of(model, "open", 1.0).summary()["metrics"]
    assert metrics["mcp_planned"] is metrics["pb_planned"] is None
    assert metrics["rounds"] == len(model.rounds)


# Files --------------------------------------------------------------------------------------------


def test_files_read_back_exactly(batch, tmp_path):
    result = result_of(batch, "batch", 1.0)
    result.write(tmp_path / "new" / "folder")
    assert sorted(path.name for path in (tmp_path / "new" / "folder").iterdir()) == [
        "jobs.csv",
        "summary.json",
    ]
    text = (tmp_path / "new" / "folder" / "summary.json").read_text()
    assert json.loads(text, parse_constant=pytest.fail) == result.summary()
    with (tmp_path / "new" / "folder" / "jobs.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["job", "arrival", "size", "start", "finish", "placement"]
    records = np.sort(batch.world.records(), order="number")
    assert [int(row[0]) for row in rows] == records["number"].tolist()
    assert [int(row[2]) for row in rows] == records["size"].tolist()
    for column, name in ((1, "arrival"), (3, "start"), (4, "finish")):
        assert [float(row[column]) for row in rows] == records[name].tolist()
    placed = zip(records["cluster"], records["size"], strict=True)
    assert [row[5] for row in rows] == [f"C{cluster + 1}:{size}" for cluster, size in placed]


def test_a_rejected_job_has_its_last_three_columns_empty(result, tmp_path):
    result.write(tmp_path)
    assert (tmp_path / "jobs.csv").read_text() == (
        "job,arrival,size,start,finish,placement\n"
        "7,0.0,2,0.0,3.141592653589793,C1:2\n"
        "8,0.1,99,,,\n"
        f"9,{1 / 3!r},3,{1 / 3!r},{1 / 3 + 0.1!r},C1:3\n"
    )


def test_rounds_read_back_exactly(batch, tmp_path):
    result = result_of(batch, "batch", 1.0)
    result.write_rounds(tmp_path / "new" / "rounds.csv")
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["rounds.csv"]
    with (tmp_path / "new" / "rounds.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    table = result.rounds_table()
    assert header == table.columns.tolist()
    assert [[float(cell) for cell in row] for row in rows] == table.to_numpy().tolist()


def test_without_rounds_there_is_a_header(result, tmp_path):
    result.write_rounds(tmp_path / "rounds.csv")
    columns = ["cp C1,jobs C1", "cp C2,jobs C2", "cp C3,jobs C3", "cp C4,jobs C4"]
    header = ",".join(["round,dispatched,mcp,pb", *columns])
    assert (tmp_path / "rounds.csv").read_text() == header + "\n"


def test_when_rounds_cannot_be_written_nothing_changes(result, tmp_path, monkeypatch):
    (tmp_path / "rounds.csv").write_text("old")
    monkeypatch.setattr("os.replace", fail_at(0))
    for path in (tmp_path / "rounds.csv", tmp_path / "rounds.csv" / "under"):
        with pytest.raises(GridError, match=r"cannot write rounds: .*; accepted: a") as caught:
            result.write_rounds(path)
        assert str(caught.value).startswith(str(path))
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"rounds.csv": "old"}


def fail_at(call, replace=os.replace):
    """Return `os.replace`, which fails at one call."""
    calls = iter(range(call + 100))

    def failing(*paths):
        if next(calls) == call:
            raise OSError(5, "Input/output error")
        replace(*paths)

    return failing


@pytest.mark.parametrize("call", [0, 1])
@pytest.mark.parametrize("standing", [[], ["jobs.csv"], ["jobs.csv", "summary.json"]])
def test_when_files_cannot_be_put_in_place_nothing_changes(
    result, tmp_path, monkeypatch, call, standing
):
    for name in standing:
        (tmp_path / name).write_text("old")
    monkeypatch.setattr("os.replace", fail_at(call))
    with pytest.raises(GridError, match=r"cannot write results: Input/output error; accepted: ."):
        result.write(tmp_path)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == dict.fromkeys(
        standing, "old"
    )


def test_when_a_result_cannot_be_put_in_json_nothing_changes(result, tmp_path):
    result.write(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for extras in ({"value": math.nan}, {"value": object()}):
        with pytest.raises((TypeError, ValueError)):
            replace(result, extras=extras, seed=4).write(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    replace(result, seed=4).write(tmp_path)
    assert json.loads((tmp_path / "summary.json").read_text())["seed"] == 4


def test_a_place_that_is_no_folder_is_refused_in_one_line(result, tmp_path):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "taken" / "summary.json").mkdir(parents=True)
    for folder in (tmp_path / "file", tmp_path / "file" / "under", tmp_path / "taken"):
        with pytest.raises(GridError, match=r"cannot write results: .*; accepted: ") as caught:
            result.write(folder)
        assert str(caught.value).startswith(str(folder))
        assert "\n" not in str(caught.value)
    assert (tmp_path / "file").read_text() == "mine"
    assert [path.name for path in (tmp_path / "taken").iterdir()] == ["summary.json"]


def test_what_cannot_be_written_to_is_refused_before_and_nothing_is_left(tmp_path):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere" / "at all")
    for name in ("jobs.csv", "summary.json"):
        (tmp_path / "taken" / name / name).mkdir(parents=True)
    before = sorted(tmp_path.rglob("*"))
    for name in (
        "file", "file/under", "dangling", "dangling/under", "taken", "taken/jobs.csv",
        300 * "n", f"new/{300 * 'n'}",
    ):  # fmt: skip
        with pytest.raises(GridError, match=r"cannot write results: .*; accepted: ") as caught:
            check_folder(tmp_path / name)
        assert str(caught.value).startswith(str(tmp_path / name))
        assert "\n" not in str(caught.value)
    for name in ("file/under", "taken", "dangling/under", 300 * "n", f"new/{300 * 'n'}"):
        with pytest.raises(GridError, match=r"cannot write rounds: .*; accepted: ") as caught:
            check_file(tmp_path / name, "rounds")
        assert str(caught.value).startswith(str(tmp_path / name))
    for check in (check_folder, partial(check_file, what="rounds")):
        with pytest.raises(GridError, match="found ''"):
            check("")
        check(tmp_path / "new" / "path")
    check_folder(tmp_path)
    check_file(tmp_path / "file", "rounds")
    assert sorted(tmp_path.rglob("*")) == before


# Words --------------------------------------------------------------------------------------------


def test_people_get_plain_columns_with_units(result):
    named = replace(
        result.scenario, name="a[b]c", global_scheduler="mine:First", local_scheduler="fcfs"
    )
    text = printed(replace(result, scenario=named))
    assert text.isascii()
    assert "\x1b" not in text
    lines = [line.rstrip() for line in text.splitlines()]
    assert lines[0] == "a[b]c: mine:First over fcfs, seed 3"
    assert "jobs completed             2 of 3 submitted" in lines
    assert "MCP, PB: whole run         1.5 s, 1.5 s" in lines
    assert "CP: whole run" in lines
    assert "makespan                   3.1 s" in lines
    assert "deadlines met              -" in lines
    assert "1 job rejected, larger than can ever run: 8" in lines
    assert any(line.split() == ["C2", "16", "0", "0.0%", "-", "-", "0.0", "0.0"] for line in lines)


def test_restarts_are_told_where_there_are_some(result):
    assert "restarts" not in printed(result)
    losses = [{"restarts": 2, "lost_work": 0.25}] * 4
    text = printed(replace(result, restarts=2, cluster_losses=losses))
    assert "restarts                   2, 1.0 processor-seconds lost" in text


def test_cleaning_is_told_in_words(result):
    cleaning = Cleaning(9, {"no size: dropped": 6}, 6)
    text = printed(replace(result, cleaning=cleaning))
    assert "cleaning of 9 records:\n  6: no size: dropped\n" in text


def test_tables_fit_80_columns_whatever_the_numbers(result):
    platform = Platform.from_dict(
        {"clusters": [{"name": f"[cluster]{i:03}", "size": 9_999_999} for i in range(30)]}
    )
    records = result.records[np.repeat(np.arange(3), 30)]
    rows = records.rows
    rows["cluster"], rows["start"], rows["size"] = np.tile(np.arange(30), 3), 0.0, 4
    rows["finish"], rows["deadline"] = 99_999_999.0, -1e15
    for basis in (records, records[:0]):
        rounds = round_performance(basis, platform, [(4, 3, 1)] * 30, "total")
        wide = replace(
            result,
            scenario=replace(result.scenario, platform=platform),
            records=basis,
            wall_s=1e7,
            simulated_s=1e12,
            rounds=rounds,
            planned=rounds,
            overall=run_performance(basis, platform, [(4, 3, 1)] * 30, "total"),
            cluster_messages=[{"sent": 10**9, "received": 10**9}] * 30,
            restarts=10**9,
            cluster_losses=[{"restarts": 10**9, "lost_work": 1e15}] * 30,
        )
        lines = [line.rstrip() for line in printed(wide).splitlines()]
        assert max(map(len, lines)) <= 80
        assert "cluster procs jobs used makespan s idle s late s CP s" in [
            " ".join(line.split()) for line in lines
        ]
        shown = [f"[cluster]{i:03} {9_999_999}" for i in range(20)]
        assert [line[:20] for line in lines if line.startswith("[cluster]")] == shown
        assert not any("…" in line for line in lines)
        assert "and 10 more clusters" in lines

import csv
import io
import json
import math
import os
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from agents.model import GridModel
from agents.muscle import MuscleScheduler
from agents.schedulers import GlobalScheduler, LocalScheduler
from agents.titan import TitanScheduler
from experiments.report import print_result
from experiments.results import PLANNED, REALISED, WHOLE, Result
from grid.distributions import BoundedPareto, UniformSizes
from grid.errors import GridError
from grid.jobs import job_table
from grid.platform import Platform
from grid.rounds import round_performance
from grid.workloads.deadlines import ServiceClass
from grid.workloads.source import Cleaning
from grid.workloads.synthetic import BatchWorkload, SyntheticWorkload
from grid.workloads.table import Table

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
    return Result.of(model, "three jobs", 0.5)


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
    }
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary


def test_whole_run_is_one_round_without_rounds(result):
    metrics, first = result.summary()["metrics"], result.summary()["clusters"][0]
    makespan, work = math.pi, 2 * math.pi + 3 * 0.1
    cp = (3 * makespan + (20 * makespan - work) / 20) / 8
    assert result.basis == metrics["cp_basis"] == WHOLE
    assert metrics["rounds"] == 1
    assert first["cp"] == pytest.approx(cp)
    assert metrics["mcp"] == pytest.approx(cp)
    assert metrics["pb"] == pytest.approx(math.sqrt(3 * cp**2 / 3))
    assert metrics["messages"] == {
        **{"submission": 3, "metadata": 0, "order": 0, "transfer": 2, "scheduling": 0},
        "advertisement": metrics["messages"]["advertisement"],
    }


def test_cleaning_and_extras_are_told():
    cleaning = Cleaning(9, {"no size: dropped": 6, "run time 0: counted as 1 s": 1}, 6)
    model = plain(table(cleaning=cleaning))
    model.run()
    result = Result.of(model, "log", 0.1, {"seed_schedules": [[1, 2]]})
    summary = result.summary()
    assert summary["jobs"]["dropped"] == 6
    assert summary["cleaning"] == {"records": 9, "rules": cleaning.rules}
    assert summary["seed_schedules"] == [[1, 2]]


def test_at_most_1000_rejected_jobs_are_listed():
    jobs = job_table(1500)
    jobs["arrival"], jobs["size"], jobs["runtime"] = np.arange(1500), 21, 1.0
    model = plain(Table(jobs))
    model.run()
    result = Result.of(model, "too large", 0.1)
    summary = result.summary()
    assert summary["jobs"] == {"submitted": 1500, "completed": 0, "rejected": 1500, "dropped": 0}
    assert summary["rejected_jobs"] == list(range(1, 1001))
    assert summary["metrics"]["rounds"] == 0
    assert summary["metrics"]["mcp"] is summary["metrics"]["mean_wait"] is None
    assert [row["cp"] for row in summary["clusters"]] == [None] * 4
    json.dumps(summary, allow_nan=False)
    assert len(result.rounds_table()) == 0
    assert "1,500 jobs rejected, larger than can ever run: 1, 2, 3," in printed(result)


def test_jobs_that_no_one_starts_are_not_lost_in_silence():
    model = plain(place=Never)
    model.run()
    result = Result.of(model, "idle", 0.1)
    assert result.summary()["unfinished"] == 2
    assert "interrupted" not in result.summary()
    assert "2 jobs not finished: no scheduler started them" in printed(result)


# Rounds -------------------------------------------------------------------------------------------


def test_exact_predictions_come_true_in_mode_batch(batch):
    realised = round_performance(batch.world.records(), PLATFORM, batch.weights, batch.idle)
    assert len(batch.rounds) == len(realised.cps) > 3
    assert realised.jobs.tolist() == [each.jobs.tolist() for each in batch.rounds]
    assert realised.cps == pytest.approx(np.array([each.cps for each in batch.rounds]), rel=1e-9)


def test_mode_batch_means_over_realised_rounds(batch):
    result = Result.of(batch, "batch", 1.0)
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
    assert metrics["messages"]["scheduling"] == batch.messages_posted
    assert sum(metrics["messages"].values()) == batch.messages


def test_an_interrupted_run_keeps_its_complete_rounds(batch):
    model = muscle(BatchWorkload(mean_batch=20, count=150, **MIX))
    while model.now <= batch.rounds[2].dispatched:
        model.interval = 10.0
        model.step()
    result = Result.of(model, "batch", 1.0)
    whole = Result.of(batch, "batch", 1.0)
    summary = result.summary()
    assert summary["interrupted"] is True
    assert summary["unfinished"] == summary["jobs"]["submitted"] - summary["jobs"]["completed"] > 0
    complete = summary["metrics"]["rounds"]
    assert complete == len(model.rounds) - 1
    assert result.rounds.cps.tolist() == whole.rounds.cps[:complete].tolist()
    assert "jobs not finished: the run was interrupted" in printed(result)


def test_mode_open_means_over_the_rounds_that_titans_planned():
    model = muscle(SyntheticWorkload(rate=0.2, count=60, **MIX))
    model.run()
    assert len(model.rounds) > 3
    model.rounds[1].cps[0] = math.nan  # as if this TITAN had not answered
    told = [each for index, each in enumerate(model.rounds) if index != 1]
    result = Result.of(model, "open", 1.0)
    metrics = result.summary()["metrics"]
    assert metrics["cp_basis"] == PLANNED
    assert metrics["rounds"] == len(told)
    mcps = [float((each.cps * each.jobs).sum() / each.jobs.sum()) for each in told]
    assert metrics["mcp"] == pytest.approx(np.mean(mcps))
    assert result.summary()["clusters"][0]["cp"] == pytest.approx(
        np.mean([each.cps[0] for each in told])
    )
    assert len(result.rounds_table()) == len(model.rounds)
    for each in model.rounds:
        each.cps[:] = math.nan
    assert Result.of(model, "open", 1.0).basis == WHOLE


# Files --------------------------------------------------------------------------------------------


def test_files_read_back_exactly(batch, tmp_path):
    result = Result.of(batch, "batch", 1.0)
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
            replace(result, extras=extras, scenario="new").write(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    replace(result, scenario="new").write(tmp_path)
    assert json.loads((tmp_path / "summary.json").read_text())["scenario"] == "new"


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


# Words --------------------------------------------------------------------------------------------


def test_people_get_plain_columns_with_units(result):
    text = printed(replace(result, scenario="a[b]c"))
    assert text.isascii()
    assert "\x1b" not in text
    lines = [line.rstrip() for line in text.splitlines()]
    assert lines[0] == "a[b]c, seed 3"
    assert "jobs completed             2 of 3 submitted" in lines
    assert "makespan                   3.1 s" in lines
    assert "deadlines met              -" in lines
    assert "1 job rejected, larger than can ever run: 8" in lines
    assert any(line.split() == ["C2", "16", "0", "0.0%", "-", "-", "0.0", "0.0"] for line in lines)


def test_cleaning_is_told_in_words(result):
    cleaning = Cleaning(9, {"no size: dropped": 6}, 6)
    text = printed(replace(result, cleaning=cleaning))
    assert "cleaning of 9 records:\n  6: no size: dropped\n" in text


def test_tables_fit_80_columns_whatever_the_numbers(result):
    platform = Platform.from_dict(
        {"clusters": [{"name": f"[cluster] {i} " + "x" * 40, "size": 999_999} for i in range(30)]}
    )
    records = result.records[np.repeat(np.arange(3), 30)]
    rows = records.rows
    rows["cluster"], rows["start"], rows["size"] = np.tile(np.arange(30), 3), 0.0, 4
    rows["finish"], rows["deadline"] = 99_999_999.0, -1e15
    for basis in (records, records[:0]):
        wide = replace(result, platform=platform, records=basis, wall_s=1e7, simulated_s=1e12)
        wide = replace(wide, rounds=round_performance(basis, platform, [(4, 3, 1)] * 30, "total"))
        lines = [line.rstrip() for line in printed(wide).splitlines()]
        assert max(map(len, lines)) <= 80
        assert "cluster procs jobs used makespan s idle s late s CP s" in [
            " ".join(line.split()) for line in lines
        ]
        assert sum(line.startswith("[cluster]") for line in lines) == 20
        assert "and 10 more clusters" in lines

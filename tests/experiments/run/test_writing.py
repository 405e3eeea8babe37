"""The files of a result: all of them or none."""

from __future__ import annotations

import csv
import json
import math
import os
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from experiments.run.files import RESULT, check_file, check_folder
from experiments.run.running import run
from experiments.run.writing import write_rounds
from experiments.scenario.scenario import Scenario
from grid.errors import GridError
from tests.experiments.small_results import result_of, write


def test_files_read_back_exactly(batch, tmp_path):
    result = result_of(batch, "batch", 1.0)
    write(result, tmp_path / "new" / "folder")
    assert sorted(path.name for path in (tmp_path / "new" / "folder").iterdir()) == [
        "jobs.csv",
        "summary.json",
        "timeline.csv",
    ]
    text = (tmp_path / "new" / "folder" / "summary.json").read_text()
    assert json.loads(text, parse_constant=pytest.fail) == result.summary()
    with (tmp_path / "new" / "folder" / "jobs.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["job", "arrival", "size", "start", "finish", "placement"]
    records = np.sort(batch.world.log.records(), order="number")
    assert [int(row[0]) for row in rows] == records["number"].tolist()
    assert [int(row[2]) for row in rows] == records["size"].tolist()
    for column, name in ((1, "arrival"), (3, "start"), (4, "finish")):
        assert [float(row[column]) for row in rows] == records[name].tolist()
    placed = zip(records["cluster"], records["size"], strict=True)
    assert [row[5] for row in rows] == [f"C{cluster + 1}:{size}" for cluster, size in placed]


def test_a_rejected_job_has_its_last_three_columns_empty(result, tmp_path):
    write(result, tmp_path)
    assert (tmp_path / "jobs.csv").read_text() == (
        "job,arrival,size,start,finish,placement\n"
        "7,0.0,2,0.0,3.141592653589793,C1:2\n"
        "8,0.1,99,,,\n"
        f"9,{1 / 3!r},3,{1 / 3!r},{1 / 3 + 0.1!r},C1:3\n"
    )


def test_rounds_read_back_exactly(batch, tmp_path):
    result = result_of(batch, "batch", 1.0)
    write_rounds(result, tmp_path / "new" / "rounds.csv")
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["rounds.csv"]
    with (tmp_path / "new" / "rounds.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    table = result.rounds_table()
    assert header == table.columns.tolist()
    assert [[float(cell) for cell in row] for row in rows] == table.to_numpy().tolist()


def test_without_rounds_there_is_a_header(result, tmp_path):
    write_rounds(result, tmp_path / "rounds.csv")
    columns = ["cp C1,jobs C1", "cp C2,jobs C2", "cp C3,jobs C3", "cp C4,jobs C4"]
    header = ",".join(["round,dispatched,mcp,pb", *columns])
    assert (tmp_path / "rounds.csv").read_text() == header + "\n"


def test_when_rounds_cannot_be_written_nothing_changes(result, tmp_path, monkeypatch):
    (tmp_path / "rounds.csv").write_text("old")
    monkeypatch.setattr("os.replace", fail_at(0))
    for path in (tmp_path / "rounds.csv", tmp_path / "rounds.csv" / "under"):
        with pytest.raises(GridError, match=r"cannot write rounds: .*; accepted: a") as caught:
            write_rounds(result, path)
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


@pytest.mark.parametrize("call", [0, 1, 2])
@pytest.mark.parametrize("standing", [[], ["jobs.csv"], [*RESULT]])
def test_when_files_cannot_be_put_in_place_nothing_changes(
    result, tmp_path, monkeypatch, call, standing
):
    for name in standing:
        (tmp_path / name).write_text("old")
    monkeypatch.setattr("experiments.run.replacing.exchange", fail_at(0))
    monkeypatch.setattr("os.fsync", fail_at(call, os.fsync))
    with pytest.raises(GridError, match=r"cannot write results: Input/output error; accepted: ."):
        write(result, tmp_path)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == dict.fromkeys(
        standing, "old"
    )


def test_when_a_result_cannot_be_put_in_json_nothing_changes(result, tmp_path):
    write(result, tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for extras in ({"value": math.nan}, {"value": object()}):
        with pytest.raises((TypeError, ValueError)):
            write(replace(result, extras=extras, seed=4), tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    write(replace(result, seed=4), tmp_path)
    assert json.loads((tmp_path / "summary.json").read_text())["seed"] == 4


def test_a_place_that_is_no_folder_is_refused_in_one_line(result, tmp_path):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "taken" / "summary.json").mkdir(parents=True)
    for folder in (tmp_path / "file", tmp_path / "file" / "under", tmp_path / "taken"):
        with pytest.raises(GridError, match=r"cannot write results: .*; accepted: ") as caught:
            write(result, folder)
        assert str(caught.value).startswith(str(folder))
        assert "\n" not in str(caught.value)
    assert (tmp_path / "file").read_text() == "mine"
    assert [path.name for path in (tmp_path / "taken").iterdir()] == ["summary.json"]


def test_what_cannot_be_written_to_is_refused_before_and_nothing_is_left(tmp_path):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere" / "at all")
    for name in RESULT:
        (tmp_path / "taken" / name / name).mkdir(parents=True)
    before = sorted(tmp_path.rglob("*"))
    for name in (
        "file", "file/under", "dangling", "dangling/under", "taken", "taken/jobs.csv",
        300 * "n", f"new/{300 * 'n'}",
    ):  # fmt: skip
        with pytest.raises(GridError, match=r"cannot write results: .*; accepted: ") as caught:
            check_folder(tmp_path / name)
        assert str(caught.value).startswith(f"{tmp_path}/{name[:20]}")
        assert "\n" not in str(caught.value)
    for name in ("file/under", "taken", "dangling/under", 300 * "n", f"new/{300 * 'n'}"):
        with pytest.raises(GridError, match=r"cannot write rounds: .*; accepted: ") as caught:
            check_file(tmp_path / name, "rounds")
        assert str(caught.value).startswith(f"{tmp_path}/{name[:20]}")
    for check in (check_folder, partial(check_file, what="rounds")):
        with pytest.raises(GridError, match="found ''"):
            check("")
        check(tmp_path / "new" / "path")
    check_folder(tmp_path)
    check_file(tmp_path / "file", "rounds")
    assert sorted(tmp_path.rglob("*")) == before


def test_a_link_stays_and_the_file_that_it_leads_to_is_written(result, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "file").write_text("old")
    for name, target in (("link", "file"), ("dangling", "new")):
        link = tmp_path / name
        link.symlink_to(folder / target)
        check_file(link, "rounds")
        write_rounds(result, link)
        assert link.is_symlink()
        assert (folder / target).read_text().startswith("round,")
    assert sorted(path.name for path in folder.iterdir()) == ["file", "new"]


def test_a_link_to_what_is_no_file_is_refused_and_stays(result, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "to_pipe").symlink_to("pipe")
    (tmp_path / "loop").symlink_to("loop")
    with (tmp_path / "gone").open("w") as gone:
        (tmp_path / "to_gone").symlink_to(f"/proc/self/fd/{gone.fileno()}")
        (tmp_path / "gone").unlink()
        before = sorted(tmp_path.iterdir())
        for name, why in (
            ("to_pipe", "to_pipe is no file"),
            ("to_gone", "to_gone is no file"),
            ("loop", "Too many levels of symbolic links"),
        ):
            with pytest.raises(GridError, match=f"cannot write rounds: {why}; accepted: a file"):
                check_file(tmp_path / name, "rounds")
            if name != "loop":
                with pytest.raises(GridError, match=why):
                    write_rounds(result, tmp_path / name)
            assert (tmp_path / name).is_symlink()
        assert sorted(tmp_path.iterdir()) == before


def test_no_name_of_a_folder_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "users.csv").write_text("mine")
    with pytest.raises(GridError, match="out: found ''; accepted: a path"):
        run(Scenario.load("quickstart").changed(jobs=5), out="")
    assert [path.name for path in tmp_path.iterdir()] == ["users.csv"]


def test_users_of_ones_own_stay(tmp_path):
    scenario = Scenario.load("quickstart").changed(jobs=5)
    (tmp_path / "users.csv").write_text("user,department\n7,physics\n")
    run(scenario, out=tmp_path)
    assert (tmp_path / "users.csv").read_text() == "user,department\n7,physics\n"
    (tmp_path / "users.csv").write_text("user,jobs,mean_wait,mean_bounded_slowdown,work\n")
    run(scenario, out=tmp_path)
    assert not (tmp_path / "users.csv").exists()

"""The command `metasched pareto`: a table, a plot, JSON and one schedule of the front."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from experiments.cli.app import main

JOBS = """job,arrival,size,runtime,deadline
11,0,1,2,6
12,4,1,3,7
13,2,1,5,13
"""
"""Dispatched at 4 s on 2 processors: deadlines 2, 3 and 9 s after that."""


@pytest.fixture
def jobs(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text(JOBS)
    return path


def run(*arguments):
    return CliRunner().invoke(main, ["pareto", *map(str, arguments)])


def test_the_front_as_json(jobs):
    done = run(jobs, "--processors", 2, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout) == {
        "jobs": 3,
        "processors": 2,
        "front": [
            {"point": 1, "over_deadline": 0.0, "makespan": 7.0, "idle_time": 4.0},
            {"point": 2, "over_deadline": 2.0, "makespan": 5.0, "idle_time": 0.0},
        ],
    }


def test_what_one_cluster_has_no_use_for_is_told(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text("arrival,components,runtime,origin,user\n0,1+1,2,A,7\n0,1,3,,7\n")
    done = run(path, "--processors", 2, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["jobs"] == 2
    assert done.stderr.splitlines() == [
        "metasched: origin of 1 job not used: there is one cluster",
        "metasched: components of 2 jobs not used: there is one cluster",
    ]


def test_the_schedule_of_a_point(jobs):
    found = json.loads(run(jobs, "--processors", 2, "--json", "--pick", 1).stdout)
    assert found["pick"] == 1
    ends = {row["job"]: (row["start"], row["finish"]) for row in found["schedule"]}
    assert ends == {11: (0.0, 2.0), 12: (0.0, 3.0), 13: (2.0, 7.0)}
    other = json.loads(run(jobs, "--processors", 2, "--json", "--pick", 2).stdout)
    assert sum(row["over_deadline"] for row in other["schedule"]) == 2.0
    first, *_ = found["schedule"]
    assert set(first) == {"job", "start", "finish", "over_deadline", "processors"}
    held = {row["job"]: row["processors"] for row in found["schedule"]}
    assert held[11] == held[13] != held[12]


def test_tables_for_people(jobs):
    told = run(jobs, "--processors", 2).stdout
    assert "3 jobs on 2 processors" in told
    assert "--pick K shows schedule K in full." in told
    lines = [line.split() for line in run(jobs, "--processors", 2, "--pick", 1).stdout.splitlines()]
    assert ["1", "0", "7", "4"] in lines
    assert ["2", "2", "5", "0"] in lines
    assert any(line[:4] == ["13", "2", "7", "0"] for line in lines)


def test_long_times_are_told_in_the_unit_that_suits_them(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text("job,arrival,size,runtime,deadline\n1,0,1,9000,9000\n2,0,1,27000,9000\n")
    told = run(path, "--processors", 1, "--pick", 1, "--plot", tmp_path / "front.svg").stdout
    assert "over-deadline, h" in told
    assert "idle-time, processor-s" in told
    lines = [line.split() for line in told.splitlines()]
    assert ["1", "7.50", "10", "0"] in lines
    assert ["2", "9,000", "36,000", "7.50", "0"] in lines
    assert "makespan, h" in (tmp_path / "front.svg").read_text()


def test_of_jobs_without_deadlines_nothing_is_over_them(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text("job,arrival,size,runtime\n11,0,1,2\n12,4,1,3\n13,2,1,5\n")
    given = path, "--processors", 2, "--pick", 1
    found = json.loads(run(*given, "--json").stdout)
    assert [point["makespan"] for point in found["front"]] == [5.0]
    of_all = [*found["front"], *found["schedule"]]
    assert {each["over_deadline"] for each in of_all} == {None}
    told = run(*given, "--plot", tmp_path / "front.svg").stdout
    assert "no job has a deadline: by makespan and idle-time alone" in told
    assert "late" not in told
    assert "over-deadline" not in told


def test_a_job_without_deadline_among_others_is_never_late(jobs):
    jobs.write_text(JOBS.replace("1,5,13", "1,5,"))
    given = jobs, "--processors", 2, "--pick", 1
    rows = json.loads(run(*given, "--json").stdout)["schedule"]
    assert {row["job"]: row["over_deadline"] for row in rows} == {11: 0.0, 12: 0.0, 13: None}
    lines = [line.split() for line in run(*given).stdout.splitlines()]
    assert any(line[0] == "13" and line[3] == "-" for line in lines if len(line) > 3)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("suffix", "begin"), [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")]
)
def test_the_front_is_drawn(jobs, tmp_path, suffix, begin):
    picture = tmp_path / f"front.{suffix}"
    done = run(jobs, "--processors", 2, "--pick", 2, "--plot", picture)
    assert done.exit_code == 0, done.output
    assert picture.read_bytes().startswith(begin)


def test_a_seed_gives_the_same_front_again(jobs):
    given = jobs, "--processors", 2, "--seed", 5, "--json"
    assert run(*given).stdout == run(*given).stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["jobs.csv", "--processors", 2, "--pick", 3], "--pick: found 3; accepted: from 1 to 2"),
        (["missing.csv", "--processors", 2], "missing.csv:"),
        (["wide.csv", "--processors", 2], "job 7: size 3; accepted: at most 2, the processors"),
        (
            ["jobs.csv", "--processors", 2, "--plot", "front.bmp"],
            "front.bmp: found '.bmp' at its end; accepted: .png",
        ),
        (["jobs.csv", "--processors", 2, "--plot", "no.csv/f.png"], "cannot write picture"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(
    jobs, tmp_path, monkeypatch, arguments, message
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wide.csv").write_text("job,arrival,size,runtime\n7,0,3,5\n")
    (tmp_path / "no.csv").write_text("")
    before = sorted(path.name for path in tmp_path.iterdir())
    done = run(*arguments)
    assert done.exit_code == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == before

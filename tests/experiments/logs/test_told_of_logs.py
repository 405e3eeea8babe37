"""What `inspect` and `convert` tell of a log beside its jobs."""

from __future__ import annotations

import json
import re

import pytest

from grid.logs.formats import read
from tests.experiments.commands import call
from tests.experiments.log_files import SACCT, record, told


def test_what_a_file_says_of_its_machine_and_time_is_kept_or_named(tmp_path):
    path = tmp_path / "log.swf"
    head = "; Computer: x\n;\n; MaxProcs: 64\n; UnixStartTime: 843480031\n; TimeZone: -3600\n"
    path.write_text(head + f"{record(7, 500, 60, 4)}\n{record(8, 530.5, 60, 4)}\n")
    result = call("convert", path, tmp_path / "new.swf")
    lines = (tmp_path / "new.swf").read_text().splitlines()
    assert lines[3:6] == ["; MaxProcs: 64", "; UnixStartTime: 843480031", "; TimeZone: -3600"]
    assert [line.split()[:2] for line in lines[6:]] == [["7", "500"], ["8", "530.5"]]
    assert "metasched: 1 other line at the head left out" in result.stderr
    assert "submit" not in result.stderr
    old, new = (read(each).cleaned() for each in (path, tmp_path / "new.swf"))
    assert (old.jobs == new.jobs).all()
    assert (old.start, old.processors) == (new.start, new.processors)
    result = call("convert", path, tmp_path / "new.csv")
    assert "metasched: submit times less 500 s: the first job arrives at 0\n" in result.stderr
    found = told("inspect", path)
    assert found["header"]["TimeZone"] == "-3600"
    assert (found["remarks"], found["first_submit"]) == (1, 500)
    shown = call("inspect", path).stdout
    assert "from the head: MaxProcs 64, UnixStartTime 843480031, TimeZone -3600\n" in shown
    assert "first submit at 500 s, from where times are counted\n" in shown


@pytest.mark.parametrize(("second", "told_so"), [(0.5, True), (2.0, False)])
def test_it_is_told_why_a_week_has_no_load(second, told_so, tmp_path):
    path = tmp_path / "log.swf"
    path.write_text(f"; MaxProcs: 10\n{record(1, 0, 1, 1)}\n{record(2, second * 86_400, 1, 1)}")
    why = "load -: the last job arrived within a day of the week's beginning"
    assert (why in call("inspect", path).stdout) is told_so


def test_ids_of_batsim_are_of_one_job_each(tmp_path):
    path, new = tmp_path / "log.swf", tmp_path / "new.json"
    for second, ids in ((8, [7, 8]), (7, [1, 2])):
        path.write_text(f"{record(7, 0, 60, 4)}\n{record(second, 5, 60, 4)}\n")
        result = call("convert", path, new)
        assert [job["id"] for job in json.loads(new.read_text())["jobs"]] == ids
        again = "id: jobs numbered from 1 on, for some have the same number" in result.stderr
        assert again == (second == 7)


def test_what_of_a_head_cannot_be_read_is_not_told_as_used(tmp_path):
    path = tmp_path / "log.swf"
    head = "; MaxProcs: many\n; UnixStartTime: 843480031\n; TimeZoneString: Mars/Olympus\n"
    path.write_text(head + record(1, 0, 60, 4))
    found = told("inspect", path)
    assert found["header"] == {"UnixStartTime": "843480031"}
    assert [note.split(";")[0] for note in found["notes"]] == [
        "MaxProcs 'many'",
        "TimeZoneString 'Mars/Olympus'",
    ]
    remark = "not used of the head: MaxProcs 'many'; accepted: a whole number from 1\n"
    assert remark in call("inspect", path).stdout
    assert f"metasched: {remark}" in call("convert", path, tmp_path / "new.swf").stderr
    path.write_text("; MaxProcs: 8\n; MaxProcs: 8\n; MaxProcs: 16\n" + record(1, 0, 60, 4))
    remark = "not used of the head: MaxProcs '16' after '8'; accepted: the first\n"
    assert remark in call("inspect", path).stdout
    offset = "; TimeZone: 3600\n"
    path.write_text(head.replace("843480031", "yesterday") + offset + record(1, 0, 60, 4))
    found = told("inspect", path)
    assert (found["header"], found["start"], len(found["notes"])) == ({}, None, 4)
    path.write_text(head.replace("Mars/Olympus", "Asia/Tokyo") + offset + record(1, 0, 60, 4))
    found = told("inspect", path)
    assert found["header"] == {"UnixStartTime": "843480031", "TimeZoneString": "Asia/Tokyo"}
    assert len(found["notes"]) == 1


def test_dates_without_a_zone_are_of_the_sites_clock(tmp_path):
    path = tmp_path / "dump"
    path.write_text(SACCT)
    assert told("inspect", path)["start"] == "2024-03-01T08:00:00"
    assert "from 2024-03-01 08:00 (site's clock)\n" in call("inspect", path).stdout
    said = call("convert", path, tmp_path / "new.csv").stderr
    assert "date of the first job, 2024-03-01 08:00:00 (site's clock), left out" in said
    said = call("convert", path, tmp_path / "new.swf").stderr
    assert "UnixStartTime: the site's clock taken as UTC, for its time zone is not known\n" in said
    assert "; UnixStartTime: 1709280000\n" in (tmp_path / "new.swf").read_text()
    path.write_text(re.sub(r"2024-03-01T0\d:00:00", "1709280000", SACCT))
    assert told("inspect", path)["start"] == "2024-03-01T08:00:00+00:00"


@pytest.mark.parametrize(
    ("name", "text", "records", "dropped"),
    [
        (
            "log.swf",
            "\n".join([record(1, 0, 60, 4), record(2, 1, -1, -1), record(3, 2, 9, -1, 2)]),
            3,
            1,
        ),
        (
            "log.gwf",
            "\n".join([record(1, 0, 60, 4), record(2, -1, -1, -1), record(3, 2, 9, 1)]),
            3,
            1,
        ),
        ("dump", SACCT + "9|carl|4|2024-0", 3, 2),
        ("dump", SACCT + "9.0||4|2024-03-01T08:00:00|01:00:00|COMPLETED\n", 2, 1),
        ("log.csv", "arrival,size,runtime\n0,4,0\n1,4,9\n", 2, 0),
        (
            "log.json",
            json.dumps(
                {
                    "jobs": [
                        {"id": n, "subtime": n, "res": 1, "profile": kind}
                        for n, kind in enumerate(("delay", "smpi"))
                    ],
                    "profiles": {"delay": {"type": "delay", "delay": 5}, "smpi": {"type": "smpi"}},
                }
            ),
            2,
            1,
        ),
    ],
)
def test_records_less_those_dropped_are_jobs(tmp_path, name, text, records, dropped):
    """In `inspect`, `convert` and `run`; steps of jobs are not among the records."""
    path = tmp_path / name
    path.write_text(text)
    found = told("inspect", path)
    assert (found["jobs"], sum(found["dropped"].values())) == (records, dropped)
    assert found["usable"] == records - dropped
    shown = call("convert", path, tmp_path / "new.parquet").stdout
    jobs = found["usable"]
    assert f": {jobs} job{'s' * (jobs > 1)}," in shown
    assert f"Cleaning of {records} records\n" in shown
    told_of_run = told("run", "quickstart", "--workload", path)
    assert told_of_run["cleaning"]["records"] == records
    assert told_of_run["jobs"]["submitted"] == jobs
    assert ("not among the records" in shown) == (name == "dump")


def test_names_that_become_numbers_are_named(tmp_path):
    path = tmp_path / "dump"
    path.write_text(SACCT)
    words = "metasched: names of users: numbered 0, 1, ... as they first come\n"
    assert words in call("convert", path, tmp_path / "new.csv").stderr
    assert words not in call("convert", path, tmp_path / "new.json").stderr
    assert "users: 1, numbered as their names first come\n" in call("inspect", path).stdout
    path.write_text(SACCT.replace("anna", "1001").replace("bob", "1002"))
    assert "names of users" not in call("convert", path, tmp_path / "new.csv").stderr
    grid = tmp_path / "log.gwf"
    fields = record(1, 0, 60, 4, user="U1").split()
    grid.write_text(" ".join([*fields[:13], "X1", *fields[14:]]))
    said = call("convert", grid, tmp_path / "new.csv").stderr
    assert words in said
    assert "metasched: names of applications: numbered" in said


def test_only_fields_that_say_something_are_named_as_left_out(tmp_path):
    def left_out(name, *fields):
        path = tmp_path / name
        row = ["1", "0", "-1", "60", "4", *["-1"] * 13]
        for field in fields:
            row[field - 1] = "7"
        path.write_text(" ".join(row))
        lines = call("convert", path, tmp_path / "new.csv").stderr.splitlines()
        found = [line for line in lines if "no meaning here" in line]
        return found[0].removeprefix("metasched: ").partition(" left out")[0] if found else ""

    for name in ("log.swf", "log.gwf"):
        assert left_out(name) == ""
        assert left_out(name, 3, 10, 15) == "memory, queues"
        assert left_out(name, 7, 10) == "memory"
    assert left_out("log.swf", 17, 18) == "preceding jobs, think times"
    assert left_out("log.gwf", 17, 18) == "sites"


def test_times_of_tables_count_from_their_own_beginning(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text("arrival,size,runtime,deadline\n7200,1,9,9e3\n7300,1,9,\n7400,1,9,9e3\n")
    found = told("inspect", path)
    assert [hour for hour, jobs in enumerate(found["hours"]) if jobs] == [2]
    assert found["deadlines"] == 2
    shown = call("inspect", path).stdout
    assert "3 usable jobs in 3.33 min\n" in shown
    assert "deadlines: 2 of 3 jobs\n" in shown
    assert "(hours from time 0 of the log)" in shown
    log = tmp_path / "log.swf"
    log.write_text(record(1, 7200, 9, 1))
    assert told("inspect", log)["hours"][0] == 1
    shown = call("inspect", log).stdout
    assert "(hours from the first arrival)" in shown
    assert "deadlines" not in shown


def test_one_is_told_as_one(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("arrival,size,runtime\n0,1,0\n")
    shown = call("inspect", path).stdout
    for words in ("1 usable job in", "1 processor, those", "Cleaning of 1 record\n"):
        assert words in shown, words
    assert ": 1 job, " in call("convert", path, tmp_path / "new.json").stdout
    shown = call("run", "quickstart", "--workload", path, "--set", "mode=open").stdout
    assert "cleaning of 1 record:\n" in shown


def test_a_machine_that_no_log_names_is_as_large_as_the_largest_usable_job(tmp_path):
    """In `inspect`, in runs of all of the log or of a window, and in Batsim's files."""
    path = tmp_path / "log.swf"
    rows = [record(1, 0, -1, 99), record(2, 1, 60, 8), record(3, 900, 60, 4)]
    path.write_text("\n".join(rows))
    assert told("inspect", path)["max_processors"] == 8
    assert "8 processors, those of the largest usable job\n" in call("inspect", path).stdout
    for window in (0, 100):
        words = ("run", "site", "--workload", path, "--set", f"window_start={window}")
        found = told(*words)
        assert found["jobs"]["submitted"] == (1 if window else 2)
        assert found["platform"]["clusters"][0]["size"] == 8
    batsim = tmp_path / "new.json"
    words = "metasched: nb_res: the size of the largest job, 8, for the machine's is not known\n"
    assert words in call("convert", path, batsim).stderr
    assert json.loads(batsim.read_text())["nb_res"] == 8
    assert "nb_res" not in call("convert", path, tmp_path / "new.swf").stderr
    path.write_text("; MaxProcs: 64\n" + path.read_text())
    assert "nb_res" not in call("convert", path, batsim).stderr
    assert json.loads(batsim.read_text())["nb_res"] == 64


def test_only_partitions_of_jobs_are_told_as_left_out(tmp_path):
    path = tmp_path / "log.swf"
    rows = [record(n, n, run, 4).split() for n, run in enumerate((60, -1, 60, -1))]
    path.write_text("\n".join(" ".join([*row[:15], "3", *row[16:]]) for row in rows))
    said = call("convert", path, tmp_path / "new.csv").stderr
    assert said.count("partition") == 1
    assert "metasched: partition of 2 jobs left out: no place for it\n" in said


def test_what_swf_loses_is_told(tmp_path):
    """A request for another size, fields after the last, and the status, which is not made up."""
    path, new = tmp_path / "log.swf", tmp_path / "new.swf"
    rows = [record(1, 0, 60, 4).split(), record(2, 5, 60, 4).split()]
    rows[0][7], rows[1][10] = "9", "5"
    path.write_text("\n".join(" ".join([*row, "{1129}", "-1"]) for row in rows))
    said = call("convert", path, new).stderr
    assert "requested size of 1 job left out: that which was allocated counts\n" in said
    assert "fields after the 18th left out: no meaning here\n" in said
    written = [line.split() for line in new.read_text().splitlines() if line[0] != ";"]
    assert [(len(row), row[7], row[10]) for row in written] == [(18, "4", "-1")] * 2
    path.write_text("\n".join(" ".join([*row, "-1"]) for row in rows))
    assert "18th" not in call("convert", path, new).stderr


def test_an_anonymous_log_has_other_partitions(tmp_path):
    path, new = tmp_path / "log.swf", tmp_path / "new.swf"
    rows = [record(n, n, 60, 4).split() for n in range(3)]
    rows = [
        [*row[:15], part, *row[16:]] for row, part in zip(rows, ("52", "-1", "50"), strict=True)
    ]
    path.write_text("\n".join(map(" ".join, rows)))
    assert "partitions: numbered from 0 on" in call("convert", path, new, "--anonymise").stderr
    written = [line.split() for line in new.read_text().splitlines() if line[0] != ";"]
    assert [row[15] for row in written] == ["1", "-1", "0"]
    said = call("convert", path, tmp_path / "new.csv", "--anonymise").stderr
    assert "partitions" not in said
    assert "partition of 2 jobs left out: no place for it" in said


def test_of_anonymous_logs_only_what_was_done_is_told(tmp_path):
    path, new = tmp_path / "log.csv", tmp_path / "new.swf"
    path.write_text("arrival,size,runtime\n5,2,10\n6,1,4\n")
    said = call("convert", path, new, "--anonymise").stderr
    assert [line for line in said.splitlines() if "number" in line] == [
        "metasched: jobs: numbered from 1 on, in order of arrival"
    ]
    path.write_text("arrival,size,runtime,application\n5,2,10,3\n6,1,4,\n")
    said = call("convert", path, new, "--anonymise").stderr
    assert "applications: numbered at random" in said
    assert "users" not in said


def test_tables_keep_problem_sizes_and_names_of_applications(tmp_path):
    path, new, swf = (tmp_path / name for name in ("log.csv", "new.parquet", "new.swf"))
    path.write_text("arrival,size,runtime,application,problem_size\n0,4,60,cpi,100\n1,2,30,,\n")
    for source, place in ((path, new), (new, path)):
        assert "metasched: " not in call("convert", source, place).stderr
    assert path.read_text().splitlines()[1:] == ["1,0.0,4,60.0,cpi,100.0", "2,1.0,2,30.0,,"]
    said = call("convert", path, swf).stderr
    assert "problem_size of 1 job left out: no place for it" in said
    assert "names of applications: numbered 0, 1, ... as they first come" in said


def test_partitions_are_kept_by_number(tmp_path):
    path, new = tmp_path / "log.swf", tmp_path / "new.swf"
    rows = [record(n, n, 60, 4).split() for n in range(3)]
    of_rows = zip(rows, ("40", "-1", "52"), strict=True)
    path.write_text("\n".join(" ".join([*row[:15], of, *row[16:]]) for row, of in of_rows))
    assert "partition" not in call("convert", path, new).stderr
    kept = [line.split()[15] for line in new.read_text().splitlines() if line[0] != ";"]
    assert kept == ["40", "-1", "52"]
    head = "JobID|User|Partition|Submit|Start|End|Timelimit|AllocCPUS|State\n"
    day = "2024-05-01T08:00:00|2024-05-01T08:00:00|2024-05-01T09:00:00|01:10:00|4|COMPLETED"
    sacct = tmp_path / "log.sacct"
    sacct.write_text(f"{head}1|7|long|{day}\n2|7|gpu|{day}\n3|7|long|{day}\n")
    said = call("convert", sacct, new).stderr
    assert "names of partitions: numbered 0, 1, ... as they first come" in said
    kept = [line.split()[15] for line in new.read_text().splitlines() if line[0] != ";"]
    assert kept == ["0", "1", "0"]

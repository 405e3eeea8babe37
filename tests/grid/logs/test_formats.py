from __future__ import annotations

import dataclasses
import io
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

from grid.errors import WorkloadError
from grid.jobs import job_table
from grid.logs.formats import FORMATS, by_name, format_of, named, read
from grid.workloads.table import Table
from tests.grid.workloads.drawn_jobs import job_rows

WRITTEN = [name for name, each in FORMATS.items() if each.write]
SWF = "1 0 -1 10 4 " + "-1 " * 13


def written(table, format, path):
    with path.open("wb") as stream:
        FORMATS[format].write(stream, table)
    return read(path, format)


@pytest.mark.thorough
@pytest.mark.parametrize("format", WRITTEN)
@given(rows=job_rows(2))
@settings(max_examples=50)
def test_what_a_format_holds_reads_back_exactly(format, rows, tmp_path_factory):
    rows["arrival"][0] = 0.0  # logs begin with their first job
    path = tmp_path_factory.getbasetemp() / f"round.{format}"
    table = written(Table(rows, sites=("north", "south, old")), format, path).cleaned()
    for column in FORMATS[format].holds:
        name = "number" if column == "job" else column
        if name == "origin":  # names are found as they first come
            names = [(*table.sites, None)[origin] for origin in table.jobs[name]]
            assert names == [("north", "south, old", None)[origin] for origin in rows[name]]
        else:
            kept = rows[name]
            if (format, name) == ("batsim", "number") and len({*kept.tolist()}) < len(kept):
                kept = np.arange(1, len(kept) + 1)  # an id is of one job
            assert np.array_equal(table.jobs[name], kept), name


@pytest.mark.parametrize(
    ("format", "content"),
    [
        ("swf", "1 0 -1 10 4 -1 -1 4 0 " + "-1 " * 9),
        ("gwf", "1 0 -1 10 4 -1 -1 4 0 " + "-1 " * 9),
        ("sacct", "JobID|Submit|AllocCPUS|ElapsedRaw|Timelimit\n1|0|4|10|00:00:00\n"),
        ("batsim", '{"jobs": [{"id": 1, "subtime": 0, "res": 4, "profile": "p", "walltime": 0}], '
                   '"profiles": {"p": {"type": "delay", "delay": 10}}}'),
        ("csv", "arrival,size,runtime,requested_time\n0,4,10,0\n"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("kills", [False, True])
def test_a_requested_time_of_0_is_none(format, content, kills, tmp_path):
    (tmp_path / "log").write_text(content)
    table = read(tmp_path / "log", format).cleaned(kills)
    assert table.jobs["requested_time"].tolist() == [np.inf]
    assert table.jobs["runtime"].tolist() == [10]
    assert table.cleaning.rules == {}


@pytest.mark.parametrize("format", ["swf", "batsim"])
def test_what_is_said_of_the_machine_reads_back(tmp_path, format):
    rows = job_table(1)
    rows["size"], rows["runtime"] = 4, 10.0
    start = datetime(1996, 9, 23, 14, 0, 31, tzinfo=ZoneInfo("Europe/Stockholm"))
    table = Table(rows, processors=100, start=start)
    found = written(table, format, tmp_path / "log").cleaned()
    assert found.processors == 100
    if format == "swf":
        assert found.start == start
        assert found.start.tzinfo == start.tzinfo
    without = written(dataclasses.replace(table, processors=None), format, tmp_path / "log")
    assert without.processors == (None if format == "swf" else 4)


@pytest.mark.parametrize(
    ("name", "content", "format"),
    [
        ("log", "; MaxProcs: 8\n" + SWF, "swf"),
        ("log.txt", "\ufeff\r\n  " + SWF, "swf"),
        ("log", "# head\n" + SWF, "gwf"),
        ("dump", "JobID|Submit\n", "sacct"),
        ("x", '\n {"jobs": []}', "batsim"),
        ("x", "arrival , size,runtime\n", "csv"),
        ("x", "arrival,size,application,problem_size,sizes\n", "csv"),
        ("x.json", "", "batsim"),
        ("X.GWF.XZ", "", "gwf"),
        ("table.parquet", "", "parquet"),
        ("x", "PAR1...", "parquet"),
    ],
)
def test_formats_are_told_by_names_or_first_lines(tmp_path, name, content, format):
    path = tmp_path / name
    path.write_text(content)
    assert format_of(path) == format


@pytest.mark.parametrize(
    "content",
    [b"", b"\n\n", b"# a page\n\ntext", b"<xml/>", b"\x00\xff" * 99, b"1 2 3\n", b"a,b\n"],
)
def test_what_no_format_tells(tmp_path, content):
    path = tmp_path / "log"
    path.write_bytes(content)
    with pytest.raises(WorkloadError, match=r"unknown kind of workload; accepted: \.swf, \.gwf"):
        read(path)


def test_names_of_formats(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(SWF)
    assert len(read(path, "swf").records) == 1
    with pytest.raises(WorkloadError, match="format 'excel': unknown; accepted: swf, gwf, sacct"):
        named("excel")
    with pytest.raises(WorkloadError, match="format gwf: cannot be written; accepted: swf, batsim"):
        named("gwf", written=True)
    assert by_name(Path("a.b.swf")) == "swf"
    assert by_name(Path("swf")) is None


def test_the_clock_of_a_log(tmp_path):
    path = tmp_path / "log.swf"
    zone = "; UnixStartTime: 843480031\n; TimeZone: 3600\n"
    for header, start in (
        (zone + ";TimeZoneString: Europe/Stockholm  # remark\n", "1996-09-23T14:00:31+02:00"),
        (zone, "1996-09-23T13:00:31+01:00"),
        (zone + "; TimeZoneString: ../../etc/passwd\n", "1996-09-23T13:00:31+01:00"),
        (zone.replace("3600", "1e99"), "1996-09-23T12:00:31+00:00"),
        ("; UnixStartTime: 843480031.5\n", "1996-09-23T12:00:31.500000+00:00"),
        ("; UnixStartTime: 843480031 (Mon 23 Sep)\n", "1996-09-23T12:00:31+00:00"),
        ("; UnixStartTime: -1\n", None),
        ("; UnixStartTime: 99999999999999\n", None),
        ("; MaxProcs: -1\n; Note: x\n", None),
    ):
        path.write_text(header + SWF)
        found = read(path).cleaned()
        assert (found.start and found.start.isoformat()) == start, header
        assert found.processors is None
    path.write_text(SWF.replace("1 0 ", "1 1356995000 "))
    assert read(path).cleaned().start == datetime(2012, 12, 31, 23, 3, 20, tzinfo=UTC)
    path.write_text("; UnixStartTime: 843480031\n" + SWF.replace("1 0 ", "1 1e12 "))
    assert read(path).cleaned().start is None


def test_an_index_of_pandas_without_a_name_is_ignored(tmp_path):
    path = tmp_path / "jobs.parquet"
    jobs = pd.DataFrame({"arrival": [0, 3, 5], "size": 4, "runtime": 9.5}, index=[7, 3, 9])
    jobs.to_parquet(path)
    assert read(path).cleaned().jobs["arrival"].tolist() == [0, 3, 5]
    jobs.rename_axis("task").to_parquet(path)
    with pytest.raises(WorkloadError, match="unknown column 'task'"):
        read(path)


def test_a_parquet_table_of_another_tool(tmp_path):
    import pyarrow
    from pyarrow import parquet

    path = tmp_path / "jobs.parquet"
    columns = {"arrival": [0, 5], "size": [4.0, 2.0], "runtime": [1.5, None]}
    parquet.write_table(pyarrow.table(columns), path)
    with pytest.raises(WorkloadError, match=r"jobs\.parquet: row 2: runtime is empty"):
        read(path)
    parquet.write_table(pyarrow.table({**columns, "runtime": [1.5, 2.5]}), path)
    assert read(path).cleaned().jobs["size"].tolist() == [4, 2]
    parquet.write_table(pyarrow.table({"when": [1]}), path)
    with pytest.raises(WorkloadError, match="unknown column 'when'"):
        read(path)
    content = path.read_bytes()
    for broken in (b"", content[:50], content[:-9] + b"\xff" * 9, io.BytesIO(b"PAR1").read()):
        path.write_bytes(broken)
        with pytest.raises(WorkloadError, match="accepted: a Parquet file"):
            read(path)

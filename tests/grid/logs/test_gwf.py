from __future__ import annotations

import math

import pytest

from grid.errors import WorkloadError
from grid.logs import cleaning
from grid.logs.fields import numbered
from grid.logs.job_csv import csv_log, write_csv
from grid.logs.parquet import parquet_log, write_parquet
from grid.logs.swf import gwf_log

HEAD = "# JobID\tSubmitTime\tWaitTime\tRunTime\tNProcs\n#\n"


def record(number, submit, runtime=10, processors=4, **other):
    fields = [number, submit, 0, runtime, processors, 1.5, -1, -1, -1, -1, 1, "U1", "G1", "X1"]
    fields += ["Q0", -1, "G1/site5", "G1/site5", "UNITARY", *[-1] * 10]
    for index, value in other.items():
        fields[int(index.removeprefix("field")) - 1] = value
    return "\t".join(map(str, fields))


def log(tmp_path, *lines):
    path = tmp_path / "log.gwf"
    path.write_text(HEAD + "\n".join(lines) + "\n")
    return gwf_log(path)


def test_fields_become_a_job(tmp_path):
    table = log(
        tmp_path,
        record(3, 1114002530, 50.5, -1, field8=2, field9=900, field12="U7", field14="-1"),
        "# a remark",
        "",
        record(2, 1114002520),
    ).cleaned()
    jobs = table.jobs
    assert jobs["number"].tolist() == [2, 3]
    assert jobs["arrival"].tolist() == [0, 10]
    assert jobs["runtime"].tolist() == [10, 50.5]
    assert jobs["size"].tolist() == [4, 2]
    assert jobs["requested_time"].tolist() == [math.inf, 900]
    assert jobs["user"].tolist() == [1, 0]
    assert jobs["application"].tolist() == [0, -1]
    assert table.cleaning.rules == {cleaning.REQUESTED_SIZE: 1}
    assert table.start.isoformat() == "2005-04-20T13:08:40+00:00"


def test_applications_keep_their_names(tmp_path):
    """But for a table, whose names are of models."""
    rows = [record(1, 0, field14="cfd"), record(2, 5, field14="blast"), record(3, 9, field14="-1")]
    table = log(tmp_path, *rows).cleaned()
    assert table.applications == {0: "cfd", 1: "blast"}
    assert table.jobs["application"].tolist() == [0, 1, -1]
    with (tmp_path / "table.csv").open("w") as file:
        write_csv(file, table.jobs, (), None, table.applications)
    assert csv_log(tmp_path / "table.csv", None).cleaned().jobs["application"].tolist() == [
        0,
        1,
        -1,
    ]
    with (tmp_path / "table.parquet").open("wb") as file:
        write_parquet(file, table)
    found = parquet_log(tmp_path / "table.parquet", None).cleaned()
    assert found.jobs["application"].tolist() == [0, 1, -1]


def test_the_head_is_read_as_that_of_swf(tmp_path):
    head = ["# MaxProcs: 128", "# UnixStartTime: 893466664", "# TimeZoneString: Asia/Tokyo # x"]
    found = log(tmp_path, *head, "# MaxProcs: 9", "# Computer: y", record(1, 36, 10))
    assert found.processors == 128
    assert found.cleaned().start.isoformat() == "1998-04-25T10:11:40+09:00"
    assert dict(found.header) == {
        "MaxProcs": "128",
        "UnixStartTime": "893466664",
        "TimeZoneString": "Asia/Tokyo",
    }
    assert found.notes == ("MaxProcs '9' after '128'; accepted: the first",)
    assert found.remarks == 2  # the names of the columns, and the computer
    found = log(tmp_path, "# MaxProcs: many", record(1, 36, 10))
    assert (found.processors, found.start) == (None, None)
    assert found.notes == ("MaxProcs 'many'; accepted: a whole number from 1",)


def test_users_that_are_numbers_stay_what_they_are():
    assert numbered(["7", "-1", "3"]) == [7, -1, 3]
    assert numbered(["7", "x", "7"]) == [0, 1, 0]
    assert numbered(["99999999999999999999"]) == [0]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("1\t2\t3", r":4: found 3 fields, '1\\t2\\t3'; accepted: a record of at least 18"),
        (
            "\t".join(record(1, 5).split("\t")[:12]),
            r":4: found 12 fields, .*accepted: a record of at least 18 fields, or .* after '#'",
        ),
        (record("J1", 5), r":4: field 1 is 'J1'; accepted: a whole number"),
        (record(1, "nan"), r":4: field 2 is 'nan'; accepted: a number of seconds"),
    ],
)
def test_lines_that_are_no_record(tmp_path, line, found):
    with pytest.raises(WorkloadError, match=found):
        log(tmp_path, record(0, 1), line)


def test_empty(tmp_path):
    with pytest.raises(WorkloadError, match="empty workload"):
        log(tmp_path)

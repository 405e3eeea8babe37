from __future__ import annotations

import io
import math

import numpy as np
import pytest
from hypothesis import given

from grid.errors import WorkloadError
from grid.jobs import MAX_COMPONENTS, REQUEST_KINDS, job_table
from grid.logs import cleaning
from grid.logs.job_columns import COLUMNS
from grid.logs.job_csv import read_csv, write_csv
from tests.grid.workloads.drawn_jobs import job_rows

CLUSTERS = ["C1", "C2", "north, old"]


def read(tmp_path, text):
    path = tmp_path / "jobs.csv"
    path.write_text(text, newline="")
    return read_csv(path, CLUSTERS)


def refusal(tmp_path, text):
    with pytest.raises(WorkloadError) as caught:
        read(tmp_path, text)
    message = str(caught.value)
    assert "accepted:" in message or "did you mean" in message
    assert "\n" not in message
    return message.removeprefix(f"{tmp_path}/jobs.csv:")


def test_every_column(tmp_path):
    table = read(
        tmp_path,
        ",".join(COLUMNS) + '\n41,0,13,10.5,12,"north, old",8+3+2,ordered,0.75,100,99.5,1007,0,7\n'
        "42,1,2,3,,,,,,,,,,\n",
    )
    first, second = table.jobs
    assert first["number"] == 41
    assert first["size"] == 13
    assert first["runtime"] == 10.5
    assert first["requested_time"] == 12
    assert first["origin"] == 2
    assert first["components"].tolist() == [8, 3, 2] + [0] * (MAX_COMPONENTS - 3)
    assert REQUEST_KINDS[first["request"]] == "ordered"
    assert first["computation_fraction"] == 0.75
    assert first["ppbw"] == 100
    assert first["deadline"] == 99.5
    assert first["user"] == 1007
    assert first["application"] == 0
    assert first["recorded_wait"] == 7
    neutral = job_table(42)[41].copy()
    neutral["arrival"], neutral["size"], neutral["runtime"] = 1, 2, 3
    assert second == neutral


def test_deadlines_may_be_before_the_first_arrival(tmp_path):
    table = read(tmp_path, "arrival,size,runtime,deadline\n0,2,10,-50\n20,2,10,100\n")
    assert table.jobs["deadline"].tolist() == [-50, 100]
    assert table.cleaning.rules == {cleaning.EARLY_DEADLINE: 1}


def test_ordered_components_may_leave_clusters_out(tmp_path):
    header = "arrival,runtime,request,components\n"
    jobs = read(tmp_path, header + "0,1,ordered,0+20+0+0\n0,1,ordered,0+20\n").jobs
    assert jobs["size"].tolist() == [20, 20]
    assert jobs["components"][:, :4].tolist() == [[0, 20, 0, 0]] * 2
    for kind in ("unordered", "total", ""):
        message = refusal(tmp_path, header + f"0,1,{kind},0+20\n")
        assert message.startswith("2: components is '0+20', with a 0, and request is ")
    assert refusal(tmp_path, header + "0,1,ordered,0+0\n").startswith("2: components is '0+0'; ")


def test_order_numbers_and_rules(tmp_path):
    table = read(
        tmp_path,
        "runtime, size ,arrival,requested_time\r\n5,1,9,4\r\n\r\n 0 ,2.0,1,\r\n5,3,9,5\r\n",
    )
    assert table.jobs["number"].tolist() == [2, 1, 3]
    assert table.jobs["arrival"].tolist() == [1, 9, 9]
    assert table.jobs["size"].tolist() == [2, 1, 3]
    assert table.jobs["runtime"].tolist() == [1, 5, 5]
    assert table.jobs["requested_time"].tolist() == [math.inf, 5, 5]
    assert table.cleaning == cleaning.Cleaning(
        3, {cleaning.ZERO_RUNTIME: 1, cleaning.LOW_REQUEST: 1}, 0
    )


def test_jobs_of_one_instant_keep_their_order(tmp_path):
    arrivals = [i * 7 % 5 for i in range(200)]
    rows = "".join(f"{arrival},1,1\n" for arrival in arrivals)
    jobs = read(tmp_path, "arrival,size,runtime\n" + rows).jobs
    assert jobs["number"].tolist() == [
        i + 1 for i in sorted(range(200), key=lambda i: (arrivals[i], i))
    ]


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        ("job", "x"),
        ("job", "1.5"),
        ("job", ""),
        ("arrival", "-1"),
        ("arrival", "nan"),
        ("arrival", ""),
        ("size", "0"),
        ("size", "1.5"),
        ("size", "-3"),
        ("size", ""),
        ("runtime", "-1"),
        ("runtime", "inf"),
        ("runtime", "1.1e12"),
        ("arrival", "1e300"),
        ("runtime", "ten"),
        ("runtime", "1_0"),
        ("requested_time", "-1"),
        ("origin", "C9"),
        ("origin", "0"),
        ("components", "8+3"),
        ("components", "13+0"),
        ("components", "8++5"),
        ("components", "+".join(["1"] * 17)),
        ("request", "Ordered"),
        ("request", "ordered"),
        ("computation_fraction", "1.01"),
        ("computation_fraction", "-0.1"),
        ("computation_fraction", "nan"),
        ("ppbw", "-5"),
        ("deadline", "soon"),
        ("deadline", "-1.1e12"),
        ("user", "alice"),
        ("user", "-1"),
        ("application", "1.5"),
    ],
)
def test_bad_cells_are_named(tmp_path, column, cell):
    good = {"arrival": "0", "size": "13", "runtime": "10"}
    row = good | {column: cell}
    header = ",".join(row)
    if column not in good:
        good[column] = {"components": "6+7", "job": "1"}.get(column, "")
    text = f"{header}\n{','.join(good.values())}\n\n{','.join(row.values())}\n"
    message = refusal(tmp_path, text)
    assert message.startswith("4: ")
    assert column in message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("arrival,size,runtime,color\n1,1,1,1", "1: unknown column 'color'"),
        ("number,arrival\n1,1", "1: unknown column 'number'; accepted: job, arrival, size, "),
        ("jobs,arrival\n1,1", "1: unknown column 'jobs'; did you mean job? accepted: job, ar"),
        ("\narrival,size,runtime,size\n1,1,1,1", "2: column size found 2 times"),
        ("job|arrival\n1|1,2", "1: unknown column 'job|arrival'; accepted: columns between comm"),
        ("arrival;size\n1;1", "1: unknown column 'arrival;size'; accepted: columns between commas"),
        ("arrival,size\n1,1", "1: no column runtime among arrival, size"),
        ("arrival,size,runtime\n1,1", "2: found 2 cells; accepted: 3"),
        ("arrival,size,runtime\n1,1,1\n1,1,1,1", "3: found 4 cells; accepted: 3"),
        ('arrival,size,runtime\n1,1,"1"x', "2: found ',' expected"),
        ("arrival,size,runtime\n", " empty workload"),
        ("0,4,100\n", "1: no header: found '0,4,100'; accepted: a header with arrival, size, run"),
        ("0,4,100\n5,4,100\n", "1: no header: found '0,4,100'"),
        (
            "arrival,size,runtime,requested_time\n0,4,100,-1\n",
            "2: requested_time is '-1'; accepted: seconds, from 0 to 1e+12, or nothing",
        ),
        (
            "arrival,size,runtime,user\n0,4,100,-1\n",
            "2: user is '-1'; accepted: a whole number below 2^53, from 0, or nothing",
        ),
        ("", " empty workload"),
    ],
)
def test_bad_files(tmp_path, text, message):
    assert refusal(tmp_path, text).startswith(message)


def test_missing_file(tmp_path):
    with pytest.raises(WorkloadError, match=r"none\.csv: cannot be read"):
        read_csv(tmp_path / "none.csv", CLUSTERS)


def test_spreadsheets_and_packed_files(tmp_path):
    import gzip

    path = tmp_path / "jobs.csv.gz"
    path.write_bytes(gzip.compress("\ufeffarrival,size,runtime\r\n0,1,1\r\n".encode()))
    assert read_csv(path, CLUSTERS).count == 1


@given(rows=job_rows(len(CLUSTERS)))
def test_what_is_written_reads_back_exactly(tmp_path_factory, rows):
    stream = io.StringIO()
    write_csv(stream, rows, CLUSTERS)
    path = tmp_path_factory.getbasetemp() / "round.csv"
    path.write_text(stream.getvalue())
    table = read_csv(path, CLUSTERS)
    again = len(rows) - len(set(rows["number"].tolist()))
    early = int((rows["deadline"] < rows["arrival"]).sum())
    told = {cleaning.EARLY_DEADLINE: early, cleaning.NUMBER_AGAIN: again}
    assert table.cleaning.rules == {rule: count for rule, count in told.items() if count}
    for name in rows.dtype.names:
        assert np.array_equal(table.jobs[name], rows[name]), name


def test_columns_without_content_are_left_out():
    rows = job_table(1)
    rows["size"], rows["runtime"] = 1, 1.5
    stream = io.StringIO()
    write_csv(stream, rows, CLUSTERS)
    assert stream.getvalue() == "job,arrival,size,runtime\n1,0.0,1,1.5\n"

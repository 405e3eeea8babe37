"""Tables of jobs with an execution time for each cluster."""

from __future__ import annotations

import io
import math

import pytest

from grid.errors import WorkloadError
from grid.logs.formats import FORMATS, read
from grid.logs.workload import read_log, read_site_logs

ROWS = """arrival,size,runtime@B,requested_time,runtime@A
5,1,30,25,20
0,2,6,,12
9,2,,,1e-6
"""


@pytest.fixture
def path(tmp_path):
    (tmp_path / "jobs.csv").write_text(ROWS)
    return tmp_path / "jobs.csv"


def test_times_are_those_of_the_clusters_in_their_order(path):
    table = read_log(path, ("A", "B"))
    assert table.times.clusters == ("A", "B")
    assert table.jobs["size"].tolist() == [2, 1, 2]
    own = table.times.seconds[table.jobs["times_row"]].tolist()
    assert own == [[12, 6], [20, 30], [1e-6, math.inf]]
    assert table.jobs["runtime"].tolist() == [6, 20, 1e-6]  # the shortest


def test_a_run_time_of_their_own_stays(tmp_path):
    (tmp_path / "jobs.csv").write_text("arrival,size,runtime,runtime@A\n0,1,7,5\n")
    table = read_log(tmp_path / "jobs.csv", ("A",))
    assert table.jobs["runtime"].tolist() == [7]
    assert table.times.seconds.tolist() == [[5]]


def test_times_of_killed_jobs_are_as_much_shorter_as_their_run_times(tmp_path):
    (tmp_path / "jobs.csv").write_text(
        "arrival,size,runtime,requested_time,runtime@A,runtime@B\n0,1,20,5,8,40\n1,1,4,5,8,40\n"
    )
    table = read_log(tmp_path / "jobs.csv", ("A", "B"), kills=True)
    assert table.jobs["runtime"].tolist() == [5, 4]
    assert table.times.seconds.tolist() == [[2, 10], [8, 40]]


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_they_read_back_exactly(path, tmp_path, format):
    table, stream = read_log(path, ("A", "B")), io.BytesIO()
    FORMATS[format].write(stream, table)
    (tmp_path / f"again.{format}").write_bytes(stream.getvalue())
    again = read_log(tmp_path / f"again.{format}", ("A", "B"))
    rows = [each.times.seconds[each.jobs["times_row"]].tolist() for each in (table, again)]
    assert rows[0] == rows[1]
    assert again.jobs["runtime"].tolist() == table.jobs["runtime"].tolist()


def test_the_content_tells_that_it_is_a_table(path):
    bare = path.rename(path.with_name("jobs"))
    assert read(bare).format == "csv"
    assert read(bare).times.clusters == ("B", "A")  # as they come


def test_sites_with_times_and_without_are_one_workload(path, tmp_path):
    (tmp_path / "plain.csv").write_text("arrival,size,runtime\n1,1,9\n")
    table = read_site_logs({"A": tmp_path / "plain.csv", "B": path}, ("A", "B"))
    assert table.jobs["times_row"].tolist() == [1, -1, 0, 2]
    assert table.times.seconds.tolist() == [[20, 30], [12, 6], [1e-6, math.inf]]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("arrival,size,runtime@C\n0,1,1", ":1: column 'runtime@C': no cluster; accepted: A, B"),
        ("arrival,size,runtime@\n0,1,1", ":1: column 'runtime@': no cluster; accepted: A, B"),
        ("arrival,size,runtime@A\n0,1,1", ":1: no column 'runtime@B'; accepted: one for each"),
        ("arrival,size,runtime@A,runtime@A\n0,1,1,1", ":1: column runtime@A found 2 times"),
        ("arrival,size,runtime@A,runtime@B\n0,1,1,0", ":2: runtime@B is '0'; accepted: seconds"),
        ("arrival,size,runtime@A,runtime@B\n0,1,1,x", ":2: runtime@B is 'x'; accepted: seconds"),
        ("arrival,size,runtime@A,runtime@B\n0,1,-1,2", ":2: runtime@A is '-1'; accepted: seconds"),
        ("arrival,runtime@A,runtime@B\n0,1,2", ":1: no column size"),
        ("arrival,size,runtime@A,runtime@B\n0,1,,", ":2: found no execution time on any cluster"),
    ],
)
def test_what_is_wrong_is_said(rows, message, tmp_path):
    (tmp_path / "jobs.csv").write_text(rows)
    with pytest.raises(WorkloadError) as caught:
        read_log(tmp_path / "jobs.csv", ("A", "B"))
    assert message in str(caught.value)

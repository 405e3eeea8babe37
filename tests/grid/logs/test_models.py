"""Tables of jobs that name applications and problem sizes."""

from __future__ import annotations

import pytest

from grid.errors import GridError, WorkloadError
from grid.logs.formats import read
from grid.logs.workload import read_log, read_site_logs

ROWS = """arrival,size,application,problem_size
5,2,fft,8
0,4,jacobi,10
9,2,fft,8
"""


def evaluate(application, processors, problem_size):
    """Return times on two clusters."""
    return [len(application) * problem_size, 1000.0 / processors]


@pytest.fixture
def path(tmp_path):
    (tmp_path / "jobs.csv").write_text(ROWS)
    return tmp_path / "jobs.csv"


def test_times_are_what_is_evaluated_once_for_equal_jobs(path):
    asked = []

    def counting(*question):
        asked.append(question)
        return evaluate(*question)

    table = read_log(path, ("A", "B"), evaluate=counting)
    assert sorted(asked) == [("fft", 2, 8.0), ("jacobi", 4, 10.0)]
    own = table.times.seconds[table.jobs["times_row"]].tolist()
    assert own == [[60.0, 250.0], [24.0, 500.0], [24.0, 500.0]]
    assert table.jobs["runtime"].tolist() == [60.0, 24.0, 24.0]
    assert table.jobs["application"].tolist() == [1, 0, 0]  # as they first come in the file


def test_jobs_without_a_problem_size_have_run_times(tmp_path):
    (tmp_path / "jobs.csv").write_text(
        "arrival,size,runtime,application,problem_size\n0,4,7,jacobi,10\n0,4,7,,\n"
    )
    table = read_log(tmp_path / "jobs.csv", ("A", "B"), evaluate=evaluate)
    assert table.jobs["runtime"].tolist() == [7, 7]
    assert table.jobs["times_row"].tolist() == [-1, -1]  # what is modelled is but a prediction
    assert table.jobs["application"].tolist() == [0, -1]
    assert table.jobs["problem_size"].tolist() == [10, 0]
    assert table.applications == {0: "jacobi"}


def test_who_is_killed_leaves_equal_jobs_alone(tmp_path):
    (tmp_path / "jobs.csv").write_text(
        "arrival,size,requested_time,application,problem_size\n"
        "0,2,,fft,8\n1,2,6,fft,8\n2,2,12,fft,8\n"
    )
    table = read_log(tmp_path / "jobs.csv", ("A", "B"), evaluate=evaluate, kills=True)
    assert table.jobs["runtime"].tolist() == [24, 6, 12]
    own = table.times.seconds[table.jobs["times_row"]].tolist()
    assert own == [[24, 500], [6, 125], [12, 250]]


def test_sites_are_one_workload(path, tmp_path):
    (tmp_path / "plain.csv").write_text("arrival,size,runtime\n1,1,9\n")
    paths = {"A": tmp_path / "plain.csv", "B": path}
    table = read_site_logs(paths, ("A", "B"), evaluate=evaluate)
    rows = table.jobs["times_row"].tolist()
    assert [row >= 0 for row in rows] == [True, False, True, True]


def test_without_hardware_there_are_no_jobs(path):
    with pytest.raises(WorkloadError, match=r"found problem sizes, .* accepted: in runs"):
        read(path).cleaned()


def test_what_a_model_refuses_is_said_with_the_row(path):
    def refuses(*question):
        raise GridError("no such thing")

    with pytest.raises(WorkloadError, match=r"jobs.csv:2: no such thing"):
        read_log(path, ("A",), evaluate=refuses)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("arrival,size,problem_size\n0,1,1", ":1: no column application"),
        ("arrival,size,application\n0,1,fft", ":1: no column runtime"),
        ("arrival,size,runtime,application\n0,1,1,fft", ":2: application is 'fft'"),
        ("arrival,size,application,problem_size\n0,1,fft,0", ":2: problem_size is '0'"),
        ("arrival,size,application,problem_size\n0,1,fft,big", ":2: problem_size is 'big'"),
        ("arrival,size,application,problem_size\n0,1,fft,nan", ":2: problem_size is 'nan'"),
        ("arrival,size,application,problem_size\n0,1,fft,", ":2: problem_size is empty"),
        ("arrival,size,application,problem_size\n0,1,,5", ":2: application is empty"),
        ("arrival,size,application,problem_size\n0,1,,", ":2: problem_size is empty; accepted: a"),
        (
            "arrival,size,application,problem_size,runtime@A\n0,1,fft,1,1",
            ":1: columns problem_size and runtime@... found; accepted: one of the two",
        ),
    ],
)
def test_what_is_wrong_is_said(rows, message, tmp_path):
    (tmp_path / "jobs.csv").write_text(rows)
    with pytest.raises(WorkloadError) as caught:
        read_log(tmp_path / "jobs.csv", ("A",), evaluate=evaluate)
    assert message in str(caught.value)

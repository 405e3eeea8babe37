from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grid.errors import WorkloadError
from grid.logs import cleaning, sacct
from grid.logs.pipes import fields, records
from grid.logs.sacct import sacct_log

COLUMNS = (
    "JobID|JobIDRaw|JobName|User|Submit|Start|End|Elapsed|State|NCPUS|ReqCPUS|Timelimit|Comment"
)


def line(identity="7", name="a", elapsed="00:01:00", **other):
    said = {
        "JobID": identity,
        "JobIDRaw": identity,
        "JobName": name,
        "User": "root",
        "Submit": "2021-12-10T14:23:28",
        "Start": "2021-12-10T14:30:00",
        "End": "2021-12-10T14:31:00",
        "Elapsed": elapsed,
        "State": "COMPLETED",
        "NCPUS": "4",
        "ReqCPUS": "2",
        "Timelimit": "1-00:00:00",
        "Comment": "",
    }
    return "|".join((said | other)[column] for column in COLUMNS.split("|"))


def read(tmp_path, *lines, end="\n"):
    path = tmp_path / "dump.txt"
    path.write_text("\n".join([COLUMNS, *lines]) + end)
    return sacct_log(path)


def test_a_line_becomes_a_job(tmp_path):
    table = read(tmp_path, line(), line("8", User="mike", Submit="2021-12-10T14:23:18")).cleaned()
    jobs = table.jobs
    assert jobs["number"].tolist() == [8, 7]
    assert jobs["arrival"].tolist() == [0, 10]
    assert jobs["size"].tolist() == [4, 4]
    assert jobs["runtime"].tolist() == [60, 60]
    assert jobs["requested_time"].tolist() == [86_400, 86_400]
    assert jobs["user"].tolist() == [1, 0]
    assert table.start.isoformat() == "2021-12-10T14:23:18+00:00"
    assert table.cleaning == cleaning.Cleaning(2, {}, 0)


def test_steps_arrays_and_parts_of_heterogeneous_jobs(tmp_path):
    log = read(
        tmp_path,
        line("7"),
        line("7.batch", User=""),
        line("7.extern", User=""),
        line("9_12", JobIDRaw="31"),
        line("31.0"),
        line("40+1", JobIDRaw="41"),
        line("99.0"),
    )
    assert log.records["number"].tolist() == [7, 31, 41]
    assert log.rules == {sacct.STEP: [0, 0, 1], sacct.LONELY: [-1], sacct.HETEROGENEOUS: [2]}


def test_jobs_that_did_not_run_to_an_end(tmp_path):
    table = read(
        tmp_path,
        line("1"),
        line("2", elapsed="00:00:00", State="CANCELLED by 1001"),
        line("3", elapsed="00:10:00", State="RUNNING", End="Unknown"),
        line("4", elapsed="00:00:00", State="PENDING", Start="Unknown", End="Unknown", NCPUS="0"),
        line("5", elapsed="00:10:00", State="CANCELLED by 1001"),
        line("6", elapsed="00:00:00", State="FAILED"),
    ).cleaned()
    assert table.jobs["number"].tolist() == [1, 5, 6]
    assert table.cleaning.rules == {cleaning.NO_RUNTIME: 3, cleaning.ZERO_RUNTIME: 1}


def test_dates_with_a_zone_are_instants(tmp_path):
    first = line("1", Submit="2024-10-27T02:30:00+0200", Start="2024-10-27T02:10:00+0100")
    table = read(tmp_path, first, line("2", Submit="2024-10-27T02:30:00+0100")).cleaned()
    assert table.jobs["recorded_wait"].tolist()[0] == 40 * 60
    assert table.jobs["arrival"].tolist() == [0, 3600]
    assert table.start.isoformat() == "2024-10-27T02:30:00+02:00"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("00:00:15", 15),
        ("23:33:25", 84_805),
        ("3-00:00:22", 259_222),
        ("00:01.277", 1.277),
        ("12:30", 750),
        ("1-02:03:04.5", 93_784.5),
    ],
)
def test_durations(tmp_path, text, seconds):
    jobs = read(tmp_path, line(elapsed=text, Timelimit="UNLIMITED")).cleaned().jobs
    assert jobs["runtime"].tolist() == [seconds]
    assert jobs["requested_time"].tolist() == [math.inf]


def test_other_columns_say_the_same(tmp_path):
    path = tmp_path / "dump"
    path.write_text(
        "JobID|Submit|Start|End|AllocTRES|ReqTRES|TimelimitRaw|UID|NodeList\n"
        "5|1639146208|1639146210|1639146310|billing=32,cpu=32,mem=500G,node=1|cpu=8|90|0|n[1-2]\n"
        "6|1639146208|1639146210|1639146210||cpu=8|Partition_Limit|17|None assigned\n"
    )
    log = sacct_log(path)
    assert log.records["runtime"].tolist() == [100, -1]
    assert log.sizes.tolist() == [32, 8]
    assert log.records["requested_time"].tolist() == [5400, math.inf]
    assert log.records["user"].tolist() == [0, 17]


def test_separators_and_ends_of_lines_within_texts(tmp_path):
    odd = line("8", name="a||b|", Comment="x|y", User="mike")
    spread = line("9", name="--wrap=#!/bin/sh\nsrun a | b\n\nexit|", User="eve")
    jobs = read(tmp_path, line("7"), odd, spread, line("10")).cleaned().jobs
    assert jobs["number"].tolist() == [7, 8, 9, 10]
    assert jobs["runtime"].tolist() == [60] * 4
    assert jobs["size"].tolist() == [4] * 4
    assert jobs["user"].tolist() == [0, 1, 2, 0]


def test_lines_cut_off(tmp_path):
    table = read(tmp_path, line("7"), line("8")[:40], line("9"), line("10")[:60], end="").cleaned()
    assert table.jobs["number"].tolist() == [7, 9]
    assert table.cleaning.rules == {cleaning.CUT_OFF: 2}
    assert (table.cleaning.records, table.cleaning.dropped) == (4, 2)


def test_a_dump_after_the_other(tmp_path):
    assert len(read(tmp_path, line("7"), COLUMNS, line("8")).records) == 2


def test_what_could_be_either_is_no_job(tmp_path):
    """Two texts side by side with a count between them that may be anywhere."""
    columns = ["JobName", "NCPUS", "Comment"]
    assert fields(["a", "1", "2", "b"], columns, ["NCPUS"]) == {}
    assert fields(["a", "1", "x", "b"], columns, ["NCPUS"]) == {"NCPUS": "1"}
    assert fields(["a"] * 5000, columns, ["NCPUS"]) == {}


texts = st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=12)


@given(
    names=st.lists(st.tuples(texts, texts), min_size=1, max_size=5),
    elapsed=st.integers(1, 10**7),
)
def test_any_names_and_comments(tmp_path_factory, names, elapsed):
    """What users write changes no job, and is never taken for another column."""
    path = tmp_path_factory.getbasetemp() / "dump.txt"
    rows = [
        line(str(n), name=name, Comment=comment, Elapsed=f"{elapsed // 60}:{elapsed % 60:02}")
        for n, (name, comment) in enumerate(names)
    ]
    path.write_text("\n".join([COLUMNS, *rows]) + "\n", encoding="utf-8")
    log = sacct_log(path)
    assert len(log.records) + log.cut_off == len(names)
    assert set(log.records["runtime"]) <= {elapsed}
    assert set(log.records["size"]) <= {4}


def test_records_of_lines_without_end_are_let_go():
    found = list(records(["a|b\n"] * 2500, 10**6))
    assert len(found) == 3


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("", "1: no column JobIDRaw or JobID"),
        ("JobID|Submit|Elapsed\n", "1: no column AllocCPUS or NCPUS or"),
        ("JobID|NCPUS|Elapsed\n", "1: no column Submit"),
        (
            "JobID|NCPUS|Submit|End\n",
            "1: no column ElapsedRaw or Elapsed or End with Start in 'JobID|NCPUS|Submit|End'",
        ),
        (COLUMNS + "|User\n", "1: column 'User' found twice"),
        (COLUMNS + "\n", "empty workload"),
        (COLUMNS + "\n" + line(Submit="yesterday"), "2: Submit is 'yesterday'; accepted: a time"),
        (
            COLUMNS + "\n" + line(elapsed="long"),
            "2: Elapsed is 'long'; accepted: a time such as 1-02:",
        ),
        (
            COLUMNS + "\n" + line(NCPUS="4K"),
            "2: NCPUS is '4K'; accepted: a whole number up to 1e+12",
        ),
        (COLUMNS + "\n" + line("x"), "2: JobID is 'x'; accepted: a number"),
    ],
)
def test_bad_dumps(tmp_path, content, found):
    path = tmp_path / "dump.txt"
    path.write_text(content)
    with pytest.raises(WorkloadError) as caught:
        sacct_log(path)
    assert found in str(caught.value)


@pytest.mark.parametrize(
    ("name", "jobs", "numbers", "runtimes"),
    [
        ("sacct_simple.log", 4, [1, 2, 3, 4], [84_805, 12_688, 2_009, 2_003]),
        (
            "sacct_dump2101.log",
            13,
            [4822203, 4830973, 4830974, 4830975, 4830976, 4830977],
            [128_930, *[259_222] * 5],
        ),
        ("sacct_dump2110.log", 5, [7957382] * 5, [56] * 5),
    ],
)
def test_real_dumps(traces, name, jobs, numbers, runtimes):
    table = sacct_log(traces / "sacct" / name).cleaned()
    assert table.cleaning.records == jobs
    assert table.jobs["number"].tolist() == numbers
    assert table.jobs["runtime"].tolist() == runtimes


def test_a_whole_real_dump(traces):
    table = sacct_log(traces / "sacct" / "slurm_acct_micro_cluster_real.out").cleaned()
    assert table.count == 500
    # 12 were stopped up to a second after their limit, one just in time
    assert table.cleaning.rules[cleaning.LOW_REQUEST] == 11

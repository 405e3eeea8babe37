from __future__ import annotations

import gzip
import math
import time

import numpy as np
import pytest

from grid.errors import WorkloadError
from grid.jobs import UNKNOWN
from grid.logs import cleaning
from grid.logs.swf import read_swf


def record(number=1, submit=0, run=10, allocated=4, requested=-1, requested_time=-1, **other):
    fields = [number, submit, -1, run, allocated, -1, -1, requested, requested_time, *[-1] * 9]
    for index, value in other.items():
        fields[int(index.removeprefix("field")) - 1] = value
    return " ".join(map(str, fields))


def read(tmp_path, *lines, end="\n"):
    path = tmp_path / "log.swf"
    path.write_bytes((end.join(lines) + end).encode("latin-1"))
    return read_swf(path)


def refusal(tmp_path, *lines):
    with pytest.raises(WorkloadError) as caught:
        read(tmp_path, *lines)
    message = str(caught.value)
    assert "accepted:" in message
    assert "\n" not in message
    return message


def test_fields_become_a_job(tmp_path):
    table = read(
        tmp_path, "; Version: 2.2", record(7, 100, 50.5, 8, 9, 60), record(8, 130.25, 1, 2)
    )
    jobs = table.jobs
    assert jobs["number"].tolist() == [7, 8]
    assert jobs["arrival"].tolist() == [0, 30.25]
    assert jobs["runtime"].tolist() == [50.5, 1]
    assert jobs["size"].tolist() == [8, 2]
    assert jobs["requested_time"].tolist() == [60, math.inf]
    assert np.isinf(jobs["deadline"]).all()
    assert (jobs["user"] == UNKNOWN).all()
    assert (jobs["application"] == UNKNOWN).all()
    assert table.cleaning == cleaning.Cleaning(2, {}, 0)


def test_users_and_applications(tmp_path):
    known = record(field12=17, field14=3), record(field12=0), record(field14=5)
    jobs = read(tmp_path, *known).jobs
    assert jobs["user"].tolist() == [17, 0, UNKNOWN]
    assert jobs["application"].tolist() == [3, UNKNOWN, 5]
    assert refusal(tmp_path, record(field12="root")).endswith(
        "1: field 12 is 'root'; accepted: a whole number below 2^53"
    )


@pytest.mark.parametrize(
    ("said", "processors"),
    [
        ("1024", 1024),
        ("64.0", 64),
        ("64 processors (2 x 32)", 64),
        ("64; 2 x 32", 64),
        ("1,024", None),
        ("1 024", None),
        ("2 x 32", None),
        ("2x32", None),
        ("8.5", None),
    ],
)
def test_the_size_of_the_machine_is_no_part_of_what_the_head_says(tmp_path, said, processors):
    table = read(tmp_path, f"; MaxProcs: {said}", record())
    assert table.processors == processors
    unread = f"for the head says MaxProcs '{said}'; accepted: a whole number from 1"
    assert (unread in table.size_note) == (processors is None)


def test_rules(tmp_path):
    table = read(
        tmp_path,
        record(1, 0, -1, -1),  # no size, and no run time either: counts once
        record(2, 1, -1359980917, 4),
        record(3, -1, 5, 4),
        record(4, 10, 0, -1, 3, 0.5),  # three changes
        record(5, 11, 70, 0, 2, 60),
        record(6, 12, 70, 5, 2, 70),
    )
    assert table.cleaning.records == 6
    assert table.cleaning.dropped == 3
    assert table.cleaning.rules == {
        cleaning.NO_SUBMIT: 1,
        cleaning.NO_SIZE: 1,
        cleaning.NO_RUNTIME: 1,
        cleaning.REQUESTED_SIZE: 2,
        cleaning.ZERO_RUNTIME: 1,
        cleaning.LOW_REQUEST: 2,
    }
    assert table.jobs["number"].tolist() == [4, 5, 6]
    assert table.jobs["arrival"].tolist() == [0, 1, 2]
    assert table.jobs["size"].tolist() == [3, 2, 5]
    assert table.jobs["runtime"].tolist() == [1, 70, 70]
    assert table.jobs["requested_time"].tolist() == [1, 70, 70]


def test_requested_sizes_stay_with_their_records(tmp_path):
    """Cleaning comes before sorting, or sizes would go to other jobs."""
    jobs = read(tmp_path, record(1, 50, 1, -1, 3), record(2, 40, 1, -1, 5), record(3, 60)).jobs
    assert list(zip(jobs["number"], jobs["size"], strict=True)) == [(2, 5), (1, 3), (3, 4)]


def test_order_is_by_submit_and_stable(tmp_path):
    submits = [30, 10, 30, 10, 20, 10]
    jobs = read(tmp_path, *(record(i, at) for i, at in enumerate(submits))).jobs
    assert jobs["number"].tolist() == [1, 3, 5, 4, 0, 2]
    assert jobs["arrival"].tolist() == [0, 0, 0, 10, 20, 20]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_ends_tabs_remarks_and_more_columns(tmp_path, end):
    tabs = record(2, 5, **{"field7": 91268055040}).replace(" ", "\t")
    table = read(
        tmp_path,
        ";\xe9 comment in Latin-1",
        "   ; indented",
        "",
        record(1) + " {12,12,12} q_2w 1:ppn=12 ; remark",
        tabs,
        " ",
        end=end,
    )
    assert table.jobs["number"].tolist() == [1, 2]


def test_no_final_newline_and_byte_order_mark(tmp_path):
    path = tmp_path / "log.swf"
    path.write_bytes(b"\xef\xbb\xbf" + record(3).encode())
    assert read_swf(path).jobs["number"].tolist() == [3]


def test_truncated_line(tmp_path):
    message = refusal(tmp_path, "; head", record(1), "2 5 -1 10", record(3))
    assert message.startswith(f"{tmp_path}/log.swf:3: found 4 fields, '2 5 -1 10'")
    assert "18" in message


@pytest.mark.parametrize("text", ["abc", "nan", "inf", "1_000", "1e999", "0x10", "--1", "1,5"])
@pytest.mark.parametrize("field", [2, 4, 11, 18])
def test_fields_that_are_no_numbers(tmp_path, field, text):
    message = refusal(tmp_path, record(1), "", record(2, **{f"field{field}": text}))
    assert message.startswith(f"{tmp_path}/log.swf:3: field {field} is '{text}'; accepted: a num")


@pytest.mark.parametrize("text", ["2.5", "1e17"])
@pytest.mark.parametrize("field", [1, 5, 8])
def test_fields_that_are_no_whole_numbers(tmp_path, field, text):
    message = refusal(tmp_path, record(1, **{f"field{field}": text}))
    found = f"{tmp_path}/log.swf:1: field {field} is '{text}'"
    assert message == f"{found}; accepted: a whole number below 2^53"


@pytest.mark.parametrize("field", [2, 4, 9])
def test_times_beyond_all_use(tmp_path, field):
    message = refusal(tmp_path, record(1), record(2, **{f"field{field}": "1e300"}))
    assert message.startswith(f"{tmp_path}/log.swf:2: field {field} is '1e300'; accepted: ")
    assert message.endswith("seconds up to 1e+12")


def test_ends_of_lines_of_old_machines(tmp_path):
    path = tmp_path / "log.swf"
    path.write_bytes(b"; comment\r" + record(3).encode() + b"\r" + record(4).encode() + b"\r")
    assert read_swf(path).jobs["number"].tolist() == [3, 4]


def test_long_lines_are_cut_in_messages(tmp_path):
    assert len(refusal(tmp_path, "x" * 5000)) < 300


@pytest.mark.parametrize("lines", [(), ("; only", ";comments", " "), (record(1, 0, -1),)])
def test_empty_workload(tmp_path, lines):
    assert "empty workload" in refusal(tmp_path, *lines)


def test_unreadable_files(tmp_path):
    with pytest.raises(WorkloadError, match=r"no\.swf: cannot be read \(No such file"):
        read_swf(tmp_path / "no.swf")
    with pytest.raises(WorkloadError, match="cannot be read"):
        read_swf(tmp_path)
    packed = gzip.compress("\n".join(record(i) for i in range(1000)).encode())
    path = tmp_path / "log.swf.gz"
    path.write_bytes(packed)
    assert read_swf(path).count == 1000
    flipped = bytearray(packed)
    flipped[len(packed) // 2] ^= 255
    for broken in (packed[:-20], packed[:30], record(1).encode(), bytes(flipped), packed + b"xx"):
        path.write_bytes(broken)
        with pytest.raises(WorkloadError, match="gz: not a whole gzip file"):
            read_swf(path)


# From the statistics that come with the logs, or counted once with another tool (awk).
LOGS = {
    "swf/CERIT-SC-wagap-2013.swf.gz": (17_900, 17_898, {cleaning.NO_RUNTIME: 2}),
    "swf/DAS2-fs1-2003-1.swf.gz": (
        40_315,
        39_356,
        {cleaning.NO_SIZE: 959, cleaning.ZERO_RUNTIME: 1_062, cleaning.LOW_REQUEST: 1_316},
    ),
    "swf/DOST-ASTI_COARE-Saliksik-2020-cln.swf.gz": (
        19_760,
        19_760,
        {cleaning.LOW_REQUEST: 1_375},
    ),
    "swf/KTH-SP2-1996-2.1-cln.swf.gz": (
        28_476,
        28_475,
        {cleaning.NO_SIZE: 1, cleaning.ZERO_RUNTIME: 8, cleaning.LOW_REQUEST: 475},
    ),
    "swf/KTH-SP2-1996-uncleaned.swf.gz": (28_489, 28_489, {}),
    "swf/LANL-CM5-1994-4.1-cln.swf.gz": (
        122_060,
        122_057,
        {cleaning.NO_SIZE: 3, cleaning.LOW_REQUEST: 40_180},
    ),
    "swf/LCG-2005-1.swf.gz": (188_041, 188_041, {cleaning.ZERO_RUNTIME: 521}),
    "swf/LLNL-Atlas-2006-2.1-cln.swf.gz": (43_778, 39_207, {cleaning.NO_SIZE: 4_571}),
    "swf/NASA-iPSC-1993-3.1-cln.swf.gz": (18_239, 18_239, {cleaning.ZERO_RUNTIME: 173}),
    "swf/UniLu-Gaia-2014-2.swf.gz": (
        51_987,
        51_959,
        {cleaning.NO_RUNTIME: 28, cleaning.ZERO_RUNTIME: 100, cleaning.LOW_REQUEST: 1_500},
    ),
    "derived/ALCF-mira.swf.gz": (22_508, 22_508, {}),
    "derived/ALCF-theta.swf.gz": (23_387, 23_387, {}),
    "derived/CTC-SP2-1996-3.1-cln.predictsim-easy.swf.gz": (77_199, 77_199, {}),
    "derived/SDSC-BLUE-2000.predictsim-easy.swf.gz": (232_542, 232_542, {}),
    "derived/SDSC-SP2-1998.predictsim-easy.swf.gz": (54_006, 54_006, {}),
    "excerpts/CEA-Curie-2011-sample.swf.gz": (29_998, 29_998, {}),
    "excerpts/CTC-SP2-1996-3.1-cln-first5.swf": (5, 5, {cleaning.LOW_REQUEST: 1}),
    "excerpts/HPC2N-2002-first3171.swf.gz": (
        3_170,
        3_145,
        {cleaning.NO_RUNTIME: 25, cleaning.LOW_REQUEST: 320},
    ),
    "excerpts/LANL-O2K-1999-gridsim.swf": (10, 10, {}),
    "excerpts/SDSC-BLUE-2000-gridsim_01.swf": (1_574, 1_476, {cleaning.NO_RUNTIME: 98}),
    "excerpts/SDSC-BLUE-2000-gridsim_02.swf": (1_250, 1_170, {cleaning.NO_RUNTIME: 80}),
    "excerpts/SDSC-SP2-1998-first5000.swf.gz": (4_961, 4_606, {cleaning.NO_RUNTIME: 355}),
}


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", LOGS)
def test_real_logs(traces, name):
    records, usable, rules = LOGS[name]
    table = read_swf(traces / name)
    assert table.count == usable
    assert (table.cleaning.records, table.cleaning.dropped) == (records, records - usable)
    assert rules.items() <= table.cleaning.rules.items()
    assert table.jobs["arrival"][0] == 0
    assert (table.jobs["requested_time"] >= table.jobs["runtime"]).all()


def test_every_real_log_is_listed(traces):
    found = {
        f"{folder}/{path.name}"
        for folder in ("swf", "derived", "excerpts")
        for path in (traces / folder).iterdir()
    }
    assert found - set(LOGS) == {"swf/RICC-2010-2.swf.gz"}


def test_statistics_of_real_logs(traces):
    """Mean sizes and run times as published with the logs."""
    das = read_swf(traces / "swf/DAS2-fs1-2003-1.swf.gz").jobs
    # published with run times of 0 as they are: 1,062 s less in all
    assert (das["runtime"].sum() - 1_062) / len(das) == pytest.approx(1055.7, abs=0.05)
    assert das["runtime"].max() == 864_082
    assert (das["size"] == 2).sum() == 16_839
    ctc = read_swf(traces / "derived/CTC-SP2-1996-3.1-cln.predictsim-easy.swf.gz").jobs
    assert ctc["size"].mean() == pytest.approx(10.988, abs=0.0005)
    assert (ctc["size"] <= 128).sum() == 76_762
    curie = read_swf(traces / "excerpts/CEA-Curie-2011-sample.swf.gz").jobs
    assert curie["size"].max() == 77_248
    cerit = read_swf(traces / "swf/CERIT-SC-wagap-2013.swf.gz").jobs
    assert cerit["number"][0] == 0
    assert cerit["runtime"].mean() == pytest.approx(50_130, abs=5)


@pytest.mark.thorough
def test_a_large_log_is_read_fast(traces):
    begin = time.process_time()
    table = read_swf(traces / "swf/RICC-2010-2.swf.gz")
    assert time.process_time() - begin < 10  # 0.7 s when this was written
    assert table.count == 447_794
    assert table.cleaning.rules[cleaning.LOW_REQUEST] == 7_092
    same_second = np.diff(table.jobs["arrival"]) == 0
    assert same_second.sum() == 250_203
    assert (np.diff(table.jobs["number"])[same_second] > 0).all()

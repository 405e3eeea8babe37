from __future__ import annotations

import gzip

import pytest

from grid.errors import WorkloadError
from grid.logs import cleaning
from grid.logs.workload import read_log, read_site_logs
from grid.workloads.transform import window

CLUSTERS = ("C1", "C2")
LINE = "{} {} -1 {} 4 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n"

SWF_OF_USERS = """1 0 -1 10 4 -1 -1 4 -1 -1 1 7 -1 -1 -1 -1 -1 -1
2 5 -1 10 4 -1 -1 4 -1 -1 1 3 -1 -1 -1 -1 -1 -1
"""


@pytest.fixture
def swf(tmp_path):
    path = tmp_path / "North.SWF"
    path.write_text(LINE.format(1, 50, 0) + LINE.format(2, 60, -1) + LINE.format(3, 70, 9))
    return path


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "south.csv"
    path.write_text("job,arrival,size,runtime\n1,5,1,0\n2,6,1,2\n")
    return path


def test_the_case_of_a_name_says_nothing(swf):
    packed = swf.with_name("North.SWF.GZ")
    packed.write_bytes(gzip.compress(swf.read_bytes()))
    assert (read_log(packed, CLUSTERS).jobs == read_log(swf, CLUSTERS).jobs).all()


def test_files_are_told_by_their_names(swf, table):
    assert read_log(swf, CLUSTERS).jobs["size"].tolist() == [4, 4]
    assert read_log(str(table), CLUSTERS).jobs["size"].tolist() == [1, 1]
    other = swf.with_name("log.txt")
    other.write_text("2 5 -1 10\n")
    with pytest.raises(WorkloadError, match=r"log\.txt: unknown kind of workload"):
        read_log(other, CLUSTERS)


def test_site_logs(swf, table):
    merged = read_site_logs({"C2": swf, "C1": table}, CLUSTERS)
    assert merged.jobs["arrival"].tolist() == [0, 5, 6, 20]
    assert merged.jobs["origin"].tolist() == [1, 0, 0, 1]
    assert merged.jobs["number"].tolist() == [1, 1, 2, 3]
    assert merged.cleaning == cleaning.Cleaning(
        5,
        {
            cleaning.ZERO_RUNTIME: 2,
            cleaning.NO_RUNTIME: 1,
            cleaning.NUMBER_SHARED: 1,
            cleaning.AFTER_LAST.format(site="C1", last=6, end=20): 1,
        },
        1,
    )


def test_users_of_several_sites_are_told_by_how_much_their_numbers_are_raised(tmp_path):
    other = tmp_path / "other.swf"
    other.write_text(SWF_OF_USERS)
    one = read_site_logs({"C1": other}, CLUSTERS)
    assert one.jobs["user"].tolist() == [7, 3]
    assert not any("raised" in rule for rule in one.cleaning.rules)
    both = read_site_logs({"C1": other, "C2": other}, CLUSTERS)
    assert both.cleaning.rules["user of C2: number raised by 8"] == 2
    assert both.jobs["user"][both.jobs["origin"] == 1].tolist() == [15, 11]


def test_applications_of_several_sites_are_told_by_how_much_their_numbers_are_raised(tmp_path):
    """But not of tables that name them, of which names are told."""
    numbers, names = tmp_path / "numbers.csv", tmp_path / "names.csv"
    numbers.write_text("arrival,size,runtime,application\n0,1,5,4\n1,1,5,\n2,1,5,2\n")
    names.write_text("arrival,size,runtime,application,problem_size\n0,1,5,fft,1e7\n")
    both = read_site_logs({"C1": numbers, "C2": numbers}, CLUSTERS)
    assert both.cleaning.rules["application of C2: number raised by 5"] == 2
    assert both.jobs["application"][both.jobs["origin"] == 1].tolist() == [9, -1, 7]
    named = read_site_logs({"C1": numbers, "C2": names}, CLUSTERS)
    assert not any("raised" in rule for rule in named.cleaning.rules)


def test_origins_that_a_site_of_its_own_replaces_are_counted(tmp_path):
    path = tmp_path / "both.csv"
    path.write_text("arrival,size,runtime,origin\n0,1,9,C1\n5,1,9,C2\n6,1,9,\n7,1,9,C2\n")
    merged = read_site_logs({"C1": path, "C2": path}, CLUSTERS)
    assert merged.jobs["origin"].tolist() == [0, 1] * 4
    of_first, of_second = (cleaning.ORIGIN.format(site=site) for site in CLUSTERS)
    rules = merged.cleaning.rules
    assert (rules[of_first], rules[of_second]) == (2, 1)
    found = merged.applied.cleaning(window(merged.jobs, 6), 6).rules
    assert found[of_first] == 1
    assert of_second not in found


def test_times_of_tables_of_sites_stay_and_their_windows_count_from_the_first_of_all(tmp_path):
    rows = {"C1": (5000, 5100, 6000), "C2": (4000, 5050, 7000)}
    paths = {site: tmp_path / f"{site}.csv" for site in rows}
    for site, arrivals in rows.items():
        jobs = "".join(f"{arrival},1,0\n" for arrival in arrivals)
        paths[site].write_text(f"arrival,size,runtime\n{jobs}")
    merged = read_site_logs(paths, CLUSTERS)
    assert merged.jobs["arrival"].tolist() == sorted(sum(rows.values(), ()))
    for start, end, inside in ((0, 1000, 1), (1000, 1100, 2), (1000, 2001, 4), (2001, 9e9, 1)):
        part = window(merged.jobs, start, end)
        found = merged.applied.cleaning(part, start, end).rules
        assert len(part) == found[cleaning.ZERO_RUNTIME] == inside
        assert found[cleaning.OUTSIDE] == 6 - inside


def test_logs_of_sites_begin_together_and_tell_when_they_did_in_truth(tmp_path, table):
    for name, unix, submit in (
        ("C1", 1_000_100_000, 60),
        ("C2", 10**9, 60),
        ("C3", 10**9 + 40, 20),
    ):
        line = LINE.format(1, submit, 9)
        (tmp_path / f"{name}.swf").write_text(f"; UnixStartTime: {unix}\n{line}")
    paths = {name: tmp_path / f"{name}.swf" for name in ("C1", "C2", "C3")} | {"C4": table}
    merged = read_site_logs(paths, (*CLUSTERS, "C3", "C4"))
    assert merged.jobs["arrival"].tolist() == [0, 0, 0, 5, 6]
    told = {rule: count for rule, count in merged.cleaning.rules.items() if "began" in rule}
    after = "job of C1: its log began 27.8 h after that of C2; here both begin at 0"
    assert told == {after: 1}  # those of C2 and C3 began at one instant
    part = window(merged.jobs, 1)
    assert after not in merged.applied.cleaning(part, 1).rules


def test_unknown_site(swf):
    with pytest.raises(WorkloadError, match=r"workload C3=.*: unknown cluster; accepted: C1, C2"):
        read_site_logs({"C3": swf}, CLUSTERS)


def test_two_real_sites(traces):
    paths = {
        "C1": traces / "swf/KTH-SP2-1996-2.1-cln.swf.gz",
        "C2": traces / "swf/DAS2-fs1-2003-1.swf.gz",
    }
    merged = read_site_logs(paths, CLUSTERS)
    assert merged.count == 28_475 + 39_356
    assert merged.cleaning.dropped == 1 + 959
    assert merged.cleaning.rules[cleaning.NUMBER_SHARED] == 28_128
    for site in (0, 1):
        assert merged.jobs["arrival"][merged.jobs["origin"] == site][0] == 0

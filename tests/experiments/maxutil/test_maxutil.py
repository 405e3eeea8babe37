"""`metasched maxutil`: the paper's tables, what is printed, and what is refused."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from experiments.cli.app import main
from experiments.papers.maxutil.paper_tables import (
    SIZE,
    TABLE_3,
    TABLE_3_CLUSTERS,
    TABLE_4,
    TABLE_4_CLUSTERS,
    TABLE_5,
)
from grid.workloads.component_sizes import parse_sizes

ROWS = [(TABLE_3_CLUSTERS, row) for row in TABLE_3] + [(TABLE_4_CLUSTERS, row) for row in TABLE_4]
EXACT, APPROXIMATE = 0.0005, 0.001


def answered(*words):
    result = CliRunner().invoke(main, ["maxutil", *map(str, words), "--json"])
    assert result.exit_code == 0, (words, result.output, result.exception)
    return json.loads(result.stdout)


def loss(request, law, clusters):
    return answered(request, "--dist", law, "--clusters", clusters, "--size", SIZE)["capacity_loss"]


@pytest.mark.sampled(7)
@pytest.mark.parametrize(("clusters", "row"), ROWS, ids=[row.law for _, row in ROWS])
def test_a_row_of_table_3_or_4(clusters, row):
    assert loss("ordered", row.law, 1) == pytest.approx(row.single_exact, abs=EXACT)
    assert loss("ordered", row.law, clusters) == pytest.approx(row.ordered_exact, abs=EXACT)
    assert loss("total", row.law, clusters) == pytest.approx(row.total_exact, abs=EXACT)
    unordered = loss("unordered", row.law, clusters)
    assert unordered == pytest.approx(row.unordered_approximation, abs=APPROXIMATE)


def test_the_tables_are_whole():
    assert len(TABLE_3) == len(TABLE_4) == 10
    for _, row in ROWS:
        losses = row[1:]
        assert all(0 < each < 0.5 for each in losses)
        for exact, simulated in ((1, 2), (3, 4), (5, 6)):
            assert row[exact] == pytest.approx(row[simulated], abs=0.009), row.law


def test_the_laws_of_table_5_are_alike_in_their_means():
    laws = [parse_sizes(text, SIZE) for text in TABLE_5]
    assert [law.mean for law in laws] == pytest.approx([4, 3.996, 3.996, 7.5, 7.476], abs=5e-4)
    assert [law.cv for law in laws] == pytest.approx([0.5, 0.570, 0.830, 0.537, 0.884], abs=5e-4)


def test_section_7_lies_between_the_service_times_that_it_tells():
    """Section 7.1: from deterministic to hyperexponential service, D(0.9) on [1, 8], 4 x 32."""
    assert 0.239 < loss("ordered", TABLE_5[1], 4) < 0.266
    assert 0.103 < loss("unordered", TABLE_5[1], 4) < 0.115


@pytest.mark.parametrize(
    "law", [TABLE_5[0], TABLE_5[3], pytest.param(TABLE_5[4], marks=pytest.mark.slow)]
)
def test_freedom_of_choice_helps_for_the_laws_of_table_5(law):
    losses = [loss(request, law, 4) for request in ("total", "unordered", "ordered")]
    assert losses == sorted(losses)


def test_what_the_readme_says():
    losses = [loss(request, "D(0.9)[1,8]", 4) for request in ("ordered", "unordered", "total")]
    assert losses == pytest.approx([0.2507, 0.1065, 0.0657], abs=5e-5)


def test_saturation_of_single_component_jobs():
    found = answered("total", "--dist", "D(0.9)[1,8]", "--clusters", 1, "--size", 32)
    assert found["utilization"] == pytest.approx(0.9286, abs=5e-5)
    assert found["capacity_loss"] == pytest.approx(1 - found["utilization"])
    assert found["mpl"] * 3.996 / 32 == pytest.approx(found["utilization"], abs=1e-4)
    assert set(found) == {"capacity_loss", "utilization", "mpl"}


def test_defaults_are_four_clusters_of_32():
    explicit = answered("ordered", "--dist", "U[1,4]", "--clusters", 4, "--size", 32)
    assert answered("ordered", "--dist", "U[1,4]") == explicit


def test_unequal_clusters_and_a_law_for_each():
    words = ("--size", "32,16", "--dist", "U[1,8]", "--dist", "U[1,4]")
    found = answered("ordered", *words)
    assert found == answered("ordered", *words, "--clusters", 2)
    alone = answered("ordered", "--size", "32", "--clusters", 1, "--dist", "U[1,8]")
    assert found["mpl"] < alone["mpl"]
    assert answered("total", *words)["capacity_loss"] < found["capacity_loss"]


def test_components_that_are_not_there():
    words = ("--dist", "U[1,16]", "--clusters", 2, "--zero", 0.5)
    losses = [answered(request, *words)["capacity_loss"] for request in ("unordered", "ordered")]
    assert losses == sorted(losses)


def test_split_jobs():
    words = ("--dist", "U[1,14]", "--clusters", 2)
    for request in ("ordered", "unordered"):
        split = answered(request, *words, "--dependent")["capacity_loss"]
        assert split != answered(request, *words)["capacity_loss"]
        one = answered(request, "--dist", "U[1,14]", "--clusters", 1, "--dependent")
        assert one == pytest.approx(answered(request, "--dist", "U[1,14]", "--clusters", 1))


def test_the_slotted_case_is_another():
    words = ("ordered", "--dist", "U[1,14]", "--clusters", 2)
    assert answered(*words, "--slotted") != answered(*words)


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "site.swf"
    rows = (f"{j} {j} 0 9 {n} -1 -1 {n} 60 " + "-1 " * 9 for j, n in enumerate((1, 2, 4, 40), 1))
    path.write_text("\n".join(rows))
    return path


def test_a_log_and_how_many_of_its_jobs_are_left_out(log):
    words = ["maxutil", "total", "--dist", f"swf:{log}", "--clusters", "2", "--json"]
    result = CliRunner().invoke(main, words)
    assert json.loads(result.stdout)["left_out"] == {str(log): 1}
    hint = "(with --draws 1 a size is that of a whole job)"
    told = f"metasched: {log}: 1 job of more than 32 processors left out"
    assert result.stderr == f"{told} {hint}\n"
    narrow = ["maxutil", "ordered", "--dist", f"swf:{log}", "--size", "32,3"]
    assert CliRunner().invoke(main, narrow).stderr == (
        f"metasched: {log}: 2 jobs of more than 3 processors left out\n"
    )
    all_counted = CliRunner().invoke(main, [*words, "--draws", "1"])
    assert json.loads(all_counted.stdout)["left_out"] == {str(log): 0}
    assert all_counted.stderr == ""


@pytest.mark.parametrize("command", ["formula", "simulate"])
@pytest.mark.parametrize(
    ("words", "hinted"),
    [
        (["total", "--clusters", 2], True),
        (["total", "--clusters", 1], False),  # nothing is added up
        (["unordered", "--clusters", 2], False),  # --draws is refused
        (["unordered", "--clusters", 2, "--dependent"], True),
        (["ordered", "--clusters", 2], False),
    ],
)
def test_whole_sizes_are_only_proposed_where_they_would_keep_more_jobs(command, words, hinted, log):
    drawn = ["--size", 32, "--dist", f"swf:{log}"]
    simulate = ["simulate", *drawn, "--jobs", 2000, "--request"]
    given = ["maxutil", *(simulate if command == "simulate" else []), *words]
    given += drawn if command == "formula" else []
    result = CliRunner().invoke(main, list(map(str, given)))
    assert f"{log}: 1 job of more than 32 processors left out" in result.stderr
    assert ("--draws 1" in result.stderr) == hinted
    if command == "simulate":
        result = CliRunner().invoke(main, list(map(str, [*given, "--largest", 30])))
        assert f"{log}: 1 job of more than 30 processors left out\n" in result.stderr


@pytest.mark.parametrize("request_", ["ordered", "total"])
def test_a_log_is_one_law_on_clusters_of_any_size(request_, log, tmp_path):
    """That of the jobs which the narrowest cluster can hold."""
    few = tmp_path / "few.swf"
    few.write_text("\n".join(log.read_text().splitlines()[:2]))
    found = answered(request_, "--dist", f"swf:{log}", "--size", "32,3")
    assert found.pop("left_out") == {str(log): 2}
    for laws in ([few], [few, few]):
        words = [word for each in laws for word in ("--dist", f"swf:{each}")]
        other = answered(request_, *words, "--size", "32,3")
        assert other.pop("left_out") == {str(few): 0}
        assert other == found


def test_what_changes_the_number_is_in_the_heading():
    words = ["--dist", "U[1,6]", "--clusters", "2", "--size", "8"]
    for options, told in (
        (["unordered", *words, "--dependent"], "of U[1,6], split evenly on 2 x 8 processors"),
        (["ordered", *words, "--zero", "0.3"], "of U[1,6], absent with probability 0.3 on"),
        (["total", *words, "--draws", "1"], "of U[1,6], 1 added up on"),
    ):
        result = CliRunner().invoke(main, ["maxutil", *options])
        assert told in " ".join(result.output.split()), result.output


def test_a_probability_near_1_is_told_as_it_is():
    words = ["--dist", "U[1,4]", "--clusters", "1", "--zero", "0.9999999999"]
    for request in ("ordered", "unordered", "total"):
        result = CliRunner().invoke(main, ["maxutil", request, *words])
        assert "absent with probability 0.9999999999 on" in " ".join(result.stdout.split())


def test_what_people_see():
    result = CliRunner().invoke(main, ["maxutil", "unordered", "--dist", "U[1,14]"])
    assert result.exit_code == 0
    shown = " ".join(result.output.split())
    assert "unordered requests of U[1,14] on 4 x 32 processors, FCFS" in shown
    assert "capacity loss 0.2011 idle though jobs wait: 25.7 of 128 processors" in shown


def test_one_processor_that_is_never_idle():
    words = ["--dist", "U[1,1]", "--clusters", "1", "--size", "1"]
    for request, clusters in (("ordered", "1 x 1 processor,"), ("total", "one cluster of 1 proc")):
        shown = CliRunner().invoke(main, ["maxutil", request, *words]).output
        assert clusters in shown
        assert "idle though jobs wait: 0.0 of 1 processor " in shown
        assert "-0.0" not in shown
    plain = answered("ordered", "--dist", "U[1,1]", "--clusters", 1)
    assert str(plain["capacity_loss"]) == "0.0"


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("ordered --dist X[1,2]", "distribution: found 'X[1,2]'; accepted: U[a,b], D(q)[a,b]"),
        ("ordered --dist D(1.5)[1,2]", "found q = '1.5'; accepted: a number above 0, at most 1"),
        ("unordered --dist U[1,33]", "from 1 to 33; accepted: from 1 to at most 32"),
        ("total --dist U[1,33]", "accepted: from 1 to at most 32"),
        ("ordered --dist swf:nowhere.swf", "nowhere.swf: cannot be read"),
        ("ordered --dist U[1,2] --clusters 0", "--clusters: found '0'"),
        ("ordered --dist U[1,2] --clusters 10001", "--clusters: found 10001"),
        ("ordered --dist U[1,2] --size 0", "--size: found '0'"),
        ("ordered --dist U[1,2] --size 8,x", "--size: found 'x'"),
        ("ordered --dist U[1,2] --size 8,8 --clusters 3", "--size: found 2 sizes; accepted: one"),
        ("unordered --dist U[1,2] --size 8,16", "--size: found several"),
        ("ordered --dependent --dist U[1,2] --size 8,16", "--size: found several"),
        ("ordered --dist U[1,2] --zero 1", "--zero: found 1; accepted"),
        ("ordered --dist U[1,2] --zero -0.1", "--zero: found '-0.1'"),
        ("ordered --dist U[1,2] --draws 2", "--draws: found 2; accepted: with --dependent"),
        ("ordered --dist U[1,2] --dist U[1,3]", "--dist: found 2; accepted: one, or 4, one"),
        ("unordered --dist U[1,2] --dist U[1,3]", "--dist: found 2; accepted: one"),
        ("simulate --dist U[1,2] --dist U[1,3]", "--dist: found 2; accepted: one"),
        ("unordered --dist D(0.9)[1,32] --clusters 5", "estimated at 10 min of CPU time"),
        ("ordered --dependent --dist U[1,64] --size 64 --clusters 5", "estimated at"),
    ],
)
def test_bad_input_is_one_line(words, found):
    result = CliRunner().invoke(main, ["maxutil", *words.split()])
    assert result.exit_code == 2
    assert found in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""

"""The case study of the MUSCLE paper: `metasched reproduce muscle --table 2`."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from experiments.cli.app import main
from experiments.papers.muscle import case_study

LETTERS = """C1, a column a second:
 4 J2 J2 J2 J2 J5 J5
 3 J4 J4 J4 J4 J4 J4
 2 J4 J4 J4 J4 J4 J4
 1 J4 J4 J4 J4 J4 J4

C2, a column a second:
 6 J1 J1 J6 J6 J6 J6
 5 J1 J1 J6 J6 J6 J6
 4 J3 J3 J3 J3  .  .
"""
"""By hand, as `tests.agents.muscle.test_muscle` tells step by step."""


def call(folder, *words):
    return CliRunner().invoke(
        main, ["reproduce", "muscle", "--table", "2", *words, "--out", str(folder)]
    )


def test_table_2_is_the_papers_and_the_packing_is_drawn(tmp_path):
    got = call(tmp_path / "new")
    assert got.exit_code == 0, got.output
    assert got.stdout.count("yes") == 6
    assert "NO" not in got.stdout
    assert LETTERS in got.stdout
    drawn = [each.name for each in (tmp_path / "new").iterdir()]
    assert sorted(drawn) == ["muscle-figure3.png", "muscle-figure3.svg"]


def test_numbers_for_programs(tmp_path):
    found = json.loads(call(tmp_path, "--json").stdout)
    assert found["table"][5] == {
        "row": 6,
        "compositions": ["J3;J1", "J6;J4;J2"],
        "paper": ["J3;J1", "J6;J4;J2"],
        "same": True,
    }
    assert [each["space"] for of in found["packing"].values() for each in of] == [2, 2, 4, 1, 1, 3]
    assert found["packing"]["C2"][2] == {
        "job": 6, "start": 2.0, "finish": 6.0, "first": 4, "size": 2, "space": 3
    }  # fmt: skip


def test_the_folder_is_told_as_it_is_and_options_that_are_not_read(tmp_path):
    got = call(tmp_path / "x[b]y", "--cpu-hours", "3", "--workers", "2")
    assert f"\npicture: {tmp_path}/x[b]y/muscle-figure3.png and .svg\n" in got.stdout
    assert got.stderr == (
        "metasched: options without effect: --workers, --cpu-hours (--table 2 reads none of them)\n"
    )


def test_a_row_that_differs_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(case_study, "PRINTED", (("J5", "J2"), *case_study.PRINTED[1:]))
    got = call(tmp_path)
    assert got.stdout.count("yes") == 5
    assert "NO" in got.stdout


@pytest.mark.parametrize("words", [("--figure", "4"), ("--table", "3")])
def test_what_is_refused(tmp_path, words):
    got = call(tmp_path / "new", *words)
    assert got.exit_code == 2
    assert not (tmp_path / "new").exists()

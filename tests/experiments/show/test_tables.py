"""Tables fold in terminals only."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from experiments.checks.verdicts import Verdict, print_verdicts
from experiments.show.tables import MANY, print_rows

LONG = "folder/of/a/name/that/no/terminal/has/room/for/" + 10 * "x"


@pytest.mark.parametrize(("columns", "whole"), [(None, True), ("60", False)])
def test_what_goes_to_programs_is_not_folded_unless_asked_for(monkeypatch, columns, whole):
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns:
        monkeypatch.setenv("COLUMNS", columns)
    out = io.StringIO()
    print_verdicts("it", [Verdict("files", True, f"all of {LONG}")], False, out)
    assert (f"all of {LONG}" in out.getvalue()) == whole


@pytest.mark.parametrize("count", [3, MANY + 1])
def test_rows_are_the_same_however_many(count):
    """A long table is laid out as a short one that is wide enough."""
    rows = [(f"{10**at}", "Zürich 東京", "") for at in range(3)] + [("1", "b", "c")] * (count - 3)
    out = io.StringIO()
    print_rows({"n": "right", "name": "left", "": "right"}, rows, Console(file=out, width=80))
    lines = out.getvalue().splitlines()
    assert [line.rstrip() for line in lines[:4]] == [
        "  n  name",
        "  1  Zürich 東京",
        " 10  Zürich 東京",
        "100  Zürich 東京",
    ]
    assert len(lines) == count + 1
    assert lines[4:] == ["  1  b            c"] * (count - 3)

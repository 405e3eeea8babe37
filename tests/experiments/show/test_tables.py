"""Tables fold in terminals only."""

from __future__ import annotations

import io

import pytest

from experiments.checks.verdicts import Verdict, print_verdicts

LONG = "folder/of/a/name/that/no/terminal/has/room/for/" + 10 * "x"


@pytest.mark.parametrize(("columns", "whole"), [(None, True), ("60", False)])
def test_what_goes_to_programs_is_not_folded_unless_asked_for(monkeypatch, columns, whole):
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns:
        monkeypatch.setenv("COLUMNS", columns)
    out = io.StringIO()
    print_verdicts("it", [Verdict("files", True, f"all of {LONG}")], False, out)
    assert (f"all of {LONG}" in out.getvalue()) == whole

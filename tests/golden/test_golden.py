"""What must stay as it is, is: results bit by bit, and the keys of ``--json``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .recorded import KINDS, PAPERS, papers


def recorded(kind: str) -> dict[str, Any]:
    """Return what was recorded of a kind."""
    return json.loads(Path(__file__).with_name(f"{kind}.json").read_text(encoding="utf-8"))


@pytest.mark.thorough
@pytest.mark.parametrize("kind", sorted(KINDS.keys() - {"papers"}))
def test_it_is_as_it_was(kind, tmp_path):
    compare(dict(KINDS[kind](tmp_path)), recorded(kind))


@pytest.mark.thorough
@pytest.mark.parametrize("paper", PAPERS)  # one after the other they take the longest of all tests
def test_tables_of_a_paper_are_as_they_were(paper, tmp_path):
    before = recorded("papers")
    of_it = {name: before[name] for name in before if name.startswith(f"{paper}: ")}
    compare(dict(papers(tmp_path, [paper])), of_it)


def test_no_other_paper_is_recorded():
    assert {name.partition(":")[0] for name in recorded("papers")} == PAPERS.keys()


def compare(now: dict[str, Any], before: dict[str, Any]) -> None:
    """Assert that all that was recorded is as it was, and nothing else there."""
    assert now.keys() == before.keys()
    assert not {name: (before[name], now[name]) for name in now if before[name] != now[name]}

"""What must stay as it is, is: results bit by bit, and the keys of ``--json``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .recorded import KINDS


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_as_it_was(kind, tmp_path):
    before = json.loads(Path(__file__).with_name(f"{kind}.json").read_text(encoding="utf-8"))
    now = dict(KINDS[kind](tmp_path))
    assert now.keys() == before.keys()
    other = {name: (before[name], now[name]) for name in now if before[name] != now[name]}
    assert not other

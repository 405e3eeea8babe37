from __future__ import annotations

import pytest

from .served import GRID


@pytest.fixture
def grid(tmp_path):
    (tmp_path / "grid.toml").write_text(GRID)
    return tmp_path / "grid.toml"


@pytest.fixture
def state(tmp_path):
    return tmp_path / "state"

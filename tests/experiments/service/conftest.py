from __future__ import annotations

from contextlib import closing

import pytest

from experiments.service.at_sites import batch
from experiments.service.at_sites.batch import BatchSite

from .pretended import Pretended, stopped
from .served import GRID, JOBS, served


@pytest.fixture
def grid(tmp_path):
    (tmp_path / "grid.toml").write_text(GRID)
    return tmp_path / "grid.toml"


@pytest.fixture
def state(tmp_path):
    return tmp_path / "state"


@pytest.fixture
def hurry(monkeypatch):
    """Have batch systems be looked at all the time."""
    for name in ("LOOK", "IDLE", "LEFT"):
        monkeypatch.setattr(batch, name, 0.02)


@pytest.fixture
def system():
    yield from stopped(Pretended())


@pytest.fixture
def site(system):
    with closing(BatchSite("S", 4, system, "t-", lambda: None)) as site:
        yield site


@pytest.fixture
def history(grid, state):
    """Give the folder of a service whose jobs have ended."""
    served(grid, state, *JOBS)
    return state

from __future__ import annotations

import pytest

from experiments.run.running import run
from experiments.scenario.scenario import Scenario
from experiments.show.run_data import Ran

from .told import changed


@pytest.fixture(scope="module")
def whole():
    """A run of 60 jobs by MUSCLE on four clusters."""
    return Ran.of(run(Scenario.load("quickstart").changed(["jobs=60"]), seed=1))


@pytest.fixture
def ran(whole):
    """The same, with a summary that a test may change."""
    return changed(whole)

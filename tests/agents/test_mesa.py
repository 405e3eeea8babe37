"""Tests of how `agents` imports Mesa."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LATER = "loaded = [name for name in ('pandas', 'scipy.spatial') if name in sys.modules]\n"
USED = """
import mesa, numpy
from mesa.experimental.continuous_space import continuous_space
model = mesa.Model()
collector = mesa.DataCollector(model_reporters={"two": lambda model: 2})
collector.collect(model)
assert collector.get_model_vars_dataframe()["two"].tolist() == [2]
assert len(mesa.Agent.create_agents(model, 2)) == 2
assert continuous_space.cdist(numpy.eye(2), numpy.eye(2))[0, 0] == 0
import pandas, scipy.spatial, inspect
assert pandas.DataFrame is sys.modules["pandas"].DataFrame and scipy.spatial.KDTree.query
assert inspect.getmodule(inspect.stack()[0].frame) is inspect.getmodule(inspect.currentframe())
"""
NO_SCIPY = """
class Nowhere:
    def find_spec(name, path=None, target=None):
        if name == "mesa.space":
            from scipy.spatial import distance
            distance.cdist.__doc__.upper()
sys.meta_path.insert(0, Nowhere)
"""


def loaded(*lines):
    code = "\n".join(["import sys", *lines, "print(loaded)"])
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert not done.stderr
    return done.stdout.strip()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("first", ["", NO_SCIPY])
def test_what_mesa_imports_for_tables_and_spaces_comes_when_it_is_used(first):
    found = loaded(first, "import agents.model, agents.registry, grid.world.records", LATER, USED)
    assert found == ("['pandas', 'scipy.spatial']" if first else "[]")


@pytest.mark.thorough
def test_mesa_imported_before_is_left_as_it_is():
    assert "pandas" in loaded("import mesa", "before = mesa.Agent", "import agents.model", LATER)

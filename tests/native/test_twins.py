"""The kernel does, job by job and to the last bit, what C++ does that was written by hand."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from click.testing import CliRunner

from experiments.bench import native
from experiments.cli.app import main
from grid.errors import GridError
from grid.world.records import parts

pytestmark = pytest.mark.skipif(
    not any(map(shutil.which, native.COMPILERS)), reason="no C++ compiler"
)


@pytest.fixture(scope="module")
def twins():
    with native.native() as twins:
        yield twins


def of_kernel(model):
    """Return what `Twins.jobs` does, of a model that is run now."""
    model.run()
    records = model.world.log.records()
    found = np.zeros((len(records), 2 + model.world.clusters))
    row = records["number"] - 1
    found[row, 0], found[row, 1] = records["start"], records["finish"]
    of_jobs = parts(records)
    found[row[of_jobs.job], 2 + of_jobs.cluster] = of_jobs.processors
    return found


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("case", native.CASES, ids=lambda case: case.name)
def test_the_kernel_does_what_its_twin_does(twins, case, seed):
    model = case.model(20_000, seed)
    by_hand, by_kernel = twins.jobs(case, model), of_kernel(model)
    assert np.array_equal(by_hand, by_kernel)
    assert (by_hand[:, 1] > by_hand[:, 0]).all()
    assert (by_hand[:, 2:].sum(axis=1) >= 1).all()


@pytest.mark.thorough
def test_the_command_prints_ratios(monkeypatch):
    monkeypatch.setattr(native, "CASES", native.CASES[1:4:2])
    done = CliRunner().invoke(main, ["bench", "kernel", "--native", "--json"])
    assert done.exit_code == 0
    rows = json.loads(done.stdout)
    assert [row["name"] for row in rows] == ["easy, kernel over C++", "first-fit, kernel over C++"]
    assert all(row["unit"] == "x" and row["value"] > 0.1 for row in rows)


def test_what_is_missing_is_told(monkeypatch, tmp_path):
    monkeypatch.setattr(native, "COMPILERS", ("no-such-compiler",))
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(GridError, match="compiler: found none; accepted: no-such-compiler"):
        native.Twins(tmp_path)
    monkeypatch.setattr(native, "SOURCE", tmp_path / "twins.cpp")
    with pytest.raises(GridError, match=r"twins\.cpp: no such file; accepted: a copy of the"):
        native.Twins(tmp_path)


def test_only_the_kernel_has_twins():
    done = CliRunner().invoke(main, ["bench", "titan", "--native"])
    assert done.exit_code == 2
    assert "bench titan: no such option" in done.stderr.lower()

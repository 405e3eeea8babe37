"""The cache of compiled code."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grid.kernel.compile import CACHE_FOLDER, sources_digest
from grid.platform import Platform
from grid.world import World

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    "changed", ["grid/kernel/state.py", "grid/jobs.py", "grid/kernel/queues.py", "agents/orders.py"]
)
def test_a_change_anywhere_is_another_cache(tmp_path, changed):
    for package in ("grid", "agents"):
        shutil.copytree(ROOT / package, tmp_path / package)
    before = sources_digest(tmp_path)
    assert before == sources_digest(tmp_path)
    with (tmp_path / changed).open("a") as file:
        file.write("# changed\n")
    assert sources_digest(tmp_path) != before


def test_compiled_code_goes_there():
    World(Platform.star([1]), place=lambda job: 0).advance(0.0)
    assert CACHE_FOLDER is None or any(CACHE_FOLDER.rglob("*.nbi"))

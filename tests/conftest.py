from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# No test is a measurement: the first example may compile, and machines are busy.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

MANY = 1000
"""Tests of which so many are bound to need the kernel."""

LONG_TO_COMPILE = "environments"
"""A folder whose tests and examples compile the loop anew, as steps of learners."""

TRACES = Path(__file__).resolve().parents[2] / "shared" / "traces"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return how many workers there are unless told otherwise.

    More than cores: a third of the time they wait for commands that they started.
    """
    from experiments.sweeps.starting import cores

    return cores() * 3 // 2


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their markers
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Have the quickest tests run first, on however many workers: what is thorough comes last."""
    _sample(items)
    # Each worker begins with a part of its own: all parts go from quick to thorough. The tests of
    # a file stay together, for what they share is made once.
    files = {path: hand for hand, path in enumerate(dict.fromkeys(item.path for item in items))}
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))

    def place(item: pytest.Item) -> tuple[int, bool]:
        return files[item.path] % workers, item.get_closest_marker("thorough") is not None

    items.sort(key=place)
    if len(items) > MANY and workers > 1:
        _compile_ahead(int(os.environ["PYTEST_XDIST_WORKER"].removeprefix("gw")))


def _compile_ahead(worker: int) -> None:
    """Have each worker compile another kind of the kernel, which the others then find."""
    from grid.kernel.loop import Kind, loop
    from grid.kernel.state import CAPACITIES

    if worker < len(Kind) - 1:  # few tests need the last
        loop(CAPACITIES[0], list(Kind)[worker])


def _sample(items: list[pytest.Item]) -> None:
    """Mark all but a few cases, from all over, of those tests that are to be sampled."""
    cases: dict[tuple[Path, str], list[pytest.Item]] = {}
    for item in items:
        if LONG_TO_COMPILE in item.path.parts:
            item.add_marker("thorough")
        if item.get_closest_marker("sampled"):
            cases.setdefault((item.path, item.name.partition("[")[0]), []).append(item)
    for of_one in cases.values():
        (few,) = of_one[0].get_closest_marker("sampled").args
        always = {len(of_one) * each // few for each in range(few)}
        for at, item in enumerate(of_one):
            if at not in always:
                item.add_marker("thorough")


@pytest.fixture(scope="session")
def traces() -> Path:
    """Folder of real logs beside the repository; tests that need it are skipped without it."""
    if not TRACES.is_dir():
        pytest.skip("no folder of real logs beside the repository")
    return TRACES

"""Results to be verified, and checks without a process of their own."""

from __future__ import annotations

import pytest

from experiments.checks import hash_seed
from tests.experiments.checks.changing_grid import CHANGES, JOBS, PLATFORM, SPREAD
from tests.experiments.commands import call

LOSSY = """
global = "muscle"
local = "titan"
clusters = [{name = "A", size = 24}, {name = "B", size = 12, rate = 1.3}]
parameters = {mode = "open", jobs = 200, load = 0.8, local_share = 0.5, latency = 2, loss = 0.3}
"""


@pytest.fixture(scope="session")
def results(tmp_path_factory):
    """Return a folder with results of several kinds, and the files that they come of."""
    folder = tmp_path_factory.mktemp("results")
    (folder / "jobs.csv").write_text("\n".join(JOBS) + "\n")
    (folder / "site.toml").write_text(PLATFORM)
    sizes = "".join(f'[[clusters]]\nname = "C{i}"\nsize = 8\n' for i in (1, 2, 3))
    (folder / "changes.toml").write_text(sizes + CHANGES)
    (folder / "my_spread.py").write_text(SPREAD)
    (folder / "lossy.toml").write_text(LOSSY)
    log = [f"{j} {7 * j} 0 {5 + j} 2 -1 -1 2 60 " + "-1 " * 9 for j in range(1, 30)]
    (folder / "log.swf").write_text("\n".join(log))
    log = folder / "log.swf"
    own = ["quickstart", "--platform", folder / "site.toml", "--workload", folder / "jobs.csv"]
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        for name, words in {
            "split": [*own, "--global", "my_spread:Spread", "--local", "fcfs"],
            "table": [*own, "--global", "ect", "--local", "fcfs", "--set", "idle=total"],
            "open": ["quickstart", "--set", "jobs=60"],
            "changed": [
                *("quickstart", "--platform", folder / "changes.toml", "--local", "fcfs"),
                *(f"--set={each}" for each in ("jobs=60", "max_size=8", "load=0.9")),
            ],
            "failing": [
                *("quickstart", "--platform", folder / "changes.toml", "--set=jobs=60"),
                *("--set=max_size=8", "--set=mean_up_time=400", "--set=mean_down_time=20"),
            ],
            "batch": ["muscle", "--set", "jobs=90", "--set", "queue=20"],
            # A seed schedule that is sent again has a planner start jobs when nothing else happens.
            "lossy": [folder / "lossy.toml", "--set", "prediction_error=0.4"],
            "log": ["muscle", "--workload", log, "--set", "load_factor=2"],
            "sites": ["quickstart", *(f"--workload=C{i}={log}" for i in (1, 2, 3, 4))],
        }.items():
            got = call("run", *words, "--out", folder / name, "--json")
            assert got.exit_code == 0, got.output
    return folder


@pytest.fixture
def in_this_process(monkeypatch):
    """Have what a process of other hashes would be asked be run again in this one."""
    monkeypatch.setattr(
        hash_seed,
        "digests",
        lambda name, grids: hash_seed.answer(name, *(grid.name for grid in grids)),
    )

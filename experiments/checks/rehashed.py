"""Runs in a process of its own in which texts have other hashes.

Python draws hashes of texts, and with them the order of sets of texts, anew for each process.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence

from agents.registry import any_scheduler
from experiments.checks.trials import GRIDS, WIDE, Grid, Trial, run_in
from experiments.process import stdout_kept

VARIABLE = "PYTHONHASHSEED"


def digest(trial: Trial) -> str:
    """Return the outcome of a run that came to its end, in short."""
    return hashlib.sha256(repr(trial.outcome).encode()).hexdigest()


def digests(name: str, grids: Sequence[Grid]) -> list[str | None]:
    """Run a scheduler in a process of other hashes.

    Parameters
    ----------
    name : str
        Built-in, or ``module:Class``.
    grids : sequence of Grid

    Returns
    -------
    list of str or None
        The `digest` of each run; None of one that came to no end there.
    """
    hashes = "2" if os.environ.get(VARIABLE) == "1" else "1"
    found = os.pathsep.join(sys.path)
    process = subprocess.run(
        [sys.executable, "-m", __name__, name, *(grid.name for grid in grids)],
        env=os.environ | {VARIABLE: hashes, "PYTHONPATH": found},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # it would only say again what was said already
        text=True,
        check=False,
    )
    if process.returncode != 0:
        return [None] * len(grids)
    answer: list[str | None] = json.loads(process.stdout)
    return answer


def answer(name: str, *wanted: str) -> list[str | None]:
    """Return what `digests` does, of runs in this process; the grids by name."""
    scheduler = any_scheduler(name)
    trials = [run_in(grid, scheduler) for grid in [*GRIDS, WIDE] if grid.name in wanted]
    return [digest(trial) if trial.error is None else None for trial in trials]


if __name__ == "__main__":
    with stdout_kept() as stdout:
        json.dump(answer(*sys.argv[1:]), stdout)

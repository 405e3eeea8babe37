"""Runs in a process of its own in which texts have other hashes.

Python draws hashes of texts, and with them the order of sets of texts, anew for each process.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import NamedTuple

from agents.importing import path_without_users, search, searched
from agents.registry import anyone
from experiments.checks.trials import GRIDS, WIDE, Grid, Trial, run_in
from experiments.cli.process import stdout_kept
from experiments.cli.users_errors import in_a_line

VARIABLE = "PYTHONHASHSEED"


class CrashedError(Exception):
    """The process came to no end of its own; the message says to which."""


class Answer(NamedTuple):
    """What came of a run: the `digest` of its outcome, or in a line the error that ended it."""

    digest: str | None
    error: str | None


def digest(trial: Trial) -> str:
    """Return the outcome of a run that came to its end, in short."""
    return hashlib.sha256(repr(trial.outcome).encode()).hexdigest()


def digests(name: str, grids: Sequence[Grid]) -> list[Answer]:
    """Run a scheduler in a process of other hashes.

    Parameters
    ----------
    name : str
        Built-in, or ``module:Class``.
    grids : sequence of Grid

    Returns
    -------
    list of Answer
        Of each run.

    Raises
    ------
    CrashedError
        If the process ended before its runs did.
    """
    hashes = "2" if os.environ.get(VARIABLE) == "1" else "1"
    begin = f"import sys; sys.path[:] = {path_without_users()!r}; from {__name__} import main"
    process = subprocess.run(
        [sys.executable, "-P", "-c", f"{begin}; main()"],
        input=json.dumps([searched(), name, [grid.name for grid in grids]]),
        env=os.environ | {VARIABLE: hashes},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if process.returncode != 0 or not process.stdout:
        raise CrashedError(_ended(process.returncode, process.stderr))
    return [Answer(*each) for each in json.loads(process.stdout)]


def _ended(status: int, said: str) -> str:
    """Return in words how a process ended, and the last line that it said."""
    how = f"ended with exit status {status}"
    if status < 0:
        how = f"was killed by signal {-status} ({signal.strsignal(-status)})"
    last = "".join(said.splitlines()[-1:]).strip()
    return f"{how}; its last line: {last}" if last else how


def answer(name: str, *wanted: str) -> list[Answer]:
    """Return what `digests` does, of runs in this process; the grids by name."""
    scheduler = anyone(name)
    trials = [run_in(grid, scheduler) for grid in [*GRIDS, WIDE] if grid.name in wanted]
    return [
        Answer(digest(trial), None) if trial.error is None else Answer(None, in_a_line(trial.error))
        for trial in trials
    ]


def main() -> None:
    """Answer on standard output what `digests` asks on standard input."""
    where, name, wanted = json.load(sys.stdin)
    search(*where)
    with stdout_kept() as stdout:
        json.dump(answer(name, *wanted), stdout)

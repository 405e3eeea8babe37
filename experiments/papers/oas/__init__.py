"""Section 4 of `oas` run again: slot sizes, six workloads, and the paper's claims."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from experiments.papers.oas.claims import judged
from experiments.papers.oas.outcome import Outcome
from experiments.papers.oas.points import PARTS, points
from experiments.papers.oas.report import Report
from experiments.sweeps.run_store import kept_of_paper
from experiments.sweeps.sweep import Watch
from grid.errors import GridError

__all__ = ["PARTS", "TIME_LIMIT", "Report", "reproduce"]

TIME_LIMIT = 60.0
"""Seconds that a solver may take for one schedule unless told otherwise."""


def reproduce(
    folder: Path, watch: Watch, parts: Sequence[str] = PARTS, time_limit: float = TIME_LIMIT
) -> Report:
    """Run the experiments of parts of the paper, and judge what it claims of them.

    Parameters
    ----------
    folder : path
        Where finished schedules are kept, and taken up again.
    watch : Watch
        Is told how it goes on.
    parts : sequence of str
        Of `PARTS`: Fig. 3, and Fig. 4.
    time_limit : float
        Wall-clock seconds that a solver may take for one schedule, above 0.

    Raises
    ------
    GridError
        For a parameter that is not accepted, or a folder that holds other runs.
    """
    if not time_limit > 0:
        raise GridError(f"time_limit: found {time_limit!r}; accepted: seconds above 0")
    kept = kept_of_paper(folder, "oas")
    outcome = Outcome(time_limit)
    outcome.run([point for part in parts for point in points(part)], kept, watch)
    command = ["metasched reproduce oas"]
    if len(parts) < len(PARTS):
        command += [f"--part {part}" for part in parts]
    if time_limit != TIME_LIMIT:
        command.append(f"--time-limit {time_limit:g}")
    return Report(outcome, tuple(parts), judged(outcome, parts), " ".join(command))

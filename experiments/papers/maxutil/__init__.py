"""Sections 3 to 7 of `maxutil` run again: its tables, its figures, and what it claims."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from experiments.maxutil.heavy_traffic import observe
from experiments.papers.checks import check_amounts
from experiments.papers.maxutil.claims import judged
from experiments.papers.maxutil.logs import Log
from experiments.papers.maxutil.outcome import Outcome
from experiments.papers.maxutil.points import PARTS, log_points, points_of
from experiments.papers.maxutil.report import Report
from experiments.papers.report import command_of
from experiments.sweeps.run_store import kept_of_paper
from experiments.sweeps.sweep import Run, Watch, sweep

__all__ = ["PARTS", "REPLICATIONS", "Report", "reproduce"]

REPLICATIONS = 5
"""Runs of a system unless told otherwise."""


def reproduce(
    folder: Path,
    watch: Watch,
    parts: Sequence[str] = PARTS,
    scale: float = 1.0,
    replications: int = REPLICATIONS,
    workers: int = 1,
    ctc: Path | None = None,
    das: Path | None = None,
) -> Report:
    """Run the experiments of parts of the paper, and judge what it claims of them.

    Parameters
    ----------
    folder : path
        Where finished runs are kept, and taken up again.
    watch : Watch
        Is told how it goes on.
    parts : sequence of str
        Of `PARTS`.
    scale : float
        Jobs of a run, in units of 4,000,000; above 0.
    replications : int
        Runs of each system.
    workers : int
        Processes; they change nothing but the time.
    ctc, das : path, optional
        Logs for Tables 1 and 2 and Figs. 1, 2 and 7; without them these are left out.

    Raises
    ------
    GridError
        For a parameter that is not accepted, a log that cannot be read, or a folder that holds
        other runs.
    """
    check_amounts(scale, replications, workers)
    given = {"CTC": ctc, "DAS": das} if "logs" in parts else {}
    logs = [Log.read(name, path) for name, path in given.items() if path is not None]
    kept = kept_of_paper(folder, "maxutil", scale=scale)

    def carry_out(runs: list[Run]) -> dict[str, dict[str, list[float]]]:
        return sweep(runs, observe, kept, workers, watch)

    outcome = Outcome(scale, replications)
    points = [point for part in parts for point in points_of(part)]
    of_logs = {log.name: log.path for log in logs}
    points += log_points(of_logs.get("CTC"), of_logs.get("DAS")).values()
    outcome.run(points, carry_out)
    options = [f"--part {part}" for part in parts] if len(parts) < len(PARTS) else []
    command = command_of("maxutil", options, scale, replications)
    command += "".join(f" --{log.name.lower()} {log.path.name}" for log in logs)
    return Report(outcome, tuple(parts), logs, judged(outcome, parts, logs), command)

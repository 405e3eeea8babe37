"""Section 5 of `muscle` run again: Figs. 4 to 7, and what becomes of its claims."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from experiments.papers.checks import check_amounts
from experiments.papers.muscle.claims import judged
from experiments.papers.muscle.outcome import Outcome
from experiments.papers.muscle.points import FIGURES, JOBS, observe, points
from experiments.papers.muscle.report import Report
from experiments.papers.report import check_figures, command_of, figures_option
from experiments.sweeps.run_store import kept_of_paper
from experiments.sweeps.sweep import Watch, sweep

__all__ = ["FIGURES", "REPLICATIONS", "Report", "reproduce"]

REPLICATIONS = 1
"""Runs of a point unless told otherwise: the many rounds of one tell its confidence interval."""


def reproduce(
    folder: Path,
    watch: Watch,
    figures: Sequence[int] = FIGURES,
    scale: float = 1.0,
    replications: int = REPLICATIONS,
    workers: int = 1,
) -> Report:
    """Run the experiments of figures, and judge the paper's claims of them.

    Parameters
    ----------
    folder : path
        Where finished runs are kept, and taken up again.
    watch : Watch
        Is told how it goes on.
    figures : sequence of int
        Of 4, 5, 6 and 7.
    scale : float
        Jobs of a run, in units of the paper's 20,000; above 0.
    replications : int
        Runs of each series at each point.
    workers : int
        Processes; they change nothing but the time.

    Raises
    ------
    GridError
        For a parameter that is not accepted, or a folder that holds other runs.
    """
    check_amounts(scale, replications, workers)
    check_figures(figures, FIGURES)
    jobs = max(1, math.floor(JOBS * scale + 0.5))
    outcome = Outcome(points(figures), jobs, replications)
    kept = kept_of_paper(
        folder, "muscle", figures=list(figures), scale=scale, replications=replications
    )
    outcome.fill(sweep(outcome.runs, observe, kept, workers, watch))
    command = command_of("muscle", figures_option(figures, FIGURES), scale, replications)
    return Report(outcome, judged(outcome, figures), figures, scale, command)

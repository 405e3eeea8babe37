"""Section 3 of `queues` run again: the cases of Table 1, Figs. 3 to 18, and the paper's claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from experiments.papers.checks import check_amounts
from experiments.papers.queues.claims import judged
from experiments.papers.queues.outcome import Outcome
from experiments.papers.queues.points import FIGURES, observe, points
from experiments.papers.queues.report import Report
from experiments.papers.report import check_figures, command_of, figures_option
from experiments.sweeps.run_store import kept_of_paper
from experiments.sweeps.sweep import Observation, Run, Watch, sweep

__all__ = ["FIGURES", "REPLICATIONS", "Report", "reproduce"]

REPLICATIONS = 10
"""Runs of a point unless told otherwise."""


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
        Of 3 to 18.
    scale : float
        Jobs of a run, in millions; above 0.
    replications : int
        Runs of each point.
    workers : int
        Processes; they change nothing but the time.

    Raises
    ------
    GridError
        For a parameter that is not accepted, or a folder that holds other runs.
    """
    check_figures(figures, FIGURES)
    check_amounts(scale, replications, workers)
    kept = kept_of_paper(folder, "queues", scale=scale)

    def carry_out(runs: list[Run]) -> Mapping[str, Observation]:
        return sweep(runs, observe, kept, workers, watch)

    of_figures = {figure: points(figure) for figure in figures}
    outcome = Outcome(scale, replications)
    outcome.run([point for of_figure in of_figures.values() for point in of_figure], carry_out)
    command = command_of("queues", figures_option(figures, FIGURES), scale, replications)
    return Report(outcome, of_figures, judged(outcome, figures), command)

"""Sections 4 and 6 of `beosim` run again: Figs. 9 to 27, Table 1, and the paper's claims."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments.papers.beosim import adaptive
from experiments.papers.beosim.claims import ANCHORS, judged
from experiments.papers.beosim.decision_times import decision_times
from experiments.papers.beosim.outcome import Observations, Outcome
from experiments.papers.beosim.points import FIGURES, FIXED, Point, observe, points_of
from experiments.papers.beosim.report import Report, anchors
from experiments.papers.checks import check_amounts
from experiments.papers.report import check_figures, command_of, figures_option
from experiments.sweeps.run_store import kept_of_paper
from experiments.sweeps.sweep import Run, Watch, sweep

__all__ = [
    "FIGURES",
    "REPLICATIONS",
    "Report",
    "compare_adaptive",
    "decision_times",
    "reproduce",
    "reproduce_anchors",
]

REPLICATIONS = 5
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
        Of 9 to 11 and 13 to 27.
    scale : float
        Jobs of a run, in units of the paper's; above 0.
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
    points = {figure: points_of(figure) for figure in figures}
    outcome = _run(
        [point for of_figure in points.values() for point in of_figure],
        folder,
        watch,
        scale,
        replications,
        workers,
    )
    command = command_of("beosim", figures_option(figures, FIGURES), scale, replications)
    return Report(outcome, points, judged(outcome, figures), command)


def reproduce_anchors(
    folder: Path,
    watch: Watch,
    scale: float = 1.0,
    replications: int = REPLICATIONS,
    workers: int = 1,
) -> dict[str, dict[str, float | None]]:
    """Return the mean turnaround of section 6's bounds, s: ``mean``, ``ci95``, ``paper`` of each.

    Parameters are those of `reproduce`; ``ci95`` is the half-width of the 95 % confidence interval,
    ``run95`` that of where one more run would lie.
    """
    points = [point for point, _ in ANCHORS.values()]
    return anchors(_run(points, folder, watch, scale, replications, workers))


def compare_adaptive(
    folder: Path,
    watch: Watch,
    scale: float = 1.0,
    replications: int = REPLICATIONS,
    workers: int = 1,
) -> list[dict[str, Any]]:
    """Return how `adaptive` compares with B3 under both sections' workloads (`adaptive.rows`).

    Parameters are those of `reproduce`.
    """
    points = [point for pair in adaptive.pairs() for point in pair]
    return adaptive.rows(_run(points, folder, watch, scale, replications, workers))


def _run(
    points: Sequence[Point],
    folder: Path,
    watch: Watch,
    scale: float,
    replications: int,
    workers: int,
) -> Outcome:
    check_amounts(scale, replications, workers)
    kept = kept_of_paper(folder, "beosim", scale=scale)

    def carry_out(runs: list[Run]) -> Observations:
        return sweep(runs, observe, kept, workers, watch)

    outcome = Outcome(scale, replications)
    outcome.run([point for point in points if point.policy != FIXED], carry_out)
    fixed = [point for point in points if point.policy == FIXED]
    if fixed:
        outcome.run(fixed, carry_out)
    return outcome

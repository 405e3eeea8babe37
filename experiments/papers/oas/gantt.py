"""Schedules drawn as the paper's Fig. 1 has them: nodes upwards, time to the right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agents.oas import Instance, Run
from experiments.show.gantt_layout import lay
from experiments.show.plots import figure_of

COLORS = ("#56b4e9", "#e69f00", "#009e73", "#f0e442", "#cc79a7", "#999999", "#d55e00", "#b3cde3")
DAY = 86_400.0


@dataclass(frozen=True)
class Gantt:
    """A schedule and its title."""

    title: str
    instance: Instance
    runs: Sequence[Run]


def rows(instance: Instance, runs: Sequence[Run]) -> list[tuple[Run, int, int]]:
    """Return the blocks of a chart: a run, its lowest node and how many from there on.

    A node of a cluster is as good as another, so each job gets the lowest that are free.
    """
    blocks = []
    ground = 0
    for k, cluster in enumerate(instance.clusters):
        here = sorted((run for run in runs if run.nodes[k]), key=lambda run: (run.start, run.job))
        laid = lay(
            np.array([run.start for run in here], np.float64),
            np.array([run.finish for run in here], np.float64),
            np.array([run.nodes[k] for run in here], np.int64),
            cluster.nodes,
        )
        blocks += [
            (here[part], ground + first, count)
            for part, first, count in zip(*(each.tolist() for each in laid), strict=True)
        ]
        ground += cluster.nodes
    return blocks


def draw_gantts(charts: Sequence[Sequence[Gantt]], stem: Path) -> None:
    """Draw rows of charts into ``stem.svg`` and ``stem.png``; all have one scale of time."""
    latest = max(run.finish for row in charts for chart in row for run in chart.runs) / DAY
    with figure_of(len(charts[0]), len(charts), stem) as figure:
        grid = figure.subplots(len(charts), len(charts[0]), squeeze=False, sharex=True)
        for row, of_row in zip(grid, charts, strict=True):
            for axes, chart in zip(row, of_row, strict=True):
                _draw(axes, chart)
                axes.set_xlim(0, 1.02 * latest)
                axes.set_ylabel("")
            row[0].set_ylabel("node")
        for axes in grid[-1]:
            axes.set_xlabel("time, days")


def _draw(axes: object, chart: Gantt) -> None:
    from matplotlib.axes import Axes
    from matplotlib.patches import Rectangle

    assert isinstance(axes, Axes)
    for run, first, count in rows(chart.instance, chart.runs):
        begin, length = run.start / DAY, (run.finish - run.start) / DAY
        axes.add_patch(
            Rectangle(
                (begin, first),
                length,
                count,
                facecolor=COLORS[run.job % len(COLORS)],
                edgecolor="black",
                linewidth=0.5,
            )
        )
        axes.text(
            begin + length / 2,
            first + count / 2,
            str(run.job),
            ha="center",
            va="center",
            fontsize=7,
        )
    last = max(run.finish for run in chart.runs) / DAY
    axes.axvline(last, color="black", linewidth=0.8, linestyle=":")
    nodes = 0
    ticks, labels = [], []
    for k, cluster in enumerate(chart.instance.clusters):
        ticks.append(nodes + cluster.nodes / 2)
        labels.append(f"C{k}\n({float(cluster.effective_power):g})")
        nodes += cluster.nodes
        axes.axhline(nodes, color="0.3", linewidth=0.8)
    axes.set_ylim(0, nodes)
    axes.set_yticks(ticks, labels)
    axes.tick_params(width=0.6, left=False)
    axes.set_title(f"{chart.title}: {last:.1f} days")

"""The character of a log as a figure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from experiments.logs.character import Character
from experiments.show.plots import figure_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOR = "#0072b2"
BINS = 30


def draw_character(character: Character, stem: Path) -> None:
    """Draw sizes, run times, estimates, arrivals and load of a log.

    Parameters
    ----------
    character : Character
    stem : path
        Without suffix; the figure goes to ``stem.svg`` and ``stem.png``.
    """
    from matplotlib.ticker import MaxNLocator

    with figure_of(3, 2, stem) as figure:
        (sizes, runtimes, estimates), (hours, weeks, loads) = figure.subplots(2, 3)
        _sizes(sizes, character.sizes)
        _spread(runtimes, character.runtimes, "run time, s")
        _spread(estimates, character.overestimates, "estimate / run time")
        sizes.set(title="sizes", ylabel="share of records")
        runtimes.set(title="run times")
        estimates.set(title="estimates")
        hours.bar(np.arange(24) + 0.5, character.hours, 0.9, color=COLOR)
        clock = "hour of the day" if character.table.start is not None else "hours, modulo 24"
        hours.set(title="arrivals by hour", xlabel=clock, ylabel="jobs", xlim=(0, 24))
        hours.set_xticks(range(0, 25, 6))
        at = [week.week for week in character.weeks]
        weeks.bar(at, [week.jobs for week in character.weeks], 0.95, color=COLOR)
        weeks.set(title="arrivals by week", xlabel="week", ylabel="jobs")
        known = [(place, week.load) for place, week in zip(at, character.weeks, strict=True)]
        bars = [(place, load) for place, load in known if load is not None]
        loads.bar([place for place, _ in bars], [load for _, load in bars], 0.95, color=COLOR)
        loads.axhline(1, color="0.4", linewidth=0.6, linestyle="--")
        loads.set(title="offered load by week", xlabel="week", ylabel="of all processors")
        loads.set_ylim(bottom=0)
        for axes in (weeks, loads):
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        for axes in (sizes, runtimes, estimates, hours, weeks, loads):
            axes.grid(axis="y", color="0.9", linewidth=0.5)
            axes.set_axisbelow(True)
            axes.tick_params(width=0.6)


def _sizes(axes: Axes, sizes: npt.NDArray[np.int64]) -> None:
    """Draw how many records have 1, 2, 3-4, 5-8, ... processors."""
    group = np.ceil(np.log2(sizes)).astype(np.int64)
    counts = np.bincount(group)
    axes.bar(range(len(counts)), counts / len(sizes), 0.9, color=COLOR)
    step = 1 + len(counts) // 8
    ticks = range(0, len(counts), step)
    axes.set_xticks(ticks, [f"{2**tick}" for tick in ticks])
    axes.set_xlabel("processors, up to")


def _spread(axes: Axes, values: npt.NDArray[np.float64], label: str) -> None:
    """Draw how values of many orders of magnitude are spread; 0 counts with the smallest."""
    axes.set_xlabel(label)
    above = values[values > 0]
    if not len(above):
        axes.text(0.5, 0.5, "none known", transform=axes.transAxes, ha="center")
        axes.set_xticks([])
        axes.set_yticks([])
        return
    low, high = float(above.min()), float(above.max())
    edges: Any = np.geomspace(low, max(high, 1.001 * low) * (1 + 1e-9), BINS + 1)
    counts, _ = np.histogram(np.maximum(values, low), edges)
    axes.bar(edges[:-1], counts / len(values), np.diff(edges), align="edge", color=COLOR)
    axes.set_xscale("log")

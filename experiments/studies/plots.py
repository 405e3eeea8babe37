"""Figures of curves with confidence intervals, readable in black and white."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.studies.statistics import Interval

WIDTH, HEIGHT = 3.6, 2.5
"""Of a panel, inches."""

DODGE = 0.01
"""How far apart the points of two curves are set, in widths of a panel."""


@dataclass(frozen=True)
class Style:
    """How a curve is drawn; marker, fill and dashes tell it from others without colour."""

    color: str
    marker: str
    dashes: str
    filled: bool = True


@dataclass(frozen=True)
class Curve:
    """A curve: its points, each with its confidence interval."""

    label: str
    x: Sequence[float]
    y: Sequence[Interval]
    style: Style


@dataclass(frozen=True)
class Panel:
    """One picture of a figure.

    Attributes
    ----------
    title : str
    x_label, y_label : str
    curves : sequence of Curve
    log : bool
        The y axis is logarithmic.
    zero : bool
        A line is drawn at zero.
    """

    title: str
    x_label: str
    y_label: str
    curves: Sequence[Curve]
    log: bool = False
    zero: bool = False


def draw(rows: Sequence[Sequence[Panel]], stem: Path) -> None:
    """Draw a figure of panels into ``stem.svg`` and ``stem.png``; the same bytes for the same data.

    Parameters
    ----------
    rows : sequence of sequences of Panel
        As many panels in each row. Panels of one row have a y axis in common, those of one column
        an x axis.
    stem : path
        Without suffix.
    """
    import matplotlib
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

    columns = len(rows[0])
    with matplotlib.rc_context(
        {"svg.hashsalt": "metasched", "svg.fonttype": "none", "font.size": 8, "axes.linewidth": 0.6}
    ):
        figure = Figure((WIDTH * columns, HEIGHT * len(rows) + 0.5), layout="constrained")
        grid = figure.subplots(len(rows), columns, squeeze=False, sharex="col", sharey="row")
        for row, panels in enumerate(rows):
            for column, panel in enumerate(panels):
                _draw_panel(grid[row][column], panel)
                if row > 0:
                    grid[row][column].set_title("")
                if row < len(rows) - 1:
                    grid[row][column].set_xlabel("")
                if column > 0:
                    grid[row][column].set_ylabel("")
        labelled: dict[str, Artist] = {}
        for axes in grid.flat:
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
                labelled.setdefault(label, handle)
        figure.legend(
            list(labelled.values()),
            list(labelled),
            loc="outside lower center",
            ncols=3 if columns < 3 else 5,
            frameon=False,
            handlelength=3.5,
        )
        figure.savefig(stem.with_suffix(".svg"), metadata={"Date": None, "Creator": None})
        figure.savefig(stem.with_suffix(".png"), dpi=150, metadata={"Software": None})


def _draw_panel(axes: object, panel: Panel) -> None:
    from matplotlib.axes import Axes
    from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

    assert isinstance(axes, Axes)
    xs = sorted({x for curve in panel.curves for x in curve.x})
    step = DODGE * (xs[-1] - xs[0])
    if panel.zero:
        axes.axhline(0, color="0.6", linewidth=0.6)
    for index, curve in enumerate(panel.curves):
        shift = (index - (len(panel.curves) - 1) / 2) * step
        axes.errorbar(
            [x + shift for x in curve.x],
            [each.mean for each in curve.y],
            yerr=[each.half_width or 0.0 for each in curve.y],
            label=curve.label,
            color=curve.style.color,
            marker=curve.style.marker,
            linestyle=curve.style.dashes,
            markerfacecolor=curve.style.color if curve.style.filled else "white",
            markersize=4.5,
            linewidth=1.1,
            elinewidth=0.8,
            capsize=2,
        )
    axes.set(title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label)
    axes.set_xticks(xs, [f"{x:g}" for x in xs])
    if panel.log:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.yaxis.set_major_formatter(ScalarFormatter())
        axes.yaxis.set_minor_formatter(NullFormatter())
    axes.grid(color="0.9", linewidth=0.5)
    axes.set_axisbelow(True)
    axes.tick_params(width=0.6, labelleft=True)

"""Figures with confidence intervals, readable in black and white."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from experiments.run.files import check_file, new_file
from experiments.sweeps.statistics import Interval
from grid.errors import GridError
from grid.foreign import quoted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PICTURES: dict[str, dict[str, None]] = {
    ".png": {"Software": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    ".svg": {"Date": None, "Creator": None},
}
"""Suffixes of pictures, and what would make the bytes of each differ from day to day."""

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
    """A curve: its points, each with its confidence interval.

    Attributes
    ----------
    label : str
    x : sequence of float
    y : sequence of Interval
        Infinite where there is no steady state: an arrow at the upper edge.
    style : Style
    """

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
    few : bool
        The curves share a few values of x: points at one of them stand side by side.
    span : pair of float or None
        Ends of the y axis; None: those of the curves.
    """

    title: str
    x_label: str
    y_label: str
    curves: Sequence[Curve]
    log: bool = False
    zero: bool = False
    few: bool = True
    span: tuple[float, float] | None = None


@dataclass(frozen=True)
class HeatMap:
    """A surface as a map of its heights, which are printed into it.

    Attributes
    ----------
    title : str
    x, y : sequence of float
    values : sequence of sequences of float
        For each y the heights at each x; infinite where there is no steady state.
    """

    title: str
    x: Sequence[float]
    y: Sequence[float]
    values: Sequence[Sequence[float]]


def draw(rows: Sequence[Sequence[Panel]], stem: Path, share_x: bool = True) -> None:
    """Draw a figure of panels into ``stem.svg`` and ``stem.png``; the same bytes for the same data.

    Parameters
    ----------
    rows : sequence of sequences of Panel
        As many panels in each row. Panels of one row have a y axis in common.
    stem : path
        Without suffix.
    share_x : bool
        Panels of one column have an x axis in common.
    """
    from matplotlib.artist import Artist

    columns = len(rows[0])
    with figure_of(columns, len(rows), stem) as figure:
        grid = figure.subplots(
            len(rows), columns, squeeze=False, sharex="col" if share_x else "none", sharey="row"
        )
        for row, panels in enumerate(rows):
            for column, panel in enumerate(panels):
                _draw_panel(grid[row][column], panel)
                if row > 0 and panel.title == rows[0][column].title:
                    grid[row][column].set_title("")
                if share_x and row < len(rows) - 1:
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
            ncols={1: 2, 2: 3}.get(columns, 5),
            frameon=False,
            handlelength=3.5,
        )


def draw_heat_maps(
    maps: Sequence[HeatMap], x_label: str, y_label: str, label: str, top: float, stem: Path
) -> None:
    """Draw maps of one scale, three in a row, as `draw` does panels.

    Parameters
    ----------
    maps : sequence of HeatMap
    x_label, y_label, label : str
        Of the axes and the heights.
    top : float
        Where the scale of colours ends; higher values are printed, in its last colour.
    stem : path
        Without suffix.
    """
    import matplotlib
    from matplotlib.colors import LogNorm
    from matplotlib.ticker import MaxNLocator, NullFormatter

    columns = min(3, len(maps))
    heights = np.array([height for each in maps for row in each.values for height in row])
    finite = heights[np.isfinite(heights)]
    lowest = float(finite.min()) if len(finite) else top / 2
    bottom = min(lowest, 0.9 * top)
    norm = LogNorm(bottom, top)
    colors = matplotlib.colormaps["viridis_r"]
    with figure_of(columns, -(-len(maps) // columns), stem) as figure:
        grid = figure.subplots(-(-len(maps) // columns), columns, squeeze=False)
        for axes in grid.flat[len(maps) :]:
            axes.set_visible(False)
        for axes, each in zip(grid.flat, maps, strict=False):
            shown = np.array(each.values)
            image = axes.imshow(shown, cmap=colors, norm=norm, aspect="auto", origin="lower")
            for row, column in np.ndindex(shown.shape):
                height = shown[row, column]
                axes.text(
                    column,
                    row,
                    f"{height:.0f}" if np.isfinite(height) else "∞",
                    ha="center",
                    va="center",
                    fontsize=6.5,
                    color="white" if norm(float(np.fmin(height, top))) > 0.5 else "black",
                )
            axes.set(title=each.title, xlabel=x_label, ylabel=y_label)
            axes.set_xticks(range(len(each.x)), [f"{x:g}" for x in each.x])
            axes.set_yticks(range(len(each.y)), [f"{y:g}" for y in each.y])
        bar = figure.colorbar(image, ax=grid, label=label, extend="max", shrink=0.8)
        bar.set_ticks(MaxNLocator(6).tick_values(bottom, top)[1:-1])
        bar.ax.yaxis.set_major_formatter("{x:g}")
        bar.ax.yaxis.set_minor_formatter(NullFormatter())


@contextmanager
def figure_of(columns: int, rows: int, stem: Path) -> Iterator[Figure]:
    """Give a figure with room for panels, and save it: the same bytes for the same data."""
    from matplotlib.figure import Figure

    with styled():
        figure = Figure((WIDTH * columns, HEIGHT * rows + 0.5), layout="constrained")
        yield figure
        for suffix in (".svg", ".png"):
            _save(figure, stem.with_suffix(suffix))


def styled() -> AbstractContextManager[None]:
    """Give matplotlib the style of all figures, for as long as one is made."""
    import matplotlib

    style: AbstractContextManager[None] = matplotlib.rc_context(
        {"svg.hashsalt": "metasched", "svg.fonttype": "none", "font.size": 8, "axes.linewidth": 0.6}
    )
    return style


def check_picture(path: str) -> None:
    """Raise `GridError` if a picture cannot be written to a file, before any work is done."""
    if Path(path).suffix.lower() not in PICTURES:
        found = quoted(Path(path).suffix)
        raise GridError(f"{path}: found {found} at its end; accepted: {', '.join(PICTURES)}")
    check_file(path, "picture")


def save(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure to a file in the format of its suffix: the same bytes for the same data.

    Raises
    ------
    GridError
        If it cannot be written; then nothing has changed.
    """
    with styled(), new_file(path, "picture") as new:
        _save(figure, new)


def _save(figure: Figure, path: Path) -> None:
    figure.savefig(path, dpi=150, metadata=PICTURES[path.suffix.lower()])


def _draw_panel(axes: object, panel: Panel) -> None:
    from matplotlib.axes import Axes
    from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

    assert isinstance(axes, Axes)
    xs = sorted({x for curve in panel.curves for x in curve.x})
    step = DODGE * (xs[-1] - xs[0]) if panel.few else 0.0
    if panel.zero:
        axes.axhline(0, color="0.6", linewidth=0.6)
    for index, curve in enumerate(panel.curves):
        shift = (index - (len(panel.curves) - 1) / 2) * step
        finite = [each.mean < math.inf for each in curve.y]
        axes.errorbar(
            [x + shift for x in curve.x],
            [each.mean if each.mean < math.inf else math.nan for each in curve.y],
            yerr=[each.half_width or math.nan for each in curve.y],  # no bar, nor its ends
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
        if not all(finite):
            axes.plot(
                [x + shift for x, settled in zip(curve.x, finite, strict=True) if not settled],
                [0.95 - 0.04 * (index % 4)] * finite.count(False),  # side by side, else below
                transform=axes.get_xaxis_transform(),
                color=curve.style.color,
                marker=r"$\uparrow$",
                markersize=7,
                linestyle="",
            )
    axes.set(title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label)
    if panel.few:
        axes.set_xticks(xs, [f"{x:g}" for x in xs])
    if panel.log:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.yaxis.set_major_formatter(ScalarFormatter())
        axes.yaxis.set_minor_formatter(NullFormatter())
    if panel.span is not None:
        axes.set_ylim(panel.span)
    axes.grid(color="0.9", linewidth=0.5)
    axes.set_axisbelow(True)
    axes.tick_params(width=0.6, labelleft=True)

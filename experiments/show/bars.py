"""Bar charts with confidence intervals, readable in black and white."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.show.plots import figure_of
from experiments.sweeps.statistics import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FILLS = (
    ("0.35", ""),
    ("#56b4e9", "///"),
    ("#d55e00", "..."),
    ("white", ".."),
    ("#009e73", "\\\\"),
    ("#cc79a7", "xx"),
)
"""Colour and hatch of each series: the hatch tells them apart without colour."""


@dataclass(frozen=True)
class Chart:
    """A bar chart: in each group a bar of each series, with its confidence interval.

    Attributes
    ----------
    title : str
    y_label : str
    groups : sequence of str or of float
        What stands below each group of bars; or where each stands on a numeric axis, in equal
        steps.
    series : mapping of str to sequence of Interval or None
        Of each series its bar in each group. Infinite where there is no steady state: SAT is
        written there. None: no bar.
    x_label : str
    printed : mapping of tuple to float
        What a paper prints of a series in a group: a mark on the bar.
    """

    title: str
    y_label: str
    groups: Sequence[str] | Sequence[float]
    series: Mapping[str, Sequence[Interval | None]]
    x_label: str = ""
    printed: Mapping[tuple[str, str], float] = field(default_factory=dict)


def draw_bars(charts: Sequence[Chart], stem: Path, columns: int | None = None) -> None:
    """Draw charts, so many in a row, into ``stem.svg`` and ``stem.png``, as `plots.draw` curves.

    One legend serves charts of the same series.
    """
    columns = min(columns or len(charts), len(charts))
    rows = -(-len(charts) // columns)
    same = all(list(chart.series) == list(charts[0].series) for chart in charts)
    with figure_of(columns, rows, stem) as figure:
        panels = figure.subplots(rows, columns, squeeze=False).flat
        for axes in panels[len(charts) :]:
            axes.set_visible(False)
        for axes, chart in zip(panels, charts, strict=False):
            _draw(axes, chart)
            if not same and len(chart.series) > 1:
                axes.set_ylim(0.0, axes.get_ylim()[1] * 1.12)
                axes.legend(frameon=False, fontsize=7, ncols=1)
        if same and len(charts[0].series) > 1:
            handles, labels = panels[0].get_legend_handles_labels()
            place = "outside lower center"
            figure.legend(handles, labels, loc=place, ncols=len(labels), frameon=False)


def _draw(axes: Axes, chart: Chart) -> None:
    numeric = [group for group in chart.groups if not isinstance(group, str)]
    places = numeric or list(map(float, range(len(chart.groups))))
    width = 0.8 * (places[1] - places[0] if len(places) > 1 else 1.0) / len(chart.series)
    marks: list[tuple[float, float]] = []
    for index, (label, bars) in enumerate(chart.series.items()):
        color, hatch = FILLS[index % len(FILLS)]
        at = [place + (index - (len(chart.series) - 1) / 2) * width for place in places]
        known = [
            each if each and each.mean < math.inf else Interval(math.nan, None) for each in bars
        ]
        halves = [each.half_width or 0.0 for each in known]
        axes.bar(
            at,
            [each.mean for each in known],
            width,
            yerr=halves if any(halves) else None,
            label=label,
            color=color,
            hatch=hatch,
            edgecolor="black",
            linewidth=0.0 if numeric else 0.5,
            error_kw={"elinewidth": 0.8, "capsize": 2},
        )
        for place, group in zip(at, chart.groups, strict=True):
            if (label, str(group)) in chart.printed:
                marks.append((place, chart.printed[label, str(group)]))
        for place, each in zip(places, bars, strict=True):
            if index == 0 and each is not None and each.mean == math.inf:
                axes.text(place, 0.02, "SAT", transform=axes.get_xaxis_transform(), ha="center")
    if marks:
        axes.plot(*zip(*marks, strict=True), "kx", markersize=8, label="as printed")
    if not numeric:
        axes.set_xticks(places, list(map(str, chart.groups)))
        axes.set_xlim(-0.6, len(places) - 0.4)
    axes.set(title=chart.title, xlabel=chart.x_label, ylabel=chart.y_label)
    axes.set_ylim(bottom=0.0)
    axes.grid(axis="y", color="0.9", linewidth=0.5)
    axes.set_axisbelow(True)
    axes.tick_params(width=0.6)

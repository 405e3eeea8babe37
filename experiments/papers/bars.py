"""Figures of grouped bars with confidence intervals, readable in black and white."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.show.plots import figure_of
from experiments.sweeps.statistics import Interval

FILLS = (
    ("#d55e00", ""),
    ("#56b4e9", "//"),
    ("0.25", ""),
    ("white", ".."),
    ("#009e73", "\\\\"),
    ("#cc79a7", "xx"),
)
"""Colour and hatching of each series."""


@dataclass(frozen=True)
class BarPanel:
    """One picture of bars.

    Attributes
    ----------
    title : str
    y_label : str
    groups : sequence of str or of float
        What stands below each group of bars; or where each stands on a numeric axis, in equal
        steps.
    series : mapping of str to sequence of Interval
        Of each series its bar in each group.
    x_label : str
    """

    title: str
    y_label: str
    groups: Sequence[str] | Sequence[float]
    series: Mapping[str, Sequence[Interval]]
    x_label: str = ""


def draw_bars(panels: Sequence[BarPanel], stem: Path) -> None:
    """Draw panels side by side into ``stem.svg`` and ``stem.png``, as `plots.draw` does curves."""
    from matplotlib.axes import Axes

    with figure_of(len(panels), 1, stem) as figure:
        for panel, axes in zip(
            panels, figure.subplots(1, len(panels), squeeze=False)[0], strict=True
        ):
            assert isinstance(axes, Axes)
            _draw(axes, panel)


def _draw(axes: object, panel: BarPanel) -> None:
    from matplotlib.axes import Axes

    assert isinstance(axes, Axes)
    numeric = [group for group in panel.groups if not isinstance(group, str)]
    places = numeric or list(map(float, range(len(panel.groups))))
    width = 0.8 * (places[1] - places[0] if len(places) > 1 else 1.0) / len(panel.series)
    for index, (label, bars) in enumerate(panel.series.items()):
        color, hatch = FILLS[index % len(FILLS)]
        halves = [bar.half_width or 0.0 for bar in bars]
        axes.bar(
            [place + (index - (len(panel.series) - 1) / 2) * width for place in places],
            [bar.mean for bar in bars],
            width,
            yerr=halves if any(halves) else None,
            label=label,
            color=color,
            hatch=hatch,
            edgecolor="black",
            linewidth=0.0 if numeric else 0.5,
            error_kw={"elinewidth": 0.8, "capsize": 2},
        )
    if not numeric:
        axes.set_xticks(places, list(map(str, panel.groups)))
    axes.set(title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label)
    axes.set_ylim(0.0, axes.get_ylim()[1] * (1.12 if len(panel.series) > 1 else 1.0))
    axes.grid(axis="y", color="0.9", linewidth=0.5)
    axes.set_axisbelow(True)
    axes.tick_params(width=0.6)
    if len(panel.series) > 1:
        axes.legend(frameon=False, fontsize=7, ncols=1)

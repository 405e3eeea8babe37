"""Figs. 4 to 7 of `muscle` as we measure them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from experiments.papers.muscle.points import (
    DLL,
    LIST,
    MUSCLE,
    OURS,
    PRINTED,
    SERIES,
    SIZES,
    TITANS,
    WRAND,
    Point,
    Series,
)
from experiments.papers.muscle.savings import NAMES, Outcome
from experiments.show.plots import Curve, Panel, Style, draw
from experiments.sweeps.statistics import Interval

_COLORS = {MUSCLE: "black", DLL: "#0072b2", WRAND: "#d55e00"}
_MARKERS = {MUSCLE: "o", DLL: "s", WRAND: "^"}
_DASHES = {MUSCLE: "-", DLL: "--", WRAND: ":"}

_X = {
    4: "mean number of jobs in the queue, N",
    5: "MAX_DR (deadline ratios from 0)",
    6: "mean number of jobs in the queue, N",
    7: "clusters",
}
_TITLES = {OURS: "our TITAN", "paper": "the paper's TITAN"}


def pictures(figure: int) -> Iterator[tuple[str, str, str]]:
    """Yield the name, the law of sizes and the caption of each picture of a figure."""
    caption = f"Fig. {figure}: {_CAPTIONS[figure]}"
    if figure != 4:
        yield f"figure{figure}", "log-uniform" if figure == 7 else "uniform", caption
        return
    for law in SIZES:
        name = "figure4" if law == "uniform" else f"figure4-{law}"
        yield name, law, f"{caption}; {law} sizes"


_TABLE_3 = "clusters of Table 3, sizes 1 to 10"
_CAPTIONS = {
    4: f"workload levels; {_TABLE_3}, weights (4, 3, 1), dr in [0, 5]",
    5: f"deadline ranges at N=40 and N=100; {_TABLE_3}, weights (4, 3, 1)",
    6: f"weights (12, 3, 1), (8, 3, 1), (4, 3, 1), (1, 3, 1) of C1 to C4; {_TABLE_3}, dr in [0, 5]",
    7: "4 to 10 clusters of 20 to 56 processors, equal rates; log-uniform sizes from 1 to the "
    "largest cluster, weights (8, 3, 1), dr in [0, 5], N = 80 on 4 clusters and in proportion to "
    "the processors on more",
}


def draw_figure(outcome: Outcome, figure: int, folder: Path) -> None:
    """Draw a figure's pictures into a folder: MCP, PB and MUSCLE's saving, for each TITAN."""
    for name, law, _ in pictures(figure):
        points = [each for each in outcome.points if each.figure == figure and each.sizes == law]
        levels: Sequence[float | None] = [None]
        if figure == 5:
            levels = sorted({point.queue for point in points})
        columns = [
            (titan, level, [p for p in points if level is None or p.queue == level])
            for titan in TITANS
            for level in levels
        ]
        rows = []
        for metric in ("mcp", "pb"):
            rows.append(
                [
                    _panel(outcome, titan, level, of, metric.upper() + ", s", True, _mean(metric))
                    for titan, level, of in columns
                ]
            )
        rows.append(
            [
                _panel(outcome, titan, level, of, "MCP saved by MUSCLE, %", False, _saved)
                for titan, level, of in columns
            ]
        )
        draw(rows, folder / f"muscle-{name}")


_Y = Callable[[Outcome, Point, Series], Interval]


def _mean(metric: str) -> _Y:
    return lambda outcome, point, series: outcome.value(point, series, metric)


def _saved(outcome: Outcome, point: Point, series: Series) -> Interval:
    return outcome.saving(point, series).scaled(100)


def _panel(
    outcome: Outcome,
    titan: str,
    level: float | None,
    points: list[Point],
    label: str,
    log: bool,
    y: _Y,
) -> Panel:
    curves = [
        Curve(
            _label(series),
            [point.x for point in points],
            [y(outcome, point, series) for point in points],
            _style(series),
        )
        for series in SERIES
        if series.titan == titan and (log or series.policy != MUSCLE)
    ]
    if not log:
        curves += _printed(points)
    title = _TITLES[titan] + ("" if level is None else f", N={level:g}")
    return Panel(title, _X[points[0].figure], label, curves, log=log, zero=not log)


def _printed(points: Sequence[Point]) -> list[Curve]:
    """Return what the paper prints of savings at points, which is of uniform sizes."""
    printed = PRINTED.get(points[0].figure, {}) if points[0].sizes == "uniform" else {}
    curves = []
    for policy in dict.fromkeys(policy for _, policy in printed):
        there = {queue: share for (queue, of), share in printed.items() if of == policy}
        style = Style(_COLORS[policy], "x" if policy == DLL else "+", "")
        values = [Interval(100 * share, None) for share in there.values()]
        curves.append(Curve(f"{NAMES[policy]}, as printed", [*there], values, style))
    return curves


def _label(series: Series) -> str:
    if series.policy == MUSCLE:
        return "MUSCLE"
    return f"{NAMES[series.policy]}, {series.start} start"


def _style(series: Series) -> Style:
    policy = series.policy
    return Style(_COLORS[policy], _MARKERS[policy], _DASHES[policy], series.start == LIST)

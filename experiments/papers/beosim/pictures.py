"""Figs. 9 to 27 of `beosim` as we measure them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from operator import attrgetter
from pathlib import Path

from experiments.papers.beosim.points import (
    A1,
    ACCEPTABLE,
    ADAPTIVE,
    ALL_CHUNKS,
    B1,
    B2,
    B3,
    B4,
    BSBW,
    CLUSTERS,
    FIRST_FIT,
    FIXED,
    IDEAL,
    LEVELS_6,
    LSLT,
    MIGRATION,
    NAMES,
    NO_SHARE,
    OURS,
    SURFACES,
    Line,
    Point,
    grid,
    lines,
    lines_of_chunks,
)
from experiments.papers.beosim.surfaces import ANCHORS
from experiments.papers.beosim.turnarounds import Outcome
from experiments.papers.claims_report import spans
from experiments.show.numbers import listed
from experiments.show.plots import Curve, HeatMap, Panel, Style, draw, draw_heat_maps
from experiments.sweeps.statistics import Interval

_STYLES = {
    NO_SHARE: Style("0.55", "", ":"),
    MIGRATION: Style("0.35", "", "--"),
    IDEAL: Style("0.35", "", "-."),
    FIRST_FIT: Style("#d55e00", "o", "-"),
    FIXED: Style("#0072b2", "s", "--", filled=False),
    A1: Style("#d55e00", "o", "-"),
    B1: Style("#0072b2", "s", "--"),
    B2: Style("#009e73", "^", "-.", filled=False),
    B4: Style("#cc79a7", "v", ":"),
    ADAPTIVE: Style("black", "*", "-"),
}
_CHUNK_STYLES = {
    70: Style("#56b4e9", "s", ":", filled=False),
    80: Style("#0072b2", "^", "--", filled=False),
    85: Style("#0072b2", "D", "-"),
    90: Style("#cc79a7", "v", "-."),
}
_FIRST_FIT_OF_13 = Style("#009e73", "^", ":", filled=False)

_TURNAROUND, _BSBW, _LSLT = "turnaround, s", "BSBW, Mbit/s", "LSLT, percent"
_PENALTY = "mean penalty of First-Fit's co-allocated jobs"

_LOW_AND_HIGH = " at low and high BSBW"
GROUPS: tuple[tuple[str, tuple[int, ...], str, str], ...] = (
    (
        "figures9-11",
        tuple(CLUSTERS),
        "{}: the dynamic model of communication (First-Fit) and a fixed penalty{}, against the "
        "penalty and against BSBW",
        " on 2, 4 and 8 clusters (rows)",
    ),
    ("figure13", (13,), "{}: bandwidth-aware meta-schedulers on four clusters, LSLT 100 %", ""),
    (
        "figures14-21",
        tuple(SURFACES),
        "{}: mean turnaround (s) over BSBW and LSLT, and that of our policy `adaptive`",
        "",
    ),
    ("figures22-23", (22, 23), "{}: turnaround over BSBW at LSLT 100 %", ""),
    ("figures24-25", (24, 25), "{}: turnaround over LSLT{}", _LOW_AND_HIGH),
    ("figures26-27", (26, 27), "{}: B3 over LSLT{}", _LOW_AND_HIGH),
    (
        "chunks",
        (26, 27),
        "B3 over its chunk size threshold at LSLT 100 % (no figure of the paper)",
        "",
    ),
)
"""Each picture: its name, the figures that it can show, its caption, and what is true of all of
these together; titles in the picture tell it of each."""


def pictures(figures: Sequence[int]) -> Iterator[tuple[str, list[int], str]]:
    """Yield of each picture that has something to show its name, its figures and its caption."""
    for name, of, caption, together in GROUPS:
        shown = [figure for figure in of if figure in figures]
        if shown:
            in_words = listed(spans(shown).replace("-", " to ").split(", "))
            named = f"Fig{'s' if len(shown) > 1 else ''}. {in_words}"
            yield name, shown, caption.format(named, together if len(shown) == len(of) else "")


def draw_pictures(outcome: Outcome, figures: Sequence[int], folder: Path) -> None:
    """Draw all pictures of figures into a folder."""
    for name, shown, _ in pictures(figures):
        stem = folder / f"beosim-{name}"
        if name == "figures14-21":
            _draw_surfaces(outcome, shown, stem)
        elif name == "figures9-11":
            draw([_models(outcome, figure) for figure in shown], stem, share_x=False)
        elif name == "chunks":
            draw([[_chunks(outcome, figure) for figure in shown]], stem)
        else:
            draw([[_lines(outcome, figure) for figure in shown]], stem)


def _curve(
    outcome: Outcome,
    line: Line,
    x: Callable[[Point], float],
    ends: tuple[float, float],
    style: Style | None = None,
) -> Curve:
    """Return a curve; of a level line, from end to end."""
    first = line.points[0]
    if style is None:
        style = _CHUNK_STYLES[first.chunk] if first.policy == B3 else _STYLES[first.policy]
    y = [outcome.mean(point) for point in line.points]
    if line.over is None:
        return Curve(first.name, ends, [*y, *y], replace(style, marker=""))
    return Curve(first.name, [x(point) for point in line.points], y, style)


def _span(outcome: Outcome, of: Sequence[Line], over: float) -> tuple[float, float] | None:
    """Return what reaches from just below the level lines to the highest times a factor."""
    levels = [line.points[0] for line in of if line.over is None]
    means = [outcome.mean(point).mean for point in levels if outcome.stable(point)]
    return (0.85 * min(means), over * max(means)) if means else None


def _models(outcome: Outcome, figure: int) -> list[Panel]:
    """Return a row of Figs. 9 to 11: against the penalty, and against the bandwidth."""
    of = lines(figure)
    (dynamic,) = (line.points for line in of if line.points[0].policy == FIRST_FIT)

    def penalty(point: Point) -> float:
        return float(outcome.values(dynamic[_index(point, dynamic)], "penalty").mean())

    def bandwidth(point: Point) -> float:
        return point.bsbw

    panels = []
    for x, label in ((penalty, _PENALTY), (bandwidth, _BSBW)):
        xs = [x(point) for point in dynamic]
        curves = [_curve(outcome, line, x, (xs[0], xs[-1])) for line in of]
        panels.append(
            Panel(
                f"Fig. {figure}: {CLUSTERS[figure]} clusters",
                label,
                _TURNAROUND,
                [*curves, *(_ranges(outcome, figure, of) if x is penalty else ())],
                log=True,
                few=False,
                span=_span(outcome, of, 2.0),
            )
        )
    return panels


def _ranges(outcome: Outcome, figure: int, of: Sequence[Line]) -> Iterator[Curve]:
    """Yield between which penalties the paper says that a curve gets above a level."""
    for policy, (low, high) in ACCEPTABLE.get(figure, {}).items():
        (level,) = (line.points[0] for line in of if line.points[0].policy == policy)
        at = Interval(outcome.mean(level).mean, None)
        style = Style(_STYLES[policy].color, "x", "-")
        yield Curve(f"{NAMES[policy]} reached, as printed", [low, high], [at, at], style)


def _anchors(x: float) -> Iterator[Curve]:
    """Yield the two numbers that the paper prints of section 6."""
    for point, seconds in ANCHORS.values():
        style = Style(_STYLES[point.policy].color, "x" if point.policy == MIGRATION else "+", "")
        yield Curve(f"{NAMES[point.policy]}, as printed", [x], [Interval(seconds, None)], style)


def _index(point: Point, curve: Sequence[Point]) -> int:
    return [each.bsbw for each in curve].index(point.bsbw)


def _lines(outcome: Outcome, figure: int) -> Panel:
    """Return Fig. 13, or one of Figs. 22 to 27."""
    of = lines(figure)
    last = of[-1]
    assert last.over is not None
    x = attrgetter(last.over)
    ends = x(last.points[0]), x(last.points[-1])
    over_lslt = last.over == "lslt"
    title = f"Fig. {figure}"
    title += f": BSBW {last.points[0].bsbw:g} Mbit/s" if over_lslt else ": LSLT 100 %"
    curves = [
        _curve(outcome, line, x, ends, _FIRST_FIT_OF_13 if _is_first_fit(line) else None)
        for line in of
    ]
    if figure != 13:
        curves += _anchors(ends[0])
    label = _LSLT if over_lslt else _BSBW
    return Panel(title, label, _TURNAROUND, curves, span=_span(outcome, of, 1.25))


def _is_first_fit(line: Line) -> bool:
    return line.points[0].policy == FIRST_FIT


def _chunks(outcome: Outcome, figure: int) -> Panel:
    """Return B3 over its chunk, between B1 and Migration Only."""
    b1, b3 = lines_of_chunks(figure)
    x = attrgetter("chunk")
    ends = (ALL_CHUNKS[0], ALL_CHUNKS[-1])
    curves = [_curve(outcome, line, x, ends) for line in (*LEVELS_6, b1)]
    of_b3 = _curve(outcome, b3, x, ends, _CHUNK_STYLES[85])
    curves.append(replace(of_b3, label=NAMES[B3]))
    label, bsbw = "chunk size threshold, percent", b1.points[0].bsbw
    return Panel(f"BSBW {bsbw:g} Mbit/s", label, _TURNAROUND, curves, few=False)


def _draw_surfaces(outcome: Outcome, figures: Sequence[int], stem: Path) -> None:
    maps = [_map(outcome, f"Fig. {figure}: ", SURFACES[figure]) for figure in figures]
    maps.append(_map(outcome, "", OURS))
    draw_heat_maps(maps, _BSBW, _LSLT, _TURNAROUND, 1.5 * 1087, stem)


def _map(outcome: Outcome, title: str, of: Point) -> HeatMap:
    heights = [outcome.mean(point).mean for point in grid(of)]
    rows = [heights[row * len(BSBW) : (row + 1) * len(BSBW)] for row in range(len(LSLT))]
    return HeatMap(title + of.name, BSBW, LSLT, rows)

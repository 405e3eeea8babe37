"""Figs. 3 to 18 of `queues` as we measure them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from experiments.papers.queues.outcome import COLUMNS, Outcome
from experiments.papers.queues.points import FIGURES, OF_FIGURE, Point, panels
from experiments.show.plots import Chart, draw_bars

_COLUMNS = 3
"""Charts in a row."""
_TITLES = {
    3: "the four versions of LS, balanced queues",
    4: "the four versions of LS, unbalanced queues",
    5: "the three versions of LP, balanced queues",
    6: "the three versions of LP, unbalanced queues",
    7: "the three versions of EQ, balanced queues",
    8: "the three versions of EQ, unbalanced queues",
}


def pictures(figures: Sequence[int]) -> Iterator[tuple[str, int, str]]:
    """Yield the name, the figure and the caption of each picture; the caption tells the loads."""
    for figure in figures:
        what = _TITLES.get(figure) or f"the policies, {OF_FIGURE[figure]}"
        at = ", ".join(f"{charted[0].load:g}" for charted in panels(figure))
        yield f"figure{figure}", figure, f"Fig. {figure}: {what}; at utilization {at}"


def draw_pictures(outcome: Outcome, figures: Sequence[int], folder: Path) -> None:
    """Draw the pictures of figures into a folder."""
    for name, figure, _ in pictures(figures):
        charts = [_chart(outcome, charted, figure) for charted in panels(figure)]
        draw_bars(charts, "mean response time", _COLUMNS, folder / f"queues-{name}")


def _chart(outcome: Outcome, points: Sequence[Point], figure: int) -> Chart:
    case, load = points[0].case, points[0].load
    letter = f"{chr(ord('a') + _index(figure, points))} " if len(panels(figure)) > 1 else ""
    return Chart(
        f"{letter}{case} at {load:g}",
        [point.name for point in points],
        {column: [outcome.mean(point, column) for point in points] for column in COLUMNS},
    )


def _index(figure: int, points: Sequence[Point]) -> int:
    assert figure in FIGURES
    return panels(figure).index(list(points))

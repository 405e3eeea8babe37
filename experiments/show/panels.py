"""Means with confidence intervals as drawings inside a page, in the page's own colours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from experiments.show.numbers import number

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 380, 230, 66, 12, 12, 34
"""Of a panel and its margins, pixels."""
STYLES = 8
"""Colours of a page; a curve after these has dashes too."""


class Point(NamedTuple):
    """A mean at one value of the axis; what is NaN is not drawn, what has a note is hollow."""

    mean: float
    half_width: float
    note: str = ""


class Mark(NamedTuple):
    """A point where it is drawn, pixels, and what is told of it."""

    x: float
    y: float
    low: float
    high: float
    text: str
    hollow: bool


@dataclass(frozen=True)
class Series:
    """Marks of one policy, in one style."""

    name: str
    style: int
    dashed: bool
    marks: list[Mark]

    @property
    def path(self) -> str:
        """The line through the marks."""
        return " ".join(f"{mark.x:.1f},{mark.y:.1f}" for mark in self.marks)


@dataclass(frozen=True)
class Panel:
    """A drawing: its series, and the ticks of its axes with where they are."""

    title: str
    label: str
    joined: bool
    series: list[Series]
    across: list[tuple[float, str]]
    upwards: list[tuple[float, str]]


def panel(
    title: str, label: str, values: Sequence[str], points: dict[str, list[Point]], joined: bool
) -> Panel:
    """Return a drawing.

    Parameters
    ----------
    title, label : str
        Of the drawing, and of the axis to the right.
    values : sequence of str
        Of that axis; they stand at equal distances.
    points : dict of str to list of Point
        For each policy one for each of the values.
    joined : bool
        Lines join the points of a policy: values are those of a parameter.
    """
    ends = [each.mean + sign * _width(each) for of in points.values() for each in of
            for sign in (-1, 1) if not math.isnan(each.mean)]  # fmt: skip
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    spare = 0.06 * (high - low) or 0.5
    low, high = low - spare, high + spare
    plot, ground = WIDTH - LEFT - RIGHT, HEIGHT - BOTTOM

    def y_of(value: float) -> float:
        return ground - (value - low) / (high - low) * (ground - TOP)

    centres = [LEFT + plot * (k + 0.5) / len(values) for k in range(len(values))]
    dodge = min(9.0, 0.7 * plot / len(values) / max(1, len(points)))
    series = []
    for index, (name, of) in enumerate(points.items()):
        shift = (index - (len(points) - 1) / 2) * dodge
        marks = [
            Mark(
                centre + shift,
                y_of(each.mean),
                y_of(each.mean - _width(each)),
                y_of(each.mean + _width(each)),
                f"{name}, {value}: {_told(each)}" + (f" ({each.note})" if each.note else ""),
                bool(each.note),
            )
            for centre, value, each in zip(centres, values, of, strict=True)
            if not math.isnan(each.mean)
        ]
        series.append(Series(name, index % STYLES, index >= STYLES, marks))
    step = _step((high - low) / 4)
    ticks = [k * step for k in range(math.ceil(low / step), math.floor(high / step) + 1)]
    return Panel(
        title,
        label,
        joined,
        series,
        list(zip(centres, values, strict=True)),
        [(y_of(tick), number(tick)) for tick in ticks],
    )


def _told(point: Point) -> str:
    """Return the mean, and its interval if it has one: a single run has none."""
    interval = "" if math.isnan(point.half_width) else f" ± {number(point.half_width)}"
    return f"{number(point.mean)}{interval}"


def _width(point: Point) -> float:
    return 0.0 if math.isnan(point.half_width) else point.half_width


def _step(wanted: float) -> float:
    """Return 1, 2 or 5 times a power of ten, at least as large.

    >>> _step(3.2), _step(70)
    (5.0, 100.0)
    """
    ten = 10.0 ** math.floor(math.log10(wanted))
    return next(each * ten for each in (1, 2, 5, 10) if each * ten >= wanted * (1 - 1e-9))

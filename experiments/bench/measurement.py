"""One measured number, as a row for people or as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text


@dataclass(frozen=True)
class Measurement:
    """One measured number.

    Attributes
    ----------
    name : str
        What was measured.
    value : float
    unit : str
        Of the value; empty for a plain number.
    note : str
        How it was measured, and what is expected of it.
    """

    name: str
    value: float
    unit: str
    note: str


def as_json(measurements: Sequence[Measurement]) -> list[dict[str, Any]]:
    """Return a JSON object a measurement, with the fields of `Measurement`.

    Examples
    --------
    >>> as_json([Measurement("ratio", 2.5, "x", "of two runs")])
    [{'name': 'ratio', 'value': 2.5, 'unit': 'x', 'note': 'of two runs'}]
    """
    return [asdict(measurement) for measurement in measurements]


def print_measurements(measurements: Sequence[Measurement], console: Console | None = None) -> None:
    """Print a row for each measurement."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("measured")
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("unit")
    table.add_column("note", overflow="fold")
    for each in measurements:
        table.add_row(each.name, _shown(each.value), each.unit, Text(each.note))
    (console or Console()).print(table)


def _shown(value: float) -> str:
    """Return a number with at least three figures.

    >>> _shown(2_512_345.6), _shown(34.56), _shown(0.1234)
    ('2,512,346', '34.6', '0.123')
    """
    if abs(value) >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.3g}"

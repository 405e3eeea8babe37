"""Tables: of pages, and in terminals, where none loses a number if they are narrow."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TextIO

from rich import table as in_terminals
from rich.cells import cell_len
from rich.console import Console, JustifyMethod
from rich.text import Text

from experiments.show.numbers import NONE, instants, number

if TYPE_CHECKING:
    from grid.platform.multicluster import Platform

LEAST = 80
"""Columns of a terminal for which tables are made. One with fewer breaks their lines."""

MANY = 200
"""Rows beyond which a table is long."""

UNFOLDED = 10_000
"""Columns where lines go to programs or files."""


class Column(NamedTuple):
    """A column of a table; its cells are sorted as text or as numbers."""

    name: str
    text: bool = False


class Cell(NamedTuple):
    """What is printed, and the number that it stands for."""

    text: str
    value: float | None = None


class Table(NamedTuple):
    """A table that readers can sort; a long one is folded up unless it is to be open."""

    heading: str
    columns: list[Column]
    rows: list[list[Cell]]
    note: str = ""
    open: bool = False


def changes_table(
    of: Sequence[tuple[str, Platform]], note: str = "", whose: str = "run"
) -> list[Table]:
    """Return the planned changes of platforms, each with a name, which is of a run or its own."""
    rows = [
        [
            *([Cell(run)] if len(of) > 1 else []),
            *(Cell(each.cluster), Cell(each.what), _moment(each.at)),
            Cell(NONE) if each.until == math.inf else _moment(each.until),
            Cell("all" if each.processors is None else number(each.processors), each.processors),
        ]
        for run, platform in of
        for each in platform.changes
    ]
    texts = [whose, "cluster", "change"][len(of) == 1 :]
    columns = [*(Column(name, text=True) for name in texts), Column("at, s"), Column("until, s")]
    return [Table("Planned changes", [*columns, Column("processors")], rows, note)] if rows else []


def links_table(
    of: Sequence[tuple[str, Platform]], note: str = "", whose: str = "run"
) -> list[Table]:
    """Return the links of platforms, as `changes_table` does; without names if all are alike."""
    links = [platform.to_dict()["links"] for _, platform in of]
    alike = all(each == links[0] for each in links)
    rows = [
        [
            *([] if alike else [Cell(run)]),
            *map(Cell, link["between"]),
            _capacity(link["capacity"]),
            Cell(number(link["latency"]), link["latency"]),
        ]
        for (run, _), its in zip(of[:1] if alike else of, links, strict=False)
        for link in its
    ]
    columns = [Column(name, text=True) for name in (whose, "link of", "to")[alike:]]
    columns += [Column("capacity, Mbit/s"), Column("latency, s")]
    return [Table("Network", columns, rows, note)]


def _capacity(mbps: float) -> Cell:
    return Cell("no limit" if mbps == math.inf else number(mbps), mbps)


def _moment(seconds: float) -> Cell:
    return Cell(instants([seconds])[0], seconds)


def unfolded(file: TextIO | None = None) -> Console:
    """Return a console that folds lines only in a terminal, or at ``COLUMNS`` where that is set.

    It prints texts as they are: what stands in brackets is no markup.
    """
    console = Console(file=file, markup=False, emoji=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = UNFOLDED
    return console


def print_rows(
    columns: Mapping[str, JustifyMethod], rows: Sequence[Sequence[str]], console: Console
) -> None:
    """Print rows of text below the names of columns, each of which is to the left or right.

    `MANY` are printed as they are, and no cell of them is folded: that takes a millisecond a row.
    """
    if len(rows) <= MANY:
        table = in_terminals.Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
        for name, side in columns.items():
            table.add_column(name, justify=side)
        for row in rows:
            table.add_row(*map(Text, row))
        print_whole(table, console)
        return
    cells = [*map(list, zip(columns, *rows, strict=True))]
    for column, side in zip(cells, columns.values(), strict=True):
        widths = [*map(cell_len, column)]
        blank = [" " * (max(widths) - width) for width in widths]
        pairs = zip(column, blank, strict=True)
        column[:] = [text + more if side == "left" else more + text for text, more in pairs]
    lines = map("  ".join, zip(*cells, strict=True))
    console.out("\n".join(line.rstrip() for line in lines), highlight=False)


def print_whole(table: in_terminals.Table, console: Console) -> None:
    """Print a table as in a terminal of `LEAST` columns, if there are fewer."""
    width = console.width
    console.width = max(width, LEAST)
    try:
        console.print(table)
    finally:
        console.width = width

"""Tables: of pages, and in terminals, where none loses a number if they are narrow."""

from __future__ import annotations

import os
from typing import NamedTuple, TextIO

from rich import table as in_terminals
from rich.console import Console

LEAST = 80
"""Columns of a terminal for which tables are made. One with fewer breaks their lines."""

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


def unfolded(file: TextIO | None = None) -> Console:
    """Return a console that folds lines only in a terminal, or at ``COLUMNS`` where that is set."""
    console = Console(file=file)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = UNFOLDED
    return console


def print_whole(table: in_terminals.Table, console: Console) -> None:
    """Print a table as in a terminal of `LEAST` columns, if there are fewer."""
    width = console.width
    console.width = max(width, LEAST)
    try:
        console.print(table)
    finally:
        console.width = width

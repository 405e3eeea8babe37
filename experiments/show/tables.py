"""Tables in terminals: none loses a number where it is narrow."""

from __future__ import annotations

import os
from typing import TextIO

from rich.console import Console
from rich.table import Table

LEAST = 80
"""Columns of a terminal for which tables are made. One with fewer breaks their lines."""

UNFOLDED = 10_000
"""Columns where lines go to programs or files."""


def unfolded(file: TextIO | None = None) -> Console:
    """Return a console that folds lines only in a terminal, or at ``COLUMNS`` where that is set."""
    console = Console(file=file)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = UNFOLDED
    return console


def print_whole(table: Table, console: Console) -> None:
    """Print a table as in a terminal of `LEAST` columns, if there are fewer."""
    width = console.width
    console.width = max(width, LEAST)
    try:
        console.print(table)
    finally:
        console.width = width

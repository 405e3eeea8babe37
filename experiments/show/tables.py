"""Tables in terminals: none loses a number where it is narrow."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

LEAST = 80
"""Columns of a terminal for which tables are made. One with fewer breaks their lines."""


def print_whole(table: Table, console: Console) -> None:
    """Print a table as in a terminal of `LEAST` columns, if there are fewer."""
    width = console.width
    console.width = max(width, LEAST)
    try:
        console.print(table)
    finally:
        console.width = width

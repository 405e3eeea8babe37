"""The verdicts on a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from experiments.papers.muscle.claims import READINGS
from experiments.papers.muscle.report import Report


def print_claims(report: Report, folder: str, console: Console) -> None:
    """Print each claim, its verdict, and that of each reading; then where the rest is."""
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("fig.", justify="right")
    table.add_column("the paper says")
    table.add_column("verdict", no_wrap=True)
    for titan, start in READINGS:
        table.add_column(f"{titan} {start}", min_width=6)
    for each in report.claims:
        number = f" [{each.claim.paper}]" if each.claim.paper else ""
        table.add_row(
            str(each.claim.figure),
            Text(each.claim.text + number),
            Text(each.word, "bold"),
            *(verdict.word for verdict in each.verdicts.values()),
        )
    console.print(table)
    console.print(
        "last columns: whose TITAN, and how it starts under DLL and WRAND",
        f"numbers, tables and pictures: {folder}/{report.file}",
        sep="\n",
        markup=False,
        emoji=False,
        highlight=False,
        soft_wrap=True,
    )

"""Verdicts on a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from experiments.papers.maxutil.report import PAGE, Report, told


def print_claims(report: Report, folder: str, console: Console) -> None:
    """Print each claim, its verdict and its numbers; then where the rest is."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for column in ("", "the paper says", "verdict", "ours"):
        table.add_column(column)
    for claim, verdict in report.claims:
        number = f" [{claim.paper}]" if claim.paper else ""
        table.add_row(
            claim.about,
            Text(claim.text + number),
            Text(verdict.word, "bold"),
            Text("\n".join(map(told, verdict.evidence))),
        )
    console.print(table)
    if "logs" in report.parts and not report.logs:
        console.print("no logs given (--ctc, --das): Tables 1 and 2, Figs. 1, 2 and 7 left out")
    console.print(
        f"numbers, tables and pictures: {folder}/{PAGE}",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )

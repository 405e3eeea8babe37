"""Anchors and times on a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from experiments.papers.beosim.decision_times import Decision


def print_anchors(anchors: Mapping[str, Mapping[str, float | None]], console: Console) -> None:
    """Print the bounds of section 6 beside the paper's."""
    table = _table("mean turnaround, s", "ours", "95 %", "one run, 95 %", "paper (one run)")
    for name, row in anchors.items():
        halves = ["-" if half is None else f"± {half:.1f}" for half in (row["ci95"], row["run95"])]
        table.add_row(name, f"{row['mean']:.1f}", *halves, f"{row['paper']:g}")
    console.print(table)


def print_adaptive(rows: Sequence[Mapping[str, Any]], console: Console) -> None:
    """Print how `adaptive` compares with B3."""
    table = _table(
        "section", "clusters", "BSBW", "B3 85 %, s", "adaptive, s", "saved, s", "verdict"
    )
    for row in rows:
        times = ["-" if row[name] is None else f"{row[name]:.1f}" for name in ("b3", "adaptive")]
        saved = "-" if row["saved"] is None else f"{row['saved']:.1f}"
        half = "" if row["ci95"] is None else f" ± {row['ci95']:.1f}"
        where = str(row["section"]), str(row["clusters"]), f"{row['bsbw']:g}"
        table.add_row(*where, *times, saved + half, row["verdict"])
    console.print(table)


def print_decisions(decisions: Sequence[Decision], console: Console) -> None:
    """Print the time of each module's decision beside the paper's."""
    table = _table("module", "µs a decision", "paper")
    for each in decisions:
        paper = "-" if each.paper is None else f"{each.paper:g}"
        table.add_row(each.module, f"{each.microseconds:.3f}", paper)
    console.print(table)


def _table(*columns: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for column in columns:
        table.add_column(column)
    return table

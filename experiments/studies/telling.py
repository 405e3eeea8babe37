"""A study's outcome for people: a table of ranks for each setting, then sentences."""

from __future__ import annotations

import math
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from experiments.labels import heading
from experiments.studies.judged import shown
from experiments.studies.outcome import StudyOutcome
from experiments.studies.statistics import Interval
from experiments.studies.verdicts import place_of

MARK = "*"
"""Stands behind means of runs without a steady state."""


def print_outcome(outcome: StudyOutcome, console: Console) -> None:
    """Print the ranking of each setting and the sentences of a study."""
    literally: dict[str, Any] = {"markup": False, "emoji": False, "highlight": False}
    console.print(outcome.title or outcome.study.scenario, style="bold", **literally)
    for place, rows in outcome.ranking.groupby(outcome.where, sort=False):
        if where := place_of(outcome, place):
            console.print(where, style="bold", **literally)
        console.print(_table(outcome, place, rows))
        console.print()
    for sentence in outcome.sentences():
        console.print(f"- {sentence}", soft_wrap=not console.is_terminal, **literally)


def _table(outcome: StudyOutcome, place: Any, rows: Any) -> Table:
    """Return the ranks of a setting, with the means of what else is reported."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    numbers: dict[str, Any] = {"justify": "right", "overflow": "fold"}
    table.add_column("rank", no_wrap=True, **numbers)
    table.add_column("policy", overflow="fold")  # the first to be broken where room is short
    table.add_column("n", no_wrap=True, **numbers)
    for column in (outcome.metric, "to_the_best"):
        table.add_column(_heading(column), no_wrap=True, **numbers)
    table.add_column("worse\nin", no_wrap=True, **numbers)
    for column in outcome.study.report:
        table.add_column(_heading(column), **numbers)
    points = outcome.points.set_index([*outcome.where, "policy"])
    for _, row in rows.iterrows():
        ranked = not math.isnan(row["mean"])
        point = points.loc[(*place, row["policy"])]
        mark = MARK if row["unstable"] else ""
        table.add_row(
            str(row["rank"]) if ranked else "-",
            Text(row["policy"]),
            str(row["n"]),
            _shown(row["mean"], row["half_width"], mark),
            _difference(row) if ranked else "-",
            f"{row['worse']} of {row['n']}" if ranked else "-",
            *(_shown(point[name], math.nan, mark) for name in outcome.study.report),
        )
    return table


def _heading(name: str) -> str:
    """Return a metric with its unit, a word a line."""
    return heading(name).replace(" ", "\n")


def _difference(row: Any) -> str:
    if row["difference"] == 0.0 and row["difference half_width"] == 0.0:
        return "="
    sign = "+" if row["difference"] > 0 else ""
    return sign + _shown(row["difference"], row["difference half_width"])


def _shown(mean: float, half: float, mark: str = "") -> str:
    if math.isnan(mean):
        return "-"
    return shown(Interval(mean, None if math.isnan(half) else half)) + mark

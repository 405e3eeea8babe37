"""A study's outcome for people: a table of ranks for each setting, then sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

import pandas as pd
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from experiments.show.labels import heading, scale_of_difference
from experiments.show.numbers import NONE, Scale, counted
from experiments.studies.outcome import StudyOutcome
from experiments.studies.verdicts import place_of

WIDEST = 1000
"""Columns of text that a table may have."""
MARK = "*"
"""Stands behind means of runs of which some had a queue that grew."""


def grew(unstable: Any) -> bool:
    """Return whether the queue of some runs of a point grew, as far as that was judged."""
    return bool(pd.notna(unstable) and unstable > 0)


def print_outcome(outcome: StudyOutcome, console: Console) -> None:
    """Print the ranking of each setting and the sentences of a study."""
    literally: dict[str, Any] = {"markup": False, "emoji": False, "highlight": False}
    console.print(outcome.title or outcome.study.scenario, style="bold", **literally)
    for place, rows in outcome.ranking.groupby(outcome.where, sort=False):
        if where := place_of(outcome, place):
            console.print(where, style="bold", **literally)
        table = _table(outcome, place, rows)
        whole = Measurement.get(console, console.options.update(max_width=WIDEST), table).maximum
        if not console.is_terminal:  # there is room for all, and no number is broken
            console.width = max(console.width, whole)
        console.print(table)
        console.print()
    for sentence in outcome.sentences():
        console.print(f"- {sentence}", soft_wrap=not console.is_terminal, **literally)
    for line in _cleaned(outcome):
        console.print(line, soft_wrap=not console.is_terminal, **literally)


def _cleaned(outcome: StudyOutcome) -> Iterator[str]:
    """Yield how logs were cleaned, as runs tell it."""
    rules = outcome.provenance.get("cleaning", ())
    for (name, records), rows in groupby(rules, itemgetter("workload", "records")):
        yield f"cleaning of {counted(records, 'record')}, all of workload {name}:"
        for row in rows:
            where = f", where {row['where']}" if row["where"] else ""
            yield f"  {row['times']:,}{where}: {row['rule']}"


def _table(outcome: StudyOutcome, place: Any, rows: Any) -> Table:
    """Return the ranks of a setting, with the means of what else is reported."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    numbers: dict[str, Any] = {"justify": "right", "overflow": "fold"}
    several = len(rows) > 1
    if several:
        table.add_column("rank", no_wrap=True, **numbers)
    table.add_column("policy", overflow="fold")  # the first to be broken where room is short
    table.add_column("n", no_wrap=True, **numbers)
    points = outcome.points.set_index([*outcome.where, "policy"])
    here = points.loc[[(*place, policy) for policy in rows["policy"]]]
    reported = {name: outcome.scale(name) for name in outcome.study.reported}
    scale = reported.pop(outcome.metric)
    table.add_column(_lines(heading(outcome.metric, scale)), no_wrap=True, **numbers)
    apart = scale_of_difference(outcome.metric, scale)
    unit = f",\n{_lines(apart.unit)}" if apart.unit else ""
    if several:
        table.add_column(f"to the\nbest{unit}", no_wrap=True, **numbers)
        table.add_column("worse\nin", no_wrap=True, **numbers)
    for name, its in reported.items():
        table.add_column(_lines(heading(name, its)), **numbers)
    for _, row in rows.iterrows():
        ranked = not math.isnan(row["mean"])
        point = here.astype(object).loc[(*place, row["policy"])]  # else of one dtype, with its NA
        mark = MARK if grew(row["unstable"]) else ""
        rank = str(row["rank"]) if ranked else NONE
        apart_from_best = [
            _difference(scale, row) if ranked else NONE,
            f"{row['worse']} of {row['n']}" if ranked else NONE,
        ]
        table.add_row(
            *([rank] if several else []),
            Text(row["policy"]),
            str(row["n"]),
            _shown(scale, row["mean"], row["half_width"], mark),
            *(apart_from_best if several else []),
            *(
                _shown(its, point[name], math.nan, mark) + of_others(point[f"{name} n"], row["n"])
                for name, its in reported.items()
            ),
        )
    return table


def of_others(number: int, told: int) -> str:
    """Return of how many runs a mean is, if that is not what its row tells."""
    return "" if number in (0, told) else f" (n={number:.0f})"


def _lines(heading: str) -> str:
    """Return a heading, a word a line."""
    return heading.replace(" ", "\n")


def _difference(scale: Scale, row: Any) -> str:
    if row["difference"] == 0.0 and row["difference half_width"] == 0.0:
        return "="
    sign = "+" if row["difference"] > 0 else ""
    return sign + _shown(scale, row["difference"], row["difference half_width"])


def _shown(scale: Scale, mean: float, half: float, mark: str = "") -> str:
    told = scale.told(mean, None if math.isnan(half) else half)
    return told if told == NONE else told + mark

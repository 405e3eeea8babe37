"""What is told of a period: numbers of each pair of policies, and what they rest on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from experiments.service.shadow.comparing import AS_IT_WAS, HOME, Outcome
from experiments.service.shadow.period import Period
from experiments.show.numbers import (
    NONE,
    counted,
    duration,
    listed,
    number,
    percent,
)
from experiments.show.tables import print_whole
from grid.foreign import plain

NOTABLE = 0.01
"""Share of processors from which on it is told that they were away, or others had them."""


def told_of(period: Period, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return what is told of a period, ready for JSON.

    Parameters
    ----------
    period : Period
    outcomes : sequence of Outcome
        As it was first.
    """
    waits = {each.name: each.mean_wait for each in outcomes}
    against = next((name for name in waits if name.startswith(f"{HOME}/")), AS_IT_WAS)
    return {
        "begin": period.begin,
        "end": period.end,
        "jobs": period.count,
        "against": against,
        "policies": [
            {**vars(each), "difference": _difference(each.mean_wait, waits[against])}
            for each in outcomes
        ],
        "left_out": dict(period.left_out),
        "unseen": {
            name: {"seconds": of_all, "longest": most}
            for name, (of_all, most) in period.unseen.items()
        },
        "processors": {each.name: each.size for each in period.platform.clusters},
        "away": dict(period.away),
        "others": dict(period.others),
    }


def in_periods(told: dict[str, Any], before: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what is told of a period, with in how many whole ones mean waits were lower."""
    rows = []
    for row in told["policies"]:
        lower, known = _lower(row["name"], told["against"], before)
        rows.append({**row, "lower_in": lower, "of_periods": known})
    return {**told, "policies": rows}


def _difference(wait: float | None, other: float | None) -> float | None:
    return None if wait is None or other is None else wait - other


def _lower(name: str, against: str, before: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
    """Return in how many periods a mean wait was lower than another, and of how many."""
    lower = known = 0
    for told in before:
        waits = {each["name"]: each["mean_wait"] for each in told["policies"]}
        one, other = waits.get(name), waits.get(against)
        if name != against and one is not None and other is not None:
            known += 1
            lower += one < other
    return lower, known


def print_report(told: Mapping[str, Any], console: Console) -> None:
    """Print what is told of a period."""
    begin, end = (f"{datetime.fromtimestamp(told[at]):%Y-%m-%d %H:%M}" for at in ("begin", "end"))
    sites = [f"{plain(name)} ({size})" for name, size in told["processors"].items()]
    of_jobs = counted(told["jobs"], "job")
    console.print(Text(f"{begin} to {end}: {of_jobs} that came and ended, at {listed(sites)}"))
    if told["jobs"]:
        print_whole(_table(told), console)
    for line in _words(told):
        console.print(Text(f"- {line}"))


def _table(told: Mapping[str, Any]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column("")
    against = told["against"]
    shown = ["mean wait", f"than {against}", "lower in", "95 % below"]
    for column in (*shown, "slowdown", "utilisation"):
        table.add_column(column, justify="right")
    for row in told["policies"]:
        name = row["name"] if row["name"] == AS_IT_WAS else f"  {row['name']}"
        apart = NONE if row["name"] == against else _signed(row["difference"])
        lower = f"{row['lower_in']} of {row['of_periods']}" if row["of_periods"] else NONE
        cells = (
            *(name, duration(row["mean_wait"]), apart, lower, duration(row["p95_wait"])),
            *(number(row["mean_bounded_slowdown"]), percent(row["utilization"])),
        )
        table.add_row(*map(Text, cells))
        if row["name"] == AS_IT_WAS:
            table.add_row("simulated:")
    return table


def _signed(seconds: float | None) -> str:
    if seconds is None:
        return NONE
    return f"{'-' if seconds < 0 else '+'}{duration(abs(seconds))}"


def _words(told: Mapping[str, Any]) -> Iterator[str]:
    """Yield what has to be known of the numbers."""
    if told["jobs"]:
        yield (
            "simulated: these jobs at these sites, submitted where they were, expected to take "
            "what they requested; beside them what ran or waited, as far as that is known"
        )
        if told["against"] != AS_IT_WAS:
            yield (
                f"between as it was and {told['against']} is what the simulation leaves out, such "
                "as priorities and limits, and the local scheduler: a difference of that size "
                "means nothing"
            )
        most = max(row["of_periods"] for row in told["policies"])
        yield (
            "one period is one sample: it shows no policy to be better; lower in: of "
            f"{counted(most, 'whole period')} so far, those with the lower mean wait"
        )
    if told["left_out"]:
        whys = [f"{why}: {count:,}" for why, count in told["left_out"].items()]
        yield f"jobs not counted, {'; '.join(whys)}"
    for site, gaps in told["unseen"].items():
        of_all, most = duration(gaps["seconds"]), duration(gaps["longest"])
        yield (
            f"{plain(site)}: not looked at for {of_all} in all, {most} at once: jobs that came and "
            "ended then are unknown"
        )
    for site, share in told["away"].items():
        if share >= NOTABLE:
            yield f"{plain(site)}: {percent(share)} of these processors were away; simulated: none"
    for site, share in told["others"].items():
        if share >= NOTABLE:
            yield (
                f"{plain(site)}: {percent(share)} of these processors were held by jobs that are "
                "not seen, as of other partitions; simulated: none"
            )
    for row in told["policies"]:
        if row["rejected"]:
            yield f"{row['name']}: {counted(row['rejected'], 'job')} rejected, not in its numbers"
    notes = dict.fromkeys(note for row in told["policies"] for note in row["notes"])
    for note in notes:
        whose = [row["name"] for row in told["policies"] if note in row["notes"]]
        yield f"{listed(whose)}: {note}"

"""The command `metasched oas`: an instance from a file, and an answer in words and bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from agents.oas import Answer, Instance, approximate, solve
from experiments.show.numbers import duration, percent, time_scale
from grid.errors import blaming
from grid.strict import json_of, text_of

if TYPE_CHECKING:
    from rich.console import Console

JOBS_SHOWN, CLUSTERS_SHOWN, SHORTEST_BAR = 60, 8, 20
"""Jobs and clusters that people are shown at most; characters that the makespan has at least."""


def read_instance(path: str) -> Instance:
    """Return the instance of a JSON file.

    Raises
    ------
    GridError
        If it cannot be read, is no JSON, or no instance; the message names the file and the key.
    """
    given = json_of(text_of(path, "a JSON file"), path, "a JSON file")
    with blaming(path):
        return Instance.from_dict(given)


def answer_to(
    instance: Instance,
    slot: float | None,
    solver: str | None,
    time_limit: float,
    heuristic: str | None,
) -> Answer:
    """Return what a heuristic, if one is named, or a solver (by default CP-SAT) makes of it.

    Raises
    ------
    GridError
        If it does not exist.
    """
    if heuristic is None:
        return solve(instance, slot, solver or "cpsat", time_limit)
    return approximate(heuristic, instance, slot)


def print_answer(answer: Answer, instance: Instance, console: Console) -> None:
    """Print what is known of a schedule, and its jobs in order of start, as a chart of bars."""
    facts = Table.grid(padding=(0, 2, 0, 0))
    facts.add_row("status", f"{answer.status} ({answer.method}, {duration(answer.wall_s)})")
    if answer.makespan is not None:
        facts.add_row("makespan", duration(answer.makespan))
        if answer.gap is not None and answer.bound is not None:
            facts.add_row("bound", f"{duration(answer.bound)}, gap {percent(answer.gap)}")
        facts.add_row("compaction", percent(answer.compaction))
    console.print(facts)
    if answer.makespan is None:
        return
    console.print()
    console.print(_chart(answer, instance, console.width))
    for what, count, shown in (
        ("jobs", len(instance.jobs), JOBS_SHOWN),
        ("clusters", len(instance.clusters), CLUSTERS_SHOWN),
    ):
        if count > shown:
            console.print(f"and {count - shown:,} more {what}, which --json has")


def _chart(answer: Answer, instance: Instance, width: int) -> Table:
    """Return a row for each job, in order of start, with a bar that fits into what is left.

    Jobs and clusters have no names in the file: they are numbered from 1, in its order.
    """
    assert answer.makespan is not None
    scale = time_scale(answer.makespan)
    names = [f"C{k}" for k in range(1, min(len(instance.clusters), CLUSTERS_SHOWN) + 1)]
    ordered = sorted(answer.schedule, key=lambda run: (run.start, run.job))[:JOBS_SHOWN]
    starts, finishes = (
        scale.column([getattr(run, name) for run in ordered]) for name in ("start", "finish")
    )
    rows = [
        [str(run.job + 1), start, finish, *(str(count or "") for count in run.nodes[: len(names)])]
        for run, start, finish in zip(ordered, starts, finishes, strict=True)
    ]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    heads = ["job", f"start, {scale.unit}", f"finish, {scale.unit}", *names]
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    used = sum(max(map(len, column)) + 2 for column in zip(heads, *rows, strict=True))
    bar = max(SHORTEST_BAR, width - used)
    table.add_column(f"0 to {scale.with_unit(answer.makespan)}", no_wrap=True)
    for run, row in zip(ordered, rows, strict=True):
        first, last = (round(bar * time / answer.makespan) for time in (run.start, run.finish))
        table.add_row(*row, Text(" " * min(first, bar - 1) + "█" * max(1, last - first)))
    return table

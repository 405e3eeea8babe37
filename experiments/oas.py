"""The command `metasched oas`: an instance from a file, and an answer in words and bars."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from agents.oas import Answer, Instance, approximate, solve
from grid.errors import GridError

if TYPE_CHECKING:
    from rich.console import Console

JOBS_SHOWN, CLUSTERS_SHOWN, WIDTH = 60, 8, 32
"""Jobs and clusters that people are shown at most, and the characters of the makespan."""


def read_instance(path: str) -> Instance:
    """Return the instance of a JSON file.

    Raises
    ------
    GridError
        If it cannot be read, is no JSON, or no instance; the message names the file and the key.
    """
    try:
        given = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or error
        raise GridError(f"{path}: {reason}; accepted: a JSON file") from None
    try:
        return Instance.from_dict(given)
    except GridError as error:
        raise GridError(f"{path}: {error}") from None


def answer_to(
    instance: Instance,
    slot: float | None,
    solver: str | None,
    time_limit: float,
    heuristic: str | None,
) -> Answer:
    """Return what a solver (by default CP-SAT) or a heuristic makes of an instance.

    Raises
    ------
    GridError
        If both are chosen, or one that does not exist.
    """
    if heuristic is None:
        return solve(instance, slot, solver or "cpsat", time_limit)
    if solver is not None:
        raise GridError("--heuristic: found with --solver; accepted: one of the two")
    return approximate(heuristic, instance, slot)


def print_answer(answer: Answer, instance: Instance, console: Console) -> None:
    """Print what is known of a schedule, and its jobs in order of start, as a chart of bars."""
    facts = Table.grid(padding=(0, 2, 0, 0))
    facts.add_row("status", f"{answer.status} ({answer.method}, {answer.wall_s:.2f} s)")
    if answer.makespan is not None:
        facts.add_row("makespan", f"{answer.makespan:,.1f} s")
        if answer.gap is not None and answer.bound is not None:
            facts.add_row("bound", f"{answer.bound:,.1f} s, gap {answer.gap:.2%}")
        facts.add_row("compaction", f"{answer.compaction:.1%}")
    console.print(facts)
    if answer.makespan is None:
        return
    clusters = len(instance.clusters)
    named = range(min(clusters, CLUSTERS_SHOWN))
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("job", "start, s", "finish, s", *(f"C{k}" for k in named)):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column(f"0 to {answer.makespan:,.0f} s", no_wrap=True, min_width=WIDTH)
    ordered = sorted(answer.schedule, key=lambda run: (run.start, run.job))
    for run in ordered[:JOBS_SHOWN]:
        first, last = (round(WIDTH * t / answer.makespan) for t in (run.start, run.finish))
        bar = " " * min(first, WIDTH - 1) + "█" * max(1, last - first)
        times = (f"{run.start:,.1f}", f"{run.finish:,.1f}")
        held = (str(run.nodes[k] or "") for k in named)
        table.add_row(str(run.job), *times, *held, Text(bar))
    console.print(table)
    if len(ordered) > JOBS_SHOWN:
        console.print(f"and {len(ordered) - JOBS_SHOWN:,} more jobs, which --json has")
    if clusters > CLUSTERS_SHOWN:
        console.print(f"and {clusters - CLUSTERS_SHOWN:,} more clusters, which --json has")

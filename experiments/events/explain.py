"""The story of one job of a run, from its event log: who was told what when, and why it waited."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from experiments.events import log, words
from experiments.events.carried import Event
from experiments.events.reading import events_of
from experiments.events.teller import Teller
from experiments.events.words import Story
from experiments.labels import has_a_say
from experiments.numbers import instant
from experiments.result_files import ResultFiles
from grid.errors import GridError
from grid.foreign import plain


def explain(
    folder: str | os.PathLike[str], job: int, path: str | os.PathLike[str] | None = None
) -> Story:
    """Return the story of a job.

    Parameters
    ----------
    folder : path
        Result of ``metasched run --out``.
    job : int
        Its number.
    path : path, optional
        Event log of the same run; by default ``events.jsonl`` in the folder.

    Raises
    ------
    GridError
        If there is no event log, it is of another run or not whole, or the job is not in it.
    """
    result = ResultFiles.read(folder)
    path = Path(folder) / log.EVENTS if path is None else Path(path)
    sizes = {each.name: each.size for each in result.platform.clusters}
    teller = Teller(job, sizes, silent=not has_a_say(result.summary["global"], len(sizes)))
    event: Event = {}
    for event in events_of(path, result.summary, "explain"):
        try:
            teller.hear(event)
        except (KeyError, TypeError, IndexError, ValueError):  # in an order that cannot be
            raise GridError(
                f"{path}:{event['serial']}: no event of this run; accepted: its event log"
            ) from None
    if not teller.lines:
        raise GridError(f"job {job}: not in {path}; accepted: the number of one of its jobs")
    rows = [row for row in result.rows if row.job == job]
    same = any((row.start, row.finish) == (teller.start, teller.finish) for row in rows)
    if event["time"] != result.summary["simulated_s"] or not (same if rows else not teller.finish):
        raise GridError(
            f"{path}: of a run in which job {job} fared otherwise; accepted: the event log of the "
            f"run in {folder}"
        )
    return Story(f"Job {job}: {words.needs(teller.size, teller.deadline)}", teller.lines)


def print_story(story: Story, as_json: bool) -> None:
    """Print a story, or as one JSON object."""
    if as_json:
        lines = [{"time": time, "words": ", ".join(parts)} for time, parts in story.lines]
        click.echo(json.dumps({"heading": story.heading, "lines": lines}))
        return
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    for time, parts in story.lines:
        told = ", ".join(parts)
        told = plain(told, most=len(told))  # names are as the log has them
        table.add_row("" if time is None else instant(time), Text(told))
    console = Console()
    console.print(story.heading, style="bold", markup=False, emoji=False, highlight=False)
    console.print(table)

"""The story of a job of a run, from its event log: who was told what when, and why it waited."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.table import Table
from rich.text import Text

from agents.registry import GLOBAL, global_scheduler
from experiments.events import log, words
from experiments.events.grid_state import Surroundings
from experiments.events.identity import Identity
from experiments.events.job_events import SUBMITTED
from experiments.events.job_story import Teller
from experiments.events.message_events import Event
from experiments.events.reading import events_of, fared_otherwise, submitted
from experiments.events.words import Story
from experiments.run.result_files import ResultFiles
from experiments.scenario.parameters import Parameters
from experiments.show.labels import has_a_say
from experiments.show.numbers import instant
from experiments.show.tables import unfolded
from grid.errors import GridError
from grid.foreign import plain
from grid.logs.calendar import read, shown, written, zone_of
from grid.platform.multicluster import Platform
from grid.world.layout import known_at_once, latencies


def explain(
    folder: str | os.PathLike[str], job: int, path: str | os.PathLike[str] | None = None
) -> list[Story]:
    """Return the story of each job of a number, in order of submission.

    Parameters
    ----------
    folder : path
        Result of ``metasched run --out``.
    job : int
        The number.
    path : path, optional
        Event log of the same run; by default ``events.jsonl`` in the folder.

    Raises
    ------
    GridError
        If there is no event log, it is of another run or not whole, or the job is not in it.
    """
    result = ResultFiles.read(folder)
    path = Path(folder) / log.EVENTS if path is None else Path(path)
    hearing = Hearing(job, path, result.summary, result.platform, result.parameters)
    event: Event = {}
    for event in events_of(path, result.summary, "explain"):
        hearing.hear(event)
    tellers = hearing.tellers
    if not tellers:
        raise GridError(f"job {job}: not in {path}; accepted: the number of one of its jobs")
    ended = Counter((row.start, row.finish) for row in result.rows if row.job == job)
    told = Counter(
        (None if each.finish is None else each.start, each.finish)
        for each in tellers.values()
        if each.over
    )
    if event["time"] != result.summary["simulated_s"] or told != ended:
        raise GridError(f"{path}: {fared_otherwise(job, folder)}")
    deadlines = result.summary.get("deadlines")
    start = read(said) if (said := result.summary.get("start")) else None
    return [Story(heading(each, deadlines), each.lines, start) for each in tellers.values()]


class Hearing:
    """Has those who tell the stories of the jobs of a number hear what happened in a run.

    Parameters
    ----------
    job : int
        The number.
    path : Path
        Event log of the run.
    facts : mapping
        ``global``, ``local`` and ``parameters``, as a summary has them.
    platform : Platform
    parameters : Parameters

    Attributes
    ----------
    tellers : dict
        By which job they tell of, in order of submission.
    """

    def __init__(
        self,
        job: int,
        path: Path,
        facts: Mapping[str, Any],
        platform: Platform,
        parameters: Parameters,
    ) -> None:
        self._job, self._path, self._now = job, path, 0.0
        name, sizes = facts["global"], {each.name: each.size for each in platform.clusters}
        heard, batch = _heard_at_once(platform, parameters), parameters.mode == "batch"
        self._around = Surroundings(sizes, *heard, batch, **_way_of(name))
        self._silent = not has_a_say(name, len(sizes))
        self._rules = facts["local"], _selection(facts)
        self.tellers: dict[Identity, Teller] = {}

    def hear(self, event: Event) -> None:
        """Take the next event.

        Raises
        ------
        GridError
            If no run can have it after those before.
        """
        if event["event"] == SUBMITTED and event["job"] == self._job:
            who = submitted(event, self.tellers, self._path)
            self.tellers[who] = Teller(who, self._around, self._silent, *self._rules)
        try:
            if event["time"] > self._now:
                self._now = event["time"]
                for teller in self.tellers.values():
                    teller.settle()
            self._around.hear(event)
            for teller in self.tellers.values():
                teller.hear(event)
        except (KeyError, TypeError, IndexError, ValueError):  # in an order that cannot be
            raise GridError(
                f"{self._path}:{event['serial']}: no event of this run; accepted: its event log"
            ) from None


def _way_of(name: str) -> dict[str, Any]:
    """Return what surroundings are told of a global scheduler."""
    if name not in GLOBAL:
        return {}
    policy = global_scheduler(name)
    in_turn = not (policy.only_chooses or policy.collects)
    return {"goes_by": policy.goes_by, "whole": not policy.may_split(), "in_turn": in_turn}


def _heard_at_once(platform: Platform, parameters: Parameters) -> tuple[set[str], set[str]]:
    """Return the clusters whose state is known at once, and others whose news take no time."""
    names = np.array(platform.names)
    at_once = known_at_once(platform, parameters.latency, parameters.advertising)
    in_no_time = (latencies(platform, parameters.latency) == 0) & ~at_once
    return set(names[at_once].tolist()), set(names[in_no_time].tolist())


def _selection(facts: Mapping[str, Any]) -> str:
    """Return by which rule the global scheduler starts jobs, "" if they are sent or bound."""
    name = facts["global"]
    if name not in GLOBAL:
        return ""
    policy = global_scheduler(name)
    own_way = policy.collects or policy.queues or policy.only_chooses or policy.stays_home
    rule: str = policy.selection or facts["parameters"].get("selection", "")
    # Whether components fit is not known from how many processors are free.
    return "" if own_way or (policy.reads_components and rule != "fcfs") else rule


def heading(teller: Teller, deadlines: str | None) -> str:
    """Return whose story it is; of jobs of one number, what tells them apart too."""
    heading = f"Job {teller.job}"
    if teller.job.which:
        through = f"through {teller.through} " if teller.through else ""
        heading += f", submitted {through}at {instant(teller.arrival)}"
    return f"{heading}: {words.needs(teller.size, teller.deadline, deadlines)}"


def print_stories(stories: Sequence[Story], as_json: bool) -> None:
    """Print stories one after the other, or as one JSON object."""
    if as_json:
        found = [
            {
                "heading": story.heading,
                "lines": [{"time": time, "words": ", ".join(parts)} for time, parts in story.lines],
                **({} if story.start is None else {"start": written(story.start)}),
            }
            for story in stories
        ]
        click.echo(json.dumps(found[0] if len(found) == 1 else {"stories": found}))
        return
    for index, story in enumerate(stories):
        if index:
            click.echo()
        _print(story)


def _print(story: Story) -> None:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(justify="right", no_wrap=True)
    if story.start is not None:
        table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for time, parts in story.lines:
        told = ", ".join(parts)
        told = plain(told, most=len(told))  # names are as the log has them
        moment = ["" if time is None else instant(time)]
        if story.start is not None:
            moment.append("" if time is None else shown(story.start, time))
        table.add_row(*moment, Text(told))
    console = unfolded()
    clock = "" if story.start is None else f" (dates by {zone_of(story.start)})"
    heading = f"{story.heading}{clock}"
    console.print(heading, style="bold", highlight=False)
    with console.capture() as captured:
        console.print(table)
    for line in captured.get().splitlines():
        click.echo(line.rstrip())

"""The panel that explains each number of the dashboard, of a run that has it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

import numpy as np
from rich.text import Text

from agents.model import GridModel
from experiments.live import meanings
from experiments.live.columns import Glyphs, rule
from experiments.live.panels import Scrolled, cluster_columns, heads, job_columns, message_kinds
from experiments.show.numbers import counted
from grid.kernel.state import VACANT
from grid.workloads.synthetic import BatchWorkload

_TERM = 15
"""Cells of the column of terms."""


def help_panel(
    model: GridModel,
    glyphs: Glyphs,
    width: int,
    height: int,
    scrolled: Scrolled,
) -> list[Text]:
    """Return the panel that says what each number shown means."""
    lines: list[Text] = []
    for term, meaning in _explained(model, glyphs):
        if not meaning:
            lines.append(Text(term, "bold"))
            continue
        wrapped = textwrap.wrap(meaning, max(20, width - _TERM)) or [""]
        for number, words in enumerate(wrapped):
            lines.append(Text.assemble(((term * (not number)).ljust(_TERM), "cyan"), words))
    here = scrolled(len(lines), height - 1)
    panel = [rule("What the numbers mean", width, glyphs), *lines[here.start : here.stop]]
    if len(here) < len(lines):
        beyond = {"above": here.start, "below": len(lines) - here.stop}
        told = ", ".join(
            f"{counted(count, 'line')} {side}" for side, count in beyond.items() if count
        )
        panel.append(Text(f"... {told}: arrows scroll", "dim"))
    return panel


def _explained(model: GridModel, glyphs: Glyphs) -> Iterator[tuple[str, str]]:
    """Return what is shown of a run and what it means; without a meaning: a heading."""
    world = model.world
    shown = set(heads(cluster_columns(model, glyphs, range(world.clusters))))
    live = np.flatnonzero(world.jobs["status"] != VACANT)
    of_jobs = set(heads(job_columns(model, world.platform.names, live)))
    yield "The run", ""
    missing = {"round" if isinstance(model.workload, BatchWorkload) else "allocation"}
    missing |= set() if model.rounds else {"round", "allocation"}
    missing |= set() if world.state.rejected else {"rejected"}
    real = {} if model.workload.count else meanings.REAL
    missing |= {"ETA", "running for"} if real else set()
    run = {**meanings.RUN, **real}
    yield from ((term, told) for term, told in run.items() if term not in missing)
    yield "Clusters", ""
    yield from ((term, told) for term, told in meanings.CLUSTERS.items() if term in shown)
    if world.state.demand.any():
        yield "Links", ""
        yield from meanings.LINKS.items()
    yield "Messages", ""
    kinds = {"in flight", "sent", *message_kinds(model)}
    yield from ((term, told) for term, told in meanings.MESSAGES.items() if term in kinds)
    yield "Jobs (key j)", ""
    yield from ((term, told) for term, told in meanings.JOBS.items() if term in of_jobs)

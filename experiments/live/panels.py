"""The dashboard's panels: lines of text about a model's clusters, links and messages.

A panel is at most as wide and as high as it is told to be, and sums up what it leaves out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.cells import cell_len
from rich.text import Text

from agents.cluster import ClusterAgent
from agents.model import GridModel
from experiments.events.happenings import Happening
from experiments.events.words import NOBODY_KNOWS, Story
from experiments.live.columns import (
    Column,
    Glyphs,
    bar,
    fill,
    fit,
    fitting,
    names,
    numbers,
    rule,
    shorten,
    sparkline,
    table,
)
from experiments.live.meanings import BRIEF
from experiments.show.numbers import NONE, counted, duration, instants, largest, time_scale
from grid.kernel.state import ANNOUNCED, GLOBAL, LANDING, LOCAL, RUNNING, TRANSIT, VACANT

Scrolled = Callable[[int, int], range]
"""Says which of so many things are shown in so many rows, of which one may sum up the rest."""


def from_row(first: int, count: int, rows: int) -> range:
    """Return which things are shown, from the `first` on as far as there are so many.

    Examples
    --------
    >>> from_row(0, 5, 5), from_row(1, 9, 5), from_row(99, 9, 5)
    (range(0, 5), range(1, 5), range(5, 9))
    """
    if count <= rows:
        return range(count)
    shown = max(0, rows - 1)
    first = max(0, min(first, count - shown))
    return range(first, first + shown)


NOT_SCROLLED: Scrolled = partial(from_row, 0)

_STYLES = ("cyan", "", "green")
"""Of the ends of jobs, messages, and starts of jobs."""


def clusters_panel(
    model: GridModel, glyphs: Glyphs, width: int, height: int, scrolled: Scrolled = NOT_SCROLLED
) -> list[Text]:
    """Return the panel of clusters: how busy, what waits, how TITAN's search went."""
    world = model.world
    held = world.state.up - world.state.free
    heading = f"Clusters: {held.sum():,} of {world.platform.sizes.sum():,} processors busy"
    here = scrolled(world.clusters, height - 2)
    columns = fitting(cluster_columns(model, glyphs, here), width)
    lines = [rule(heading, width, glyphs), *table(columns, len(here), width)]
    if len(here) < world.clusters:

        def of_others(values: npt.NDArray[np.int64]) -> int:
            return int(values[: world.clusters].sum() - values[here.start : here.stop].sum())

        items = [
            _hidden("cluster", here, world.clusters),
            f"{counted(of_others(held), 'processor')} busy",
            f"{counted(of_others(world.state.waiting), 'job')} waiting",
            f"{of_others(world.state.running_count):,} running",
        ]
        lines.append(Text(fit(items, width, ", ")))
    explained = [BRIEF[head] for head in heads(columns) if head in BRIEF]
    explained = [each for each in explained if len(each) <= width]
    if explained and len(lines) < height:
        lines.append(Text(fit(explained, width, "; "), "dim"))
    return lines


def heads(columns: Sequence[Column]) -> list[str]:
    """Return the headings of columns, without units."""
    return [column.head.partition(",")[0] for column in columns]


def cluster_columns(model: GridModel, glyphs: Glyphs, here: range) -> list[Column]:
    """Return the columns of the table of some clusters."""
    clusters, known = model.clusters[here.start : here.stop], model.scheduler.clusters
    histories = [_history(cluster) for cluster in clusters]
    down = [cluster.size - int(model.world.state.up[cluster.index]) for cluster in clusters]

    def busy(row: int, width: int) -> Text:
        return bar(clusters[row].busy, clusters[row].size, width, glyphs, down=down[row])

    def search(row: int, width: int) -> Text:
        return Text(sparkline(histories[row], width, glyphs), "cyan")

    columns = [
        names("cluster", [cluster.name for cluster in clusters], glyphs),
        Column("busy", busy, 6, 40, rank=6),
        numbers("", [f"{each.busy:,}/{each.size:,}" for each in clusters], 1, least=5),
        numbers("run", [f"{each.running:,}" for each in clusters], 3, least=4),
        numbers("wait", [f"{each.waiting:,}" for each in clusters], 2, least=4),
    ]
    if any(cps := [_cps(each) for each in clusters]):
        scale = time_scale(largest(cp for each in cps for cp in each))
        cells = [" -> ".join(map(scale.told, each)) or NONE for each in cps]
        columns.append(numbers(f"CP, {scale.unit}", cells, 4, least=6))
    if any(down):
        columns.insert(3, numbers("down", [f"{each:,}" for each in down], 2))
    if any(cluster.restarts for cluster in clusters):
        columns.append(numbers("restarts", [f"{each.restarts:,}" for each in clusters], 5))
    if any(hasattr(cluster.scheduler, "history") for cluster in clusters):
        bred = [f"{max(0, len(each) - 1):,}" for each in histories]
        columns += [
            Column("search", search, 6, 24, rank=7),
            numbers("gens", bred, 8),
        ]
    ages = [duration(known[cluster.index].age) for cluster in clusters]
    if model.world.clusters > 1:
        columns.append(numbers("news age", ages, 5))
    return columns


def jobs_panel(
    model: GridModel,
    names: Sequence[str],
    glyphs: Glyphs,
    width: int,
    height: int,
    scrolled: Scrolled = NOT_SCROLLED,
) -> list[Text]:
    """Return the panel of the jobs that are there, those that run first, in order of arrival."""
    jobs = model.world.jobs
    live = np.flatnonzero(jobs["status"] != VACANT)
    running = jobs["status"][live] >= RUNNING
    live = live[np.lexsort((jobs["number"][live], jobs["arrival"][live], ~running))]
    count = running.sum()
    heading = f"Jobs: {count:,} running, {len(live) - count:,} waiting or on their way"
    here = scrolled(len(live), height - 2)
    columns = fitting(job_columns(model, names, live[here.start : here.stop]), width)
    lines = [rule(heading, width, glyphs), *table(columns, len(here), width)]
    if len(here) < len(live):
        lines.append(Text(_hidden("job", here, len(live))))
    return lines


def _hidden(what: str, here: range, of: int) -> str:
    """Return how many lines are not among those shown, and where they are.

    >>> _hidden("job", range(3), 4), _hidden("job", range(2, 5), 9)
    ('... 1 more job', '... 2 jobs above, 4 below')
    """
    above, below = here.start, of - here.stop
    if not above:
        return f"... {counted(below, f'more {what}')}"
    return f"... {counted(above, what)} above, {below:,} below"


def job_columns(
    model: GridModel, names: Sequence[str], slots: npt.NDArray[np.int64]
) -> list[Column]:
    """Return the columns of the table of some jobs."""
    jobs = model.world.jobs
    status, deadlines = jobs["status"][slots], jobs["deadline"][slots]
    running = status >= RUNNING
    since = np.where(running, jobs["start"][slots], jobs["arrival"][slots])
    where = [_where(model, names, slot) for slot in slots.tolist()]
    longest = max(map(cell_len, where), default=0)
    columns = [
        numbers("job", [str(each) for each in jobs["number"][slots].tolist()], 0),
        numbers("procs", [f"{each:,}" for each in jobs["size"][slots].tolist()], 1),
        Column("where", lambda row, cells: shorten(where[row], cells), 12, max(12, longest), 0),
        numbers("since, s", instants(since.tolist()), 2),
    ]
    known = running & (jobs["end"][slots] < NOBODY_KNOWS)
    if known.any():
        ends = iter(instants(jobs["end"][slots][known].tolist()))
        columns.append(numbers("ends, s", [next(ends) if one else NONE for one in known], 4))
    if (due := np.isfinite(deadlines)).any():
        told = iter(instants(deadlines[due].tolist()))
        columns.append(numbers("deadline, s", [next(told) if has else NONE for has in due], 3))
    return columns


def _where(model: GridModel, names: Sequence[str], slot: int) -> str:
    """Return in words where a job is."""
    jobs = model.world.jobs
    status, cluster = jobs["status"].item(slot), jobs["cluster"].item(slot)
    if status == ANNOUNCED:
        return f"announced to {model.scheduler.name}"
    if status == GLOBAL:
        return f"waits for {model.scheduler.name}"
    if status in (TRANSIT, LANDING):
        return f"on its way to {names[cluster]}"
    if status == LOCAL:
        return f"waits at {names[cluster]}"
    return f"runs on {' + '.join(names[each] for each in jobs.parts(slot))}"


def links_panel(
    model: GridModel, links: Sequence[str], glyphs: Glyphs, width: int, height: int
) -> list[Text]:
    """Return the panel of links, given their names: demand against capacity.

    It is a single line if there is no demand, or no room for more.
    """
    if height < 1:
        return []
    world = model.world
    demand, capacity = world.state.demand, world.state.capacity
    share = demand / capacity
    if not demand.any():
        state = "no demand" if world.state.penalty == 0.0 else "not measured"
        return [rule(f"Links: {state}", width, glyphs)]
    most = f"demand at most {100 * share.max():,.0f} % of capacity"
    heading = f"Links: {most}, {demand.sum():,.1f} Mbit/s summed over links"
    lines = [rule(heading, width, glyphs)]
    if height < 3:
        return lines
    shown = len(NOT_SCROLLED(world.links, height - 2))
    # Where not all have room, the busiest are shown.
    busiest = np.sort(np.argsort(-share, kind="stable")[:shown])
    demand, capacity, shares = demand[busiest], capacity[busiest], share[busiest]

    def load(row: int, width: int) -> Text:
        return bar(demand[row], capacity[row], width, glyphs)

    columns = [
        names("link", [links[index] for index in busiest], glyphs),
        Column("demand", load, 6, 40, rank=3),
        numbers("Mbit/s", [f"{each:,.1f}" for each in demand], 1),
        numbers("of capacity", [_capacity(each) for each in capacity], 1),
        numbers("share", [f"{100 * each:,.0f} %" for each in shares], 2, least=5),
    ]
    lines += table(columns, shown, width)
    if shown < world.links:
        rest = f"demand at most {100 * np.delete(share, busiest).max():,.0f} % of capacity"
        lines.append(Text(fit([f"... {world.links - shown:,} more links", rest], width, ", ")))
    return lines


def story_panel(story: Story, glyphs: Glyphs, width: int, height: int) -> list[Text]:
    """Return the panel of the followed job, its latest line last, always `height` lines."""
    lines = [rule(story.heading, width, glyphs)]
    last = story.lines[-room:] if (room := height - 1) > 0 else []
    told = iter(instants([each.time for each in last if each.time is not None]))
    times = ["" if each.time is None else next(told) for each in last]
    column = max(map(len, times), default=0)
    for time, each in zip(times, last, strict=True):
        room = width - column - 2
        words = shorten(fit(each.parts, room, ", ") or each.parts[0], room, glyphs)
        style = "bold" if each is last[-1] else ""
        lines.append(Text.assemble((time.rjust(column), "dim"), "  ", (words, style)))
    return lines[:height] + [Text()] * (height - len(lines))


def messages_panel(
    model: GridModel, happenings: Sequence[Happening], glyphs: Glyphs, width: int, height: int
) -> list[Text]:
    """Return the panel of messages: how many of which kind, and what happened last."""
    if height < 2:
        return []
    heading = f"Messages: {model.in_flight:,} in flight, {model.messages:,} sent"
    counts = fill([f"{kind} {count:,}" for kind, count in message_kinds(model).items()], width)
    lines = [rule(heading, width, glyphs)]
    if height - 1 - len(counts) >= 2:
        lines += [Text(line, "dim") for line in counts]
    last = happenings[-room:] if (room := height - len(lines)) > 0 else ()
    times = instants([each.time for each in last])
    column = max(map(len, times), default=0)
    for time, each in zip(times, last, strict=True):
        words = shorten(each.words, width - column - 2, glyphs)
        style = _STYLES[each.order]
        lines.append(Text.assemble((time.rjust(column), "dim"), "  ", (words, style)))
    return lines


def message_kinds(model: GridModel) -> dict[str, int]:
    """Return how many messages of each kind were sent, of those of which there were any."""
    between = {"scheduling": model.messages_posted, "discovery": model.discovery_messages}
    return {kind: count for kind, count in {**model.world.messages, **between}.items() if count}


def _history(cluster: ClusterAgent) -> Sequence[float]:
    history: Sequence[float] = getattr(cluster.scheduler, "history", ())
    return history


def _cps(cluster: ClusterAgent) -> list[float]:
    """Return the CP (s) of a cluster's plan, of a search at its beginning and its end; or none."""
    history = _history(cluster)
    if len(history):
        return [history[0], history[-1]]
    cp: Any = getattr(cluster.scheduler, "cp", None)
    return [] if cp is None or np.isnan(cp) else [cp]


def _capacity(capacity: float) -> str:
    return "unlimited" if np.isinf(capacity) else f"{capacity:,.0f}"

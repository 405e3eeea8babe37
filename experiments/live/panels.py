"""The dashboard's panels: lines of text about a model's clusters, links and messages.

A panel is at most as wide and as high as it is told to be, and sums up what it leaves out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.text import Text

from agents.cluster import ClusterAgent
from agents.model import GridModel
from experiments.events.happenings import Happening
from experiments.events.words import Story
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
from experiments.show.numbers import NONE, duration, instants, largest, time_scale

EXPLAINED = {
    "CP": "CP: late, makespan and idle times, weighted",
    "gens": "gens: generations of its search",
    "news age": "news age: how old the latest news of it is",
}
"""Headings of columns that do not speak for themselves, without units, and what they mean."""

_STYLES = ("cyan", "", "green")
"""Of the ends of jobs, messages, and starts of jobs."""


def clusters_panel(model: GridModel, glyphs: Glyphs, width: int, height: int) -> list[Text]:
    """Return the panel of clusters: how busy, what waits, how TITAN's search went."""
    world = model.world
    held = world.state.up - world.state.free
    heading = f"Clusters: {held.sum():,} of {world.platform.sizes.sum():,} processors busy"
    shown = _shown(world.clusters, height - 2)
    columns = fitting(_cluster_columns(model, glyphs, shown), width)
    lines = [rule(heading, width, glyphs), *table(columns, shown, width)]
    heads = [column.head.partition(",")[0] for column in columns]
    explained = [EXPLAINED[head] for head in heads if head in EXPLAINED]
    if explained and len(lines) < height:
        lines.append(Text(fit(explained, width, "; "), "dim"))
    if shown < world.clusters:
        rest = slice(shown, world.clusters)
        items = [
            f"... {world.clusters - shown:,} more clusters",
            f"{held[rest].sum():,} processors busy",
            f"{world.state.waiting[rest].sum():,} jobs waiting",
            f"{world.state.running_count[rest].sum():,} running",
        ]
        lines.append(Text(fit(items, width, ", ")))
    return lines


def _cluster_columns(model: GridModel, glyphs: Glyphs, shown: int) -> list[Column]:
    clusters, known = model.clusters[:shown], model.scheduler.clusters
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
    shown = _shown(world.links, height - 2)
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
    kinds = model.world.messages | {"scheduling": model.messages_posted}
    counts = fill([f"{kind} {count:,}" for kind, count in kinds.items() if count], width)
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


def _shown(count: int, rows: int) -> int:
    """Return how many of `count` things are shown in `rows`, of which one may sum up the rest."""
    return count if count <= rows else max(0, rows - 1)


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

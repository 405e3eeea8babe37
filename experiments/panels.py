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
from experiments.columns import (
    Column,
    Glyphs,
    bar,
    fill,
    fit,
    names,
    numbers,
    rule,
    shorten,
    sparkline,
    table,
)
from experiments.happenings import Happening

_STYLES = ("cyan", "", "green")
"""Of the ends of jobs, messages, and starts of jobs."""


def clusters_panel(model: GridModel, glyphs: Glyphs, width: int, height: int) -> list[Text]:
    """Return the panel of clusters: how busy, what waits, how TITAN's search went."""
    world = model.world
    held = world.up - world.free
    heading = f"Clusters: {held.sum():,} of {world.platform.sizes.sum():,} processors busy"
    shown = _shown(world.clusters, height - 2)
    columns = _cluster_columns(model, glyphs, shown)
    lines = [rule(heading, width, glyphs), *table(columns, shown, width)]
    if shown < world.clusters:
        rest = slice(shown, world.clusters)
        items = [
            f"... {world.clusters - shown:,} more clusters",
            f"{held[rest].sum():,} processors busy",
            f"{world.waiting[rest].sum():,} jobs waiting",
            f"{world.running_count[rest].sum():,} running",
        ]
        lines.append(Text(fit(items, width, ", ")))
    return lines


def _cluster_columns(model: GridModel, glyphs: Glyphs, shown: int) -> list[Column]:
    clusters, known = model.clusters[:shown], model.scheduler.clusters
    histories = [_history(cluster) for cluster in clusters]
    down = [cluster.size - int(model.world.up[cluster.index]) for cluster in clusters]

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
        numbers("CP, s", [_cp(cluster) for cluster in clusters], 4, least=6),
    ]
    if any(down):
        columns.insert(3, numbers("down", [f"{each:,}" for each in down], 2))
    if any(hasattr(cluster.scheduler, "history") for cluster in clusters):
        bred = [f"{max(0, len(each) - 1):,}" for each in histories]
        columns += [
            Column("search", search, 6, 24, rank=7),
            numbers("first -> last", [_first_last(each) for each in histories], 8),
            numbers("generations", bred, 9),
        ]
    ages = [f"{_seconds(known[cluster.index].age)} s" for cluster in clusters]
    columns.append(numbers("news age", ages, 5))
    return columns


def links_panel(
    model: GridModel, links: Sequence[str], glyphs: Glyphs, width: int, height: int
) -> list[Text]:
    """Return the panel of links, given their names: demand against capacity."""
    if height < 3:
        return []
    world = model.world
    demand, capacity = world.demand, world.link_capacity
    used = demand / capacity
    shown = _shown(world.links, height - 2)

    def load(row: int, width: int) -> Text:
        return bar(demand[row], capacity[row], width, glyphs)

    columns = [
        names("link", links[:shown], glyphs),
        Column("demand", load, 6, 40, rank=3),
        numbers("Mbit/s", [f"{each:,.1f}" for each in demand[:shown]], 1),
        numbers("of capacity", [_capacity(each) for each in capacity[:shown]], 1),
        numbers("used", [f"{100 * each:,.0f} %" for each in used[:shown]], 2, least=5),
    ]
    heading = f"Links: {demand.sum():,.1f} Mbit/s demanded"
    lines = [rule(heading, width, glyphs), *table(columns, shown, width)]
    if shown < world.links:
        rest = f"at most {100 * used[shown:].max():,.0f} % used"
        lines.append(Text(fit([f"... {world.links - shown:,} more links", rest], width, ", ")))
    return lines


def messages_panel(
    model: GridModel, happenings: Sequence[Happening], glyphs: Glyphs, width: int, height: int
) -> list[Text]:
    """Return the panel of messages: how many of which kind, and what happened last."""
    if height < 2:
        return []
    heading = f"Messages: {model.in_flight:,} in flight, {model.messages:,} sent"
    kinds = model.world.messages | {"schedule": model.messages_posted}
    counts = fill([f"{kind} {count:,}" for kind, count in kinds.items() if count], width)
    lines = [rule(heading, width, glyphs), *(Text(line, "dim") for line in counts)]
    last = happenings[-room:] if (room := height - len(lines)) > 0 else ()
    times = [f"{each.time:,.1f}" for each in last]
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


def _cp(cluster: ClusterAgent) -> str:
    """Return a cluster's comprehensive performance, a dash if its scheduler knows none."""
    cp: Any = getattr(cluster.scheduler, "cp", None)
    return "-" if cp is None or np.isnan(cp) else _seconds(cp)


def _first_last(history: Sequence[float]) -> str:
    return f"{_seconds(history[0])} -> {_seconds(history[-1])}" if len(history) else "-"


def _seconds(value: float) -> str:
    """Return a number of seconds, with a digit behind the point where that tells something."""
    return f"{value:,.1f}" if value < 1000 else f"{value:,.0f}"


def _capacity(capacity: float) -> str:
    return "unlimited" if np.isinf(capacity) else f"{capacity:,.0f}"

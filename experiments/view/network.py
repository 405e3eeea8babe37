"""The brokers of a model, and the messages that travel between them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import networkx as nx
import numpy as np

from agents.messages import JobMetadata, JobSubmitted, JobTransfer, Reminder
from agents.model import GridModel
from experiments.show.numbers import counted, instant
from experiments.show.picture import Picture
from experiments.show.plots import styled
from experiments.show.run_plots import COLORS, IDLE
from grid.jobs import ANYWHERE
from grid.kernel.state import ADVERTISEMENT, KIND_BITS, METADATA, NONE, TRANSFER

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = (6.4, 4.0)
"""Of a picture, inches."""
NAMED = 24
"""Clusters above which a picture does not name each."""
ASPECT = 1.5
"""How much wider than high a network is drawn."""

JOBS, METADATA_OF_JOBS, NEWS, BETWEEN = (
    "jobs", "metadata of jobs", "news of resources", "seed schedules, reports and orders"
)  # fmt: skip
KINDS = {JOBS: "#d55e00", METADATA_OF_JOBS: "#e69f00", NEWS: "#999999", BETWEEN: "#0072b2"}
"""Kinds of messages on their way, and their colours."""

Point = tuple[float, float]


class Travelling(NamedTuple):
    """A message on its way: its kind, between which brokers, and which share of it is done."""

    kind: str
    sender: str
    receiver: str
    share: float


def travelling(model: GridModel) -> Iterator[Travelling]:
    """Yield the messages that are on their way now."""
    now, world, top = model.now, model.world, model.scheduler.name
    names, jobs = world.platform.names, world.jobs
    carried = JobSubmitted | JobMetadata | JobTransfer | Reminder  # by the kernel, or by nobody
    for message in model.said:
        if message.sent <= now < message.due and not isinstance(message, carried):
            done = (now - message.sent) / (message.due - message.sent)
            yield Travelling(BETWEEN, message.sender, message.receiver, done)
    ways = [
        [name, *(world.platform.brokers[broker].name for broker in chain), top]
        for name, chain in zip(names, world.platform.chains, strict=True)
    ]
    first = world.state.first_belief
    latency = world.state.latency
    for event in world.tables.events[: world.state.events]:
        kind, subject, left = int(event["turn"]) >> KIND_BITS, int(event["subject"]), event["time"]
        left = float(left) - now
        if kind == ADVERTISEMENT:
            belief = world.tables.beliefs[subject]
            way, hop = ways[belief["cluster"]], subject - int(first[belief["cluster"]])
            yield Travelling(NEWS, way[hop], way[hop + 1], _done(left, float(belief["delay"])))
        elif kind in (METADATA, TRANSFER):
            origin, cluster = int(jobs["origin"][subject]), int(jobs["cluster"][subject])
            delay = 0.0 if origin == ANYWHERE else float(latency[origin])
            sender = top if origin == ANYWHERE else names[origin]
            if kind == METADATA:
                yield Travelling(METADATA_OF_JOBS, sender, top, _done(left, delay))
            elif cluster != NONE:
                delay += float(latency[cluster])
                yield Travelling(JOBS, sender, names[cluster], _done(left, delay))


def _done(left: float, delay: float) -> float:
    """Return which share of its way a message has done; repeated ones begin anew."""
    return min(1.0, max(0.0, 1.0 - left / delay)) if delay > 0 else 1.0


def brokers_tree(model: GridModel) -> nx.DiGraph:
    """Return the brokers, each below the one that it tells."""
    tree = nx.DiGraph()
    platform = model.world.platform
    for name, chain in zip(platform.names, platform.chains, strict=True):
        way = [model.scheduler.name, *(platform.brokers[each].name for each in chain[::-1]), name]
        nx.add_path(tree, way)
    return tree


def places(tree: nx.DiGraph, root: str) -> dict[str, Point]:
    """Return where each node of a tree is drawn: around the root, the leaves evenly spread.

    Examples
    --------
    >>> star = nx.DiGraph([("top", "A"), ("top", "B")])
    >>> {node: (round(x, 6), round(y, 6)) for node, (x, y) in places(star, "top").items()}
    {'A': (0.0, 1.0), 'B': (0.0, -1.0), 'top': (0.0, 0.0)}
    """
    depth = nx.shortest_path_length(tree, root)
    leaves = [node for node in nx.dfs_preorder_nodes(tree, root) if not tree.out_degree(node)]
    angles = {leaf: math.pi / 2 - math.tau * i / len(leaves) for i, leaf in enumerate(leaves)}
    for node in nx.dfs_postorder_nodes(tree, root):
        if tree.out_degree(node):
            angles[node] = float(np.mean([angles[below] for below in tree[node]]))
    deepest = max(1, *depth.values())
    return {
        node: (
            ASPECT * depth[node] / deepest * math.cos(angle),
            depth[node] / deepest * math.sin(angle),
        )
        for node, angle in angles.items()
    }


def network(model: GridModel) -> Figure:
    """Return the tree of brokers, a star if there are none between, and the messages on it."""
    tree, top = brokers_tree(model), model.scheduler.name
    at = places(tree, top)
    with styled():
        figure = Picture(SIZE, layout="constrained")
        axes = figure.subplots()
        axes.set_axis_off()
        axes.margins(0.16)
        for above, below in tree.edges:
            axes.plot(*zip(at[above], at[below], strict=True), color="0.8", linewidth=1, zorder=1)
        axes.annotate(top, at[top], ha="center", va="center", zorder=4, parse_math=False,
                      bbox={"boxstyle": "round", "facecolor": "white"})  # fmt: skip
        for node in tree.nodes - {top} - set(model.world.platform.names):
            axes.annotate(node, at[node], ha="center", va="center", zorder=4, parse_math=False,
                          bbox={"boxstyle": "round", "facecolor": "0.95"})  # fmt: skip
        _clusters(axes, model, at)
        _messages(axes, model, tree, at)
    return figure


def _clusters(axes: Axes, model: GridModel, at: dict[str, Point]) -> None:
    """Draw each cluster as a pie of its processors in use, with its queue in words."""
    few = len(model.clusters) <= NAMED
    radius = min(0.14, 1.6 / len(model.clusters))
    from matplotlib.patches import Circle, Wedge

    for cluster in model.clusters:
        x, y = at[cluster.name]
        used = cluster.busy / cluster.size
        axes.add_patch(Circle((x, y), radius, facecolor=IDLE, edgecolor="0.5", zorder=2))
        axes.add_patch(Wedge((x, y), radius, 90 - 360 * used, 90, facecolor=COLORS[0], zorder=3))
        if few:
            words = (
                f"{cluster.name}: {cluster.busy:,}/{cluster.size:,}\n{cluster.waiting:,} waiting"
            )
            below = y <= 0
            axes.annotate(words, (x, y + (-1.2 if below else 1.2) * radius), ha="center",
                          va="top" if below else "bottom", parse_math=False)  # fmt: skip
    axes.set_aspect("equal")


def _messages(axes: Axes, model: GridModel, tree: nx.DiGraph, at: dict[str, Point]) -> None:
    """Draw a dot for each message where it is on its way."""
    from matplotlib.lines import Line2D

    ways = tree.to_undirected(as_view=True)
    dots: dict[str, list[Point]] = {kind: [] for kind in KINDS}
    for message in travelling(model):
        if message.sender not in at or message.receiver not in at:
            continue
        way = nx.shortest_path(ways, message.sender, message.receiver)
        dots[message.kind].append(_along([at[node] for node in way], message.share))
    for kind, points in dots.items():
        if points:
            x, y = zip(*points, strict=True)
            axes.scatter(x, y, s=26, color=KINDS[kind], zorder=6,
                         edgecolors="white", linewidths=0.5)  # fmt: skip
    handles = [
        Line2D([], [], marker="o", linestyle="", color=KINDS[kind], label=f"{len(of):,} {kind}")
        for kind, of in dots.items()
        if of
    ]
    title = f"time {instant(model.now)}: {counted(model.in_flight, 'message')} on the way"
    axes.set_title(f"{title}, {counted(model.queued, 'job')} waiting for {model.scheduler.name}",
                   parse_math=False)  # fmt: skip
    if handles:
        axes.figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False)


def _along(way: list[Point], share: float) -> Point:
    """Return the point of a way at which so much of it is done.

    >>> _along([(0.0, 0.0), (1.0, 0.0), (1.0, 1.0)], 0.75)
    (1.0, 0.5)
    """
    hops = len(way) - 1
    if hops == 0:
        return way[0]
    hop = min(int(share * hops), hops - 1)
    (x, y), (to_x, to_y), part = way[hop], way[hop + 1], share * hops - hop
    return x + part * (to_x - x), y + part * (to_y - y)

"""Pictures of a model as it is now; None where a run has nothing of the kind."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import networkx as nx
import numpy as np
import numpy.typing as npt
import pandas as pd

from agents.messages import JobMetadata, JobSubmitted, JobTransfer, Reminder, SeedSchedule
from agents.model import GridModel
from experiments.show.numbers import counted, duration, instant, time_scale
from experiments.show.picture import Picture
from experiments.show.plots import styled
from experiments.show.run_data import Ran
from experiments.show.run_plots import COLORS, IDLE, LINES, draw
from grid.jobs import ANYWHERE
from grid.kernel.state import ADVERTISEMENT, KIND_BITS, METADATA, NONE, RUNNING, TRANSFER
from grid.platform.topology import CENTRE, uplinks
from grid.world.records import Parts
from grid.world.records import parts as parts_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = (6.4, 4.0)
"""Of a picture, inches."""
LATEST = 300
"""Jobs that left last which a schedule shows, beside those that run."""
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


# The network and what travels on it -------------------------------------------------------------


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
    """Return the tree of brokers, of a platform without any a star, and the messages on it.

    Where jobs are split, the links of the platform have the colour of the demand on them.
    """
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


def links(model: GridModel) -> Figure | None:
    """Return the demand on each link against what it can carry.

    None where no jobs are split, or splitting costs a fixed factor and links are not measured.
    """
    state, platform = model.world.state, model.world.platform
    demand, capacity = state.demand, state.capacity
    if not model.scheduler.spans or state.penalty != 0.0:
        return None
    names = [" - ".join(ends) for ends in uplinks(platform.graph)]
    names = [name.removesuffix(f" - {CENTRE}") for name in names]
    with styled():
        figure = Picture(SIZE, layout="constrained")
        axes = figure.subplots()
        share = 100 * demand / capacity
        axes.barh(names, share, color=np.where(share > 100, LINES[1], LINES[0]).tolist())
        axes.axvline(100, color="black", linewidth=0.6)
        axes.set_xlim(0, max(110.0, 1.05 * share.max()))
        axes.invert_yaxis()
        axes.set_title("Links: demand, % of capacity; above 100 % a link slows jobs down")
    return figure


# Jobs over time ---------------------------------------------------------------------------------


def schedule(model: GridModel) -> Figure | None:
    """Return the schedule so far: of the jobs that left last and of those that run, until now."""
    world, jobs = model.world, model.world.jobs
    gone = world.log.latest(LATEST)
    gone = gone[~np.isnan(gone["start"])]
    live = np.flatnonzero(jobs["status"] >= RUNNING)
    if not len(gone) + len(live):
        return None
    known, held = parts_of(gone), [jobs.parts(slot) for slot in live.tolist()]
    rows = [(len(gone) + i, *part) for i, of in enumerate(held) for part in of.items()]
    more = Parts(*np.array(rows, np.int64).reshape(-1, 3).T)

    def both(of_gone: str, of_live: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return np.concatenate([gone[of_gone], of_live])

    table = pd.DataFrame(
        {
            "job": both("number", jobs["number"][live]).astype(np.int64),
            "arrival": both("arrival", jobs["arrival"][live]),
            "size": both("size", jobs["size"][live]).astype(np.int64),
            "start": both("start", jobs["start"][live]),
            "finish": both("finish", np.full(len(live), world.now)),
        }
    )
    parts = Parts(*(np.concatenate(each) for each in zip(known, more, strict=True)))
    summary = {
        "simulated_s": world.now,
        "global": model.scheduler.name,
        "local": model.clusters[0].scheduler.called(),
    }
    ran = Ran("until now", summary, world.platform, table, parts, pd.DataFrame())
    return draw([ran], "gantt")


def course(model: GridModel) -> Figure | None:
    """Return the processors in use and the jobs that wait, over time."""
    known = model.datacollector.model_vars
    if not {"now", "busy", "waiting", "queued"} <= known.keys() or len(known["now"]) < 2:
        return None
    scale = time_scale(model.now)
    times = np.array(known["now"]) / scale.size
    total = model.world.platform.sizes.sum()
    with styled():
        figure = Picture(SIZE, layout="constrained")
        used, waiting = figure.subplots(2, 1, sharex=True)
        used.step(times, [100 * sum(each) / total for each in known["busy"]], color=LINES[0])
        used.set(ylabel="processors in use, %", ylim=(0, 101))
        waiting.step(times, known["queued"], color=LINES[1], label=f"for {model.scheduler.name}")
        waiting.step(times, [sum(each) for each in known["waiting"]], color=LINES[2],
                     label="at clusters")  # fmt: skip
        waiting.set(ylabel="waiting jobs", xlabel=f"time, {scale.unit}")
        waiting.set_ylim(bottom=0)
        waiting.legend(frameon=False)
    return figure


# The two levels ---------------------------------------------------------------------------------


def compositions(model: GridModel) -> Figure | None:
    """Return the compositions that MUSCLE packed last for each cluster, in its seed schedules."""
    seeds = {each.receiver: each for each in model.said if isinstance(each, SeedSchedule)}
    if not seeds:
        return None
    last = max(each.round for each in seeds.values())
    shown = [each for _, each in sorted(seeds.items()) if each.round == last]
    sizes = {each.name: each.size for each in model.clusters}
    with styled():
        figure = Picture(SIZE, layout="constrained")
        axes = figure.subplots()
        ground, ticks, labels = 0.0, [], []
        for seed in shown[::-1]:  # the first is uppermost
            size = sizes.get(seed.receiver) or _held(seed)  # a domain has no size
            axes.axhspan(ground, ground + size, color=IDLE, linewidth=0, zorder=0)
            _draw_seed(axes, seed, ground)
            ticks.append(ground + size / 2)
            labels.append(f"{seed.receiver} ({size})")
            ground += 1.06 * size
        axes.autoscale_view()
        axes.set_xlim(left=0)
        axes.set_ylim(0, ground)
        axes.set_yticks(ticks, labels, parse_math=False)
        axes.set_xlabel("s after the dispatch")
        axes.set_title(f"MUSCLE's seed schedules, allocation {last}: jobs by number, "
                       "a colour for each composition")  # fmt: skip
    return figure


def _held(seed: SeedSchedule) -> int:
    """Return how many processors a seed schedule uses."""
    return 1 + max(max(each.resources) for each in seed.schedule)


def _draw_seed(axes: Axes, seed: SeedSchedule, ground: float) -> None:
    """Draw the jobs of a seed schedule, each in the colour of the composition that it is of."""
    from matplotlib.patches import Rectangle

    of = {job: number for number, space in enumerate(seed.spaces) for job in space.jobs}
    for job, each, finish in zip(seed.jobs, seed.schedule, seed.finishes, strict=True):
        low, count = ground + min(each.resources), len(each.resources)
        color = COLORS[of.get(job, 0) % len(COLORS)]
        axes.add_patch(Rectangle((each.start, low), finish - each.start, count, facecolor=color,
                                 edgecolor="black", linewidth=0.4))  # fmt: skip
        if len(seed.jobs) <= NAMED:
            axes.text((each.start + finish) / 2, low + count / 2, str(job), fontsize=6,
                      ha="center", va="center")  # fmt: skip


def convergence(model: GridModel) -> Figure | None:
    """Return how TITAN's last search on each cluster converged: the best CP by generation."""
    found = {
        each.name: each.scheduler.history
        for each in model.clusters
        if len(getattr(each.scheduler, "history", ()))
    }
    if not found:
        return None
    from matplotlib.ticker import MaxNLocator

    scale = time_scale(max(max(history) for history in found.values()))
    with styled():
        figure = Picture(SIZE, layout="constrained")
        axes = figure.subplots()
        for index, (name, history) in enumerate(found.items()):
            told = f"{name}: {duration(history[0])} to {duration(history[-1])}"
            axes.step(range(len(history)), np.array(history) / scale.size, where="post",
                      color=LINES[index % len(LINES)], marker=".", label=told)  # fmt: skip
        axes.set(xlabel="generation", ylabel=f"CP of the best schedule, {scale.unit}")
        axes.set_title("TITAN's last search on each cluster: lower is better")
        axes.set_ylim(bottom=0)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        if len(found) <= NAMED:
            for text in axes.legend(frameon=False).get_texts():
                text.set_parse_math(False)
    return figure


PICTURES: tuple[Callable[[GridModel], Figure | None], ...] = (
    *(network, schedule, course, compositions, convergence, links),
)
"""All pictures."""


def ordered(model: GridModel | None) -> list[Callable[[GridModel], Figure | None]]:
    """Return all pictures, those of which a run of a model has nothing last."""
    if model is None:
        return [*PICTURES]
    own = [each.scheduler for each in model.clusters]
    nothing = {
        compositions: not model.scheduler.collects,
        convergence: not any(hasattr(each, "history") for each in own),
        links: not model.scheduler.spans,
    }
    return sorted(PICTURES, key=lambda draw: nothing.get(draw, False))

"""Pictures of runs: schedules, use, queues, links and waits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from experiments.show.labels import SLOWED_NOBODY, slowed_nobody
from experiments.show.numbers import Scale, duration, listed, time_scale
from experiments.show.plots import styled
from experiments.show.run_data import Floats, Ran, common_start
from grid.errors import GridError
from grid.foreign import quoted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

COLORS = (
    "#56b4e9", "#e69f00", "#009e73", "#f0e442", "#cc79a7", "#999999", "#d55e00", "#b3cde3"
)  # fmt: skip
LINES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c564b")
MANY = 5_000
"""Blocks above which single jobs are not seen: they are coloured by wait, and drawn as pixels."""
JOINED = 100
"""Co-allocated jobs at most whose parts are joined by lines: more could not be told apart."""
IDLE = "0.93"
"""Ground of a cluster in a schedule, seen where processors are not in use."""
NAMES = 40
"""Names for which there is room beside an axis, one above the other."""
BINS = 400
THROWN_BACK = (
    "Where jobs were thrown back, use is that of last starts, and waiting jobs are those of the "
    "timeline, until arrivals end"
)
APART = 4.0
"""How many times as long as another a run is from which on both are drawn as wide."""
ACROSS = 100
"""Characters of a legend's labels in a row, for which there is room above the axes."""
NEAR = 0.05
"""Share of a bar of colours in which there is room for one mark."""
SLOWDOWN = "bounded slowdown, over the time that a job ran (data staging and slow links included)"
"""What the metric of that name is not: that is over the time without limits of links."""
TICKS = (1.0, 10.0, 60.0, 600.0, 3600.0, 36_000.0, 86_400.0, 864_000.0, 8_640_000.0)
"""Waits that are marked on axes, s."""


def draw(runs: Sequence[Ran], what: str) -> Figure:
    """Return a picture of runs, with an axis for each or a curve for each.

    Parameters
    ----------
    runs : sequence of Ran
    what : str
        One of `KINDS`.

    Raises
    ------
    GridError
        If there is nothing of the kind in these runs.
    """
    from experiments.show.picture import Picture

    if not isinstance(what, str) or what not in KINDS:
        raise GridError(f"picture: found {quoted(what)}; accepted: {', '.join(KINDS)}")
    kind = KINDS[what]
    if what in OF_JOBS and not any(ran.completed.any() for ran in runs):
        raise GridError(f"{what}: no job was completed; accepted: runs with jobs that were")
    with styled():
        count = len(runs) if kind.each else kind.rows
        figure = Picture((8.0, kind.height * count + 0.4), layout="constrained")
        axes = list(figure.subplots(count, 1, squeeze=False)[:, 0])
        kind.draw(axes, runs)
        for each in axes:
            each.tick_params(width=0.6)
    return figure


# Schedules --------------------------------------------------------------------------------------


def _gantts(axes: list[Axes], runs: Sequence[Ran]) -> None:
    for each, ran in zip(axes, runs, strict=True):
        _gantt(each, ran)


def _gantt(axes: Axes, ran: Ran) -> None:
    from matplotlib.collections import LineCollection, PolyCollection
    from matplotlib.colors import SymLogNorm

    chart, scale, unit = ran.chart, *_unit([ran])
    sizes = ran.platform.sizes
    gap = 0.04 * sizes.sum() if len(sizes) > 1 else 0.0
    grounds = np.cumsum((sizes + gap)[::-1])[::-1] - sizes - gap  # the first is uppermost
    start, finish = (ran.jobs[name].to_numpy(np.float64) / scale for name in ("start", "finish"))
    waits = (ran.jobs["start"] - ran.jobs["arrival"]).to_numpy()
    left, right = start[chart.job], finish[chart.job]
    low: Floats = grounds[chart.cluster] + chart.first
    high: Floats = low + chart.rows
    corners = np.stack([left, low, left, high, right, high, right, low], axis=1)
    blocks = PolyCollection(list(corners.reshape(-1, 4, 2)), rasterized=len(chart.job) > MANY)
    if len(chart.job) > MANY:
        blocks.set(array=waits[chart.job], cmap="viridis_r", norm=SymLogNorm(60.0, vmin=0.0))
        bar = axes.figure.colorbar(blocks, ax=axes, label="wait", pad=0.01)
        ticks = (0.0, *TICKS)
        places = np.asarray(blocks.norm(np.array(ticks)), np.float64)
        _in_durations(bar.ax.yaxis, [ticks[index] for index in spaced(places, NEAR)])
    else:
        colors = np.array(COLORS)[ran.jobs["job"].to_numpy()[chart.job] % len(COLORS)]
        blocks.set(facecolors=colors, edgecolors="black", linewidths=0.2)
    axes.add_collection(blocks)
    if 0 < ran.split.sum() <= JOINED:
        axes.add_collection(
            LineCollection(_joins(ran.split, chart.job, start, low, high), colors="black",
                           linewidths=0.6)
        )  # fmt: skip
    last = np.nanmax(finish, initial=0.0)
    axes.set_xlim(np.nanmin(start, initial=last), last or 1.0)
    axes.set_ylim(0, grounds[0] + sizes[0])
    extent = sizes.sum() + gap * (len(sizes) - 1)
    some = spaced(grounds + sizes / 2, extent / NAMES)
    named = [ran.platform.clusters[index] for index in some]
    axes.set_yticks(
        (grounds + sizes / 2)[some],
        [f"{each.name} ({each.size})" for each in named],
        parse_math=False,
    )
    for ground, size in zip(grounds, sizes, strict=True):
        axes.axhspan(ground, ground + size, color=IDLE, linewidth=0, zorder=0)
    axes.set_title(f"{ran.name}: {ran.policy}", parse_math=False)
    axes.set_xlabel(f"time, {unit}")
    _in_dates([axes], [ran], [scale])
    _explain(axes, few=len(chart.job) <= MANY, joined=0 < ran.split.sum() <= JOINED)


def spaced(places: Floats, least: float) -> list[int]:
    """Return which places of an axis can be named: the first, and others so far from one before.

    >>> spaced(np.array([0.0, 1.0, 50.0, 100.0]), 2.0)
    [0, 2, 3]
    """
    kept = [0]
    for index, place in enumerate(places):
        if abs(place - places[kept[-1]]) >= least:
            kept.append(index)
    return kept


def _explain(axes: Axes, few: bool, joined: bool) -> None:
    """Set a legend below a schedule: what blocks, colours, lines and the ground stand for."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = []
    if few:
        block = "a job, as high as it has processors; colours only tell jobs apart"
        handles.append(Patch(facecolor=COLORS[0], edgecolor="black", linewidth=0.4, label=block))
    if joined:
        handles.append(Line2D([], [], color="black", linewidth=0.6, label="joins a split job"))
    handles.append(Patch(facecolor=IDLE, edgecolor="0.8", linewidth=0.4, label="not in use"))
    below = {"loc": "upper right", "bbox_to_anchor": (1.0, -0.11), "borderaxespad": 0.0}
    axes.legend(handles=handles, ncols=len(handles), fontsize=7, frameon=False, **below)


def _joins(
    split: npt.NDArray[np.bool_], job: npt.NDArray[np.int64], start: Floats, low: Floats,
    high: Floats,
) -> list[list[tuple[float, float]]]:  # fmt: skip
    """Return a line at the start of each job of several clusters, from its lowest row up."""
    lines = []
    for of in np.flatnonzero(split):
        blocks = job == of
        lines.append([(start[of], low[blocks].min()), (start[of], high[blocks].max())])
    return lines


# Over time --------------------------------------------------------------------------------------


def _use(axes: list[Axes], runs: Sequence[Ran]) -> None:
    used, waiting = axes
    scales, label = _clock(runs)
    for (ran, name, color), scale in zip(_named(runs), scales, strict=True):
        start, finish = (ran.jobs[each].to_numpy(np.float64) for each in ("start", "finish"))
        arrival = ran.jobs["arrival"].to_numpy(np.float64)
        edges = np.linspace(arrival.min(initial=0), np.nanmax(finish, initial=1), BINS + 1)
        job, processors = ran.parts.job, ran.parts.processors
        total = ran.platform.sizes.sum()
        busy = means_over(edges, start[job], finish[job], processors / total)
        used.stairs(100 * busy, edges / scale, label=name, color=color, linewidth=0.9)
        if ran.restarted:  # between its starts, a job did not wait all the time
            queue, edges = ran.timeline["waiting"].to_numpy(np.float64), ran.bounds
        else:
            done = ran.completed
            queue = means_over(edges, arrival[done], start[done], np.ones(done.sum()))
        # Without a baseline, for that would be a line to 0 where what is told ends.
        waiting.stairs(queue, edges / scale, baseline=None, label=name, color=color, linewidth=0.9)
    used.set(ylabel="processors in use, %", ylim=(0, 101))
    waiting.set(ylabel="waiting jobs", xlabel=label)
    waiting.set_ylim(bottom=0)
    title = f"Means over {BINS} intervals of each run"
    if any(ran.restarted for ran in runs):
        waiting.set_xlim(used.get_xlim())
        title += f".\n{THROWN_BACK}"
    used.set_title(title, fontsize=7)
    _in_dates(axes, runs, scales)
    _finish(axes, len(runs) > 1)


def means_over(edges: Floats, begin: Floats, end: Floats, weight: Floats) -> Floats:
    """Return the mean, between edges, of the summed weights of what is under way.

    Parameters
    ----------
    edges : array, shape (bins + 1,)
        Increasing, s.
    begin, end, weight : array, shape (intervals,)
    """

    def until(times: Floats) -> Floats:
        """Return the integral of the weights of all that has begun by then, up to each edge."""
        order = np.argsort(times)
        at = np.searchsorted(times[order], edges, side="right")
        sums = np.concatenate([[0.0], np.cumsum(weight[order])])[at]
        moments = np.concatenate([[0.0], np.cumsum((weight * times)[order])])[at]
        return edges * sums - moments

    area: Floats = np.diff(until(begin) - until(end)) / np.diff(edges)
    return np.maximum(area, 0.0)


def _links(axes: list[Axes], runs: Sequence[Ran]) -> None:
    demand, saturated = axes
    scales, time = _clock(runs)
    curves = [
        (ran, name, scale)
        for ran, scale in zip(runs, scales, strict=True)
        for name in (ran.link_names if len(ran.timeline) else ())
    ]
    if not any(ran.links for ran in runs):
        by = listed(list(dict.fromkeys(ran.summary["global"] for ran in runs)))
        raise GridError(
            f"links: not measured under {by}; accepted: runs under global schedulers that take "
            "account of links"
        )
    if not curves:
        raise GridError("links: all jobs arrive at one instant; accepted: jobs that do not")
    if all(ran.timeline[f"demand {name}"].max() == 0 for ran, name, _ in curves):
        raise GridError(
            "links: nothing was asked of any; accepted: runs with split jobs that communicate "
            "(bsbw above 0)"
        )
    for index, (ran, name, scale) in enumerate(curves):
        edges = ran.bounds / scale
        label = name if len(runs) == 1 else f"{ran.name}: {name}"
        for of, kind in ((demand, "demand"), (saturated, "saturated")):
            share = 100 * ran.timeline[f"{kind} {name}"]
            of.stairs(share, edges, label=label, color=LINES[index % len(LINES)], linewidth=0.9)
    if names := [ran.name for ran in runs if slowed_nobody(ran.summary)]:
        whose = f"{listed(names)}: " if len(runs) > 1 else ""
        saturated.set_title(f"{whose}{SLOWED_NOBODY}", fontsize=7, parse_math=False)
    demand.set_ylabel("demand, % of capacity")
    saturated.set(ylabel="saturated, % of time", xlabel=time)
    for each in axes:
        each.set_ylim(0, max(1.0, each.get_ylim()[1]))  # of zeros alone: not to a fraction of a %
    _in_dates(axes, runs, scales)
    _finish(axes, len(curves) > 1)


# Distributions ----------------------------------------------------------------------------------


def _waits(axes: list[Axes], runs: Sequence[Ran]) -> None:
    told = [ran for ran in runs if len(ran.waits)]
    if not told:  # but in the warm-up
        raise GridError("waits: no job was completed; accepted: runs with jobs that were")
    to = " up to a job's last start" if any(ran.restarted for ran in told) else ""
    for of, values, label, none in (
        (axes[0], attrgetter("waits"), f"wait{to} (1 s also stands for less)", "no job waited"),
        (axes[1], attrgetter("slowdowns"), SLOWDOWN, "no job has a bounded slowdown above 1"),
    ):
        for ran, name, color in _named(told):
            of.ecdf(np.maximum(values(ran), 1.0), label=name, color=color, linewidth=1.1)
        of.set(xscale="log", xlabel=label, ylabel="share of jobs", ylim=(0, 1.01))
        of.set_xlim(left=1)
        if (most := max(values(ran).max() for ran in told)) <= 1.0:  # curves along the axis
            words = f"{none} for longer than 1 s" if of is axes[0] and most > 0 else none
            of.text(0.5, 0.5, words, transform=of.transAxes, ha="center", va="center")
    axes[0].set_xlim(right=max(axes[0].get_xlim()[1], TICKS[1]))  # two ticks make a scale
    _in_durations(axes[0].xaxis, TICKS)
    _finish(axes, len(runs) > 1)


def _named(runs: Sequence[Ran]) -> list[tuple[Ran, str, str]]:
    return [(ran, ran.name, LINES[index % len(LINES)]) for index, ran in enumerate(runs)]


def _finish(axes: list[Axes], several: bool) -> None:
    for each in axes:
        each.grid(color="0.9", linewidth=0.5)
        each.set_axisbelow(True)
    if several:  # above the axes, as there may be curves anywhere on them
        handles, labels = axes[0].get_legend_handles_labels()
        columns = max(1, min(4, ACROSS // max(map(len, labels), default=1)))
        legend = axes[0].figure.legend(
            handles, labels, loc="outside upper center", ncols=columns, frameon=False, fontsize=7
        )
        for text in legend.get_texts():
            text.set_parse_math(False)


def _clock(runs: Sequence[Ran]) -> tuple[list[float], str]:
    """Return by what to divide the times (s) of each run, and what an axis of them is called.

    Beside a run that is much longer, a shorter one could not be read: times are shares of the runs.
    """
    ends = []
    for ran in runs:
        finish = ran.jobs["finish"].to_numpy(np.float64)
        ends.append(max(np.nanmax(finish, initial=0.0), ran.timeline["to"].max()))
    least, most = min(ends), max(ends)
    if most < APART * least or not least > 0:
        scale, unit = _unit(runs)
        return [scale] * len(runs), f"time, {unit}"
    lengths = f"of {duration(least)} to {duration(most)}"
    return [end / 100 for end in ends], f"time, % of each run ({lengths})"


def _in_dates(axes: Sequence[Axes], runs: Sequence[Ran], scales: Sequence[float]) -> None:
    """Mark axes of times, divided as `_clock` says, by dates if they are those of all runs.

    The last of the axes is the lowest, the only one with a label.
    """
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num, num2date

    start = common_start(runs)
    if start is None or len({*scales}) > 1:
        return
    zero, day = date2num(start[0]), 86_400.0 / scales[0]
    low, high = axes[-1].get_xlim()
    locator = AutoDateLocator(minticks=3, maxticks=9)
    formatter = ConciseDateFormatter(locator, show_offset=False)
    ticks = np.asarray(locator.tick_values(*(num2date(zero + end / day) for end in (low, high))))
    labels = np.array(formatter.format_ticks(ticks))
    places = (ticks - zero) * day
    seen = (places >= low) & (places <= high)
    for each in axes:
        each.set_xticks(places[seen], labels[seen].tolist())
        each.set_xlim(low, high)
    first = num2date(zero + max(low, 0.0) / day)
    clock = "%Y-%m-%d %H:%M" if high - low > day / 12 else "%Y-%m-%d %H:%M:%S"
    axes[-1].set_xlabel(f"date, from {first.strftime(clock)}, {start[1]}")


def _unit(runs: Sequence[Ran]) -> Scale:
    return time_scale(max(ran.summary["simulated_s"] for ran in runs))


def _in_durations(axis: Axis, ticks: Sequence[float]) -> None:
    """Mark times (s) on a logarithmic axis, each told in its unit."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

    axis.set_major_locator(FixedLocator(ticks))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda seconds, _: duration(seconds)))
    axis.set_minor_formatter(NullFormatter())


class Kind(NamedTuple):
    """A kind of picture: who draws it, and on how many axes of what height (inches)."""

    draw: Callable[[list[Axes], Sequence[Ran]], None]
    height: float
    rows: int = 2
    each: bool = False  # axes for each run


KINDS = {
    "gantt": Kind(_gantts, 4.0, each=True),
    "utilization": Kind(_use, 2.2),
    "links": Kind(_links, 2.2),
    "waits": Kind(_waits, 2.6),
}
"""Pictures by name."""

OF_JOBS = ("gantt", "utilization", "waits")
"""Those that nothing is seen of without a completed job."""

"""Pictures of a model as it is now; None where a run has nothing of the kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from agents.messages import SeedSchedule
from agents.model import GridModel
from experiments.show.numbers import duration, time_scale
from experiments.show.picture import Picture
from experiments.show.plots import styled
from experiments.show.run_data import Ran
from experiments.show.run_plots import COLORS, IDLE, LINES, NAMES, draw, spaced
from experiments.view.network import NAMED, SIZE, network
from grid.kernel.state import RUNNING
from grid.platform.topology import CENTRE, uplinks
from grid.world.finished import Records
from grid.world.records import Parts
from grid.world.records import parts as parts_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LATEST = 300
"""Jobs that left last which a schedule shows beside those that run; more if all those left now."""


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
        rows, color = range(len(names)), np.where(share > 100, LINES[1], LINES[0]).tolist()
        axes.barh(rows, share, color=color)
        some = spaced(np.arange(float(len(names))), len(names) / NAMES)
        axes.set_yticks(some, [names[index] for index in some], parse_math=False)
        axes.axvline(100, color="black", linewidth=0.6)
        axes.set_xlim(0, max(110.0, 1.05 * share.max()))
        axes.invert_yaxis()
        axes.set_title("Links: demand, % of capacity; above 100 % a link slows jobs down")
    return figure


# Jobs over time ---------------------------------------------------------------------------------


def schedule(model: GridModel) -> Figure | None:
    """Return the schedule until now, since when those that left last are all that did."""
    world, jobs = model.world, model.world.jobs
    gone, begin = _left_last(model)
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
    nothing = pd.DataFrame(), pd.DataFrame()
    ran = Ran("until now", summary, world.platform, table, parts, *nothing)
    figure = draw([ran], "gantt")
    axes, size = figure.axes[0], time_scale(world.now).size
    left, right = max(axes.get_xlim()[0], begin / size), world.now / size
    if left < right:
        axes.set_xlim(left, right)
    return figure


def _left_last(model: GridModel) -> tuple[Records, float]:
    """Return the jobs that left last and had started, and a time by which all others had left."""
    log, count = model.world.log, LATEST
    while True:
        gone = log.latest(count)
        started = gone[~np.isnan(gone["start"])]
        if len(gone) == log.count:
            return started, 0.0
        begin = float(started["finish"].min(initial=model.now))
        if begin < model.now or len(gone) < count:
            return started, begin
        count *= 2  # they all left now


def course(model: GridModel) -> Figure | None:
    """Return the processors in use and the jobs that wait, as of the end of each step."""
    known = model.datacollector.model_vars
    if not {"now", "busy", "waiting", "queued"} <= known.keys() or not known["now"]:
        return None
    scale = time_scale(model.now)
    times = np.array([0.0, *known["now"], model.now]) / scale.size
    total = model.world.platform.sizes.sum()

    def plot(axes: Axes, values: list[float], color: str, label: str) -> None:
        """Draw what holds from the end of each step to that of the next in which more happens."""
        axes.step(times, [0, *values, values[-1]], where="post", color=color, label=label)

    with styled():
        figure = Picture(SIZE, layout="constrained")
        used, waiting = figure.subplots(2, 1, sharex=True)
        plot(used, [100 * sum(each) / total for each in known["busy"]], LINES[0], "")
        used.set(ylabel="processors in use, %", ylim=(0, 101))
        used.set_title("As of the end of each step")
        plot(waiting, known["queued"], LINES[1], f"for {model.scheduler.name}")
        plot(waiting, [sum(each) for each in known["waiting"]], LINES[2], "at clusters")
        waiting.set(ylabel="waiting jobs", xlabel=f"time, {scale.unit}")
        waiting.set_ylim(0, max(1.0, waiting.get_ylim()[1]))
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
    nothing: dict[Any, bool] = {
        compositions: not model.scheduler.collects,
        convergence: not any(hasattr(each, "history") for each in own),
        links: not model.scheduler.spans,
    }
    return sorted(PICTURES, key=lambda draw: nothing.get(draw, False))

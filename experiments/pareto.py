"""The choice of a cluster's administrator: the Pareto front of schedules of some waiting jobs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich import box
from rich.table import Table

from agents.titan.pareto import Compromise, pareto_front
from experiments.logs.converting import said
from experiments.show.labels import scale_of, why_none
from experiments.show.numbers import Scale, counted, instants, largest, time_scale
from experiments.show.plots import save
from grid.errors import GridError, WorkloadError
from grid.jobs import JobArray
from grid.logs.formats import read

if TYPE_CHECKING:
    from rich.console import Console

AXES = {
    "over_deadline": "over-deadline",
    "makespan": "makespan",
    "idle_time_total": "idle-time",
}
"""The metrics among which the administrator weighs, and their names for one cluster."""

OF_SEVERAL = ("origin", "components", "computation_fraction", "ppbw")
"""What jobs may say that means something on several clusters only."""


@dataclass(frozen=True, eq=False)
class Front:
    """The schedules of waiting jobs among which only preferences decide.

    Attributes
    ----------
    jobs : JobArray
        The jobs.
    processors : int
        Of the cluster.
    points : list of Compromise
        By over-deadline, the lowest first; times in seconds after the dispatch.
    """

    jobs: JobArray
    processors: int
    points: list[Compromise]

    @classmethod
    def of(cls, path: str, processors: int, seed: int = 0) -> Front:
        """Return the front of the jobs of a file, dispatched when the last of them has arrived.

        Raises
        ------
        GridError
            If the file cannot be read, or a job needs more processors than there are.
        """
        table = read(Path(path)).cleaned()
        if table.times is not None:
            raise WorkloadError(
                f"{path}: found execution times on {len(table.times.clusters)} clusters; accepted: "
                "run times on the one cluster"
            )
        jobs = table.jobs
        wide = jobs[jobs["size"] > processors]
        if len(wide):
            raise WorkloadError(
                f"{path}: job {wide['number'][0]}: size {wide['size'][0]}; accepted: at most "
                f"{processors}, the processors"
            )
        deadlines = jobs["deadline"] - jobs["arrival"].max()
        points = pareto_front(jobs["size"], jobs["runtime"], deadlines, processors, rng=seed)
        return cls(jobs, processors, points)

    @property
    def unused(self) -> list[str]:
        """In words, what the jobs say that one cluster has no use for."""
        counts = said(self.jobs)
        return [
            f"{name} of {counted(counts[name], 'job')} not used: there is one cluster"
            for name in OF_SEVERAL
            if name in counts
        ]

    def check_pick(self, pick: int) -> None:
        """Raise `GridError` unless there is a point of this number, counted from 1."""
        if pick > len(self.points):
            raise GridError(f"--pick: found {pick}; accepted: from 1 to {len(self.points)}")

    @property
    def has_deadlines(self) -> bool:
        """Whether any job has a deadline; if none has, nothing is over it."""
        return bool(np.isfinite(self.jobs["deadline"]).any())

    def to_dict(self, pick: int | None = None) -> dict[str, Any]:
        """Return the front, and the schedule of a point if one is picked, ready for JSON.

        Over-deadline is None where there is no deadline.
        """
        dated = self.has_deadlines
        front = [
            {
                "point": number,
                "over_deadline": point.over_deadline if dated else None,
                "makespan": point.makespan,
                "idle_time": point.idle_time,
            }
            for number, point in enumerate(self.points, 1)
        ]
        found: dict[str, Any] = {
            "jobs": len(self.jobs),
            "processors": self.processors,
            "front": front,
        }
        if pick is not None:
            found |= {"pick": pick, "schedule": self._rows(pick)}
        return found

    def _rows(self, pick: int) -> list[dict[str, Any]]:
        """Return the jobs of a point's schedule in order of start."""
        dispatch = self.jobs["arrival"].max()
        rows = []
        for job, start, resources in sorted(self.points[pick - 1].schedule, key=lambda p: p.start):
            row = self.jobs[job]
            finish = start + float(row["runtime"])
            deadline = float(row["deadline"] - dispatch)
            late = max(0.0, finish - deadline) if math.isfinite(deadline) else None
            rows.append(
                {
                    "job": int(row["number"]),
                    "start": start,
                    "finish": finish,
                    "over_deadline": late,
                    "processors": list(resources),
                }
            )
        return rows

    def print(self, console: Console, pick: int | None = None) -> None:
        """Print the front as a table, and the schedule of a point if one is picked."""
        console.print(
            f"{counted(len(self.jobs), 'job')} on {counted(self.processors, 'processor')}, "
            "dispatched when the last has arrived"
        )
        first = 0 if self.has_deadlines else 1  # of the axes that mean anything
        scales = {name: self._scale(name) for name in [*AXES][first:]}
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for name in ("point", *map(_heading, scales, scales.values())):
            table.add_column(name, justify="right")
        values = [(at.over_deadline, at.makespan, at.idle_time)[first:] for at in self.points]
        told = map(Scale.column, scales.values(), zip(*values, strict=True))
        for number, row in enumerate(zip(*told, strict=True), 1):
            table.add_row(str(number), *row)
        console.print(table)
        if first:
            console.print(f"{why_none('over_deadline')}: by makespan and idle-time alone")
        if pick is None:
            console.print("--pick K shows schedule K in full.")
            return
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=f"schedule {pick}")
        rows = self._rows(pick)
        moments = (instants([row[name] for row in rows]) for name in ("start", "finish"))
        columns = {"job": [str(row["job"]) for row in rows]}
        columns |= zip(("start s", "finish s"), moments, strict=True)
        if not first:
            late = [row["over_deadline"] for row in rows]
            scale = time_scale(largest(late))
            columns[f"late {scale.unit}"] = scale.column(late)
        for name in columns:
            table.add_column(name, justify="right")
        table.add_column("processors")
        for row, *told in zip(rows, *columns.values(), strict=True):
            table.add_row(*told, _ranges(row["processors"]))
        console.print(table)
        console.print("moments: seconds after the dispatch")

    def _scale(self, name: str) -> Scale:
        """Return the unit that all points have, of one of `AXES`."""
        kept = {"idle_time_total": "idle_time"}.get(name, name)
        return scale_of(name, [getattr(point, kept) for point in self.points])

    def draw(self, path: str, pick: int | None = None) -> None:
        """Draw the front to a file.

        Raises
        ------
        GridError
            If it cannot be written.
        """
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator

        figure = Figure(figsize=(7, 4.5), layout="constrained")
        axes = figure.subplots()
        scales = {name: self._scale(name) for name in AXES}
        late, ends = (
            [getattr(each, name) / scales[name].size for each in self.points]
            for name in ("over_deadline", "makespan")
        )
        axes.step(late, ends, where="post", color="tab:blue", linewidth=1, alpha=0.5)
        axes.scatter(late, ends, color="tab:blue", zorder=3)
        if pick is not None:
            axes.scatter(late[pick - 1], ends[pick - 1], color="tab:red", s=80, zorder=4)
        for number in _labelled(len(self.points), pick):
            place = (late[number - 1], ends[number - 1])
            axes.annotate(str(number), place, (4, 4), textcoords="offset points")
        work = math.fsum((self.jobs["size"] * self.jobs["runtime"]).tolist())

        whole, area = scales["makespan"].size, scales["idle_time_total"].size

        def idle_time(makespan: Any) -> Any:
            return (makespan * whole * self.processors - work) / area

        def makespan(idle_time: Any) -> Any:
            return (idle_time * area + work) / self.processors / whole

        idle = axes.secondary_yaxis("right", functions=(idle_time, makespan))
        across, up, right = map(_heading, scales, scales.values())
        axes.set_xlabel(across)
        axes.set_ylabel(up)
        idle.set_ylabel(right)
        axes.xaxis.set_major_locator(MaxNLocator(8))
        if not self.has_deadlines:
            axes.set_xticks([])
            axes.set_xlabel(why_none("over_deadline"))
        axes.set_title(f"Schedules of {len(self.jobs):,} jobs on {self.processors:,} processors")
        axes.grid(alpha=0.3)
        save(figure, path)


def _labelled(points: int, pick: int | None) -> list[int]:
    """Return the numbers of the points that get a label: some twenty, and the one picked."""
    chosen = {*range(1, points + 1, 1 + points // 20)}
    return sorted(chosen if pick is None else chosen | {pick})


def _heading(name: str, scale: Scale) -> str:
    return f"{AXES[name]}, {scale.unit}"


def _ranges(processors: list[int]) -> str:
    """Return processors as runs.

    >>> _ranges([0, 1, 2, 5, 7, 8])
    '0-2, 5, 7-8'
    """
    runs: list[list[int]] = []
    for processor in processors:
        if runs and processor == runs[-1][1] + 1:
            runs[-1][1] = processor
        else:
            runs.append([processor, processor])
    return ", ".join(f"{a}-{b}" if b > a else str(a) for a, b in runs)

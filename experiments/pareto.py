"""The choice of a cluster's administrator: the Pareto front of schedules of some waiting jobs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from rich import box
from rich.table import Table

from agents.pareto import Compromise, pareto_front
from experiments.labels import why_none
from experiments.numbers import NONE
from experiments.studies.plots import save
from grid.errors import GridError, WorkloadError
from grid.jobs import JobArray
from grid.workloads.logs import read_log

if TYPE_CHECKING:
    from rich.console import Console

AXES = ("over-deadline, s", "makespan, s", "idle-time, processor-seconds")


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
        jobs = read_log(path, ()).jobs
        wide = jobs[jobs["size"] > processors]
        if len(wide):
            raise WorkloadError(
                f"{path}: job {wide['number'][0]}: size {wide['size'][0]}; accepted: at most "
                f"{processors}, the processors"
            )
        deadlines = jobs["deadline"] - jobs["arrival"].max()
        points = pareto_front(jobs["size"], jobs["runtime"], deadlines, processors, rng=seed)
        return cls(jobs, processors, points)

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
        counted = f"{len(self.jobs)} job{'s' if len(self.jobs) > 1 else ''}"
        console.print(f"{counted} on {self.processors} processors, s after the dispatch")
        first = 0 if self.has_deadlines else 1  # of the axes that mean anything
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for name in ("point", *AXES[first:]):
            table.add_column(name, justify="right")
        for number, point in enumerate(self.points, 1):
            values = (point.over_deadline, point.makespan, point.idle_time)[first:]
            table.add_row(str(number), *map(_told, values))
        console.print(table)
        if first:
            console.print(f"{why_none('over_deadline')}: by makespan and idle-time alone")
        if pick is None:
            console.print("--pick K shows schedule K in full.")
            return
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=f"schedule {pick}")
        times = {"start": "start s", "finish": "finish s", "over_deadline": "late s"}
        if first:
            del times["over_deadline"]
        for name in ("job", *times.values()):
            table.add_column(name, justify="right")
        table.add_column("processors")
        for row in self._rows(pick):
            told = (_told(row[name]) for name in times)
            table.add_row(str(row["job"]), *told, _ranges(row["processors"]))
        console.print(table)

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
        late, ends = zip(
            *((each.over_deadline, each.makespan) for each in self.points), strict=True
        )
        axes.step(late, ends, where="post", color="tab:blue", linewidth=1, alpha=0.5)
        axes.scatter(late, ends, color="tab:blue", zorder=3)
        if pick is not None:
            axes.scatter(late[pick - 1], ends[pick - 1], color="tab:red", s=80, zorder=4)
        for number in _labelled(len(self.points), pick):
            place = (late[number - 1], ends[number - 1])
            axes.annotate(str(number), place, (4, 4), textcoords="offset points")
        work = math.fsum((self.jobs["size"] * self.jobs["runtime"]).tolist())

        def idle_time(makespan: Any) -> Any:
            return makespan * self.processors - work

        def makespan(idle_time: Any) -> Any:
            return (idle_time + work) / self.processors

        idle = axes.secondary_yaxis("right", functions=(idle_time, makespan))
        axes.set_xlabel(AXES[0])
        axes.set_ylabel(AXES[1])
        idle.set_ylabel(AXES[2])
        axes.xaxis.set_major_locator(MaxNLocator(8))
        if not self.has_deadlines:
            axes.set_xticks([])
            axes.set_xlabel(why_none("over_deadline"))
        axes.set_title(f"Schedules of {len(self.jobs)} jobs on {self.processors} processors")
        axes.grid(alpha=0.3)
        save(figure, path)


def _labelled(points: int, pick: int | None) -> list[int]:
    """Return the numbers of the points that get a label: some twenty, and the one picked."""
    chosen = {*range(1, points + 1, 1 + points // 20)}
    return sorted(chosen if pick is None else chosen | {pick})


def _told(value: float | None) -> str:
    return NONE if value is None else f"{value:,.1f}"


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

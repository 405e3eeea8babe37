"""The case study of `muscle`, section 4: Table 1's jobs, Table 2 and the packing of Fig. 3."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.text import Text

from agents.muscle.allocation import Allocation, allocate
from agents.muscle.composition import composition_table
from experiments.papers.claims_report import bare_table
from experiments.papers.engine import Listing
from experiments.scenario.scenario import Scenario
from experiments.show.plots import figure_of
from experiments.show.run_plots import COLORS
from experiments.studies.outputs import new_files
from experiments.sweeps.sweep import Watch
from grid.jobs import JobArray
from grid.streams import stream
from grid.workloads.table import Table

PRINTED = (
    ("J2", "J5"),
    ("J1", "J5;J2", "J6"),
    ("J2;J1", "J4", "J6;J5"),
    ("J3", "J4;J2", "J6;J1"),
    ("J3;J2", "J4;J1"),
    ("J3;J1", "J6;J4;J2"),
)
"""Table 2 as the paper has it: the compositions of each row, from the first."""


@dataclass(frozen=True)
class Block:
    """A job in the packing of a cluster, numbered from 1 as in the paper."""

    job: int
    start: float
    finish: float
    first: int
    size: int
    space: int


class CaseStudy(Listing):
    """The composition table, and how Algorithm 4 packs the jobs, space after space."""

    def __init__(self) -> None:
        scenario = Scenario.load("muscle-case-study")
        self.clusters = {each.name: each.size for each in scenario.platform.clusters}
        workload = scenario.model(0).workload
        assert isinstance(workload, Table)
        jobs = workload.jobs
        rows = composition_table(jobs["size"], max(self.clusters.values()))
        compositions = [tuple(map(_name, row)) for row in rows]
        self.packing = packing(jobs, scenario)
        found: dict[str, Any] = {
            "table": [
                {"row": row, "compositions": [*ours], "paper": [*paper], "same": ours == paper}
                for row, (ours, paper) in enumerate(zip(compositions, PRINTED, strict=True), 1)
            ],
            "packing": {
                name: [vars(block) for block in blocks] for name, blocks in self.packing.items()
            },
        }
        table = bare_table("row", "ours", "the paper's Table 2", "same")
        for each in found["table"]:
            ours, paper = ("  ".join(each[whose]) for whose in ("compositions", "paper"))
            table.add_row(str(each["row"]), ours, paper, "yes" if each["same"] else "NO")
        super().__init__(found, table)

    def show(self, folder: str, console: Console) -> None:
        """Print the table, and the packing as a picture of letters."""
        super().show(folder, console)
        for name, blocks in self.packing.items():
            console.print(f"\n{name}, a column a second:")
            for line in lines(blocks, self.clusters[name]):
                console.print(Text(line))
        console.print(
            f"\npicture: {folder}/muscle-figure3.png and .svg",
            markup=False,
            emoji=False,
            highlight=False,
            soft_wrap=True,
        )

    def write(self, folder: Path) -> None:
        """Draw Fig. 3: each cluster after each space that was filled there."""
        with new_files(folder) as files:
            draw(self.packing, self.clusters, files / "muscle-figure3")


def _name(composition: tuple[int, ...]) -> str:
    return ";".join(f"J{1 + job}" for job in composition)


def packing(jobs: JobArray, scenario: Scenario) -> dict[str, list[Block]]:
    """Return the jobs of each cluster in order of allocation."""
    platform = scenario.platform
    times = jobs["runtime"][:, None] / platform.rates
    done: Allocation = allocate(
        jobs["size"],
        times,
        jobs["deadline"],
        platform.sizes,
        [np.zeros(size) for size in platform.sizes],
        np.zeros((len(platform.sizes), 4)),
        stream(0, "muscle"),
    )
    packed: dict[str, list[Block]] = {each.name: [] for each in platform.clusters}
    spaces = {space: at for at, space in enumerate(dict.fromkeys(done.space[done.order].tolist()))}
    for job in done.order.tolist():
        cluster, start = done.cluster.item(job), done.start.item(job)
        packed[platform.clusters[cluster].name].append(
            Block(
                job + 1,
                start,
                start + times.item(job, cluster),
                done.first.item(job),
                jobs["size"].item(job),
                1 + spaces[done.space.item(job)],
            )
        )
    return packed


def lines(blocks: list[Block], size: int) -> Iterator[str]:
    """Yield a line for each processor of a cluster, the last above: which job it runs when.

    >>> print(*lines([Block(1, 0, 2, 0, 1, 1), Block(2, 1, 3, 1, 1, 1)], 3), sep="|")
     3  .  .  .| 2  . J2 J2| 1 J1 J1  .
    """
    last = max((block.finish for block in blocks), default=0.0)
    for processor in reversed(range(size)):
        cells = [
            next(
                (
                    f"J{block.job}"
                    for block in blocks
                    if block.start <= second < block.finish
                    and 0 <= processor - block.first < block.size
                ),
                ".",
            )
            for second in range(int(last))
        ]
        yield f"{processor + 1:2d}" + "".join(f"{cell:>3}" for cell in cells)


def draw(packed: dict[str, list[Block]], clusters: dict[str, int], stem: Path) -> None:
    """Draw a row of panels for each cluster: what it has after each space that was filled."""
    from matplotlib.patches import Rectangle

    stages = {name: sorted({each.space for each in blocks}) for name, blocks in packed.items()}
    last = max(each.finish for blocks in packed.values() for each in blocks)
    with figure_of(max(map(len, stages.values())), len(packed), stem) as figure:
        grid = figure.subplots(
            len(packed), max(map(len, stages.values())), squeeze=False, sharex=True, sharey="row"
        )
        for row, (name, blocks) in zip(grid, packed.items(), strict=True):
            for axes, stage in zip(row, stages[name], strict=False):
                for block in (each for each in blocks if each.space <= stage):
                    axes.add_patch(
                        Rectangle(
                            (block.start, block.first),
                            block.finish - block.start,
                            block.size,
                            facecolor=COLORS[block.job % len(COLORS)],
                            edgecolor="black",
                            linewidth=0.5,
                        )
                    )
                    middle = (block.start + block.finish) / 2, block.first + block.size / 2
                    axes.text(*middle, f"J{block.job}", ha="center", va="center")
                axes.set_xlim(0, 1.05 * last)
                axes.set_ylim(0, clusters[name])
                axes.set_yticks(range(clusters[name] + 1))
                axes.set_title(f"{name}, spaces 1 to {stage} filled")
                axes.set_xlabel("time, s")
            row[0].set_ylabel("processors")


def listing(folder: Path, watch: Watch) -> CaseStudy:
    """Return the case study."""
    return CaseStudy()

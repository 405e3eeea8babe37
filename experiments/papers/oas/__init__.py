"""Section 4 of `oas` run again: slot sizes, six workloads, and the paper's claims."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import pandas as pd
from rich.console import Console

from experiments.papers import engine
from experiments.papers.claims_report import judged
from experiments.papers.engine import Picture
from experiments.papers.oas.charts import draw_pictures, pictures
from experiments.papers.oas.claims import CLAIMS, GROWTH, SIMILAR
from experiments.papers.oas.gantt import DAY
from experiments.papers.oas.schedules import (
    AGGREGATED,
    FIGURE,
    MILP,
    OAS,
    OF_MILP,
    OF_SLOTS,
    PARTS,
    SHARES,
    WORKLOADS,
    Point,
    points,
)
from experiments.papers.oas.solved import Outcome
from experiments.show.numbers import exact
from experiments.sweeps.run_store import kept_of_paper
from experiments.sweeps.sweep import Watch
from grid.errors import GridError

TIME_LIMIT = 60.0
"""Seconds that a solver may take for one schedule unless told otherwise."""


class Paper(engine.Paper):
    """Figs. 3 and 4 of `oas`.

    Parameters
    ----------
    parts : sequence of str, optional
        Of `PARTS`: Fig. 3, and Fig. 4.
    time_limit : float
        Wall-clock seconds that a solver may take for one schedule, above 0.

    Raises
    ------
    GridError
        For a parameter that is not accepted.
    """

    key, title = "oas", "Reproduction: ordering and allocation"
    known, part = PARTS, "part"

    def __init__(self, parts: Sequence[str] = (), time_limit: float = TIME_LIMIT) -> None:
        if not time_limit > 0:
            raise GridError(f"time_limit: found {time_limit!r}; accepted: seconds above 0")
        super().__init__(parts)
        self.outcome = Outcome(time_limit)
        self.points = [point for part in self.parts for point in points(part)]

    def reproduce(self, folder: Path, watch: Watch) -> Self:
        """Have all schedules made, and judge the paper's claims of them, as `engine` says."""
        self.outcome.run(self.points, kept_of_paper(folder, self.key), watch)
        self.claims = judged(CLAIMS, self.outcome, [FIGURE[part] for part in self.parts])
        return self

    def files(self) -> dict[str, pd.DataFrame]:
        """Return one row for each point."""
        return {"points": self.outcome.table(self.points)}

    def amounts(self) -> dict[str, Any]:
        """Return how much was run, and how many optima were proved, ready for JSON."""
        return {"time_limit": self.outcome.time_limit, "optima": self.outcome.optima()}

    def options(self) -> list[str]:
        """Return the options of the command that say how much is run."""
        limit = self.outcome.time_limit
        return [] if limit == TIME_LIMIT else [f"--time-limit {exact(limit)}"]

    def show(self, folder: str, console: Console) -> None:
        """Print the claims, in which folder the rest is, and how many optima were not proved."""
        super().show(folder, console)
        of = self.outcome.optima()
        if missing := of["searched"] - of["proved"]:
            console.print(
                f"for {missing} of {of['searched']} schedules of OAS no optimum was proved: claims "
                "are judged by bounds"
            )

    def pictures(self) -> Iterator[Picture]:
        """Return the pictures of what was run."""
        return pictures(self.parts)

    def draw(self, folder: Path) -> None:
        """Draw them into a folder, beside the schedules."""
        schedules = [{"workload": point.workload, **self.outcome[point]} for point in self.points]
        text = json.dumps(schedules, allow_nan=False)
        (folder / "oas-schedules.json").write_text(text + "\n", encoding="utf-8")
        draw_pictures(self.outcome, self.parts, folder)

    def method(self) -> Iterator[str]:
        """Yield paragraphs on how the page was made."""
        limit = self.outcome.time_limit
        of = self.outcome.optima()
        yield (
            f"A solver had {limit:g} s for each schedule, not counting the time in which a model "
            "is built; HiGHS may take longer, for it does not always look at the clock. All "
            "schedules were checked in exact arithmetic (`agents.oas.verify`) and are in "
            "`oas-schedules.json`. *OAS* is the best "
            f"schedule of CP-SAT, proved optimal for {of['proved']} of {of['searched']} (`status` "
            "in `oas-points.csv` and, where links are ignored, in `oas-schedules.json`). *OAS as "
            "printed* is the paper's mixed-integer model, and *OAS with nodes counted* a "
            "time-indexed one of the same optimum (`agents.oas.solvers.aggregated`: how many nodes "
            "of each cluster a job gets, instead of which), both solved by HiGHS. Slots are in "
            "percent of the mean base time. Solve times are wall-clock times of one machine.\n"
        )
        yield (
            "The paper does not print its workloads. Ours have eight jobs of 1 to 12 tasks, sigma "
            "0.7 and a mean base time of 670,000 s on the paper's three clusters (4 nodes each, "
            "effective power 1, 0.75 and 0.5, 1000 Mbit/s):\n"
        )
        yield (
            "- WL-1 was made to suit queues that fill free nodes: pairs of jobs of 8 and 4 tasks "
            "with equal execution times.\n"
            "- WL-2 was chosen among random ones because SJF does well there.\n"
            "- WL-3 to WL-6 are random and were not chosen: tasks from 1 to 12, and 50 to 600 "
            "Mbit/s a task, or as much as lets the job run alone.\n"
        )
        yield (
            "The files are in `experiments/papers/oas/workloads`; `metasched oas FILE` reads "
            "them.\n"
        )

    def rules(self) -> str:
        """Return the paragraph on how claims are judged."""
        return (
            "Numbers are percent by which the first makespan is above the second, unless they say "
            "otherwise; of many, the lowest and the highest are shown. *Good*, *well*, *suits*, "
            f"*close* and *similar* are up to {SIMILAR:g} % above, *badly* is more; *far longer* "
            f"is {GROWTH:g} times as long or more. Schedules are not random, so there are no "
            "intervals. Claims are about optimal schedules: where no optimum was proved, it lies "
            "between the bound of the solver and the makespan that was found, and a claim holds, "
            "or fails, only if it does wherever it lies.\n"
        )

    def tables(self) -> Iterator[str]:
        """Yield what stands between claims and pictures."""
        if "slots" in self.parts:
            yield from self._slots()
        if "workloads" in self.parts:
            yield from self._workloads()

    def _slots(self) -> Iterator[str]:
        yield "## Slots\n"
        heads = ["slot", "makespan, days", "compaction", "status", "solve, s"]
        heads += ["with nodes counted, s", "as printed, s"]
        yield f"| {' | '.join(heads)} |"
        yield "|---" * len(heads) + "|"
        for share in (*SHARES, None):
            found = self.outcome[Point(OF_SLOTS, OAS, share)]
            counted, printed = (
                f"{answer['wall_s']:.2f} ({answer['status']})" if share in of else "-"
                for of, method in ((SHARES, AGGREGATED), (OF_MILP, MILP))
                for answer in (self.outcome[Point(OF_SLOTS, method, share)] if share in of else {},)
            )
            size = "none" if share is None else f"{share} %"
            yield (
                f"| {size} | {found['makespan'] / DAY:.2f} | {100 * found['compaction']:.1f} % | "
                f"{found['status']} | {found['wall_s']:.2f} | {counted} | {printed} |"
            )
        yield ""

    def _workloads(self) -> Iterator[str]:
        yield "## Saturation\n"
        yield (
            "The schedules of OAS without slots, run by the grid on links that jobs share (eqs. 5 "
            "to 7): as planned, and as OAS would plan if links had no limits. What avoiding "
            "saturation saves is in percent of the latter's makespan; below 0 it is a cost.\n"
        )
        yield "| workload | OAS, days | links ignored: planned | as it went | saved |"
        yield "|---|---|---|---|---|"
        for workload in WORKLOADS:
            replay = self.outcome[Point(workload, OAS)]["replay"]
            ignored = replay["links_ignored"]
            yield (
                f"| {workload.upper()} | {replay['makespan'] / DAY:.2f} | "
                f"{ignored['planned'] / DAY:.2f} | {ignored['makespan'] / DAY:.2f} | "
                f"{100 * replay['saving']:.2f} % |"
            )
        yield ""

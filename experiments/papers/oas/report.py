"""What `metasched reproduce oas` leaves behind: tables, pictures and a page that shows them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from experiments.papers import report
from experiments.papers.claims import Verdict
from experiments.papers.claims_report import Claim, claims_page, claims_table, plain_claims, told
from experiments.papers.oas.claims import GROWTH, SIMILAR
from experiments.papers.oas.gantt import DAY
from experiments.papers.oas.outcome import Outcome
from experiments.papers.oas.pictures import draw_pictures, pictures
from experiments.papers.oas.points import (
    MILP,
    OAS,
    OF_MILP,
    OF_SLOTS,
    SHARES,
    WORKLOADS,
    Point,
    points,
)
from experiments.studies.outputs import plain, write_csv

TELL = partial(told, unit="")
"""Numbers that decide are percent unless they say otherwise."""


@dataclass(frozen=True)
class Report(report.Report):
    """Schedules and claims of `oas`, ready to be written.

    Attributes
    ----------
    outcome : Outcome
    parts : tuple of str
    claims : list of (Claim, Verdict)
    command : str
        That makes the report again.
    """

    paper = "oas"

    outcome: Outcome
    parts: tuple[str, ...]
    claims: list[tuple[Claim, Verdict]]
    command: str

    @property
    def _points(self) -> list[Point]:
        return [point for part in self.parts for point in points(part)]

    def summary(self) -> dict[str, Any]:
        """Return points and claims, ready for JSON."""
        return {
            "paper": self.paper,
            "parts": list(self.parts),
            "time_limit": self.outcome.time_limit,
            "points": plain(self.outcome.table(self._points)),
            "claims": plain_claims(self.claims),
        }

    def _page(self) -> Iterator[str]:
        limit = self.outcome.time_limit
        yield "# Ordering and allocation, run again\n"
        yield f"```console\n{self.command}\n```\n"
        yield (
            f"made this page. A solver had {limit:g} s for each schedule; all schedules were "
            "checked in exact arithmetic (`agents.oas.verify`) and are in `oas-schedules.json`. "
            "*OAS* is the best schedule of CP-SAT, and the optimum unless `oas-points.csv` says "
            "`feasible`; *OAS as printed* is the paper's mixed-integer model, with HiGHS. Slots "
            "are in percent of the mean base time. Solve times are wall-clock times of one "
            "machine.\n"
        )
        yield (
            "The paper does not print its workloads. Ours have eight jobs of 1 to 12 tasks, sigma "
            "0.7 and a mean base time of 670,000 s on the paper's three clusters (4 nodes each, "
            "effective power 1, 0.75 and 0.5, 1000 Mbit/s). WL-1 was made to suit queues that fill "
            "free nodes: pairs of jobs of 8 and 4 tasks that take equally long. WL-2 was chosen "
            "among random ones because SJF does well there. WL-3 to WL-6 are random, and were not "
            "chosen: tasks from 1 to 12, and 50 to 600 Mbit/s a task, or as much as lets the job "
            "run alone. The files are in `experiments/papers/oas/workloads`, and `metasched oas "
            "FILE` reads them.\n"
        )
        yield "## Claims\n"
        yield (
            "Numbers are percent by which the first makespan is above the second, unless they say "
            "otherwise; of many the lowest and the highest are shown. *Good* and *similar* are up "
            f"to {SIMILAR:g} % above; *far longer* is {GROWTH:g} times as long or more. There is "
            "no chance in schedules, and so no interval.\n"
        )
        yield from claims_page(self.claims, TELL)
        if "slots" in self.parts:
            yield from self._slots()
        if "workloads" in self.parts:
            yield from self._workloads()
        for name, heading, caption in pictures(self.parts):
            yield f"## {heading}\n"
            yield f"![{caption}](oas-{name}.svg)\n"
            yield f"*{caption}.*\n"

    def _slots(self) -> Iterator[str]:
        yield "## Slots\n"
        yield "| slot | makespan, days | compaction | status | solve, s | as printed, s |"
        yield "|---|---|---|---|---|---|"
        for share in (*SHARES, None):
            found = self.outcome[Point(OF_SLOTS, OAS, share)]
            printed = "-"
            if share in OF_MILP:
                answer = self.outcome[Point(OF_SLOTS, MILP, share)]
                printed = f"{answer['wall_s']:.1f} ({answer['status']})"
            size = "none" if share is None else f"{share} %"
            yield (
                f"| {size} | {found['makespan'] / DAY:.2f} | {found['compaction']:.1%} | "
                f"{found['status']} | {found['wall_s']:.2f} | {printed} |"
            )
        yield ""

    def _workloads(self) -> Iterator[str]:
        yield "## Saturation\n"
        yield (
            "The schedules of OAS without slots, run by the grid on links that jobs share (eqs. 5 "
            "to 7): as planned, and as OAS would plan if links had no limits. What avoiding "
            "saturation saves is of the latter's makespan; below 0 it costs.\n"
        )
        yield "| workload | OAS, days | links ignored: planned | as it went | saved |"
        yield "|---|---|---|---|---|"
        for workload in WORKLOADS:
            replay = self.outcome[Point(workload, OAS)]["replay"]
            ignored = replay["links_ignored"]
            yield (
                f"| {workload.upper()} | {replay['makespan'] / DAY:.2f} | "
                f"{ignored['planned'] / DAY:.2f} | {ignored['makespan'] / DAY:.2f} | "
                f"{replay['saving']:.2%} |"
            )
        yield ""

    def _leave(self, folder: Path) -> None:
        schedules = [{"workload": point.workload, **self.outcome[point]} for point in self._points]
        write_csv(self.outcome.table(self._points), folder / "oas-points.csv")
        text = json.dumps(schedules, allow_nan=False)
        (folder / "oas-schedules.json").write_text(text + "\n", encoding="utf-8")
        draw_pictures(self.outcome, self.parts, folder)
        write_csv(claims_table(self.claims, TELL), folder / "oas-claims.csv")

"""What `metasched reproduce maxutil` leaves behind: tables, pictures and a page that shows them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.papers import report as base
from experiments.papers.claims import Measured, Verdict
from experiments.papers.claims_report import claims_page, claims_table, plain_claims
from experiments.papers.maxutil.claims import Claim
from experiments.papers.maxutil.logs import Log
from experiments.papers.maxutil.outcome import Outcome, formula, truth
from experiments.papers.maxutil.pictures import draw_pictures, pictures
from experiments.papers.maxutil.points import (
    DEPENDENT,
    ENDS,
    FIRST_FIT,
    FPFS,
    FPFS_SHARE,
    JOBS,
    ROWS,
    SERVICE,
    TINY,
    UNORDERED,
    Point,
    log_points,
    of_row,
    point,
)
from experiments.papers.maxutil.tables import SIZE, TABLE_5, Row
from experiments.studies.outputs import plain, write_csv
from experiments.sweeps.statistics import Interval
from grid.workloads.component_sizes import parse_sizes


@dataclass(frozen=True)
class Report(base.Report):
    """Tables, figures and claims, ready to be written.

    Attributes
    ----------
    outcome : Outcome
    parts : tuple of str
        What was run.
    logs : list of Log
    claims : list of (Claim, Verdict)
    command : str
        That makes the report again.
    """

    paper = "maxutil"

    outcome: Outcome
    parts: tuple[str, ...]
    logs: list[Log]
    claims: list[tuple[Claim, Verdict]]
    command: str

    def summary(self) -> dict[str, Any]:
        """Return all numbers and claims, ready for JSON."""
        return {
            "paper": self.paper,
            "parts": list(self.parts),
            "scale": self.outcome.scale,
            "replications": self.outcome.replications,
            "systems": plain(self.systems()),
            "claims": plain_claims(self.claims),
        }

    def systems(self) -> pd.DataFrame:
        """Return one row for each table, figure and system: its losses, and the paper's."""
        columns = ["about", "system", "waiting", "loss", "loss_ci", "formula", "paper"]
        rows = [
            {
                "about": about,
                "system": each.system.title,
                "waiting": each.waiting,
                "loss": self.outcome.loss(each).mean,
                "loss_ci": self.outcome.loss(each).half_width,
                "formula": exact,
                "paper": paper,
            }
            for about, each, exact, paper in self._systems()
        ]
        return pd.DataFrame(rows, columns=columns)

    def _systems(self) -> Iterator[tuple[str, Point, float | None, float | None]]:
        if "tables" in self.parts:
            for clusters, row in ROWS:
                for _, name, each, paper, _ in _cells(clusters, row):
                    yield f"Table {3 if clusters == 4 else 4}, {name}", each, formula(each), paper
        if "figures" in self.parts:
            for about, group in (
                ("Fig. 3", UNORDERED),
                ("Fig. 4", DEPENDENT),
                ("Section 7.1", SERVICE),
                ("Fig. 5", FPFS),
                ("Fig. 6", FIRST_FIT),
            ):
                for each in group.values():
                    yield about, each, None, None
        if "chain" in self.parts:
            for tiny in TINY:
                yield "Markov chain", tiny.point, truth(tiny)[0], None
        for each in self._of_logs().values():
            yield "Fig. 7", each, None, None

    def _of_logs(self) -> dict[tuple[str, str], Point]:
        paths = {log.name: log.path for log in self.logs}
        return log_points(paths.get("CTC"), paths.get("DAS"))

    def _leave(self, folder: Path) -> None:
        write_csv(self.systems(), folder / "maxutil-systems.csv")
        draw_pictures(self.outcome, self.parts, self.logs, folder)
        write_csv(claims_table(self.claims, told, "about"), folder / "maxutil-claims.csv")

    # The page -----------------------------------------------------------------------------------

    def _page(self) -> Iterator[str]:
        outcome = self.outcome
        yield "# The maximal utilization of co-allocation, computed and simulated again\n"
        yield f"```console\n{self.command}\n```\n"
        jobs = JOBS * outcome.scale
        yield (
            f"made this page. Each run has {jobs:,.0f} jobs in heavy traffic, that is with another "
            f"one always waiting ({FPFS_SHARE * jobs:,.0f} under FPFS), of which the first 5 % of "
            f"the time do not count; runs of each system: {outcome.replications}, of different "
            "seeds. Intervals are 95 % confidence intervals (Student's t) over them. All losses "
            "are capacity losses, the share of the processors that is idle though jobs wait. "
            "Components are placed Worst Fit, service is exponential and jobs go first come, first "
            f"served on four clusters of {SIZE}, unless another is named.\n"
        )
        yield (
            "The paper found some of its columns by simulating the full queue with Poisson "
            "arrivals; `metasched maxutil simulate --method poisson` does that for any system. "
            "Of the paper's text some digits are lost. Under FPFS a result means nothing without "
            "the length of the queue, which is one of them: K jobs always wait here, for several "
            "K. All departures of one instant precede any start, which matters for deterministic "
            "service. No parameter was tuned to meet a figure.\n"
        )
        yield "## Claims\n"
        yield (
            "A comparison *holds* if the interval of every difference is on the right side, "
            "*fails* if one is on the wrong side, and is *open* else; of many the lowest and the "
            "highest are shown. Where a tolerance or a range is named, a claim holds if all "
            "intervals are inside, fails if one is outside as a whole, and is open else; of "
            "differences the largest of those that decide is shown. Of claims about FPFS the "
            "verdict is *open* if it depends on K.\n"
        )
        yield from claims_page(self.claims, told, head="")
        if "tables" in self.parts:
            yield from self._tables()
        if "figures" in self.parts:
            yield from _laws()
            yield from self._service_times()
        if "chain" in self.parts:
            yield from self._chain()
        if self.logs:
            yield from self._log_statistics()
        elif "logs" in self.parts:
            yield "No logs were given: Tables 1 and 2 and Figs. 1, 2 and 7 are left out.\n"
        for name, caption in pictures(self.parts, self.logs):
            caption += f": {self._sources()}" if name in ("figures1-2", "figure7") else ""
            yield f"![{caption}](maxutil-{name}.svg)\n"
            yield f"*{caption}.*\n"

    def _tables(self) -> Iterator[str]:
        for number, clusters in ((3, 4), (4, 2)):
            yield f"## Table {number}: {clusters} clusters of {SIZE}\n"
            yield (
                "For each column the paper's number, ours and the difference; simulations of ours "
                "with their intervals.\n"
            )
            rows = [row for count, row in ROWS if count == clusters]
            heads = [f"{name}, {kind}" for kind, name, *_ in _cells(clusters, rows[0])]
            yield from _table(
                ("sizes", *heads),
                ((row.law, *self._cells_of(clusters, row)) for row in rows),
            )

    def _cells_of(self, clusters: int, row: Row) -> Iterator[str]:
        for _, _, each, paper, simulated in _cells(clusters, row):
            ours = self.outcome.loss(each) if simulated else Interval(formula(each), 0.0)
            if paper is None:
                yield f"{_shown(ours)}"
            else:
                apart = round(ours.mean - paper, 4) + 0.0  # no negative zero
                yield f"{paper:.3f} / {_shown(ours)} / {apart:+.4f}"

    def _service_times(self) -> Iterator[str]:
        yield "## Service times (section 7.1)\n"
        cells = []
        for law in TABLE_5:
            for request in ("ordered", "unordered"):
                losses = (self.outcome.loss(SERVICE[law, request, each]) for each in ENDS)
                cells.append((law, request, *map(_shown, losses)))
        heads = (f"{service}, cv {cv:g}" for service, cv in ENDS)
        yield from _table(("sizes", "requests", *heads), cells)

    def _chain(self) -> Iterator[str]:
        yield "## The exact chain of tiny systems\n"
        yield (
            "The Markov chain of jobs in service and in a closed queue, solved in full; eq. 5 "
            "knows first come, first served alone.\n"
        )
        rows = []
        for tiny in TINY:
            loss, states = truth(tiny)
            fcfs = tiny.waiting == 1
            rows.append(
                (
                    f"{tiny.law}, {tiny.clusters} x {tiny.size}",
                    tiny.policy,
                    f"{states:,}",
                    f"{loss:.4f}",
                    _shown(self.outcome.loss(tiny.point)),
                    f"{formula(tiny.point):.4f}" if fcfs else "-",
                )
            )
        heads = ("system", "policy", "states", "true loss", "simulated", "approximated (eq. 5)")
        yield from _table(heads, rows)

    def _sources(self) -> str:
        named = " and ".join(f"{log.path.name} for the {log.name}" for log in self.logs)
        return f"not the paper's very logs, but {named}"

    def _log_statistics(self) -> Iterator[str]:
        yield "## Tables 1 and 2: the logs at hand\n"
        yield (
            f"These are {self._sources()}. The paper's DAS is the largest cluster of DAS1, of 128 "
            "processors. Jobs of more than 128 processors are left out of Fig. 7.\n"
        )
        yield from _table(
            ("", "jobs", "number", "mean", "cv"),
            (
                (table, jobs, f"{count:,}", f"{mean:,.2f}", f"{cv:.2f}")
                for log in self.logs
                for table, jobs, count, mean, cv in log.statistics()
            ),
        )
        yield from _table(
            ("Fig. 7", "unordered", "total"),
            (
                (
                    log.name,
                    *(
                        _shown(self.outcome.loss(self._of_logs()[log.name, request]))
                        for request in ("unordered", "total")
                    ),
                )
                for log in self.logs
            ),
        )


def _cells(clusters: int, row: Row) -> Iterator[tuple[str, str, Point, float | None, bool]]:
    """Yield the columns of a row: kind, of what, the system, the paper's, whether simulated."""
    points = of_row(clusters, row)
    of = (
        ("one cluster", "single", row.single_exact, row.single_simulation),
        ("ordered", "ordered", row.ordered_exact, row.ordered_simulation),
        ("unordered", "unordered", row.unordered_approximation, row.unordered_simulation),
        ("total", "total", row.total_exact, None),
    )
    for name, key, exact, simulated in of:
        kind = "approximated" if name == "unordered" else "exact"
        yield kind, name, points[key], exact, False
        yield "simulated", name, points[key], simulated, True


def _laws() -> Iterator[str]:
    yield "## Table 5, and eq. 2 for Fig. 3\n"
    yield "The paper's means and coefficients of variation are among the digits that are lost.\n"
    rows = []
    for text in TABLE_5:
        law = parse_sizes(text, SIZE)
        exact = (f"{formula(point(text, request)):.4f}" for request in ("ordered", "total"))
        rows.append((text, f"{law.mean:.3f}", f"{law.cv:.3f}", *exact))
    yield from _table(("sizes", "mean", "cv", "loss, ordered", "loss, total"), rows)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


def told(measured: Measured) -> str:
    """Return a number of ours in words."""
    return f"{_shown(measured.value)} ({measured.where})"


def _shown(value: Interval) -> str:
    if math.isnan(value.mean):
        return "none"
    if float(value.mean).is_integer() and not value.half_width:
        return f"{value.mean:.0f}"
    shown = f"{value.mean:.4f}"
    if not value.half_width:
        return shown
    return f"{shown} ± {math.ceil(value.half_width * 1e4) / 1e4:.4f}"

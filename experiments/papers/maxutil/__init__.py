"""Sections 3 to 7 of `maxutil` run again: its tables, its figures, and what it claims."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console

from experiments.maxutil.heavy_traffic import observe
from experiments.papers import engine, judging
from experiments.papers.engine import Picture
from experiments.papers.judging import Measured
from experiments.papers.maxutil.logs import Log
from experiments.papers.maxutil.loss_bars import draw_pictures, pictures
from experiments.papers.maxutil.loss_claims import CLAIMS, claim_of_logs
from experiments.papers.maxutil.losses import Outcome, formula, truth
from experiments.papers.maxutil.paper_tables import SIZE, TABLE_5, Row
from experiments.papers.maxutil.systems import (
    DEPENDENT,
    ENDS,
    FEWEST,
    FIRST_FIT,
    FPFS,
    FPFS_SHARE,
    JOBS,
    PARTS,
    ROWS,
    SERVICE,
    TINY,
    UNORDERED,
    Point,
    log_points,
    of_row,
    point,
    points_of,
)
from experiments.sweeps.statistics import Interval
from grid.errors import GridError
from grid.workloads.component_sizes import parse_sizes


class Paper(engine.PaperOfPoints):
    """Tables 1 to 4 and Figs. 1 to 8 of `maxutil`.

    Parameters
    ----------
    parts : sequence of str, optional
        Of `PARTS`.
    ctc, das : path, optional
        Logs for Tables 1 and 2 and Figs. 1, 2 and 7; without them these are left out.
    **amounts
        As of any `PaperOfRuns`.
    """

    key = "maxutil"
    title = "Reproduction: the maximal utilization of co-allocation"
    known, part, about = PARTS, "part", ""
    usual, outcomes, observe = 5, Outcome, observe
    rows_name = "systems"

    def __init__(
        self,
        parts: Sequence[str] = (),
        ctc: str | Path | None = None,
        das: str | Path | None = None,
        **amounts: Any,
    ) -> None:
        given = {name: path for name, path in (("CTC", ctc), ("DAS", das)) if path is not None}
        for name in given:
            if parts and "logs" not in parts:
                raise GridError(
                    f"--{name.lower()}: found with --part {parts[0]}; accepted: with --part logs "
                    "or all parts"
                )
        super().__init__(parts, **amounts)
        self.logs = [Log.read(name, Path(path)) for name, path in given.items()]
        paths = {log.name: log.path for log in self.logs}
        self.of_logs = log_points(paths.get("CTC"), paths.get("DAS"))
        self.stated = (*CLAIMS, claim_of_logs(self.logs)) if len(self.logs) == 2 else CLAIMS

    def points(self, part: str) -> list[Point]:
        """Return the systems that a part of the paper needs."""
        return [*self.of_logs.values()] if part == "logs" else points_of(part)

    def options(self) -> list[str]:
        """Return the options of the command that say how much is run, and of which logs."""
        logs = [f"--{log.name.lower()} {log.path.name}" for log in self.logs]
        return [*super().options(), *logs]

    def tell(self, measured: Measured) -> str:
        """Return a number that decides on a claim, in words."""
        return f"{_shown(measured.value)} ({measured.where})"

    def show(self, folder: str, console: Console) -> None:
        """Print the claims, and in which folder the rest is."""
        super().show(folder, console)
        if "logs" in self.parts and not self.logs:
            console.print("no logs given (--ctc, --das): Tables 1 and 2, Figs. 1, 2 and 7 left out")

    def files(self) -> dict[str, pd.DataFrame]:
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
        return {"systems": pd.DataFrame(rows, columns=columns)}

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
        for each in self.of_logs.values():
            yield "Fig. 7", each, None, None

    def pictures(self) -> Iterator[Picture]:
        """Yield the pictures of what was run."""
        for name, caption in pictures(self.parts, self.logs):
            source = f": {self._sources()}" if name in ("figures1-2", "figure7") else ""
            yield Picture(name, caption + source)

    def draw(self, folder: Path) -> None:
        """Draw them into a folder."""
        draw_pictures(self.outcome, self.parts, self.logs, folder)

    # The page -----------------------------------------------------------------------------------

    def method(self) -> Iterator[str]:
        """Yield paragraphs on how the page was made."""
        jobs = JOBS * self.scale
        yield (
            f"Each run has {jobs:,.0f} jobs in heavy traffic, that is, with another job always "
            f"waiting ({FPFS_SHARE * jobs:,.0f} under FPFS); none has fewer than {FEWEST:,}, or "
            "than three times those that wait. The first 5 % of the time do not count. Runs of "
            f"each system: {self.replications}, of different seeds. Intervals are 95 % confidence "
            "intervals (Student's t) over them. All losses are capacity losses, the share of the "
            "processors that is idle though jobs wait. Unless stated otherwise, placement is Worst "
            "Fit, service is exponential, and jobs are served first come, first served on four "
            f"clusters of {SIZE}.\n"
        )
        yield (
            "The paper found some of its columns by simulating the full queue with Poisson "
            "arrivals; `metasched maxutil simulate --method poisson` does that for any system. "
            "Some digits of the paper's text are lost. One of these numbers is the length of the "
            "queue under FPFS, without which a result means nothing; here K jobs always wait, for "
            "several K. All departures of one instant precede any start, which matters for "
            "deterministic service. No parameter was tuned to match a figure.\n"
        )

    def rules(self) -> str:
        """Return the paragraph on how claims are judged."""
        return (
            "- A comparison *holds* if the interval of every difference is on the right side, "
            "*fails* if one is on the wrong side, and is otherwise *open*. Of many, the lowest and "
            "the highest are shown.\n"
            "- Where a tolerance or a range is named, a claim *holds* if all intervals are inside, "
            "*fails* if one is completely outside, and is otherwise *open*. Of differences, the "
            "largest of those that decide is shown.\n"
            + judging.TRENDS
            + judging.FAILS_SURELY
            + "- A claim about FPFS is *open* if the verdict depends on K. Whatever we find, so is "
            "what no number decides (*very much*), and what is said of other logs than ours: the "
            "paper's are of the CTC and of DAS1.\n"
        )

    def tables(self) -> Iterator[str]:
        """Yield what stands between claims and pictures."""
        if "tables" in self.parts:
            yield from self._columns()
        if "figures" in self.parts:
            yield from _laws()
            yield from self._service_times()
        if "chain" in self.parts:
            yield from self._chain()
        if self.logs:
            yield from self._log_statistics()
        elif "logs" in self.parts:
            yield "No logs were given: Tables 1 and 2 and Figs. 1, 2 and 7 are left out.\n"

    def _columns(self) -> Iterator[str]:
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
            "The Markov chain of jobs in service and in a closed queue, solved in full. Eq. 5 "
            "only covers first come, first served.\n"
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
                        _shown(self.outcome.loss(self.of_logs[log.name, request]))
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


def _shown(value: Interval) -> str:
    if math.isnan(value.mean):
        return "none"
    if float(value.mean).is_integer() and not value.half_width:
        return f"{value.mean:.0f}"
    shown = f"{value.mean:.4f}"
    if not value.half_width:
        return shown
    return f"{shown} ± {math.ceil(value.half_width * 1e4) / 1e4:.4f}"

"""Section 5 of `muscle` run again: Figs. 4 to 7, and what becomes of its claims."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Self

import pandas as pd
from rich.console import Console
from rich.table import Table
from rich.text import Text

from experiments.papers import engine, judging
from experiments.papers.claims_report import plain_evidence, shown
from experiments.papers.engine import Picture
from experiments.papers.judging import Measured, Verdict
from experiments.papers.muscle import case_study, looks
from experiments.papers.muscle.claims import LITTLE, READINGS, TOLERANCE, Judged, judged
from experiments.papers.muscle.pictures import draw_figure, pictures
from experiments.papers.muscle.points import (
    FIGURES,
    JOBS,
    LIST,
    PAPER,
    TITANS,
    Series,
    observe,
    points,
    table_3,
)
from experiments.papers.muscle.savings import NAMES, Outcome
from experiments.show.numbers import exact, listed
from experiments.studies.outputs import plain
from experiments.sweeps.run_store import Kept, kept_of_paper
from experiments.sweeps.sweep import Watch, observed, sweep


class Paper(engine.PaperOfRuns):
    """Figs. 4 to 7 of `muscle`, of which the many rounds of a run are the sample."""

    key, title = "muscle", "Reproduction of the MUSCLE paper"
    known, usual = FIGURES, 1
    bars = " Bars: 95 % confidence intervals."

    claims: list[Judged]  # type: ignore[assignment]  # with a verdict under each reading

    def __init__(
        self,
        parts: Sequence[int] = (),
        scale: float = 1.0,
        replications: int | None = None,
        workers: int = 1,
        cpu_hours: float | None = None,
    ) -> None:
        super().__init__(parts, scale, replications, workers)
        self.cpu_hours = cpu_hours
        self.claims = []
        self.look, self.cpu_s = 1, 0.0

    @property
    def jobs(self) -> int:
        """How many a run has."""
        return max(1, math.floor(JOBS * self.scale + 0.5))

    def reproduce(self, folder: Path, watch: Watch) -> Self:
        """Run the experiments, and judge the paper's claims of them, as `engine` says."""
        self.outcome = Outcome(points(self.parts), self.jobs, self.replications)
        kept = kept_of_paper(folder, self.key, scale=self.scale)
        self._look(kept, watch)
        while self.cpu_hours is not None:
            cpu_s = kept.cpu_s()
            self.cpu_s = looks.spent(self.outcome, cpu_s)
            left = 3600 * self.cpu_hours - self.cpu_s
            grown = looks.more(self.outcome, self.claims, cpu_s, left)
            if not grown:
                break
            self.outcome.replications |= grown
            self.look += 1
            self._look(kept, watch)
        return self

    def _look(self, kept: Kept, watch: Watch) -> None:
        """Do the runs that are lacking, and judge the claims that are open."""
        outcome = self.outcome
        outcome.fill(
            sweep(outcome.runs, partial(observed, observe=observe), kept, self.workers, watch)
        )
        outcome.among = 1 if self.cpu_hours is None else looks.among(self.look)
        self.claims = judged(outcome, self.parts, self.claims)
        outcome.among = 1  # of what is drawn

    def files(self) -> dict[str, pd.DataFrame]:
        """Return a table for each figure."""
        return {f"figure{figure}": self.outcome.table(figure) for figure in self.parts}

    def rows(self) -> list[dict[str, Any]]:
        """Return all numbers, ready for JSON."""
        tables = zip(self.parts, self.files().values(), strict=True)
        return [{"figure": figure, **row} for figure, table in tables for row in plain(table)]

    def amounts(self) -> dict[str, Any]:
        """Return how much was run, ready for JSON."""
        amounts = {"scale": self.scale, "jobs": self.jobs, "replications": self.replications}
        if self.cpu_hours is None:
            return amounts
        return amounts | {"cpu_hours": self.cpu_hours, "cpu_s": self.cpu_s, "looks": self.look}

    def options(self) -> list[str]:
        """Return the options of the command that say how much is run."""
        on = [] if self.cpu_hours is None else [f"--cpu-hours {exact(self.cpu_hours)}"]
        return super().options() + on

    def plain_claims(self) -> list[dict[str, Any]]:
        """Return the claims and what became of them, ready for JSON."""
        return [
            {
                "figure": each.claim.parts[0],
                "claim": each.claim.text,
                "paper": each.claim.paper or None,
                "verdict": each.word,
                "readings": [
                    {
                        "titan": reading.titan,
                        "start": reading.start,
                        "verdict": verdict.word,
                        "ours": plain_evidence(verdict),
                    }
                    for reading, verdict in each.verdicts.items()
                ],
            }
            for each in self.claims
        ]

    def claims_table(self) -> pd.DataFrame:
        """Return one row for each claim and reading."""
        return pd.DataFrame(
            [
                {
                    "figure": each.claim.parts[0],
                    "claim": each.claim.text,
                    "paper": each.claim.paper,
                    "verdict": each.word,
                    "titan": reading.titan,
                    "start": reading.start,
                    "verdict_of_reading": verdict.word,
                    "ours": "; ".join(_told(verdict)),
                }
                for each in self.claims
                for reading, verdict in each.verdicts.items()
            ]
        )

    def show(self, folder: str, console: Console) -> None:
        """Print each claim, its verdict, and that of each reading; then where the rest is."""
        table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
        table.add_column("fig.", justify="right")
        table.add_column("the paper says")
        table.add_column("verdict", no_wrap=True)
        for titan, start in READINGS:
            table.add_column(f"{titan} {start}", min_width=6)
        for each in self.claims:
            number = f" [{each.claim.paper}]" if each.claim.paper else ""
            table.add_row(
                str(each.claim.parts[0]),
                Text(each.claim.text + number),
                Text(each.word, "bold"),
                *(verdict.word for verdict in each.verdicts.values()),
            )
        console.print(table)
        console.print(
            "last columns: whose TITAN, and how it starts under DLL and WRAND",
            f"rules of judging, numbers, tables and pictures: {folder}/{self.file}",
            sep="\n",
            markup=False,
            emoji=False,
            highlight=False,
            soft_wrap=True,
        )
        self.warn(console)

    def pictures(self) -> Iterator[Picture]:
        """Yield the pictures of what was run."""
        for figure in self.parts:
            for name, _, caption in pictures(figure):
                yield Picture(name, caption, f"Figure {figure}")

    def draw(self, folder: Path) -> None:
        """Draw them into a folder."""
        for figure in self.parts:
            draw_figure(self.outcome, figure, folder)

    # The page -----------------------------------------------------------------------------------

    def method(self) -> Iterator[str]:
        """Yield paragraphs on how the page was made."""
        outcome = self.outcome
        counts = sorted(outcome.replications.values())
        yield (
            f"Each run has {outcome.jobs:,} jobs (the paper: 20,000), in rounds of Poisson(N) "
            f"jobs. Runs of each policy at each point: {_span(counts[0], counts[-1])}. Every round "
            "finds idle clusters and has its own jobs, so rounds are independent. Intervals are 95 "
            "% confidence intervals (Student's t) over the rounds of all runs of a point. All "
            "schedulers get the same jobs in the same rounds, and are compared round by round. The "
            "last round of a run, which has only the remaining jobs, is left out.\n"
        )
        yield (
            "MCP (s) is the mean of the clusters' CP, weighted by their jobs, and PB (s) how far "
            "CP spreads over them; CP adds up over-deadline, makespan and idle-time by weights "
            "(Wo, Wm, Wi). DLL sends each job to the least loaded cluster, WRAND to one at random, "
            "by capability; in each cluster a TITAN orders the jobs. A deadline is the slowest "
            "execution time, times 1 + dr, after the arrival. Execution times are "
            "from 5 to 100 s (bounded Pareto) at rate 1; Table 3 is:\n"
        )
        yield from table_3()
        if self.cpu_hours is not None:
            yield self._looks(exact(self.cpu_hours))
        yield (
            "The paper prints neither the x values of Figs. 4 and 5 nor the Pareto exponent (1 "
            "here). Nor does it say how TITAN starts without a seed schedule, and its TITAN is not "
            "our default. Everything is therefore run in four readings, which combine two "
            "choices:\n"
        )
        yield (
            "- the TITAN: *ours* (the default of metasched) or *the paper's* "
            f"({_settings()});\n"
            "- the first generation of DLL's and WRAND's TITAN: from a *list* in order of "
            "landing on the cluster, or at *random*.\n"
        )
        yield "Idle-time is per processor. No parameter was tuned to match a figure.\n"

    def _looks(self, limit: str) -> str:
        """Return the paragraph on how runs were added until so many hours were spent."""
        hours = self.cpu_s / 3600
        spent = f"{hours:.1f}" if hours >= 0.1 else f"{hours:.2g}"
        cut = any(map(self.outcome.cut, self.parts))
        which = " that more runs might decide" if cut else ""
        if self.look == 1:
            why = f"no verdict was open{which}"
            if any(each.open_at for each in self.claims):
                why = f"too little was left of {limit} CPU hours"
            return (
                f"No runs were added, for {why} ({spent} CPU hours were spent). Intervals of "
                "verdicts are so wide that two of them hold their means with 95 % together, as if "
                "more looks were to follow.\n"
            )
        return (
            f"In {self.look} looks, runs were added where a verdict was open: up to twice as "
            f"many from look to look, until none was{which} or {limit} CPU hours were "
            f"spent ({spent} were). A verdict stands from the look at which it "
            "was reached, with the numbers of that look, but that a printed number holds is "
            "judged at each. At look k, intervals of verdicts "
            "are so wide that k (k + 1) of them hold their means with 95 % together, and so "
            "all looks do.\n"
        )

    def too_few(self) -> str:
        """Return of which figures runs are too short to judge claims."""
        cut = {figure: self.outcome.cut(figure) for figure in self.parts}
        if not any(cut.values()):
            return ""
        levels = "; ".join(
            f"Fig. {figure} at "
            + listed([f"N={queue:g}" for queue in sorted({point.queue for point in points})])
            for figure, points in cut.items()
            if points
        )
        return (
            f"**Too few jobs for a round**: in {levels}, runs have no whole round, and the "
            f"numbers there are of a round that was cut short. {engine.STAY_OPEN}"
        )

    def rules(self) -> str:
        """Return the paragraph on how claims are judged."""
        return (
            "- A comparison *holds* if the interval of every difference is on the right side, and "
            "*fails* if one is on the wrong side.\n"
            "- A printed number *holds* if our last interval, of at most ±5 percentage points, "
            "contains it, and *fails* if one does not.\n"
            "- Everything else is *open*; it is *too close* if all numbers that the claim compares "
            f"are known to ±{100 * TOLERANCE:g} percentage points, and more jobs would hardly "
            "decide it. The verdict on a claim is that of all four readings. Where they differ, it "
            "*depends* on the reading, or is *open* if one is.\n"
            "- Numbers are what MUSCLE saves, in percent of the other's MCP or PB (below 0: MUSCLE "
            'is worse), unless they say otherwise; that MUSCLE "outperforms" another by so many '
            "percent is read so. Of many, the lowest and the highest are shown; "
            "of a series, the first, the highest and the last. Verdicts are by numbers that are "
            "not rounded.\n"
            f"- *Slightly* and *little* are up to {100 * LITTLE:g} %, *much* (the paper: "
            "significantly) is more; *mostly* is more than half.\n"
            f"- Advantages are *similar* if they differ by up to {100 * LITTLE:g} percentage "
            "points. Those are differences of runs of other jobs, taken to be independent; all "
            "others are of the same jobs.\n"
            f"- *Few* jobs are late if up to {100 * LITTLE:g} % are; *more* are at the highest "
            "level than at the lowest.\n"
            "- *Little* advantage is also less than in the deadline range where it is largest.\n"
            "- What *grows, and then diminishes* *holds* if an interval inside is above the first "
            "and the last, and *fails* if the first or the last is above all others. That it does "
            "so at N=40 and at N=100 each, and that loose deadlines are those of dr to 5 and more, "
            "is our reading.\n"
            f"- There is *no clear trend* if the last number is within {100 * LITTLE:g} percentage "
            "points of the first.\n" + judging.TRENDS + judging.FAILS_SURELY
        )

    def claims_lines(self) -> Iterator[str]:
        """Yield the lines of the table of claims, in Markdown."""
        yield (
            "| Fig. | the paper says | its number | verdict | ours, list | ours, random "
            "| the paper's, list | the paper's, random |"
        )
        yield "|---|---|---|---|---|---|---|---|"
        for each in self.claims:
            cells = [_cell(verdict) for verdict in each.verdicts.values()]
            yield (
                "| "
                + " | ".join(
                    [
                        str(each.claim.parts[0]),
                        each.claim.text,
                        each.claim.paper or "-",
                        f"**{each.word}**" + (f"<br>({each.tally})" if each.tally else ""),
                        *cells,
                    ]
                )
                + " |"
            )

    def tables(self) -> Iterator[str]:
        """Yield what stands between claims and pictures."""
        yield (
            "\nNot judged: why MUSCLE wins (tight packing of the seed schedules, knowing more jobs "
            "at once, saturation, rivals that ignore deadlines and packing). The figures show "
            "effects, not causes. That CP remains balanced among the clusters under MUSCLE as "
            "over-deadline grows is judged only by its PB against that of others.\n"
        )
        yield from self._price()

    def _price(self) -> Iterator[str]:
        """Yield a table of what MUSCLE's lower MCP costs, by N; nothing without Fig. 4."""
        there = [each for each in self.outcome.points if each.figure == 4]
        if not there:
            return
        yield (
            "## Makespan and utilization\n\nMUSCLE minds deadlines, which DLL and WRAND do not. "
            "These are makespan and utilization (over it) of a round, of the whole grid, at the "
            "points of Fig. 4 with uniform sizes; starts of DLL and WRAND from a list.\n"
        )
        yield (
            "| TITAN | N | "
            + " | ".join(
                f"{metric}, {NAMES[policy]}"
                for metric in ("makespan (s)", "utilization (%)")
                for policy in NAMES
            )
            + " |"
        )
        yield "|---|--:|" + "--:|" * (2 * len(NAMES))
        for titan in TITANS:
            for point in (each for each in there if each.sizes == "uniform"):
                cells = [
                    shown(self.outcome.value(point, Series(titan, policy, LIST), name).scaled(unit))
                    for name, unit in (("makespan", 1.0), ("utilization", 100.0))
                    for policy in NAMES
                ]
                yield f"| {titan} | {point.queue:g} | " + " | ".join(cells) + " |"
        yield ""


def _span(least: int, most: int) -> str:
    return f"{least}" if least == most else f"{least} to {most}"


def _settings() -> str:
    return ", ".join(f"`{name} = {value!r}`" for name, value in TITANS[PAPER].items())


def _told(verdict: Verdict) -> list[str]:
    return [f"{_percent(each)} ({each.where})" for each in verdict.evidence]


def _cell(verdict: Verdict) -> str:
    """Return a verdict with its numbers."""
    return "<br>".join([f"**{verdict.word}**", *_told(verdict)])


def _percent(measured: Measured) -> str:
    mean, half = measured.value[:2]
    return f"{100 * mean:.1f} %" if half is None else f"{100 * mean:.1f} ± {100 * half:.1f} %"


TABLES = {"2": case_study.listing}
"""What can be asked for instead of figures."""

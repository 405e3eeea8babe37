"""What `metasched reproduce muscle` leaves behind: tables, pictures and a page that shows them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.papers import report as base
from experiments.papers.claims import Measured, Verdict
from experiments.papers.muscle.claims import Judged
from experiments.papers.muscle.outcome import Outcome
from experiments.papers.muscle.pictures import draw_figure, pictures
from experiments.papers.muscle.points import PAPER, TITANS
from experiments.show.numbers import listed
from experiments.studies.outputs import plain, write_csv


@dataclass(frozen=True)
class Report(base.Report):
    """Figures and claims, ready to be written.

    Attributes
    ----------
    outcome : Outcome
    claims : list of Judged
    figures : sequence of int
    scale : float
    command : str
        That makes the report again.
    """

    paper = "muscle"

    outcome: Outcome
    claims: list[Judged]
    figures: Sequence[int]
    scale: float
    command: str

    def summary(self) -> dict[str, Any]:
        """Return points and claims, ready for JSON."""
        return {
            "paper": self.paper,
            "figures": list(self.figures),
            "scale": self.scale,
            "jobs": self.outcome.jobs,
            "replications": self.outcome.replications,
            "points": [
                {"figure": figure, **row}
                for figure in self.figures
                for row in plain(self.outcome.table(figure))
            ],
            "claims": [
                {
                    "figure": each.claim.figure,
                    "claim": each.claim.text,
                    "paper": each.claim.paper or None,
                    "verdict": each.word,
                    "readings": [
                        {
                            "titan": reading.titan,
                            "start": reading.start,
                            "verdict": verdict.word,
                            "ours": [
                                {"at": at, "mean": value.mean, "half_width": value.half_width}
                                for at, value in verdict.evidence
                            ],
                        }
                        for reading, verdict in each.verdicts.items()
                    ],
                }
                for each in self.claims
            ],
        }

    def claims_table(self) -> pd.DataFrame:
        """Return one row for each claim and reading."""
        return pd.DataFrame(
            [
                {
                    "figure": each.claim.figure,
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

    def _page(self) -> Iterator[str]:
        outcome = self.outcome
        yield "# The experiments of the MUSCLE paper, run again\n"
        yield f"```console\n{self.command}\n```\n"
        yield (
            f"made this page. Each run has {outcome.jobs:,} jobs (the paper: 20,000), in rounds of "
            f"Poisson(N) jobs; runs of each policy at each point: {outcome.replications}. Every "
            "round finds idle clusters and has jobs of its own, so that rounds are independent: "
            "intervals are 95 % confidence intervals (Student's t) over the rounds of all runs of "
            "a point. All schedulers get the same jobs in the same rounds, and are compared round "
            "by round. The last round of a run, which holds what was left of the jobs, is left "
            "out.\n"
        )
        cut = {figure: outcome.cut(figure) for figure in self.figures}
        if any(cut.values()):
            levels = "; ".join(
                f"Fig. {figure} at "
                + listed([f"N={queue:g}" for queue in sorted({point.queue for point in points})])
                for figure, points in cut.items()
                if points
            )
            yield (
                f"**Too few jobs for a round**: in {levels}, runs have no whole round, and what is "
                "told there is of one that was cut short. All claims on these figures stay open; "
                "a larger `--scale` judges them.\n"
            )
        yield (
            "The paper prints neither the x values of Figs. 4 and 5 nor the Pareto exponent (1 "
            "here), nor how TITAN starts without a seed schedule. So everything is run in four "
            "readings: under *our TITAN* (the default of this product) and under *the paper's "
            f"TITAN* ({_settings()}), and with the first generation of DLL's and WRAND's TITAN "
            "from a *list* in order of arrival or at *random*. Idle-time is per processor. No "
            "parameter was tuned to meet a figure.\n"
        )
        yield "## Claims\n"
        yield (
            "A comparison *holds* if the interval of every difference is on the right side, and "
            "*fails* if one is on the wrong side. A printed number *holds* if our interval, of at "
            "most ±5 percentage points, contains it, and *fails* if it does not. All else is "
            "*open*. The verdict on a claim is that of all four readings, and *open* where they "
            "differ. Numbers are what MUSCLE saves, in percent of the other's MCP or PB (below 0: "
            "MUSCLE is worse), unless they say otherwise: of many the lowest and the highest, of a "
            "course the first, the highest and the last. *Slightly* and *much* are tested by the "
            "sign alone; *mostly* is more than half. *Few* late jobs are tested by what MCP mostly "
            "is, and by more of them being late at the highest level than at the lowest. *Little* "
            "advantage is less than in the deadline range where it is largest. There is *no clear "
            "trend* if the first and the last interval overlap.\n"
        )
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
                        str(each.claim.figure),
                        each.claim.text,
                        each.claim.paper or "-",
                        f"**{each.word}**" + (f"<br>({each.tally})" if each.tally else ""),
                        *cells,
                    ]
                )
                + " |"
            )
        yield (
            "\nNot judged: why MUSCLE wins (tight packing of the seed schedules, knowing more jobs "
            "at once, saturation, rivals that ignore deadlines and packing). The figures show "
            "effects, not causes.\n"
        )
        for figure in self.figures:
            yield f"## Figure {figure}\n"
            for name, _, caption in pictures(figure):
                yield f"![{caption}]({_file(name)}.svg)\n"
                yield f"*{caption}. Bars: 95 % confidence intervals.*\n"

    def _leave(self, folder: Path) -> None:
        for figure in self.figures:
            write_csv(self.outcome.table(figure), folder / f"{_file(f'figure{figure}')}.csv")
            draw_figure(self.outcome, figure, folder)
            for name, _, _ in pictures(figure):
                for suffix in (".svg", ".png"):
                    (folder / f"{name}{suffix}").rename(folder / f"{_file(name)}{suffix}")
        write_csv(self.claims_table(), folder / "muscle-claims.csv")


def _file(name: str) -> str:
    return f"muscle-{name}"


def _settings() -> str:
    return ", ".join(f"`{name} = {value!r}`" for name, value in TITANS[PAPER].items())


def _told(verdict: Verdict) -> list[str]:
    return [f"{_percent(each)} ({each.where})" for each in verdict.evidence]


def _cell(verdict: Verdict) -> str:
    """Return a verdict with its numbers."""
    return "<br>".join([f"**{verdict.word}**", *_told(verdict)])


def _percent(measured: Measured) -> str:
    mean, half = measured.value
    return f"{100 * mean:.1f} %" if half is None else f"{100 * mean:.1f} ± {100 * half:.1f} %"

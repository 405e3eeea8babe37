"""Claims of a paper and the verdicts on them, told to people and to programs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd
from rich.console import Console
from rich.table import Table
from rich.text import Text

from experiments.papers.judging import OPEN, Measured, Verdict
from experiments.sweeps.statistics import Interval
from grid.metrics.stability import GREW


@dataclass(frozen=True)
class Claim:
    """A claim of a paper.

    Attributes
    ----------
    parts : tuple
        Figures, or other parts of the paper, all of which it is about.
    text : str
        In our words.
    judge : callable
        Judges it by what all runs came to.
    paper : str
        The number that the paper prints, if any; "ours": it claims nothing of the kind.
    where : str
        What it is about, in words, if that is not figures.
    """

    parts: tuple[Any, ...]
    text: str
    judge: Callable[..., Verdict]
    paper: str = ""
    where: str = ""

    @property
    def about(self) -> str:
        """What it is about, in words."""
        return self.where or spans(self.parts)

    @property
    def place(self) -> dict[str, Any]:
        """What it is about, for programs."""
        return {"about": self.where} if self.where else {"figures": list(self.parts)}


def claim(
    parts: tuple[Any, ...],
    text: str,
    judge: Callable[..., Verdict],
    paper: str = "",
    where: str = "",
    **what: Any,
) -> Claim:
    """Return a claim that is judged with keywords of its own."""
    return Claim(parts, text, partial(judge, **what) if what else judge, paper, where)


Judged = Sequence[tuple[Claim, Verdict]]
NO_CLAIM = "No claim can be judged by these figures alone."
WITHOUT_END = f"∞: mean queues {GREW}; in a difference those of one side did"
Tell = Callable[[Measured], str]


def judged(
    claims: Iterable[Claim], outcome: Any, parts: Iterable[Any], short: Iterable[Any] = ()
) -> Judged:
    """Judge the claims that are about parts alone that were run.

    Those about parts of which runs are too short stay open.
    """
    run, left_open = set(parts), set(short)
    return [
        (claim, Verdict(OPEN, found.evidence) if left_open & set(claim.parts) else found)
        for claim in claims
        if set(claim.parts) <= run
        for found in (claim.judge(outcome),)
    ]


def plain_claims(claims: Judged) -> list[dict[str, Any]]:
    """Return claims, verdicts and the numbers that decide, ready for JSON."""
    return [
        {
            **claim.place,
            "claim": claim.text,
            "paper": claim.paper or None,
            "verdict": verdict.word,
            "ours": plain_evidence(verdict),
        }
        for claim, verdict in claims
    ]


def plain_evidence(verdict: Verdict) -> list[dict[str, Any]]:
    """Return the numbers that decide, ready for JSON."""
    return [
        {
            "at": at,
            "mean": value.mean if math.isfinite(value.mean) else None,
            "half_width": value.half_width,
        }
        for at, value in verdict.evidence
    ]


def claims_table(claims: Judged, tell: Tell, about: str = "figures") -> pd.DataFrame:
    """Return one row for each claim; the first column, what it is about, is called `about`."""
    rows = [
        (
            claim.about,
            claim.text,
            claim.paper,
            verdict.word,
            "; ".join(map(tell, verdict.evidence)),
        )
        for claim, verdict in claims
    ]
    return pd.DataFrame(rows, columns=[about, "claim", "paper", "verdict", "ours"])


def claims_page(claims: Judged, tell: Tell, head: str = "Fig.") -> Iterator[str]:
    """Yield the lines of a table in Markdown, of which the first column has a head."""
    if claims:
        yield f"| {head} | the paper says | its number | verdict | ours |"
        yield "|---|---|---|---|---|"
    else:
        yield NO_CLAIM
    for claim, verdict in claims:
        ours = "<br>".join(map(tell, verdict.evidence))
        cells = claim.about, claim.text, claim.paper or "-", f"**{verdict.word}**"
        yield f"| {' | '.join(cells)} | {ours} |"
    yield ""


def print_claims(
    claims: Judged,
    page: str,
    console: Console,
    tell: Tell,
    head: str = "fig.",
) -> None:
    """Print each claim, its verdict and its numbers; then where the rest is: the path of a page."""
    table = bare_table(head, "the paper says", "verdict", "ours")
    for claim, verdict in claims:
        number = f" [{claim.paper}]" if claim.paper else ""
        table.add_row(
            claim.about,
            Text(claim.text + number),
            Text(verdict.word, "bold"),
            Text("\n".join(map(tell, verdict.evidence))),
        )
    console.print(table if claims else NO_CLAIM)
    numbers = [each.value.mean for _, verdict in claims for each in verdict.evidence]
    if any(map(math.isinf, numbers)):
        console.print(WITHOUT_END)
    console.print(
        f"rules of judging, numbers, tables and pictures: {page}",
        markup=False,
        emoji=False,
        highlight=False,
        soft_wrap=True,
    )


def bare_table(*columns: str, no_wrap: bool = False) -> Table:
    """Return a table without lines, for a terminal; `no_wrap`: its cells are not broken."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for column in columns:
        table.add_column(column, no_wrap=no_wrap)
    return table


def spans(figures: Sequence[int]) -> str:
    """Return figures in words: of more than two in a row the first and the last.

    Examples
    --------
    >>> spans([9, 10, 11]), spans([14, 20])
    ('9-11', '14, 20')
    """
    runs: list[list[int]] = []
    for figure in figures:
        if runs and figure == runs[-1][-1] + 1:
            runs[-1].append(figure)
        else:
            runs.append([figure])
    return ", ".join(
        f"{run[0]}-{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs
    )


def told(measured: Measured, unit: str = "") -> str:
    """Return a number of ours in words."""
    return f"{shown(measured.value)}{unit} ({measured.where})"


def shown(value: Interval) -> str:
    """Return a number with its half-width, if it has one."""
    if math.isnan(value.mean):
        return "nowhere"
    if math.isinf(value.mean):
        return "∞" if value.mean > 0 else "-∞"
    size = max(abs(value.mean), value.half_width or 0.0)
    digits = 0 if size >= 100 else 1 if size >= 10 else 3
    text = f"{value.mean:z,.{digits}f}"
    return f"{text} ± {value.half_width:,.{digits}f}" if value.half_width else text

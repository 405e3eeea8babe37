"""One engine for the experiments of papers: what is run, what it came to, what is left behind.

A paper is a subclass of `Paper`, and one of its objects a reproduction. Most are a `PaperOfPoints`:
runs of points, of which figures and other parts are made, held by a subclass of `Outcome`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import pandas as pd
from rich.console import Console
from rich.table import Table

from experiments.papers.claims_report import (
    Claim,
    Judged,
    claims_page,
    claims_table,
    judged,
    plain_claims,
    print_claims,
    spans,
    told,
)
from experiments.papers.judging import Measured
from experiments.papers.outcome import Outcome
from experiments.show.numbers import exact
from experiments.studies.outputs import new_files, plain, write_csv
from experiments.sweeps.run_store import kept_of_paper
from experiments.sweeps.sweep import Observe, Watch, Work, observed, sweep
from grid.errors import GridError

INTRODUCTION = (
    "With this page, readers of the paper can compare its claims with our results. "
    "It was made by:\n"
)
"""How a page begins."""

STAY_OPEN = "All claims on these figures stay open; a larger `--scale` can judge them."
"""What is said of figures whose runs are too short."""


class Picture(NamedTuple):
    """A picture on a page: the name of its files, its caption, and a heading if it has one.

    And whether it has the signs that are explained below those of the page.
    """

    name: str
    caption: str
    heading: str = ""
    signs: bool = True


class Paper(ABC):
    """A paper's experiments run again, and what is left behind: tables, pictures and a page.

    Parameters
    ----------
    parts : sequence, optional
        Figures, or other parts of the paper, that are run; all that are `known` unless told.

    Attributes
    ----------
    outcome
        What they came to.
    claims : sequence of (Claim, Verdict)
    """

    key: ClassVar[str]
    title: ClassVar[str]
    known: ClassVar[Sequence[Any]]
    """All parts that can be run."""
    part: ClassVar[str] = "figure"
    """What a part is called."""
    rows_name: ClassVar[str] = "points"
    """What its rows are called."""
    about: ClassVar[str] = "Fig."
    """Head of what claims are about."""
    bars: ClassVar[str] = ""
    """What is said below each picture of its signs: of intervals first, and behind a semicolon."""

    outcome: Any
    claims: Judged

    def __init__(self, parts: Sequence[Any] = ()) -> None:
        for part in parts:
            if part not in self.known:
                figures = self.part == "figure"
                accepted = spans(self.known) if figures else ", ".join(self.known)
                raise GridError(f"--{self.part}: found {part!r}; accepted: {accepted}")
        self.parts = [part for part in self.known if not parts or part in parts]

    @abstractmethod
    def reproduce(self, folder: Path, watch: Watch) -> Self:
        """Run the experiments, and judge the paper's claims of them.

        Parameters
        ----------
        folder : path
            Where finished runs are kept, and taken up again.
        watch : Watch
            Is told how it goes on.

        Raises
        ------
        GridError
            If the folder holds other runs.
        """

    @abstractmethod
    def files(self) -> dict[str, pd.DataFrame]:
        """Return tables of all numbers, by the names of their files."""

    def rows(self) -> list[dict[str, Any]]:
        """Return all numbers, ready for JSON."""
        return [row for table in self.files().values() for row in plain(table)]

    @abstractmethod
    def amounts(self) -> dict[str, Any]:
        """Return how much was run, ready for JSON."""

    @abstractmethod
    def options(self) -> list[str]:
        """Return the options of the command that say how much is run."""

    @abstractmethod
    def method(self) -> Iterator[str]:
        """Yield paragraphs on how the page was made."""

    @abstractmethod
    def rules(self) -> str:
        """Return the paragraph on how claims are judged."""

    def tables(self) -> Iterator[str]:
        """Yield what stands between claims and pictures."""
        return iter(())

    @abstractmethod
    def pictures(self) -> Iterable[Picture]:
        """Return the pictures of what was run."""

    @abstractmethod
    def draw(self, folder: Path) -> None:
        """Draw them into a folder."""

    def tell(self, measured: Measured) -> str:
        """Return a number that decides on a claim, in words."""
        return told(measured)

    @property
    def command(self) -> str:
        """What makes the page again."""
        chosen = []
        if len(self.parts) < len(self.known):
            named = [spans(self.parts).replace(" ", "")] if self.part == "figure" else self.parts
            chosen = [f"--{self.part} {each}" for each in named]
        return " ".join(["metasched reproduce", self.key, *chosen, *self.options()])

    @property
    def file(self) -> str:
        """Name of the file of the page."""
        return f"{self.key}.md"

    def summary(self) -> dict[str, Any]:
        """Return all numbers and claims, ready for JSON."""
        return {
            "paper": self.key,
            f"{self.part}s": list(self.parts),
            **self.amounts(),
            self.rows_name: self.rows(),
            "claims": self.plain_claims(),
        }

    def too_few(self) -> str:
        """Return why runs are too short to judge claims, in Markdown; empty if they are not."""
        return ""

    def show(self, folder: str, console: Console) -> None:
        """Print the claims, and in which folder the rest is."""
        page = f"{folder}/{self.file}"
        print_claims(self.claims, page, console, self.tell, self.about.lower())
        self.warn(console)

    def warn(self, console: Console) -> None:
        """Print why runs are too short to judge claims, if they are."""
        if why := self.too_few():
            console.print(why.replace("*", "").replace("`", ""), markup=False, highlight=False)

    def page(self) -> str:
        """Return the page in Markdown."""
        return "\n".join(self._page()) + "\n"

    def _page(self) -> Iterator[str]:
        yield f"# {self.title}\n"
        yield INTRODUCTION
        yield f"```console\n{self.command}\n```\n"
        yield "## Method\n"
        yield from self.method()
        if why := self.too_few():
            yield f"{why}\n"
        yield "## Claims\n"
        yield self.rules()
        yield from self.claims_lines()
        yield from self.tables()
        heading = ""
        for picture in self.pictures():
            if picture.heading != heading:
                heading = picture.heading
                yield f"## {heading}\n"
            yield f"![{picture.caption}]({self.key}-{picture.name}.svg)\n"
            yield f"*{picture.caption}.{self.signs() if picture.signs else ''}*\n"

    def signs(self) -> str:
        """Return what is said below each picture of the signs that are in it."""
        return self.bars

    def plain_claims(self) -> list[dict[str, Any]]:
        """Return the claims and what became of them, ready for JSON."""
        return plain_claims(self.claims)

    def claims_table(self) -> pd.DataFrame:
        """Return the claims and what became of them, as a table for a file."""
        return claims_table(self.claims, self.tell, "figures" if self.about else "about")

    def claims_lines(self) -> Iterator[str]:
        """Yield the lines of the table of claims, in Markdown."""
        return claims_page(self.claims, self.tell, self.about)

    def write(self, folder: Path) -> None:
        """Write tables, pictures and the page, all or none of them.

        Raises
        ------
        GridError
            If the files cannot be written.
        """
        with new_files(folder) as new:
            self.leave(new)
            (new / self.file).write_text(self.page(), encoding="utf-8")

    def leave(self, folder: Path) -> None:
        """Write tables and pictures into a folder."""
        for name, table in (self.files() | {"claims": self.claims_table()}).items():
            write_csv(table, folder / f"{self.key}-{name}.csv")
        self.draw(folder)


class PaperOfRuns(Paper):
    """A paper whose experiments are runs of simulations.

    Parameters
    ----------
    parts : sequence, optional
        Of `known`; all unless told otherwise.
    scale : float
        Jobs of a run, in units of the paper's; above 0.
    replications : int, optional
        Runs of each point.
    workers : int
        Processes; they change nothing but the time.

    Raises
    ------
    GridError
        For a parameter that is not accepted.
    """

    usual: ClassVar[int]
    """Runs of a point unless told otherwise."""

    def __init__(
        self,
        parts: Sequence[Any] = (),
        scale: float = 1.0,
        replications: int | None = None,
        workers: int = 1,
    ) -> None:
        super().__init__(parts)
        self.replications = self.usual if replications is None else replications
        self.scale, self.workers = scale, workers
        check_amounts(scale, self.replications, workers)

    def amounts(self) -> dict[str, Any]:
        """Return how much was run, ready for JSON."""
        return {"scale": self.scale, "replications": self.replications}

    def options(self) -> list[str]:
        """Return the options of the command that say how much is run."""
        return [f"--scale {exact(self.scale)}", f"--replications {self.replications}"]


class PaperOfPoints(PaperOfRuns):
    """A paper whose experiments are points, each of some runs that are its sample."""

    outcomes: ClassVar[type[Outcome]]
    observe: ClassVar[Observe]
    """What is kept of a run."""

    stated: Sequence[Claim]
    """All claims of the paper."""

    @abstractmethod
    def points(self, part: Any) -> Sequence[Any]:
        """Return the points of a part."""

    def work(self) -> Work:
        """Return what is done with a run."""
        return partial(observed, observe=type(self).observe)

    def sample(self) -> str:
        """Return how many runs a point has, and what its intervals are, in words."""
        runs = f"Runs of each {self.rows_name.removesuffix('s')}: {self.replications}"
        if self.replications == 1:
            return f"{runs}, so that there are no intervals."
        return (
            f"{runs}, of different seeds. Intervals are 95 % confidence intervals (Student's t) "
            "over them."
        )

    def signs(self) -> str:
        """Return what is said below each picture, of no intervals where a point has one run."""
        if self.replications > 1:
            return self.bars
        others = self.bars.partition("; ")[2]
        return others and f" {others[0].upper()}{others[1:]}"

    def short(self) -> Sequence[Any]:
        """Return the parts of which runs are too short to judge claims."""
        return ()

    def reproduce(self, folder: Path, watch: Watch) -> Self:
        """Run the experiments, and judge the paper's claims of them, as `Paper` says."""
        points = [point for part in self.parts for point in self.points(part)]
        self.outcome = self.run(points, folder, watch)
        self.claims = judged(self.stated, self.outcome, self.parts, self.short())
        return self

    def run(self, points: Sequence[Any], folder: Path, watch: Watch) -> Any:
        """Return what points came to."""
        kept = kept_of_paper(folder, self.key, scale=self.scale)
        outcome = self.outcomes(self.scale, self.replications)
        outcome.run(points, lambda runs: sweep(runs, self.work(), kept, self.workers, watch))
        return outcome

    def files(self) -> dict[str, pd.DataFrame]:
        """Return one row for each figure and point: what it is, then `Outcome.row`."""
        rows = [
            {self.part: part, **self.outcome.row(point)}
            for part in self.parts
            for point in dict.fromkeys(self.points(part))
        ]
        return {"figures": pd.DataFrame(rows)}


@dataclass(frozen=True)
class Listing:
    """A table of a paper that stands by itself, and of which no file is written.

    Attributes
    ----------
    found
        Its numbers, ready for JSON.
    table : Table
    note : str
        What is said below it.
    """

    found: Any
    table: Table
    note: str = ""

    def summary(self) -> Any:
        """Return its numbers, ready for JSON."""
        return self.found

    def write(self, folder: Path) -> None:
        """Write nothing."""

    def show(self, folder: str, console: Console) -> None:
        """Print it."""
        console.print(self.table)
        if self.note:
            console.print(self.note)


def check_amounts(scale: float, replications: int, workers: int, fewest: int = 1) -> None:
    """Raise `GridError` for a number that no study can do; `fewest` replications are enough."""
    if not 0 < scale <= 1000:
        raise GridError(f"scale: found {scale!r}; accepted: a number above 0, up to 1000")
    for name, count, least in (("replications", replications, fewest), ("workers", workers, 1)):
        if count < least:
            raise GridError(f"{name}: found {count!r}; accepted: a whole number from {least}")

"""What a reproduction leaves behind, whatever the paper: tables, pictures and a page."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Protocol

import pandas as pd

from experiments.papers.claims import Verdict
from experiments.papers.claims_report import Claim, claims_table, plain_claims, spans, told
from experiments.studies.outputs import new_files, plain, write_csv
from grid.errors import GridError


class Report(ABC):
    """A paper's experiments, run again and ready to be written.

    Attributes
    ----------
    paper : str
        Its key.
    command : str
        That makes the report again.
    """

    paper: ClassVar[str]
    command: str

    @abstractmethod
    def summary(self) -> dict[str, Any]:
        """Return all numbers and claims, ready for JSON."""

    @abstractmethod
    def _page(self) -> Iterator[str]:
        """Yield the lines of the page."""

    @abstractmethod
    def _leave(self, folder: Path) -> None:
        """Write tables and pictures into a folder."""

    @property
    def file(self) -> str:
        """Name of the file of the page."""
        return f"{self.paper}.md"

    def page(self) -> str:
        """Return the page in Markdown."""
        return "\n".join(self._page()) + "\n"

    def write(self, folder: Path) -> None:
        """Write tables, pictures and the page, all or none of them.

        Raises
        ------
        GridError
            If the files cannot be written.
        """
        with new_files(folder) as new:
            self._leave(new)
            (new / self.file).write_text(self.page(), encoding="utf-8")


class Outcome(Protocol):
    """What the runs of a paper's figures came to."""

    scale: float
    replications: int

    def table(self, points: Any) -> pd.DataFrame:
        """Return one row for each figure and point."""


@dataclass(frozen=True)
class FigureReport(Report):
    """Figures and claims.

    Attributes
    ----------
    outcome : Outcome
    points : mapping of int to sequence of points
        Of each figure.
    claims : list of (Claim, Verdict)
    command : str
    unit : str
        Of the numbers that decide on claims.
    """

    unit: ClassVar[str] = ""

    outcome: Outcome
    points: Mapping[int, Sequence[Any]]
    claims: list[tuple[Claim, Verdict]]
    command: str

    @abstractmethod
    def _draw(self, folder: Path) -> None:
        """Draw all pictures into a folder."""

    def summary(self) -> dict[str, Any]:
        """Return points and claims, ready for JSON."""
        return {
            "paper": self.paper,
            "figures": list(self.points),
            "scale": self.outcome.scale,
            "replications": self.outcome.replications,
            "points": plain(self.outcome.table(self.points)),
            "claims": plain_claims(self.claims),
        }

    def _leave(self, folder: Path) -> None:
        write_csv(self.outcome.table(self.points), folder / f"{self.paper}-figures.csv")
        self._draw(folder)
        claims = claims_table(self.claims, partial(told, unit=self.unit))
        write_csv(claims, folder / f"{self.paper}-claims.csv")


def check_figures(figures: Sequence[int], known: Sequence[int]) -> None:
    """Raise `GridError` for a figure that is not known."""
    for figure in figures:
        if figure not in known:
            raise GridError(f"figure: found {figure!r}; accepted: {spans(known)}")


def command_of(paper: str, options: Sequence[str], scale: float, replications: int) -> str:
    """Return the command that makes a report again."""
    amounts = f"--scale {scale:g}", f"--replications {replications}"
    return " ".join(["metasched reproduce", paper, *options, *amounts])


def figures_option(figures: Sequence[int], known: Sequence[int]) -> list[str]:
    """Return the option of that command that names figures, if they are not all."""
    return [] if len(figures) == len(known) else [f"--figure {spans(figures).replace(' ', '')}"]

"""Sections 3 to 7 of `maxutil` run again: its tables, its figures, and what it claims."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console

from experiments.maxutil.heavy_traffic import HeavyTraffic
from experiments.maxutil.poisson import FullQueue
from experiments.papers import engine, judging
from experiments.papers.engine import Picture
from experiments.papers.judging import Measured
from experiments.papers.maxutil import page_tables
from experiments.papers.maxutil.logs import Log, logs_in_words
from experiments.papers.maxutil.loss_bars import draw_pictures, pictures
from experiments.papers.maxutil.loss_claims import CLAIMS, claim_of_logs
from experiments.papers.maxutil.losses import Outcome, formula, truth
from experiments.papers.maxutil.paper_tables import SIZE
from experiments.papers.maxutil.systems import (
    DEPENDENT,
    FEWEST,
    FIRST_FIT,
    FPFS,
    FPFS_SHARE,
    FULL_QUEUES,
    JOBS,
    LASTING,
    PARTS,
    POISSON,
    ROWS,
    SERVICE,
    THRESHOLD,
    TINY,
    UNORDERED,
    Point,
    jobs_of,
    log_points,
    points_of,
)
from experiments.papers.outcome import at_least
from experiments.show.numbers import listed
from experiments.sweeps.sweep import Observation, Runnable, Work
from grid.errors import GridError


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
    usual, outcomes = 5, Outcome
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

    def work(self) -> Work:
        """Return what is done with a run: in heavy traffic, or with Poisson arrivals."""
        return done

    def points(self, part: str) -> list[Point]:
        """Return the systems that a part of the paper needs."""
        return [*self.of_logs.values()] if part == "logs" else points_of(part)

    def options(self) -> list[str]:
        """Return the options of the command that say how much is run, and of which logs."""
        logs = [f"--{log.name.lower()} {shlex.quote(str(log.path))}" for log in self.logs]
        return [*super().options(), *logs]

    def tell(self, measured: Measured) -> str:
        """Return a number that decides on a claim, in words."""
        return f"{page_tables.shown(measured.value)} ({measured.where})"

    def show(self, folder: str, console: Console) -> None:
        """Print the claims, and in which folder the rest is."""
        super().show(folder, console)
        if lacking := self._lacking():
            console.print(lacking)

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
                for _, name, each, paper, _ in page_tables.of_columns(clusters, row):
                    yield f"Table {3 if clusters == 4 else 4}, {name}", each, formula(each), paper
        if "poisson" in self.parts:
            for (clusters, _, name), each in POISSON.items():
                about = f"Table {3 if clusters == 4 else 4}, {name}, Poisson"
                yield about, each, formula(each), None
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
            for (_, _, (start, bound)), each in LASTING.items():
                yield f"Fig. 5, {start} jobs, below {bound}", each, None, None
        if "chain" in self.parts:
            for tiny in TINY:
                yield "Markov chain", tiny.point, truth(tiny)[0], None
        for each in self.of_logs.values():
            yield "Fig. 7", each, None, None

    def pictures(self) -> Iterator[Picture]:
        """Yield the pictures of what was run."""
        for name, caption in pictures(self.parts, self.logs):
            shown = [log for log in self.logs if log.name == "DAS" or name == "figure7"]
            source = f": {self._sources(shown)}" if name in ("figures1-2", "figure7") else ""
            yield Picture(name, caption + source)

    def draw(self, folder: Path) -> None:
        """Draw them into a folder."""
        draw_pictures(self.outcome, self.parts, self.logs, folder)

    # The page -----------------------------------------------------------------------------------

    def method(self) -> Iterator[str]:
        """Yield paragraphs on how the page was made."""
        jobs = JOBS * self.scale
        reaching, lasting = (
            listed([f"{n:,}" for n in sorted({jobs_of(each, jobs) for each in of.values()})], "or")
            for of in (POISSON, LASTING)
        )
        starts, bounds = (
            listed([f"{n:,}" for n in dict.fromkeys(of)], "or")
            for of in zip(*FULL_QUEUES, strict=True)
        )
        yield (
            f"Each run has {jobs:,.0f} jobs in heavy traffic, that is, with another job always "
            f"waiting ({FPFS_SHARE * jobs:,.0f} under FPFS); none has fewer than {FEWEST:,}, or "
            "than three times those that wait. The first 5 % of the time do not count. "
            f"{self.sample()} All losses are capacity losses, the share of the "
            "processors that is idle though jobs wait. Unless stated otherwise, placement is Worst "
            "Fit, service is exponential, and jobs are served first come, first served on four "
            f"clusters of {SIZE}.\n"
        )
        yield (
            "The paper found some of its columns by simulating the full queue with Poisson "
            "arrivals, as `metasched maxutil simulate --method poisson` does: under FCFS, what is "
            "used at the lowest load at which the mean response time reaches a threshold; under "
            "FPFS, what is used in the run whose queue lasts longest, that is, runs neither empty "
            "nor over a bound. Digits of the paper's text are lost, those of the threshold and of "
            "the bound among them; the losses of section 7.1 are those that fit what is left of "
            f"it. The threshold is {THRESHOLD:,g} mean service times here, with "
            f"{reaching} arrivals a run. The queue under FPFS begins with {starts} jobs, which the "
            f"paper does not print, and the bound is {bounds}, with {lasting} arrivals at most. "
            "All departures of one instant precede any start, which matters for deterministic "
            "service. No parameter was tuned to match a figure.\n"
        )

    def too_few(self) -> str:
        """Return whether runs have more jobs than were asked for."""
        return at_least(FEWEST, JOBS * self.scale)

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
            + "- *Larger means, variation and maxima* depend on each other in Fig. 3: compared are "
            "laws of one mean (the first three, and the last two), and laws of which none of the "
            "three is smaller (U[1,7] with U[1,14], D(0.768) with D(0.894)).\n"
            "- A claim about FPFS is *open* if the verdict depends on how many jobs wait in the "
            "beginning. Whatever we find, so is what no number decides (*very much*), and what is "
            "said of other logs than ours: the paper's are of the CTC and of DAS1.\n"
        )

    def tables(self) -> Iterator[str]:
        """Yield what stands between claims and pictures."""
        if "tables" in self.parts:
            yield from page_tables.columns(self.outcome)
        if "poisson" in self.parts:
            yield from page_tables.arriving(self.outcome)
        if "figures" in self.parts:
            yield from page_tables.laws()
            yield from page_tables.service_times(self.outcome)
            yield from page_tables.lasting(self.outcome)
        if "chain" in self.parts:
            yield from page_tables.chain(self.outcome)
        if self.logs:
            yield from page_tables.of_logs(
                self.outcome, self.logs, self.of_logs, self._sources(self.logs)
            )
        if lacking := self._lacking():
            yield f"{lacking}\n"

    def _lacking(self) -> str:
        """Return what is left out for want of a log; empty if nothing is."""
        given = [log.name for log in self.logs]
        if "logs" not in self.parts or len(given) == 2:
            return ""
        if not given:
            return (
                "No logs were given (--ctc, --das): Tables 1 and 2 and Figs. 1, 2 and 7 are left "
                "out."
            )
        alone = f"Tables 1 and 2 and Fig. 7 are of the {given[0]}'s alone"
        if given == ["DAS"]:
            return f"No log was given for the CTC (--ctc): {alone}."
        return f"No log was given for the DAS (--das): Figs. 1 and 2 are left out, and {alone}."

    def _sources(self, logs: Sequence[Log]) -> str:
        named = " and ".join(f"{log.path.name} for the {log.name}" for log in logs)
        return f"not the paper's very {logs_in_words(logs)}, but {named}"


def done(scenario: Runnable, seed: int) -> Observation:
    """Do a run, in heavy traffic or with Poisson arrivals."""
    assert isinstance(scenario, HeavyTraffic | FullQueue)
    return scenario.observed(seed)

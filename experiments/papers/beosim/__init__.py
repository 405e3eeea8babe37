"""Sections 4 and 6 of `beosim` run again: Figs. 9 to 27, Table 1, and the paper's claims."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from experiments.papers import engine, judging
from experiments.papers.beosim import adaptive, decision_times
from experiments.papers.beosim.claims import CLAIMS
from experiments.papers.beosim.pictures import draw_pictures, pictures
from experiments.papers.beosim.points import (
    FIGURES,
    JOBS,
    STEPS,
    WARM_UP,
    Point,
    jobs_per_cluster,
    observe,
    points_of,
    short_note,
    too_short,
)
from experiments.papers.beosim.surfaces import ANCHORS
from experiments.papers.beosim.turnarounds import Outcome
from experiments.papers.claims_report import bare_table, spans
from experiments.papers.engine import Listing, Picture
from experiments.sweeps.statistics import mean_interval
from experiments.sweeps.sweep import Watch
from grid.metrics.stability import FEWEST, GREW


class Paper(engine.PaperOfPoints):
    """Figs. 9 to 11 and 13 to 27 of `beosim`."""

    key, title = "beosim", "Reproduction of the Beosim paper"
    known, stated = FIGURES, CLAIMS
    usual, outcomes, observe = 5, Outcome, observe
    bars = (
        " Bars: 95 % confidence intervals; arrows: no steady state; curves that leave the upper "
        "edge go on above it; points that would hide one another stand side by side."
    )

    def points(self, part: int) -> list[Point]:
        """Return all points that a figure shows."""
        return points_of(part)

    def pictures(self) -> Iterator[Picture]:
        """Yield the pictures of what was run."""
        for name, _, caption in pictures(self.parts):
            yield Picture(name, caption, signs=name != "figures14-21")

    def draw(self, folder: Path) -> None:
        """Draw them into a folder."""
        draw_pictures(self.outcome, self.parts, folder)

    def method(self) -> Iterator[str]:
        """Yield paragraphs on how the page was made."""
        sections = {point.section for part in self.parts for point in self.points(part)}
        lengths = " and ".join(
            f"{jobs_per_cluster(section, self.scale):,} for section {section}'s workload "
            f"(the paper: {JOBS[section]:,})"
            for section in sorted(sections)
        )
        yield (
            f"Jobs of each cluster in a run: {lengths}. The first {100 * WARM_UP:g} % of them do "
            f"not count, because clusters begin empty. {self.sample()} With one seed all "
            "meta-schedulers get the same jobs, and differences are taken seed by seed.\n"
        )
        yield (
            f"If the mean queue of a run {GREW}, we take that for **no steady state**: a mean "
            "would mostly tell how long the run was. No run proves a steady state, or that there "
            "is none. Runs whose queues are long and grow end early. Their points are arrows at "
            "the upper edge of a figure, and ∞ in numbers; a comparison with them "
            "counts as won by the other, and decides nothing if the runs of a point are not at "
            "one, or just one.\n"
        )
        yield (
            "The paper prints neither the bandwidths of Figs. 9 to 11 nor the steps of the others. "
            "LSLT in Fig. 13 is taken as 100 %. Which of Figs. 26 and 27 has the low bandwidth is "
            "a guess. `adaptive` is our own policy, not of the paper; like those of class B, it "
            "does not know what bandwidth jobs need. No parameter was tuned to match a figure.\n"
        )

    def short(self) -> list[int]:
        """Return the figures of which runs have too few jobs to judge claims."""
        return [
            part
            for part in self.parts
            if any(too_short(point.section, self.scale) for point in self.points(part))
        ]

    def too_few(self) -> str:
        """Return of which figures runs are too short to judge claims."""
        if not (short := self.short()):
            return ""
        return (
            f"**Too few jobs**: runs of Fig{'s' * (len(short) > 1)}. {spans(short)} have fewer "
            f"than {FEWEST:,} of each cluster. {engine.STAY_OPEN}"
        )

    def rules(self) -> str:
        """Return the paragraph on how claims are judged."""
        return (
            "- A comparison *holds* if the interval of every difference (s) is on the right side, "
            "*fails* if one is on the wrong side, and is otherwise *open*. Of many, the lowest and "
            "the highest are shown. What happens *somewhere* "
            "*holds* if one of them is on the right side, by intervals as wide as their number "
            "asks. *Much* and *soon* are tested by the sign "
            "alone; what is *stable* no number says, so that is *open* whatever we find.\n"
            + judging.TRENDS
            + judging.FAILS_SURELY
            + "- *Fixed* uses, seed by seed, the mean penalty that First-Fit's jobs had, and the "
            "two are compared where that is at least 1.01. The paper shows them up to about the "
            "turnaround of No Share.\n"
            "- An acceptable penalty is First-Fit's where a curve rises above the level, "
            "interpolated seed by seed. If it does so in some seeds only, the number is their "
            "mean, and decides nothing; if the first point above has no steady state, all that is "
            "known is that it is between that point and the one before. The paper prints ranges, "
            "read off its figures: ours *hold* anywhere in them, ±0.01.\n"
            "- The paper's two anchors are single runs. They *hold* if they lie where one more run "
            "of ours would, with 95 %, and that is within ±5 %.\n"
            f"- Links are observed {STEPS} times a run.\n"
            "\nNot judged: Table 1, the times of decisions, which are of another machine "
            "(`metasched reproduce beosim --table decisions` measures ours); that First-Fit "
            "becomes worse than Migration Only quickly also on 2 and 8 clusters (Figs. 9 and 11 "
            "show it); and that more clusters exacerbate trends (section 6.1).\n"
        )


def _anchors(folder: Path, watch: Watch, **amounts: Any) -> Listing:
    """Return the mean turnaround of section 6's bounds beside the paper's, s.

    The paper's are single runs: ``run95`` is how far from the mean one more run of ours would lie
    at most, with 95 %.
    """
    paper = Paper(**amounts)
    outcome = paper.run([point for point, _ in ANCHORS.values()], folder, watch)
    found = {}
    table = bare_table("mean turnaround, s", "ours", "95 %", "one run, 95 %", "paper (one run)")
    for name, (point, printed) in ANCHORS.items():
        mean, half = mean_interval(outcome.values(point))[:2]
        run = None if half is None else half * math.sqrt(paper.replications + 1)
        found[name] = {"mean": mean, "ci95": half, "run95": run, "paper": printed}
        halves = ["-" if each is None else f"± {each:.1f}" for each in (half, run)]
        table.add_row(name, f"{mean:.1f}", *halves, f"{printed:g}")
    return Listing(found, table, short_note(paper.scale, (6,)))


def _adaptive(folder: Path, watch: Watch, **amounts: Any) -> Listing:
    """Return how `adaptive` compares with B3 under both sections' workloads."""
    points = [point for pair in adaptive.pairs() for point in pair]
    return adaptive.listing(Paper(**amounts).run(points, folder, watch))


TABLES = {"anchors": _anchors, "decisions": decision_times.listing, "adaptive": _adaptive}
"""What can be asked for instead of figures."""

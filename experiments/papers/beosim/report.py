"""What `metasched reproduce beosim` leaves behind: tables, pictures and a page that shows them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from experiments.papers.beosim.claims import ANCHORS
from experiments.papers.beosim.outcome import Outcome
from experiments.papers.beosim.pictures import draw_pictures, pictures
from experiments.papers.beosim.points import JOBS, STEPS, WARM_UP, Point, jobs_per_cluster
from experiments.papers.claims_report import claims_page, told
from experiments.papers.report import FigureReport
from experiments.sweeps.statistics import mean_interval


class Report(FigureReport):
    """Figures and claims of `beosim`, ready to be written."""

    paper = "beosim"
    outcome: Outcome
    points: dict[int, list[Point]]

    def _page(self) -> Iterator[str]:
        outcome = self.outcome
        sections = {point.section for points in self.points.values() for point in points}
        lengths = " and ".join(
            f"{jobs_per_cluster(section, outcome.scale):,} for section {section}'s workload "
            f"(the paper: {JOBS[section]:,})"
            for section in sorted(sections)
        )
        yield "# The experiments of the Beosim paper, run again\n"
        yield f"```console\n{self.command}\n```\n"
        yield (
            f"made this page. Each run has jobs of each cluster: {lengths}; the first "
            f"{100 * WARM_UP:g} % of them do not count, because clusters begin empty. Runs of each "
            f"point: {outcome.replications}, of different seeds. Intervals are 95 % confidence "
            "intervals (Student's t) over them. With one seed all meta-schedulers get the same "
            "jobs, and differences are taken seed by seed.\n"
        )
        yield (
            "Where the queue of a run grows as long as jobs come, there is **no steady state**, "
            "and a mean would only tell how long the run was: such points are arrows at the upper "
            "edge of a picture, and ∞ in numbers; a comparison with them counts as won by the "
            "other. Such runs end early.\n"
        )
        yield (
            "The paper prints neither the bandwidths of Figs. 9 to 11 nor the steps of the others; "
            "LSLT in Fig. 13 is taken as 100 %, and which of Figs. 26 and 27 has the low bandwidth "
            "is a guess. `adaptive` is a policy of this product, not of the paper: like those of "
            "class B it is not told what bandwidth jobs need. No parameter was tuned to meet a "
            "figure.\n"
        )
        yield "## Claims\n"
        yield (
            "A comparison *holds* if the interval of every difference (s) is on the right side, "
            "*fails* if one is on the wrong side, and is *open* else; of many the lowest and the "
            "highest are shown. *Much* and *soon* are tested by the sign alone. *Fixed* is fed, "
            "seed by seed, the mean penalty that First-Fit's jobs had, and the two are compared "
            "where that is at least 1.01. The paper shows them up to about the turnaround of No "
            "Share. An acceptable penalty is First-Fit's where a curve gets above the level, "
            "interpolated seed by seed; if it does so in some seeds only, the number is their "
            "mean, and decides nothing. The paper's are read off its figures, so that ±0.01 is "
            "allowed. Its two anchors are single runs: they *hold* if they lie where one more run "
            "of ours would, with 95 %, and that is within ±5 %. Links are looked at "
            f"{STEPS} times a run.\n"
        )
        yield from claims_page(self.claims, told)
        for name, _, caption in pictures(list(self.points)):
            yield f"![{caption}](beosim-{name}.svg)\n"
            yield f"*{caption}. Bars: 95 % confidence intervals; arrows: no steady state.*\n"

    def _draw(self, folder: Path) -> None:
        draw_pictures(self.outcome, list(self.points), folder)


def anchors(outcome: Outcome) -> dict[str, dict[str, float | None]]:
    """Return the mean turnaround of section 6's bounds beside the paper's, s.

    The paper's are single runs: ``run95`` is how far from the mean one more run of ours would lie
    at most, with 95 %.
    """
    found = {}
    for name, (point, paper) in ANCHORS.items():
        mean, half = mean_interval(outcome.values(point))
        run = None if half is None else half * math.sqrt(outcome.replications + 1)
        found[name] = {"mean": mean, "ci95": half, "run95": run, "paper": paper}
    return found

"""Section 3 of `queues` run again: the cases of Table 1, Figs. 3 to 18, and the paper's claims."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from experiments.papers import engine, judging
from experiments.papers.claims_report import told
from experiments.papers.engine import Picture
from experiments.papers.judging import Measured
from experiments.papers.outcome import at_least
from experiments.papers.queues import search
from experiments.papers.queues.judges import LITTLE
from experiments.papers.queues.points import (
    CASES,
    CLOSE,
    CLOSER,
    COMMON,
    FEWEST,
    FIGURES,
    FOUR,
    GS,
    JOBS,
    LS_DO,
    OF_FIGURE,
    SINGLE,
    WARM_UP,
    Point,
    jobs_of,
    observe,
    panels,
    points,
)
from experiments.papers.queues.policy_claims import OF_POLICIES, OF_QUEUES
from experiments.papers.queues.responses import KINDS, Outcome
from experiments.papers.queues.saturation import POLICIES, SATURATION, Case
from experiments.papers.queues.version_claims import OF_LP_AND_EQ, OF_LS
from experiments.show.bars import Chart, draw_bars
from grid.metrics.stability import GREW

CLAIMS = OF_LS + OF_LP_AND_EQ + OF_POLICIES + OF_QUEUES

_IN_A_ROW = 3
"""Charts."""
_TITLES = {
    3: "the four versions of LS, balanced queues",
    4: "the four versions of LS, unbalanced queues",
    5: "the three versions of LP, balanced queues",
    6: "the three versions of LP, unbalanced queues",
    7: "the three versions of EQ, balanced queues",
    8: "the three versions of EQ, unbalanced queues",
}


class Paper(engine.PaperOfPoints):
    """Figs. 3 to 18 of `queues`."""

    key, title = "queues", "Reproduction: priorities among multiple queues"
    known, stated = FIGURES, CLAIMS
    usual, outcomes, observe = 10, Outcome, observe
    bars = " Bars: 95 % confidence intervals; SAT: saturated."

    def points(self, part: int) -> list[Point]:
        """Return all points of a figure."""
        return points(part)

    def tell(self, measured: Measured) -> str:
        """Return a number that decides on a claim, in words."""
        return told(measured, " %")

    def pictures(self) -> Iterator[Picture]:
        """Yield the picture of each figure; the caption tells the loads."""
        for figure in self.parts:
            what = _TITLES.get(figure) or f"the policies, {OF_FIGURE[figure]}"
            at = ", ".join(f"{charted[0].load:g}" for charted in panels(figure))
            caption = f"Fig. {figure}: {what}; at utilization {at}"
            yield Picture(f"figure{figure}", caption, f"Figure {figure}")

    def draw(self, folder: Path) -> None:
        """Draw them into a folder."""
        for figure in self.parts:
            charted = panels(figure)
            charts = [
                self._chart(points, f"{'abcdefgh'[at]} " if len(charted) > 1 else "")
                for at, points in enumerate(charted)
            ]
            stem = folder / f"queues-figure{figure}"
            draw_bars(charts, stem, _IN_A_ROW)

    def _chart(self, points: Sequence[Point], letter: str) -> Chart:
        return Chart(
            f"{letter}{points[0].case} at {points[0].load:g}",
            "mean response time, mean service times",
            [point.name for point in points],
            {kind: [self.outcome.mean(point, kind) for point in points] for kind in KINDS},
        )

    def method(self) -> Iterator[str]:
        """Yield paragraphs on how the page was made, and at which loads."""
        jobs = jobs_of(self.scale)
        yield (
            f"Each run has {jobs:,} jobs that count, after {round(WARM_UP * jobs):,} that do not, "
            f"because clusters begin empty. {self.sample()} With one seed all policies get the "
            "same jobs, and policies are compared seed by seed. Times are in units of the mean "
            "service time. *Local* jobs have one component and *global* jobs several, also "
            "where one kind of queue holds both (the paper then shows the total alone).\n"
        )
        yield (
            f"**SAT** (saturated): in at least half of the runs the mean queue {GREW}, which "
            "proves nothing of longer runs; a mean would mostly tell how long they were. In "
            "numbers this is ∞. A comparison with a saturated policy counts as won by the other, "
            "and decides nothing if "
            "the runs of a point are not at one, or just one; one of two such policies is left "
            "out. Runs whose queues are long and grow end early, and count as far "
            "as they went.\n"
        )
        yield "## Utilizations\n"
        yield (
            "The paper prints no response times, and no utilizations; it says that at each some "
            "policy is close to its maximal one. Here they follow from the maximal utilizations in "
            "the table below:\n"
        )
        yield (
            "- Figs. 3 to 8, 15 to 18 and the first charts of Figs. 9 to 14: "
            f"{CLOSE:g} of the least among the policies shown (in Figs. 5 to 8 of LP and EQ "
            "together).\n"
            f"- The second charts of Figs. 9 to 14: {CLOSER:g} of the greatest.\n"
            "- Claims that compare job-stream compositions: a common load of "
            f"{COMMON:g}.\n"
        )
        yield "No parameter was tuned to match a claim.\n"
        yield f"| composition | {' | '.join(policy.upper() for policy in POLICIES)} |"
        yield f"|---|{'---|' * len(POLICIES)}"
        for case in CASES:
            cells = [
                f"{SATURATION[case][policy][0]:.3f}-{SATURATION[case][policy][1]:.3f}"
                if policy in SATURATION[case]
                else "-"
                for policy in POLICIES
            ]
            yield f"| {case} | {' | '.join(cells)} |"
        yield (
            f"\n`metasched reproduce queues --table saturation --scale {search.SCALE}` finds these "
            f"brackets, by {search.REPLICATIONS} runs of {jobs_of(search.SCALE * search.JOBS):,} "
            "jobs at each load. The ends are loads of which 95 % confidence intervals of how "
            "queues grow tell whether they are borne; of loads inside runs did not tell. All loads "
            "and policies share the seeds, so that brackets err together. -: not run, because the "
            "policy is the same as LS or GS there, or the paper does not show it. Formulas of "
            "`maxutil` give two of them: "
            f"for LS and {SINGLE}, where clusters serve their own jobs alone, "
            f"{_by_formula(SINGLE, LS_DO)} (eq. 2, exact), and for GS and {FOUR} "
            f"{_by_formula(FOUR, GS)} (eq. 5, approximate).\n"
        )

    def too_few(self) -> str:
        """Return whether runs have more jobs than were asked for."""
        return at_least(FEWEST, JOBS * self.scale)

    def rules(self) -> str:
        """Return the paragraph on how claims are judged."""
        return (
            "- Numbers are by how much the first response time is above the second, percent, "
            "unless they say otherwise; of many, the lowest and the highest are shown.\n"
            "- Claims about Figs. 9 to 14 are judged by both charts of each, unless they name a "
            "utilization or a common load.\n"
            "- A comparison *holds* if the intervals of all of them are on the right side, *fails* "
            "if one is on the wrong side, and is otherwise *open*.\n"
            + judging.TRENDS
            + judging.FAILS_SURELY
            + f"- *Little*, *almost* and *close* are up to {LITTLE:g} % above or below: what is "
            "better by more is not *a little worse* either. *At most a little* and *not harmed* "
            f"are up to {LITTLE:g} % above, or below by any amount. *Much* is more than "
            f"{LITTLE:g} % above.\n"
            "- What holds *mostly* or *often* holds in more than half of the cases.\n"
            "- If a claim says that A is *nearer* to the best than to the worst, the "
            'number of "A between B and C" is by how much farther A is from C, the worst, than '
            "from B, the best, percent of B; above 0 it is nearer.\n"
        )

    def tables(self) -> Iterator[str]:
        """Yield what stands between claims and pictures."""
        yield (
            "Not judged: why policies differ (backfilling over several queues, how well components "
            "fit, how fair an order of queues is), how even the lengths of queues are at an "
            "instant, how much jobs of one kind affect those of the other, and which policy owners "
            "of clusters would choose.\n"
        )


def _by_formula(case: Case, policy: str) -> str:
    """Return a maximal utilization that a formula tells, and by how much it is outside ours."""
    told, (low, high) = search.by_formula()[case, policy], SATURATION[case][policy]
    outside = max(low - told, told - high)
    side = "below" if told < low else "above"
    return f"{told:.4f}" + (f", {outside:.4f} {side} its bracket" if outside > 0 else "")


TABLES = {"saturation": search.search}
"""What can be asked for instead of figures."""

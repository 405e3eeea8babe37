"""What `metasched reproduce queues` leaves behind: tables, pictures and a page that shows them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from experiments.papers.claims_report import claims_page, told
from experiments.papers.queues.judges import LITTLE
from experiments.papers.queues.outcome import Outcome
from experiments.papers.queues.pictures import draw_pictures, pictures
from experiments.papers.queues.points import (
    CASES,
    CLOSE,
    CLOSER,
    COMMON,
    FOUR,
    GS,
    LS_DO,
    SINGLE,
    WARM_UP,
    Point,
    jobs_of,
)
from experiments.papers.queues.saturation import POLICIES, SATURATION
from experiments.papers.queues.search import by_formula
from experiments.papers.report import FigureReport

UNIT = " %"
"""Of the numbers that decide."""
TELL = partial(told, unit=UNIT)


class Report(FigureReport):
    """Figures and claims of `queues`, ready to be written."""

    paper = "queues"
    unit = UNIT
    outcome: Outcome
    points: dict[int, list[Point]]

    def _page(self) -> Iterator[str]:
        outcome = self.outcome
        jobs = jobs_of(outcome.scale)
        yield "# Priorities among multiple queues, run again\n"
        yield f"```console\n{self.command}\n```\n"
        yield (
            f"made this page. Each run has {jobs:,} jobs that count, after "
            f"{round(WARM_UP * jobs):,} that do not, because clusters begin empty; runs of each "
            f"point: {outcome.replications}, of different seeds. Intervals are 95 % confidence "
            "intervals (Student's t) over them. With one seed all policies get the same jobs, and "
            "policies are compared seed by seed. Times are in units of the mean service time. "
            "*Local* jobs have one component, *global* ones several, also where one kind of queue "
            "holds both (the paper then shows the total alone).\n"
        )
        yield (
            "**SAT**: in half of the runs or more the queues grew as long as jobs came, and a mean "
            "would only tell how long runs were. In numbers that is ∞; a comparison with a "
            "saturated policy counts as won by the other, and one of two such policies is left "
            "out. Runs whose queues are long and grow end early, and count as far as they went.\n"
        )
        yield "## Utilizations\n"
        yield (
            "The paper prints none; it says that at each some policy is close to its maximal one. "
            "Here they follow from the maximal utilizations below. Figs. 3 to 8, 15 to 18 and the "
            f"first charts of Figs. 9 to 14: {CLOSE:g} of the least among the policies shown (in "
            "Figs. 5 to 8 of LP and EQ together). The second charts of Figs. 9 to 14: "
            f"{CLOSER:g} of the greatest. Claims that compare job-stream compositions are "
            f"judged at a common load of {COMMON:g}. No parameter was tuned to meet a claim.\n"
        )
        yield f"| composition | {' | '.join(policy.upper() for policy in POLICIES)} |"
        yield f"|---|{'---|' * len(POLICIES)}"
        formulas = by_formula()
        for case in CASES:
            cells = [
                f"{SATURATION[case][policy][0]:.3f}-{SATURATION[case][policy][1]:.3f}"
                if policy in SATURATION[case]
                else "-"
                for policy in POLICIES
            ]
            yield f"| {case} | {' | '.join(cells)} |"
        yield (
            "\n`metasched reproduce queues --table saturation` finds these brackets, by 8 runs of "
            "150,000 jobs at each load. -: not run, because the policy is the same as LS or GS "
            "there, or the paper does not show it. Formulas of `maxutil` tell two of them: "
            f"{formulas[SINGLE, LS_DO]:.4f} (eq. 2, exact) for LS and {SINGLE}, where clusters "
            f"serve their own jobs alone, and {formulas[FOUR, GS]:.4f} (eq. 5, approximate) for "
            f"GS and {FOUR}.\n"
        )
        yield "## Claims\n"
        yield (
            "Numbers are by how much the first response time is above the second, percent, unless "
            "they say otherwise; of many the lowest and the highest are shown. A comparison "
            "*holds* if the intervals of all of them are on the right side, *fails* if one is on "
            f"the wrong side, and is *open* else. *A little* and *close* are up to {LITTLE:g} %, "
            "*much* is more. What holds *mostly* holds in more than half of the cases.\n"
        )
        yield from claims_page(self.claims, TELL)
        yield (
            "Not judged: why policies differ (backfilling over several queues, how well components "
            "fit, how fair an order of queues is), how even the lengths of queues are at an "
            "instant, how much jobs of one kind feel those of the other, and which policy owners "
            "of clusters would choose.\n"
        )
        for name, figure, caption in pictures(list(self.points)):
            yield f"## Figure {figure}\n"
            yield f"![{caption}](queues-{name}.svg)\n"
            yield f"*{caption}. Bars: 95 % confidence intervals; SAT: saturated.*\n"

    def _draw(self, folder: Path) -> None:
        draw_pictures(self.outcome, list(self.points), folder)

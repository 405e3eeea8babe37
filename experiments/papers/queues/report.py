"""What `metasched reproduce queues` leaves behind: tables, pictures and a page that shows them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from experiments.papers.queues.judges import LITTLE
from experiments.papers.queues.outcome import Outcome
from experiments.papers.queues.pictures import draw_pictures, pictures
from experiments.papers.queues.points import CASES, CLOSE, CLOSER, COMMON, WARM_UP, Point, jobs_of
from experiments.papers.queues.saturation import POLICIES, SATURATION
from experiments.studies.claims import Verdict
from experiments.studies.files import new_files, plain, write_csv
from experiments.studies.judged import Claim, claims_page, claims_table, plain_claims, told

PAGE = "queues.md"
UNIT = " %"
"""Of the numbers that decide."""
TELL = partial(told, unit=UNIT)


@dataclass(frozen=True)
class Report:
    """Figures and claims, ready to be written.

    Attributes
    ----------
    outcome : Outcome
    points : dict of int to list of Point
        Of each figure.
    claims : list of (Claim, Verdict)
    command : str
        That makes the report again.
    """

    outcome: Outcome
    points: dict[int, list[Point]]
    claims: list[tuple[Claim, Verdict]]
    command: str

    def summary(self) -> dict[str, Any]:
        """Return points and claims, ready for JSON."""
        return {
            "paper": "queues",
            "figures": list(self.points),
            "scale": self.outcome.scale,
            "replications": self.outcome.replications,
            "points": plain(self.outcome.table(self.points)),
            "claims": plain_claims(self.claims),
        }

    def page(self) -> str:
        """Return the page in Markdown."""
        return "\n".join(self._page()) + "\n"

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
        for case in CASES:
            cells = [
                f"{SATURATION[case][policy][0]:.3f}-{SATURATION[case][policy][1]:.3f}"
                if policy in SATURATION[case]
                else "-"
                for policy in POLICIES
            ]
            yield f"| {case} | {' | '.join(cells)} |"
        yield (
            "\nThese brackets are of 8 runs of 150,000 jobs at each load, such as `metasched "
            "saturation queues --global gp --set composition=25,25,25,25 --set jobs=150000 --width "
            "0.01` finds. -: not run, because the policy is the same as LS or GS there, or the "
            "paper does not show it.\n"
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
            "instant, and which policy owners of clusters would choose.\n"
        )
        for name, figure, caption in pictures(list(self.points)):
            yield f"## Figure {figure}\n"
            yield f"![{caption}](queues-{name}.svg)\n"
            yield f"*{caption}. Bars: 95 % confidence intervals; SAT: saturated.*\n"

    def write(self, folder: Path) -> None:
        """Write the points of all figures, the pictures, the claims and the page.

        Raises
        ------
        GridError
            If the files cannot be written.
        """
        with new_files(folder) as new:
            write_csv(self.outcome.table(self.points), new / "queues-figures.csv")
            draw_pictures(self.outcome, list(self.points), new)
            write_csv(claims_table(self.claims, UNIT), new / "queues-claims.csv")
            (new / PAGE).write_text(self.page(), encoding="utf-8")

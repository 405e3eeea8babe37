"""What `maxutil` claims, and how our formulas and runs judge it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from experiments.papers.claims import Verdict
from experiments.papers.maxutil import verdicts
from experiments.papers.maxutil.logs import Log
from experiments.papers.maxutil.outcome import Outcome
from experiments.papers.maxutil.points import (
    FEW_JUMPS,
    MANY_JUMPS,
    STUDIED,
)
from experiments.papers.maxutil.tables import TABLE_5


@dataclass(frozen=True)
class Claim:
    """A claim of the paper.

    Attributes
    ----------
    part : str
        Of `points.PARTS`; what must have been run.
    about : str
        A table, a figure or a section.
    text : str
        In our words.
    paper : str
        The number that the paper prints, if any; "ours": it claims nothing of the kind.
    judge : callable
        Judges it.
    """

    part: str
    about: str
    text: str
    paper: str
    judge: Callable[[Outcome], Verdict]

    @property
    def place(self) -> dict[str, str]:
        """What it is about, for programs."""
        return {"about": self.about}


CLAIMS = (
    Claim(
        "tables", "Tables 3, 4", "The exact columns, to 0.0005", "20 rows", verdicts.exact_columns
    ),
    Claim(
        "tables",
        "Tables 3, 4",
        "The approximation, to 0.001",
        "20 rows",
        verdicts.approximate_column,
    ),
    Claim(
        "tables",
        "Tables 3, 4",
        "Simulation in heavy traffic agrees with what is exact, to 0.001",
        "",
        verdicts.simulated_columns,
    ),
    Claim(
        "tables",
        "Tables 3, 4",
        "The paper's simulations are ours, to 0.005",
        "20 rows",
        verdicts.paper_simulations,
    ),
    Claim(
        "tables",
        "Tables 3, 4",
        "The match of approximation and simulation for unordered jobs is quite reasonable "
        "(to 0.01)",
        "",
        verdicts.approximation,
    ),
    Claim(
        "tables",
        "Tables 3, 4",
        "Losses fall from ordered to unordered to total requests (all but U[13,16], of which "
        "always just two jobs run)",
        "",
        verdicts.freedom,
    ),
    Claim("figures", "Fig. 3", "The same, for the five laws of Table 5", "", verdicts.figure_3),
    Claim(
        "figures",
        "Fig. 3",
        "From ordered to unordered the loss is cut in half, roughly (0.4 to 0.6), for all but one "
        "D(q) on [1,32]",
        "",
        verdicts.halved,
    ),
    *(
        Claim(
            "figures",
            "Fig. 3",
            f"Losses are larger for larger means, variation and maxima: {request} requests",
            "",
            partial(verdicts.poorer, request=request),
        )
        for request in ("ordered", "unordered", "total")
    ),
    Claim(
        "figures",
        "Fig. 4",
        "Dependent sizes are poorer where large components are rare",
        "",
        partial(verdicts.dependent, laws=TABLE_5[:4], poorer=True),
    ),
    Claim(
        "figures",
        "Fig. 4",
        "For D(0.894) on [1,32] it is the other way round",
        "",
        partial(verdicts.dependent, laws=TABLE_5[4:], poorer=False),
    ),
    Claim(
        "figures",
        "Fig. 4",
        "For dependent sizes only the mean matters (to 0.01)",
        "",
        verdicts.only_the_mean,
    ),
    Claim(
        "figures",
        "Section 7.1",
        f"From deterministic to hyperexponential service (cv 10), taken to be about {STUDIED}",
        "0.239 to 0.266, 0.103 to 0.115",
        verdicts.service_numbers,
    ),
    Claim(
        "figures",
        "Section 7.1",
        f"Service times have no large impact (below a quarter), {STUDIED}",
        "about 11 %",
        partial(verdicts.service_matters_little, laws=[STUDIED]),
    ),
    Claim(
        "figures",
        "Section 7.1",
        "The same for all five laws",
        "ours",
        partial(verdicts.service_matters_little, laws=TABLE_5),
    ),
    Claim(
        "figures",
        "Section 8",
        f"Laws of sizes of one mean matter more than laws of service times, {STUDIED}",
        "",
        partial(verdicts.sizes_matter_more, laws=[STUDIED]),
    ),
    Claim(
        "figures",
        "Section 8",
        "The same for all laws of that mean",
        "ours",
        partial(verdicts.sizes_matter_more, laws=TABLE_5[:3]),
    ),
    Claim(
        "figures",
        "Fig. 5",
        "FPFS(5) gains little (below 0.03)",
        "",
        partial(verdicts.overtaking, jumps=FEW_JUMPS, low=-0.03, high=0.03),
    ),
    Claim(
        "figures",
        "Fig. 5",
        "FPFS(50) gains about 0.1 (0.06 to 0.14)",
        "",
        partial(verdicts.overtaking, jumps=MANY_JUMPS, low=0.06, high=0.14),
    ),
    Claim(
        "figures",
        "Fig. 6",
        "First Fit and Worst Fit do not differ very much (to 0.03)",
        "",
        verdicts.placement,
    ),
    Claim(
        "figures",
        "Fig. 8",
        "Jobs that would fit on one cluster lose less when they are co-allocated",
        "",
        verdicts.coallocation,
    ),
    Claim(
        "figures", "Section 8", "Co-allocation can lose much (more than half)", "", verdicts.large
    ),
    Claim(
        "chain",
        "Section 3",
        "If all jobs need just over half of one cluster and one processor of each other, the loss "
        "is close to (C - 1/2) / C for large clusters (to 0.01)",
        "0.75, 0.875, 0.969",
        verdicts.extreme,
    ),
    Claim(
        "chain",
        "Section 4.2",
        "Whether unordered jobs run together depends on the order of their arrival (2 x 5)",
        "3, 2",
        verdicts.order_matters,
    ),
    Claim(
        "chain",
        "-",
        "Simulation agrees with the Markov chain of tiny systems, FCFS and FPFS, to 0.001",
        "ours",
        verdicts.against_truth,
    ),
)


def judged(
    outcome: Outcome, parts: Sequence[str], logs: Sequence[Log]
) -> list[tuple[Claim, Verdict]]:
    """Judge the claims about what was run."""
    claims = [claim for claim in CLAIMS if claim.part in parts]
    if len(logs) == 2:
        text = "The losses for the two logs are similar (to 0.05)"
        claims.append(Claim("logs", "Fig. 7", text, "", verdicts.logs_alike(logs)))
    return [(claim, claim.judge(outcome)) for claim in claims]

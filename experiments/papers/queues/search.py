"""The search for the maximal utilizations that the loads of Figs. 3 to 18 follow from."""

from __future__ import annotations

from pathlib import Path

from experiments.papers.claims_report import bare_table
from experiments.papers.engine import Listing, check_amounts
from experiments.papers.queues.points import FOUR, GS, LS_DO, SINGLE, jobs_of, of_case
from experiments.papers.queues.saturation import SATURATION, Case
from experiments.sweeps.run_store import kept_of_paper
from experiments.sweeps.saturation import find_saturations
from experiments.sweeps.sweep import Watch
from grid.capacity import Requests, total_capacity, unordered_capacity
from grid.workloads.component_sizes import parse_sizes

JOBS = 0.15
"""Jobs of a run, in units of those of a run of the figures."""
SCALE = 9
"""At which the brackets of `SATURATION` were found."""
REPLICATIONS = 8
"""Runs at each load unless told otherwise."""
WIDER = "*"
"""Marks brackets in which loads were tried of which runs did not tell."""


def by_formula() -> dict[tuple[Case, str], float]:
    """Return the maximal utilizations that formulas of `maxutil` tell.

    Eq. 2 is exact for jobs of one component on the cluster of their queue, eq. 5 approximates jobs
    of four components in one queue.
    """
    law = parse_sizes("D(0.9)[1,8]", 32).density()
    return {
        (SINGLE, LS_DO): total_capacity([law], 32).utilization,
        (FOUR, GS): unordered_capacity(Requests.independent(law, 4, 32)).utilization,
    }


def search(
    folder: Path,
    watch: Watch,
    scale: float = 1.0,
    replications: int = REPLICATIONS,
    workers: int = 1,
) -> Listing:
    """Search for the maximal utilization of each policy in each case of Table 1.

    Parameters are those of `experiments.papers.engine.PaperOfRuns`, but that a run at scale 1 has
    `JOBS` of those of the figures; at least 2 replications. Rows have ``jobs`` of a run that count,
    and ``replications``, the runs at each load; ``low``, the highest load found to be borne,
    ``high``, the lowest found not to be, and ``loads``, what runs told of each load, as
    `Saturation.summary` has it; ``used_low`` and ``used_high``, the two that the loads of the
    figures follow from, and ``formula``, None where there is none.

    Raises
    ------
    GridError
        For a parameter that is not accepted, or a folder that holds other runs.
    """
    check_amounts(scale, replications, workers, fewest=2)
    kept = kept_of_paper(folder, "queues", scale=scale)
    jobs = jobs_of(JOBS * scale)
    found, formulas = [], by_formula()
    table = bare_table("composition", "policy", "found", "used", "by formula", no_wrap=True)
    for case, policies in SATURATION.items():
        watch.prepare(f"searching for the maximal utilizations of {case}")
        scenarios = [
            of_case(case).changed([f"jobs={jobs}"], global_scheduler=each) for each in policies
        ]
        brackets = find_saturations(
            scenarios, 0, lambda words: None, replications, workers, kept=kept, watch=watch
        )
        for policy, used, each in zip(policies, policies.values(), brackets, strict=True):
            bracket, formula = each.bracket, formulas.get((case, policy))
            found.append(
                {
                    "composition": list(case.composition),
                    "balanced": case.balanced,
                    "policy": policy,
                    "jobs": jobs,
                    "replications": replications,
                    "low": bracket.low,
                    "high": bracket.high,
                    "loads": each.summary()["loads"],
                    "used_low": used[0],
                    "used_high": used[1],
                    "formula": formula,
                }
            )
            table.add_row(
                str(case),
                policy.upper(),
                f"{bracket.low:.4f}-{bracket.high:.4f}{WIDER * bool(bracket.untold)}",
                f"{used[0]:.4f}-{used[1]:.4f}",
                "-" if formula is None else f"{formula:.4f}",
            )
    note = (
        f"found: by {replications} runs of {jobs:,} jobs at each load, the highest that is borne "
        "and the lowest that is not (1: none was found), as 95 % confidence intervals of how "
        "queues grow tell. All loads and policies share the seeds, so that brackets err together.\n"
        f"{WIDER} of loads inside runs did not tell; more jobs a run would, or more replications\n"
        "used: for the figures' loads; the paper prints none"
    )
    return Listing(found, table, note)

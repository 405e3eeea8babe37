"""The search for the maximal utilizations that the loads of Figs. 3 to 18 follow from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from experiments.papers.checks import check_amounts
from experiments.papers.queues.points import FOUR, GS, LS_DO, SINGLE, jobs_of, of_case
from experiments.papers.queues.saturation import SATURATION, Case
from experiments.sweeps.run_store import kept_of_paper
from experiments.sweeps.saturation import find_saturations
from experiments.sweeps.sweep import Watch
from grid.capacity import Requests, total_capacity, unordered_capacity
from grid.workloads.component_sizes import parse_sizes

JOBS = 0.15
"""Jobs of a run, in units of those of a run of the figures."""
REPLICATIONS = 8
"""Runs at each load unless told otherwise."""
WIDTH = 0.01


@dataclass(frozen=True)
class Found:
    """Where the maximal utilization of a policy lies.

    Attributes
    ----------
    case : Case
    policy : str
    low, high : float
        The highest load found to be borne, and the lowest found not to be.
    """

    case: Case
    policy: str
    low: float
    high: float

    @property
    def used(self) -> tuple[float, float]:
        """The same two, as the loads of the figures follow from them."""
        return SATURATION[self.case][self.policy]

    def to_dict(self) -> dict[str, Any]:
        """Return it in numbers, ready for JSON; `formula` is None where there is none."""
        return {
            "composition": list(self.case.composition),
            "balanced": self.case.balanced,
            "policy": self.policy,
            "low": self.low,
            "high": self.high,
            "used_low": self.used[0],
            "used_high": self.used[1],
            "formula": by_formula().get((self.case, self.policy)),
        }


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
) -> list[Found]:
    """Search for the maximal utilization of each policy in each case of Table 1.

    Parameters are those of `experiments.papers.queues.reproduce`; at least 2 replications.

    Raises
    ------
    GridError
        For a parameter that is not accepted, or a folder that holds other runs.
    """
    check_amounts(scale, replications, workers, fewest=2)
    kept = kept_of_paper(folder, "queues", scale=scale)
    jobs = f"jobs={jobs_of(JOBS * scale)}"
    found = []
    for case, policies in SATURATION.items():
        watch.prepare(f"searching for the maximal utilizations of {case}")
        scenarios = [of_case(case).changed([jobs], global_scheduler=each) for each in policies]
        brackets = find_saturations(
            scenarios, 0, lambda words: None, replications, workers, WIDTH, kept, watch
        )
        found += [
            Found(case, policy, each.bracket.low, each.bracket.high)
            for policy, each in zip(policies, brackets, strict=True)
        ]
    return found


def print_found(found: Sequence[Found], console: Console) -> None:
    """Print what was found, and what the loads of the figures follow from."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for column in ("composition", "policy", "found", "used", "by formula"):
        table.add_column(column, no_wrap=True)
    formulas = by_formula()
    for each in found:
        formula = formulas.get((each.case, each.policy))
        table.add_row(
            str(each.case),
            each.policy.upper(),
            f"{each.low:.4f}-{each.high:.4f}",
            f"{each.used[0]:.4f}-{each.used[1]:.4f}",
            "-" if formula is None else f"{formula:.4f}",
        )
    console.print(table)
    console.print("found by this search; used for the figures' loads; the paper prints none")

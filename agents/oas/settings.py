"""What can be chosen about the global scheduler that optimises its queue."""

from __future__ import annotations

from dataclasses import dataclass

from grid.jobs import LONGEST
from grid.settings import Checked, setting


@dataclass(frozen=True)
class OasSettings(Checked):
    """Of the rounds of `OasScheduler`."""

    group = "OAS"

    round_jobs: int = setting(
        40,
        "Most waiting jobs that a round optimises, the oldest ones.",
        least=1,
        most=1_000_000_000,
    )
    round_time: float = setting(
        0.1,
        "What CP-SAT may take for a round; 0: the best heuristic schedule is taken.",
        unit="s",
        least=0,
        most=LONGEST,
    )
    round_clock: str = setting(
        "deterministic",
        "Whether round_time counts what CP-SAT computes, so that runs can be repeated; or, wall, "
        "time as it passes, so that they cannot.",
        choices=("deterministic", "wall"),
    )

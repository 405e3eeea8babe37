"""The rounds of a global scheduler that works in rounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agents.messages import ScheduleReport


@dataclass
class Round:
    """One round.

    Attributes
    ----------
    number : int
        From 1.
    dispatched : float
        When, s.
    jobs : array, shape (clusters,)
        Jobs allocated to each cluster.
    cps : array, shape (clusters,)
        CP that each local scheduler expects of its new schedule, s; 0 for a cluster without jobs,
        NaN as long as it has not told.
    """

    number: int
    dispatched: float
    jobs: npt.NDArray[np.int64]
    cps: npt.NDArray[np.float64]

    @classmethod
    def begun(cls, number: int, now: float, jobs: npt.NDArray[np.int64]) -> Round:
        """Return a round that is dispatched now, of which no local scheduler has told."""
        return cls(number, now, jobs, np.where(jobs > 0, np.nan, 0.0))


def note_performance(rounds: list[Round], report: ScheduleReport) -> None:
    """Note the CP that a TITAN expects of the schedule it made for one of the rounds."""
    if report.cp is not None and 0 < report.round <= len(rounds):
        rounds[report.round - 1].cps[report.cluster] = report.cp

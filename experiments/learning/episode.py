"""A run that stops at each decision of one scheduler, until somebody takes it."""

from __future__ import annotations

import sys

from agents.model import GridModel
from agents.protocols import Grid
from agents.schedulers import GlobalScheduler
from grid.kernel.state import NONE

LATEST = sys.float_info.max
"""The end of time: nothing happens later, s."""


class Learner(GlobalScheduler):
    """A global scheduler whose decisions are taken outside.

    Attributes
    ----------
    asked : int
        Slot of the job that a decision is wanted about; `NONE`: of no job.
    """

    label = "LEARNER"
    uses_deadlines = True
    splits = False

    def __init__(self, model: Grid) -> None:
        super().__init__(model)
        self.asked: int = NONE
        self._answer: int | None = None

    def decide(self, cluster: int) -> None:
        """Take the decision that is wanted: the index of a cluster, or `WAIT`."""
        self.asked, self._answer = NONE, cluster

    def answer(self, slot: int) -> int | None:  # type: ignore[override]
        """Return the decision about a job, once it is taken."""
        taken, self._answer = self._answer, None
        if taken is None:
            self.asked = slot
        return taken


class Episode(GridModel):
    """A model under a `Learner`, which goes on from one of its decisions to the next."""

    scheduler: Learner

    @property
    def slot(self) -> int:
        """The job that a decision is wanted about; `NONE` once the run is over."""
        return self.scheduler.asked

    def proceed(self) -> None:
        """Let everything happen until a decision is wanted, or nothing is left to happen."""
        self._run_until(LATEST)

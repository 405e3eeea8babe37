"""A run that stops at each decision of schedulers that learn, until somebody takes it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence, Set
from typing import Any

from agents.model import GridModel
from agents.protocols import Cluster, Grid
from agents.schedulers import GlobalScheduler, LocalScheduler, PlanningScheduler, Scheduler
from grid.errors import GridError
from grid.kernel.state import NONE
from grid.world.policies import LATER

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
    uses_deadlines = False  # none is drawn that nobody has asked for
    splits = False

    def __init__(self, model: Grid) -> None:
        super().__init__(model)
        self.asked: int = NONE
        self._answer: int | None = None

    def decide(self, cluster: int) -> None:
        """Take the decision that is wanted: the index of a cluster, or `WAIT`."""
        self.asked, self._answer = NONE, cluster

    def answer(self, slot: int) -> int:
        """Return the decision about a job, once it is taken."""
        taken, self._answer = self._answer, None
        if taken is not None:
            return taken
        self.asked = slot
        return LATER


class LocalLearner(PlanningScheduler):
    """A local scheduler whose decisions are taken outside: which waiting jobs start now.

    Attributes
    ----------
    asked : bool
        Jobs have landed or ended, or processors have changed, and nobody has decided since.
    """

    label = "LEARNER"
    plans_at_ends = True

    def __init__(self, model: Grid, cluster: Cluster) -> None:
        super().__init__(model, cluster)
        self.asked = False

    def replan(self) -> None:
        """Have a decision wanted."""
        self.asked = True

    def decide(self, slots: Sequence[int]) -> None:
        """Take the decision that is wanted: the jobs that start now, which fit."""
        self.asked = False
        self.model.world.plan(self.cluster.index, slots)


class _WantedError(Exception):
    """A local decision is wanted."""


class Episode(GridModel):
    """A model in which schedulers learn, which goes on from one of their decisions to the next.

    Parameters
    ----------
    platform, workload, global_scheduler, local_scheduler, **options
        As of `GridModel`; the global scheduler is a `Learner` if it is the one.
    learning : set of int
        Clusters whose local schedulers learn.

    Attributes
    ----------
    learners : dict of int to LocalLearner
        By cluster.
    last_chance : bool
        Nothing happens any more unless a job that waits globally is sent now.

    Raises
    ------
    GridError
        If these are to learn under a global scheduler which works in rounds.
    """

    scheduler: Learner

    def __init__(
        self,
        platform: Any,
        workload: Any,
        global_scheduler: Callable[..., GlobalScheduler],
        local_scheduler: Any,
        learning: Set[int] = frozenset(),
        **options: Any,
    ) -> None:
        def made(model: GridModel, of: Any) -> LocalScheduler:
            maker = LocalLearner if of.index in learning else local_scheduler
            found: LocalScheduler = maker(model, of)
            return found

        if hasattr(local_scheduler, "tracks"):
            made.tracks = local_scheduler.tracks  # type: ignore[attr-defined]
        self.learners: dict[int, LocalLearner] = {}
        self.last_chance = False
        makers = global_scheduler, made if learning else local_scheduler
        super().__init__(platform, workload, *makers, **options)
        self.learners = {cluster: self.clusters[cluster].scheduler for cluster in sorted(learning)}
        if self.learners and self.scheduler.collects:
            raise GridError(
                f"global: found {self.scheduler.name}, which works in rounds; accepted with a "
                "local agent: another, such as dll"
            )

    def proceed(self) -> None:
        """Let everything happen until a decision is wanted, or nothing is left to happen.

        If the jobs that wait globally are all that is left, they are offered for the last time.
        """
        state = self.world.state
        try:
            self._run_until(LATEST)
            learns = isinstance(self.scheduler, Learner) and not self.last_chance
            if learns and not self.running and state.waiting[-1]:
                self.running = self.last_chance = True
                state.offering_all = 1
                self._run_until(LATEST)
        except _WantedError:
            return

    def _deliver(self, planners: Sequence[Scheduler] = ()) -> None:
        super()._deliver(planners)
        if any(learner.asked for learner in self.learners.values()):
            raise _WantedError

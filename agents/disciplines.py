"""Local schedulers that serve a queue by a rank of each job, or of each user.

What they expect of a job's execution time is what PACE predicts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from agents.schedulers import LocalScheduler
from grid.errors import GridError
from grid.kernel.compile import compiled

if TYPE_CHECKING:
    from agents.cluster import ClusterAgent
    from agents.model import GridModel


WEEK = 604_800.0
"""s."""


@dataclass(frozen=True)
class LocalSettings:
    """What local schedulers can be set to.

    Parameters
    ----------
    local_max_jumps : float
        How often a waiting job may be overtaken by others of its cluster under FPFS.
    half_life : float
        Time after which half of what a user has used counts under fair share, s.
    shares : mapping of int to float
        Shares of users, by number, under fair share; those of all others are 1.

    Raises
    ------
    GridError
        If `local_max_jumps` is no whole number from 0, nor infinity, or another is not above 0.
    """

    local_max_jumps: float = math.inf
    half_life: float = WEEK
    shares: Mapping[int, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        named = {f"share of user {user}": share for user, share in self.shares.items()}
        for name, value in {"half_life": self.half_life, **named}.items():
            if not 0 < value < math.inf:
                raise GridError(f"{name}: found {value!r}; accepted: a number above 0")
        jumps = self.local_max_jumps
        if not (jumps == math.inf or (jumps >= 0 and jumps == int(jumps))):
            raise GridError(
                f"local_max_jumps: found {jumps!r}; accepted: a whole number from 0, or infinity"
            )


class FcfsScheduler(LocalScheduler):
    """First come, first served: in order of landing; the head of the queue blocks."""

    @compiled()
    def priority(job: Any, now: float) -> float:  # noqa: N805
        """Rank all jobs equal, so that the order of landing decides."""
        return 0.0


class FpfsScheduler(FcfsScheduler):
    """Fit processors, first served: in order of landing, each job that fits.

    A job that was overtaken `LocalSettings.local_max_jumps` times since it landed holds back those
    behind it.
    """

    service: ClassVar[str] = "fpfs"

    def __init__(self, model: GridModel, cluster: ClusterAgent) -> None:
        super().__init__(model, cluster)
        self.max_jumps = model.settings(LocalSettings).local_max_jumps


class FairShareScheduler(FcfsScheduler):
    """Fair share: jobs of the user who has used least of the cluster first; the head blocks.

    What a user has used, over the user's share, decays (`LocalSettings.half_life`). It is that of
    the jobs started on this cluster: processors times predicted time while they run, times the time
    that they took once they have ended, each from its start on
    (`grid.kernel.queueing.fair_share`). Equal users are served in order of landing. Jobs without a
    user are those of one more user.
    """

    def __init__(self, model: GridModel, cluster: ClusterAgent) -> None:
        super().__init__(model, cluster)
        settings = model.settings(LocalSettings)
        self.half_life, self.shares = settings.half_life, settings.shares


class SjfScheduler(LocalScheduler):
    """Shortest job first, by predicted time on the cluster; the head of the queue blocks."""

    @compiled()
    def priority(job: Any, now: float) -> float:  # noqa: N805
        """Rank by predicted time."""
        return float(job.predicted_time)


class LjfScheduler(LocalScheduler):
    """Longest job first, by predicted time on the cluster; the head of the queue blocks."""

    @compiled()
    def priority(job: Any, now: float) -> float:  # noqa: N805
        """Rank by predicted time, the longest first."""
        return -float(job.predicted_time)


class EasyScheduler(FcfsScheduler):
    """EASY backfilling: in order of landing; others may start that do not delay the head.

    When the head of the queue does not fit, its shadow time is when enough processors will be free
    for it, by the predicted ends of running jobs; those free beyond its need then, with all
    releases of that instant, are extra. Each job behind it, in order, starts if it fits now and
    either ends by the shadow time, as predicted, or takes no more than the extra processors, which
    are then fewer. For another order of the queue, give a subclass another `priority`.
    """

    service: ClassVar[str] = "easy"


class ConservativeScheduler(FcfsScheduler):
    """Conservative backfilling: each job has a reservation when it lands; nobody delays it.

    When a job ends early, each waiting job is moved to the earliest time that others' reservations
    leave to it. As with EASY, a subclass may order the queue otherwise.
    """

    service: ClassVar[str] = "conservative"

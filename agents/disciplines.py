"""Local schedulers that serve a queue by a fixed rank of each job.

What they expect of a job's execution time is what PACE predicts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from agents.schedulers import LocalScheduler
from grid.errors import GridError
from grid.kernel.compile import compiled

if TYPE_CHECKING:
    from agents.cluster import ClusterAgent
    from agents.model import GridModel


@dataclass(frozen=True)
class LocalSettings:
    """What local schedulers can be set to.

    Parameters
    ----------
    local_max_jumps : float
        How often a waiting job may be overtaken by others of its cluster under FPFS.

    Raises
    ------
    GridError
        If it is no whole number from 0, nor infinity.
    """

    local_max_jumps: float = math.inf

    def __post_init__(self) -> None:
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


class SjfScheduler(LocalScheduler):
    """Shortest job first, by execution time on the cluster; the head of the queue blocks."""

    @compiled()
    def priority(job: Any, now: float) -> float:  # noqa: N805
        """Rank by execution time."""
        return float(job.execution_time)


class LjfScheduler(LocalScheduler):
    """Longest job first, by execution time on the cluster; the head of the queue blocks."""

    @compiled()
    def priority(job: Any, now: float) -> float:  # noqa: N805
        """Rank by execution time, the longest first."""
        return -float(job.execution_time)


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

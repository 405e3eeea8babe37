"""Local schedulers that serve a queue by a fixed rank of each job."""

from __future__ import annotations

from typing import Any

from agents.schedulers import LocalScheduler
from grid.kernel.compile import compiled


class FcfsScheduler(LocalScheduler):
    """First come, first served: in order of landing; the head of the queue blocks."""

    @compiled()
    def priority(job: Any, now: float) -> float:  # noqa: N805
        """Rank all jobs equal, so that the order of landing decides."""
        return 0.0


class SjfScheduler(LocalScheduler):
    """Shortest job first, by execution time on the cluster; the head of the queue blocks."""

    @compiled()
    def priority(job: Any, now: float) -> float:  # noqa: N805
        """Rank by execution time."""
        return float(job.execution_time)

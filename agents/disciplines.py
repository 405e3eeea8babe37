"""Local schedulers that serve a queue by a rank of each job, or of each user.

What they expect of a job's execution time is what PACE predicts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar

from pydantic import Field

from agents.schedulers import LocalScheduler
from agents.selection import FpfsSettings
from grid.jobs import LONGEST, UNKNOWN
from grid.kernel.compile import compiled
from grid.settings import Checked, setting

WEEK = 604_800.0
"""s."""


@dataclass(frozen=True)
class FairShareSettings(Checked):
    """Of fair share."""

    group = FpfsSettings.group

    half_life: float = setting(
        WEEK,
        "Time after which half of what a user has used counts, under fair-share.",
        unit="s",
        above=0,
        most=LONGEST,
    )
    shares: dict[Annotated[int, Field(ge=UNKNOWN)], float] = setting(
        {},
        "Shares of users under fair-share, by number, such as {3 = 2.0}: what they have used is "
        "divided by that; of all others: 1.",
        least=1e-6,
        most=1e6,
    )


class FcfsScheduler(LocalScheduler):
    """First come, first served: in order of landing; the head of the queue blocks."""

    reads_predictions = False

    @compiled()
    def priority(job: Any, now: float) -> float:  # noqa: N805
        """Rank all jobs equal, so that the order of landing decides."""
        return 0.0


class RecordedScheduler(LocalScheduler):
    """As it was: each job starts when it did in truth, by the log that it comes from.

    It waits for its ``recorded_wait`` after its arrival. A job of which that is unknown starts when
    it lands.
    """

    reads_predictions = False
    service: ClassVar[str] = "timed"

    @compiled()
    def priority(job: Any, now: float) -> float:  # noqa: N805
        """Return when the job started, s."""
        return float(job.arrival + job.recorded_wait)


class FpfsScheduler(FcfsScheduler):
    """Fit processors, first served: in order of landing, each job that fits.

    A job that was overtaken `local_max_jumps` times since it landed holds back those
    behind it.
    """

    service: ClassVar[str] = "fpfs"


class FairShareScheduler(FcfsScheduler):
    """Fair share: jobs of the user who has used least of the cluster first; the head blocks.

    What a user has used, over the user's share, decays (`half_life`). It is that of
    the jobs started on this cluster: processors times predicted time while they run, times the time
    that they took once they have ended, each from its start on
    (`grid.kernel.queueing.fair_share`). Equal users are served in order of landing. Jobs without a
    user are those of one more user.
    """

    reads_predictions = True
    settings_type = FairShareSettings

    @cached_property
    def half_life(self) -> float:  # type: ignore[override]
        """As the settings say, s; a subclass may have one of its own."""
        return float(self.settings.half_life)

    @cached_property
    def shares(self) -> Mapping[int, float]:  # type: ignore[override]
        """As the settings say, by number of the user; a subclass may have its own."""
        shares: Mapping[int, float] = self.settings.shares
        return shares


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

    reads_predictions = True
    service: ClassVar[str] = "easy"


class ConservativeScheduler(FcfsScheduler):
    """Conservative backfilling: each job has a reservation when it lands; nobody delays it.

    When a job ends early, each waiting job is moved to the earliest time that others' reservations
    leave to it. As with EASY, a subclass may order the queue otherwise.
    """

    reads_predictions = True
    service: ClassVar[str] = "conservative"

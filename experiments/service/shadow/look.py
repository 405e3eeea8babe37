"""What Slurm tells of everybody's jobs at one moment, without names, commands and accounts."""

from __future__ import annotations

from typing import NamedTuple

from agents.slurm.values import seconds
from experiments.scenario.checked import ScenarioError
from experiments.service.at_sites.batch_system import SilentError
from experiments.service.at_sites.drivers import Driver
from experiments.service.at_sites.slurm import ENDED, Partition, Processors
from grid.foreign import quoted
from grid.logs.sacct import NOTHING

WAITING = {"PENDING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "RESV_DEL_HOLD", "SPECIAL_EXIT"}
"""States of jobs whose start is one that Slurm expects."""
STOPPED = {"BOOT_FAIL", "CANCELLED", "DEADLINE", "REVOKED"}
"""States of jobs that may have ended before they began: Slurm calls that one instant both."""
UNLIMITED = 365 * 86400.0
"""What Slurm calls the limit of a job without one as soon as it runs, s."""
_WIDTHS = {
    "JobArrayID": 40,  # with the task of an array, and the component of a heterogeneous job
    **dict.fromkeys(("SubmitTime", "EligibleTime", "StartTime", "EndTime", "TimeLimit"), 24),
    **dict.fromkeys(("NumCPUs", "UserID", "State", "RestartCnt"), 24),
}


class Seen(NamedTuple):
    """A job as its cluster tells of it; times are Unix times, s."""

    id: str
    submitted: float
    """Or put back into the queue."""
    eligible: float | None
    """When nothing but the scheduler kept it from starting: no dependency, hold or ``--begin``."""
    started: float | None
    ended: float | None
    size: int
    requested: float | None
    user: int
    state: str
    restarts: int


class Look(NamedTuple):
    """What a site has at once."""

    processors: Processors
    jobs: list[Seen]

    @property
    def others(self) -> int:
        """Processors that jobs hold which are not listed, such as those of other partitions."""
        ours = sum(job.size for job in self.jobs if job.started and not job.ended)
        return max(0, self.processors.allocated - ours)


class Watched(Driver):
    """A site that is asked, and never told anything.

    Attributes
    ----------
    partition : Partition
    """

    def _size(self) -> int:
        if self.name != "slurm":
            raise ScenarioError(
                f"driver: found {quoted(self.name)}; accepted: 'slurm', for of others it is not "
                "known which jobs they have"
            )
        self.partition = Partition(self.given["slurm_conf"], self.given["partition"])
        return self.partition.size()


class Remembered(Watched):
    """A site that is not asked: it has the processors that it had."""

    def _size(self) -> int:
        raise SilentError("never asked")


def look(partition: Partition) -> Look:
    """Ask a partition for its size and its jobs.

    Raises
    ------
    SilentError, ValueError
        If it does not answer, or not as Slurm does.
    """
    processors = partition.processors()
    return Look(processors, [_seen(row) for row in partition.jobs(processors.partition, _WIDTHS)])


def _seen(row: dict[str, str]) -> Seen:
    submitted, state = _time(row["SubmitTime"]), row["State"]
    if submitted is None:
        raise ValueError(f"SubmitTime: found {quoted(row['SubmitTime'])}; accepted: a time")
    started = None if state in WAITING else _time(row["StartTime"])
    ended = _time(row["EndTime"]) if state in ENDED else None
    if state in STOPPED and started is not None and ended is not None and ended <= started:
        started = None
    limit = row["TimeLimit"]
    requested = None if limit in (*NOTHING, "NOT_SET") else seconds("TimeLimit", limit)
    return Seen(
        row["JobArrayID"],
        submitted,
        _time(row["EligibleTime"]),
        started,
        ended,
        int(row["NumCPUs"]),
        requested if requested is not None and requested < UNLIMITED else None,
        int(row["UserID"]),
        state,
        int(row["RestartCnt"]),
    )


def _time(text: str) -> float | None:
    return float(text) if text.isdecimal() and int(text) else None

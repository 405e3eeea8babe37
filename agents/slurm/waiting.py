"""The jobs of a cluster: one that waits, as the loops see it, and what else is known of it."""

from __future__ import annotations

from typing import NamedTuple

from agents.slurm.conf import Partition
from agents.slurm.nodes import Mask
from agents.slurm.qos import NONE, Qos, Running
from agents.slurm.usage import Association
from grid.foreign import plain


class Waiting(NamedTuple):
    """A job that waits.

    Attributes
    ----------
    slot : int
    size : int
        Processors.
    limit : float
        Its time limit, s.
    user : int
    partition : Partition
    mask : bool array
        The nodes of the partition.
    since : float
        From when on it may start, s: since it was submitted here, or some time after it was
        preempted.
    priority : int
    qos : Qos
    hindrance : str
        Why it never starts here, in words (`hindrance`); "" if it may.
    """

    slot: int
    size: int
    limit: float
    user: int
    partition: Partition
    mask: Mask
    since: float
    priority: int
    qos: Qos = NONE
    hindrance: str = ""

    @property
    def able(self) -> bool:
        """Whether it may start at all."""
        return not self.hindrance

    @property
    def counted(self) -> Running:
        """What counts of it for limits of its quality of service."""
        return Running(self.qos, self.user, self.size)

    @property
    def nodes(self) -> tuple[float, float]:
        """How many nodes it may have."""
        return max(self.partition.min_nodes, 1), self.partition.max_nodes


class Entry:
    """A job as it was found when it landed; its priority changes."""

    def __init__(self, job: Waiting, association: Association, submission: int) -> None:
        self.job, self.association, self.submission = job, association, submission
        self.submitted = job.since  # anew when it is preempted, s

    @property
    def order(self) -> tuple[int, int, float, int]:
        """What it is sorted by: tier, priority, time and order of submission."""
        job = self.job
        return -job.partition.tier, -job.priority, self.submitted, self.submission


def hindrance(job: Waiting, ran_over: bool, too_large: bool) -> str:
    """Return why its partition or its quality of service never let a job start, in words.

    Parameters
    ----------
    job : Waiting
    ran_over : bool
        Its site let it run for longer than it asked for: no limit of time keeps it from starting.
    too_large : bool
        All nodes that it may have are not enough.
    """
    partition, qos = job.partition, job.qos
    there, quality = f"partition {plain(partition.name)}", f"QOS {plain(qos.name)}"
    if not partition.up:
        return f"{there} is not up"
    if too_large:
        return f"{there} has too few nodes for the size"
    for name, longest in ((there, partition.max_time), (quality, qos.wall)):
        if job.limit > longest and not ran_over:
            return f"the time limit is above that of {name}"
    if job.size > min(qos.job_cpus, qos.user_cpus, qos.all_cpus):
        return f"the size is above that of {quality}"
    return "" if min(qos.user_jobs, qos.all_jobs) >= 1 else f"{quality} lets no job run"

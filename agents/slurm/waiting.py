"""The jobs of a cluster: one that waits, as the loops see it, and what else is known of it."""

from __future__ import annotations

from typing import NamedTuple

from agents.slurm.conf import Partition
from agents.slurm.nodes import Mask
from agents.slurm.qos import NONE, Qos, Running
from agents.slurm.usage import Association


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
    ran_over : bool
        Its site let it run for longer than it asked for: no limit of time keeps it from starting.
    too_large : bool
        All nodes that it may have are not enough.
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
    ran_over: bool = False
    too_large: bool = False

    @property
    def able(self) -> bool:
        """Whether its partition and its quality of service let it start at all."""
        longest = min(self.partition.max_time, self.qos.wall)
        possible = self.partition.up and not self.too_large
        in_time = self.ran_over or self.limit <= longest
        return possible and in_time and self.size <= self.qos.job_cpus

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

"""The jobs of a cluster: one that waits, as the loops see it, and what else is known of it."""

from __future__ import annotations

import math
from typing import NamedTuple

from agents.slurm.conf import Partition
from agents.slurm.nodes import Counts, Mask, chosen
from agents.slurm.qos import NONE, Qos, Running
from agents.slurm.usage import Association
from grid.foreign import plain
from grid.kernel.state import TRUTH
from grid.world.world import World

LATE = 120.0
"""By how much, s, a job may outlast its limit before its site ends it: cleaning raises what it
asked for to what it ran."""


MINUTE = 60.0
"""Time limits of Slurm are whole minutes, s."""


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


def lack_of_nodes(job: Waiting, free: Counts, weights: Counts) -> str:
    """Return why a job does not fit on all nodes of its partition, of which that is said.

    Empty if it does; `free` has the processors of each node, 0 of others (`nodes.chosen`).
    """
    least, most = job.nodes
    if chosen(free, weights, job.size, least, most) is not None:
        return ""
    if chosen(free, weights, job.size, 1) is None:
        return "has too few nodes for the size"
    if chosen(free, weights, job.size, 1, most) is None:
        return f"has MaxNodes={most:.0f}, too few for the size"
    return f"has MinNodes={least:.0f}, more than it can give"


def time_limit(world: World, slot: int, cluster: int, longest: float) -> float:
    """Return the time limit of a job, s: the run time to expect of it, in whole minutes.

    Where nobody asked for more than the longest limit, it is no longer than that, whatever is
    expected: a job without a limit of its own has that of its partition.
    """
    expected = float(world.jobs["predicted_time"][slot])
    asked = float(world.jobs["requested_time"][slot]) / float(world.state.rate[cluster])
    if math.isinf(asked):
        asked = expected if world.state.predicting == TRUTH else 0.0
    limit, least = (MINUTE * math.ceil(time / MINUTE - 1e-9) for time in (expected, asked))
    return min(limit, longest) if least <= longest else limit


def hindrance(job: Waiting, ran_over: bool, lacking: str) -> str:
    """Return why its partition or its quality of service never let a job start, in words.

    Parameters
    ----------
    job : Waiting
    ran_over : bool
        It ran for as long as it asked for, or longer: its limit may have been `LATE` less.
    lacking : str
        What its partition lacks (`lack_of_nodes`).
    """
    partition, qos = job.partition, job.qos
    there, quality = f"partition {plain(partition.name)}", f"QOS {plain(qos.name)}"
    if not partition.up:
        return f"{there} is not up"
    if lacking:
        return f"{there} {lacking}"
    for name, longest in ((there, partition.max_time), (quality, qos.wall)):
        if job.limit > longest + (LATE if ran_over else 0.0):
            return f"the time limit is above that of {name}"
    if job.size > min(qos.job_cpus, qos.user_cpus, qos.all_cpus):
        return f"the size is above that of {quality}"
    return "" if min(qos.user_jobs, qos.all_jobs) >= 1 else f"{quality} lets no job run"

"""A configuration of Slurm, as far as it has a meaning here.

Names and defaults are those of the documentation of Slurm 22.05 (the page ``slurm.conf``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from grid.errors import GridError
from grid.foreign import plain, quoted
from grid.logs.calendar import seconds_until


class Node(NamedTuple):
    """A node: its name, its processors, and its weight: nodes of lower weight are filled first."""

    name: str
    cpus: int
    weight: int = 1


class Partition(NamedTuple):
    """A partition.

    Attributes
    ----------
    name : str
    nodes : tuple of str or None
        None: all nodes.
    is_default : bool
        Jobs that name no partition are in it.
    up : bool
        Its jobs may start.
    max_time : float
        Longest time limit of its jobs, s.
    min_nodes, max_nodes : float
        How many nodes its jobs may have.
    tier : int
        Jobs of a higher tier are tried first, whatever their priorities; they may preempt others.
    job_factor : int
        What its jobs have of the partition factor, before that is divided by the largest one.
    preempt_mode : str
        What becomes of its jobs that others preempt: ``off``, they are not; ``requeue``; or "", as
        the whole configuration says.
    """

    name: str
    nodes: tuple[str, ...] | None = None
    is_default: bool = False
    up: bool = True
    max_time: float = math.inf
    min_nodes: float = 0
    max_nodes: float = math.inf
    tier: int = 1
    job_factor: int = 1
    preempt_mode: str = ""


class Reservation(NamedTuple):
    """Nodes that no job may use from a date to another, as for maintenance; None: all."""

    name: str
    start: str
    end: str
    nodes: tuple[str, ...] | None = None
    where: str = ""

    def span(self, clock: datetime) -> tuple[float, float]:
        """Return when it begins and ends, s after a clock showed a date.

        Raises
        ------
        GridError
            If a date is none, or it ends before it begins.
        """
        times = []
        for key, text in (("StartTime", self.start), ("EndTime", self.end)):
            try:
                times.append(seconds_until(text, clock))
            except ValueError:
                raise GridError(
                    f"{self.where}: {key}: found {quoted(text)}; accepted: a date such as "
                    "2024-03-01T08:00:00"
                ) from None
        begin, end = times
        if end <= begin:
            raise GridError(
                f"{self.where}: EndTime: found {quoted(self.end)}; accepted: after StartTime, "
                f"{plain(self.start)}"
            )
        return begin, end


@dataclass(frozen=True)
class Scheduling:
    """What ``SchedulerParameters`` says; times in s."""

    backfilling: bool = True
    batch_sched_delay: float = 3
    bf_interval: float = 30
    bf_job_part_count_reserve: int = 0
    bf_max_job_part: int = 0
    bf_max_job_start: int = 0
    bf_max_job_test: int = 500
    bf_max_job_user: int = 0
    bf_max_job_user_part: int = 0
    bf_min_age_reserve: float = 0
    bf_min_prio_reserve: int = 0
    bf_resolution: float = 60
    bf_window: float = 86400
    bf_window_linear: float = 0
    default_queue_depth: int = 100
    defer: bool = False
    partition_job_depth: int = 0
    sched_interval: float = 60
    sched_max_job_start: int = 0


@dataclass(frozen=True)
class Priority:
    """What ``PriorityType=priority/multifactor`` goes by; times in s."""

    calc_period: float = 300
    half_life: float = 604_800
    max_age: float = 604_800
    favor_small: bool = False
    fair_tree: bool = True
    relative_to_time: bool = False
    normal_partitions: bool = True
    increases_only: bool = False
    age: int = 0
    fair_share: int = 0
    job_size: int = 0
    partition: int = 0
    qos: int = 0


@dataclass(frozen=True)
class Preemption:
    """Who may preempt whom, and in what order; times in s.

    Attributes
    ----------
    by_qos : bool
        As qualities of service tell (``preempt/qos``); else jobs of higher tiers those of lower
        ones (``preempt/partition_prio``).
    exempt_time : float
        For which a job runs at least, unless its quality of service tells another.
    reorder_count : int
        Attempts to find fewer jobs to preempt.
    strict_order : bool
        These keep to the order.
    youngest_first : bool
        The order is by when jobs started, not by whose they are.
    requeue_delay : float
        For which a job that was preempted cannot start again.
    """

    by_qos: bool = False
    exempt_time: float = 0
    reorder_count: int = 1
    strict_order: bool = False
    youngest_first: bool = False
    requeue_delay: float = 121


@dataclass(frozen=True)
class Conf:
    """A configuration.

    Attributes
    ----------
    scheduling : Scheduling
    priority : Priority or None
        None: jobs are served in order of submission.
    nodes : tuple of Node
        Empty: each processor of a cluster is a node.
    partitions : tuple of Partition
        At least one.
    reservations : tuple of Reservation
    preemption : Preemption or None
        None: no job preempts another.
    ignored : tuple of str
        Keys that have no meaning here, as they are spelt.
    named : bool
        It names its partitions; else all jobs are in the only one.
    """

    scheduling: Scheduling = field(default_factory=Scheduling)
    priority: Priority | None = None
    nodes: tuple[Node, ...] = ()
    partitions: tuple[Partition, ...] = (Partition("all", is_default=True),)
    reservations: tuple[Reservation, ...] = ()
    preemption: Preemption | None = None
    ignored: tuple[str, ...] = ()
    named: bool = False

    @property
    def note(self) -> str:
        """In words, which keys have no meaning here, and partitions no nodes; empty if all have."""
        names = [plain(name) for name in self.ignored]
        told = [f"without meaning here: {', '.join(names)}"] if names else []
        for each in self.partitions:
            if each.nodes == ():
                told.append(f"partition {plain(each.name)} has no nodes: its jobs never start")
        return "; ".join(told)

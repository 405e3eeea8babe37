"""Priorities of jobs: the sum of factors from 0 to 1, each times its weight.

The factors are those of the page "Multifactor Priority Plugin" of Slurm's documentation.
"""

from __future__ import annotations

from typing import NamedTuple

from agents.slurm.conf import Partition, Priority
from agents.slurm.qos import Qos


class Sizes(NamedTuple):
    """Of a cluster: its nodes and its processors."""

    nodes: int
    processors: int


def age_factor(waited: float, settings: Priority) -> float:
    """Return how long a job has waited (s), over the age from which on that counts no more."""
    return min(max(waited, 0.0) / settings.max_age, 1.0)


def size_factor(size: int, nodes: float, limit: float, all_: Sizes, settings: Priority) -> float:
    """Return the mean of the shares of nodes and processors that a job asks for.

    With ``SMALL_RELATIVE_TO_TIME`` it is the processors by minutes of the time limit (s), over
    those of the cluster. Where small jobs are favoured, what is left to 1.
    """
    if settings.relative_to_time:
        share = size / max(limit / 60, 1.0) / all_.processors
    else:
        share = (nodes / all_.nodes + size / all_.processors) / 2
    return 1.0 - share if settings.favor_small else share


def partition_factor(partition: Partition, largest: int, settings: Priority) -> float:
    """Return a partition's own factor, over the largest of all unless that is switched off."""
    if not settings.normal_partitions:
        return float(partition.job_factor)
    return partition.job_factor / largest if largest else 0.0


def qos_factor(qos: Qos, largest: int) -> float:
    """Return the priority of a quality of service, over the largest of all."""
    return qos.priority / largest if largest else 0.0


def priority(factors: tuple[float, float, float, float, float], settings: Priority) -> int:
    """Return the priority of a job by its age, fair-share, size, partition and QOS factors.

    Examples
    --------
    >>> priority((0.5, 0.0, 0.25, 1.0, 0.0), Priority(age=1000, job_size=100, partition=10))
    535
    """
    weights = (
        settings.age,
        settings.fair_share,
        settings.job_size,
        settings.partition,
        settings.qos,
    )
    return max(int(sum(w * factor for w, factor in zip(weights, factors, strict=True))), 1)

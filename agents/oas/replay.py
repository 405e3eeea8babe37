"""A schedule carried out by the grid, which lets links be saturated (`oas`, eqs. 5 to 7)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from agents.disciplines import FcfsScheduler
from agents.model import GridModel
from agents.oas.instance import LARGEST, Instance
from agents.oas.model import run_time
from agents.oas.order import OrderedScheduler, Planned, starting
from agents.oas.schedule import Run
from grid.jobs import job_table
from grid.platform import Platform
from grid.workloads.table import Table

if TYPE_CHECKING:
    from agents.cluster import ClusterAgent


@dataclass(frozen=True)
class Replayed:
    """What became of a schedule.

    Attributes
    ----------
    makespan : float
        Seconds.
    slowdown : float
        Mean over the jobs of the time that each ran, over what it takes if no link is saturated.
    """

    makespan: float
    slowdown: float


@dataclass(frozen=True)
class _Script:
    """The order of a schedule: the index of each job and its nodes of each cluster."""

    runs: tuple[tuple[int, tuple[int, ...]], ...] = ()


class _ReplayScheduler(OrderedScheduler):
    """Starts jobs in the order of a script, whether that saturates links or not."""

    def starting(self, waiting: dict[int, int]) -> Iterable[Planned]:
        """Return what starts now; all jobs wait from the beginning."""
        world = self.model.world
        serials = {world.jobs["number"].item(slot): serial for serial, slot in waiting.items()}
        self.plan = [
            Planned(serials[job], nodes, (0.0,) * len(nodes))
            for job, nodes in self.model.settings(_Script).runs
            if job in serials
        ]
        free = [cluster.free for cluster in self.clusters]
        return starting(self.plan, free, np.zeros(len(free)))


def replay(instance: Instance, schedule: Sequence[Run]) -> Replayed:
    """Run a schedule in its order, each job as soon as its nodes are free.

    Parameters
    ----------
    instance : Instance
    schedule : sequence of Run
        Of each job; links may be saturated.

    Examples
    --------
    >>> from agents.oas import Cluster, Job, Run
    >>> clusters = Cluster(2, 1, 10), Cluster(2, 1, 10)
    >>> two = Instance(clusters, (Job(2, 60, 10, 0.5), Job(2, 60, 10, 0.5)))
    >>> replay(two, [Run(0, 0, 60, (1, 1)), Run(1, 0, 60, (1, 1))])
    Replayed(makespan=90.0, slowdown=1.5)
    """
    jobs = job_table(len(instance.jobs))
    powers = [cluster.effective_power for cluster in instance.clusters]
    alone = {}
    for run in schedule:
        job, row = instance.jobs[run.job], jobs[run.job]
        slowest = min(power for power, count in zip(powers, run.nodes, strict=True) if count)
        seconds = alone[run.job] = run_time(instance, run.job, run.nodes)
        row["size"] = job.tasks
        row["runtime"] = float(seconds * slowest)  # the grid divides all of it by the power
        row["computation_fraction"] = float(job.base_time * job.sigma / slowest / seconds)
        row["ppbw"] = float(job.bandwidth)
    platform = Platform.star(
        [cluster.nodes for cluster in instance.clusters],
        [float(power) for power in powers],
        [float(cluster.link_mbps) for cluster in instance.clusters],
    )
    script = _Script(
        tuple((run.job + 1, run.nodes) for run in sorted(schedule, key=lambda run: run.start))
    )
    model = GridModel(platform, Table(jobs), _ReplayScheduler, _local, settings=[script])
    model.run()
    rows = model.world.records().rows
    ratios = [(row["finish"] - row["start"]) / float(alone[row["number"] - 1]) for row in rows]
    return Replayed(float(rows["finish"].max()), float(np.mean(ratios)))


def without_limits(instance: Instance) -> Instance:
    """Return an instance with links that nothing saturates."""
    return replace(
        instance,
        clusters=tuple(
            replace(cluster, link_mbps=Fraction(LARGEST)) for cluster in instance.clusters
        ),
    )


def _local(model: GridModel, cluster: ClusterAgent) -> FcfsScheduler:
    return FcfsScheduler(model, cluster)

"""A schedule carried out by the grid, which lets links be saturated (`oas`, eqs. 5 to 7)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from agents.disciplines import FcfsScheduler
from agents.model import GridModel
from agents.oas.instance import LARGEST, Instance
from agents.oas.model import run_time
from agents.oas.order import OrderedScheduler, Planned, starting
from agents.oas.schedule import Run
from grid.jobs import job_table
from grid.platform.multicluster import Platform
from grid.workloads.table import Table


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
    """The nodes of each job of a schedule, in order of their starts."""

    nodes: tuple[tuple[int, ...], ...] = ()


class _ReplayScheduler(OrderedScheduler):
    """Starts jobs in the order in which they arrive, on the nodes of a script."""

    def starting(self, waiting: dict[int, int]) -> Iterable[Planned]:
        """Return what starts now, whether that saturates links or not."""
        numbers, nodes = self.model.world.jobs["number"], self.model.settings(_Script).nodes
        self.plan = [
            Planned(serial, nodes[numbers.item(slot) - 1], (0.0,) * len(self.clusters))
            for serial, slot in waiting.items()
        ]
        free = [cluster.free for cluster in self.clusters]
        return starting(self.plan, free, np.zeros(len(free)))


def replay(instance: Instance, schedule: Sequence[Run]) -> Replayed:
    """Run a schedule: each job starts when it shall, or as soon as its nodes are free then.

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
    in_order = sorted(schedule, key=lambda run: run.start)
    alone = []
    for run, row in zip(in_order, jobs, strict=True):
        job = instance.jobs[run.job]
        slowest = min(power for power, count in zip(powers, run.nodes, strict=True) if count)
        seconds = run_time(instance, run.job, run.nodes)
        alone.append(float(seconds))
        row["arrival"], row["size"] = run.start, job.tasks
        row["runtime"] = float(seconds * slowest)  # the grid divides all of it by the power
        row["computation_fraction"] = float(job.base_time * job.sigma / slowest / seconds)
        row["ppbw"] = float(job.bandwidth)
    platform = Platform.star(
        [cluster.nodes for cluster in instance.clusters],
        [float(power) for power in powers],
        [float(cluster.link_mbps) for cluster in instance.clusters],
    )
    script = _Script(tuple(run.nodes for run in in_order))
    model = GridModel(platform, Table(jobs), _ReplayScheduler, FcfsScheduler, settings=[script])
    model.run()
    rows = model.world.log.records().rows
    ratios = [(row["finish"] - row["start"]) / alone[row["number"] - 1] for row in rows]
    return Replayed(float(rows["finish"].max()), float(np.mean(ratios)))


def without_limits(instance: Instance) -> Instance:
    """Return an instance with links that nothing saturates."""
    return replace(
        instance,
        clusters=tuple(
            replace(cluster, link_mbps=Fraction(LARGEST)) for cluster in instance.clusters
        ),
    )

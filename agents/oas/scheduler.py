"""OAS in the running grid: a global scheduler that optimises its queue round after round."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from agents.oas.instance import LARGEST, Cluster, Instance, exact
from agents.oas.instance import Job as Tasks
from agents.oas.model import link_demand, obstacles
from agents.oas.order import OrderedScheduler, Planned, starting
from agents.oas.rounds import OasSettings, Running, Waiting, plan_round
from agents.schedulers import Answer
from agents.view import Job
from grid.errors import GridError
from grid.kernel.state import REJECT
from grid.kernel.statistics import TOLERANCE
from grid.workloads.table import Table

if TYPE_CHECKING:
    from agents.model import GridModel

FINEST = 1000
"""Denominator of relative speeds at most: predictions are no finer."""


class OasScheduler(OrderedScheduler):
    """OAS: starts jobs in the order and on the nodes that let the last of a round end earliest.

    A round begins when a job waits that the plan lacks but has room for, and that might fit on what
    is free. It plans the oldest `OasSettings.round_jobs` waiting jobs anew, also those that an
    earlier round planned and that have not started; what runs keeps its nodes until it is expected
    to end, which the scheduler reads from the clusters themselves. Jobs start in the order of the
    plan (`agents.oas.order`), and no link is ever saturated. Jobs may be overtaken as often as that
    helps the round.

    Attributes
    ----------
    settings : OasSettings
    round : int
        Rounds so far.
    """

    label = "OAS"
    settings_type = OasSettings

    def __init__(self, model: GridModel) -> None:
        super().__init__(model)
        self.round = 0
        self._unable: set[int] = (
            set()
        )  # serials of jobs too large for what was up in the last round
        self._up: list[int] = []
        world = model.world
        if world.links > world.clusters:
            raise GridError(
                f"oas: found {world.links - world.clusters} switches beside the central one; "
                "accepted: clusters in a star"
            )
        workload = model.workload
        if isinstance(workload, Table) and workload.times is not None:
            raise GridError(
                "oas: found jobs with execution times on each cluster, as of PACE; accepted: run "
                "times over the rates of clusters, for its model has one power for each"
            )
        if world.jobs.predicted is not None:
            raise GridError(
                "oas: found a prediction for each cluster; accepted: run times over the rates of "
                "clusters, for its model has one power for each"
            )
        self._capacity = world.known["capacity"][: world.clusters] * (1.0 + TOLERANCE)
        self._fastest = max(cluster.rate for cluster in self.clusters)

    def place(self, job: Job) -> Answer:
        """Start the job if it is its turn; reject it if it saturates a link however it is split."""
        answer = super().place(job)
        return REJECT if answer is None and self._is_hopeless(job.slot) else answer

    def starting(self, waiting: dict[int, int]) -> Iterable[Planned]:
        """Plan anew if need be, and return what starts now."""
        world = self.model.world
        free = [cluster.free for cluster in self.clusters]
        total = [cluster.up for cluster in self.clusters]
        self.plan = [
            each
            for each in self.plan
            if all(count <= up for count, up in zip(each.nodes, total, strict=True))
        ]
        if total != self._up:
            self._up, self._unable = total, set()
        planned = {each.job for each in self.plan}
        known = planned | self._unable
        if len(planned) < self.settings.round_jobs and any(
            serial not in known and world.jobs["size"][slot] <= sum(free)
            for serial, slot in waiting.items()
        ):
            self._begin_round([*waiting.values()], free)
        spare = self._capacity - world.known["demand"][: world.clusters]
        return starting(self.plan, free, spare)

    def _begin_round(self, slots: list[int], free: list[int]) -> None:
        """Plan the oldest waiting jobs that can run on the nodes that are there."""
        running = self._running()
        nodes = np.array(free) + sum(np.array(each.nodes) for each in running)
        there = np.flatnonzero(nodes).tolist()
        clusters = [self._cluster(k, int(nodes[k])) for k in there]
        # What brokers tell late may have ended: nodes that are up, and neither free nor held.
        up = [self._cluster(k, count) for k, count in enumerate(self._up) if count > 0]
        able = []
        for slot in slots:
            if not _obstacles(clusters, self._tasks(slot)):
                able.append(slot)
            elif _obstacles(up, self._tasks(slot)):
                self._unable.add(self.model.world.jobs["serial"].item(slot))
        able = able[: self.settings.round_jobs]
        self.plan = []
        if not able:
            return
        self.round += 1
        held = [each._replace(nodes=tuple(each.nodes[k] for k in there)) for each in running]
        waiting = [self._waiting(slot) for slot in able]
        decisions = plan_round(clusters, waiting, held, self.settings)
        in_order = sorted(zip(decisions, able, strict=True), key=lambda pair: pair[0].begin)
        for decision, slot in in_order:
            take = [0] * len(self.clusters)
            for k, count in zip(there, decision.nodes, strict=True):
                take[k] = count
            loads = tuple(float(link_demand(self._tasks(slot), count)) for count in take)
            serial = self.model.world.jobs["serial"].item(slot)
            self.plan.append(Planned(serial, tuple(take), loads))

    def _running(self) -> list[Running]:
        """Return the jobs that run, and when they are expected to have ended."""
        nodes: defaultdict[int, list[int]] = defaultdict(lambda: [0] * len(self.clusters))
        left: dict[int, float] = {}
        for cluster in self.model.clusters:
            for slot, count, end in zip(*cluster.expected_ends(), strict=True):
                nodes[int(slot)][cluster.index] = int(count)
                left[int(slot)] = float(end) - self.model.now
        ppbw = self.model.world.jobs["ppbw"]
        return [Running(tuple(held), left[slot], ppbw.item(slot)) for slot, held in nodes.items()]

    def _waiting(self, slot: int) -> Waiting:
        jobs = self.model.world.jobs
        time = jobs["predicted_runtime"].item(slot) / self._fastest
        return Waiting(jobs["size"].item(slot), time, jobs["ppbw"].item(slot))

    def _tasks(self, slot: int) -> Tasks:
        """Return a job as the model has it, whatever its time."""
        jobs = self.model.world.jobs
        bandwidth = exact(min(jobs["ppbw"].item(slot), LARGEST))
        return Tasks(jobs["size"].item(slot), Fraction(1), bandwidth, Fraction(1))

    def _cluster(self, k: int, nodes: int) -> Cluster:
        """Return a cluster as the model has it, with so many nodes."""
        power = Fraction(self.clusters[k].rate / self._fastest).limit_denominator(FINEST)
        link = exact(min(float(self._capacity[k]), LARGEST))
        return Cluster(nodes, max(power, Fraction(1, FINEST)), link)

    def _is_hopeless(self, slot: int) -> bool:
        """Tell whether a job saturates a link however it is split, even if nothing else runs."""
        sizes = [cluster.size for cluster in self.clusters]
        if self.model.world.jobs["size"][slot] <= max(sizes):
            return False
        clusters = [self._cluster(k, size) for k, size in enumerate(sizes)]
        return _obstacles(clusters, self._tasks(slot))


def _obstacles(clusters: list[Cluster], job: Tasks) -> bool:
    """Tell whether a job cannot run on clusters, even alone."""
    if job.tasks <= max((cluster.nodes for cluster in clusters), default=0):
        return False
    if job.tasks > sum(cluster.nodes for cluster in clusters):
        return True
    return bool(obstacles(Instance(tuple(clusters), (job,))))

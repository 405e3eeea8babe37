"""The two kinds of scheduler, and how to write one.

A **global scheduler** says where each job goes. Subclass `GlobalScheduler` and give it `place`,
either a method in plain Python::

    class LeastLoaded(GlobalScheduler):
        def place(self, job):
            fitting = [cluster for cluster in self.clusters if cluster.size >= job.size]
            return min(fitting, key=lambda cluster: cluster.load)

or a compiled function of the signature that `grid.kernel.decisions` documents.

A **local scheduler** orders the jobs of one cluster. Subclass `LocalScheduler` and give it
`priority` (lowest first), again a method or a compiled function; or subclass `PlanningScheduler`
and give it `plan`, which sees all waiting jobs at once.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import mesa
import numpy as np
from numba.core.dispatcher import Dispatcher

from agents.booking import Booked
from agents.messages import Message, Reminder, ScheduleReport, SeedSchedule
from agents.view import Job, KnownCluster
from grid.errors import PlacementError
from grid.kernel.state import LANDING, LOCAL, START, TRANSIT, WAIT
from grid.streams import Stream, stream

if TYPE_CHECKING:
    from agents.cluster import ClusterAgent
    from agents.model import GridModel

Answer = KnownCluster | Mapping[str, int] | None
"""What `place` may return: a cluster to send the job to; how many processors it shall hold from now
on, by name of cluster; or None to let it wait."""


class Scheduler(mesa.Agent):  # type: ignore[misc]
    """What both kinds have."""

    name: str
    paper: ClassVar[str] = ""
    """Key of the paper that describes it."""

    def __init__(self, model: GridModel) -> None:
        super().__init__(model)

    def _compiled(self, method: str) -> Dispatcher | None:
        """Return the class's compiled version of a decision, if it has one."""
        function = inspect.getattr_static(type(self), method, None)
        return function if isinstance(function, Dispatcher) else None

    def receive(self, message: Message) -> None:
        """Take a message that a broker delivers."""

    def act(self) -> None:
        """Act on the messages of this instant, once all are delivered."""


class GlobalScheduler(Scheduler):
    """Decides where each job goes.

    Attributes
    ----------
    clusters : list of KnownCluster
        The clusters, as the broker knows them.
    stream : array of uint64, shape (4,)
        The scheduler's own random numbers (`grid.streams`).
    """

    in_order: ClassVar[bool] = False
    """A job that must wait blocks those behind it (FCFS); else each is offered at each change."""

    spans: ClassVar[bool] = False
    """Jobs may be split across clusters, and may be larger than any one of them."""

    collects: ClassVar[bool] = False
    """Jobs are collected and allocated in rounds; `place` is never called."""

    def __init__(self, model: GridModel) -> None:
        super().__init__(model)
        self.name = type(self).__name__.removesuffix("Scheduler").upper()
        self.clusters = [KnownCluster(model.world, i) for i in range(model.world.clusters)]
        self.stream: Stream = stream(model.seed, "global scheduler")

    def place(self, job: Job) -> Answer:
        """Decide about one job.

        Parameters
        ----------
        job : Job

        Returns
        -------
        KnownCluster, mapping of str to int, or None
            The cluster to send the job to; or how many processors on which clusters (by name) it
            shall run on from now; or None to let it wait.
        """
        raise PlacementError(f"{type(self).__name__}: no method `place`")

    def memory(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return the array that a compiled `place` gets as its memory."""
        return np.zeros(1)

    def answer(self, slot: int) -> int:
        """Have `place` decide and put its answer as the kernel understands it."""
        world = self.model.world
        answer = self.place(Job(world, slot))
        if type(answer) is KnownCluster:
            return answer.index
        if answer is None:
            return WAIT
        if not isinstance(answer, Mapping):
            number = world.jobs["number"][slot]
            raise PlacementError(
                f"placement of job {number}: {answer!r}; accepted: one of self.clusters, "
                "a mapping of cluster names to processors, or None"
            )
        world.take[:] = 0
        for name, count in answer.items():
            world.take[world.platform.index(name)] = count
        return START


class LocalScheduler(Scheduler):
    """Orders the jobs of one cluster.

    To a global scheduler that works in rounds it reports how far the cluster is booked: when it
    gets a seed schedule, and again when what is left falls to the threshold at which the next
    round may start.

    Attributes
    ----------
    cluster : ClusterAgent
        The cluster that it serves.
    cp : float or None
        Comprehensive performance that it expects of its present schedule, s after the last
        dispatch; None for a scheduler that does not say.
    """

    plans: ClassVar[bool] = False
    """Jobs start only as a plan says."""

    cp: float | None = None

    def __init__(self, model: GridModel, cluster: ClusterAgent) -> None:
        super().__init__(model)
        self.cluster = cluster
        kind = type(self).__name__.removesuffix("Scheduler").upper()
        self.name = f"{kind} {cluster.name}"
        self._seeds: list[SeedSchedule] = []
        self._booked = Booked.nothing(cluster.size)

    def priority(self, job: Job) -> float:
        """Return the rank of a job that landed on the cluster: the lowest is served first.

        The job at the head of the queue starts when it fits and holds back those behind it; equal
        ranks are served in order of landing.
        """
        raise PlacementError(f"{type(self).__name__}: no method `priority`")

    def receive(self, message: Message) -> None:
        """Take a seed schedule, or the reminder that the cluster is about to run dry."""
        if isinstance(message, SeedSchedule):
            self._seeds.append(message)
        elif isinstance(message, Reminder) and message.plan == self._booked.plan:
            self._report()

    def act(self) -> None:
        """Report how far the cluster is booked, now that a seed schedule has come."""
        if self._seeds:
            queued = self.model.world.queue(self.cluster.index).tolist()
            status = self.model.world.jobs["status"]
            coming = [slot for slot in self._announced() if status[slot] in (TRANSIT, LANDING)]
            self._book(queued + coming)

    def _announced(self) -> list[int]:
        """Return the slots of the jobs of the seed schedules that were not dealt with yet."""
        return [slot for seed in self._seeds for slot in seed.slots]

    def _book(self, order: Sequence[int], cp: float | None = None) -> None:
        """Note, and report, how far these jobs in this order and the running ones book it."""
        if not self.model.scheduler.collects:
            return
        seeds, self._seeds = self._seeds, []
        self._booked = Booked.by(self.cluster, order, self._booked, seeds)
        self._report(cp)
        dry = float(self._booked.release[-1]) - self.model.round_threshold
        if dry > self.model.now:
            self.model.remind(self, dry, self._booked.plan)

    def _report(self, cp: float | None = None) -> None:
        booked, now = self._booked, self.model.now
        self.cluster.broker.send(
            ScheduleReport,
            self.model.broker,
            cluster=self.cluster.index,
            round=booked.round,
            makespan=max(0.0, float(booked.release[-1]) - now),
            cp=cp,
            release=booked.release,
            unfinished=booked.unfinished[booked.unfinished[:, 0] > now],
        )


class PlanningScheduler(LocalScheduler):
    """Orders all the waiting jobs of one cluster at once, whenever jobs land or processors change.

    The jobs start in the order of the plan, each as soon as enough processors are free. Of a seed
    schedule it first waits for all the jobs.
    """

    plans = True

    def plan(self, jobs: Sequence[Job], release: np.ndarray[Any, Any]) -> Sequence[Job]:
        """Return the order in which the waiting jobs shall start.

        Parameters
        ----------
        jobs : sequence of Job
            The waiting jobs: those of the plan so far in its order, then those of new seed
            schedules in theirs, then others in order of landing.
        release : array, shape (processors,)
            When each processor will be free, seconds from now, in increasing order.
        """
        raise PlacementError(f"{type(self).__name__}: no method `plan`")

    def act(self) -> None:
        """Plan, if a seed schedule has come and its jobs are there."""
        if self._seeds:
            self.replan()

    def replan(self) -> None:
        """Make a new plan and hand it to the cluster; wait for jobs that are announced."""
        world, index = self.model.world, self.cluster.index
        announced = self._announced()
        if any(world.jobs["status"][slot] != LOCAL for slot in announced):
            return
        release = self.cluster.release_times()
        keys, sizes = world.jobs["key"], world.jobs["size"]
        # A job larger than what is up waits for repairs, and for the plan that they bring.
        waiting = [slot for slot in world.queue(index).tolist() if sizes[slot] <= len(release)]
        planned = [slot for slot in waiting if keys[slot] < np.inf]
        known = {*planned, *announced}
        slots = planned + [slot for slot in announced if slot in waiting]
        slots += [slot for slot in waiting if slot not in known]
        if not slots:
            if len(release) != len(self._booked.release):
                self._book([])
            return
        order = [job.slot for job in self.plan([Job(world, slot) for slot in slots], release)]
        world.plan(index, order)
        self._book(order, self.cp)

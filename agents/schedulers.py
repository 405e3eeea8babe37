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

from agents.messages import Message
from agents.view import Job, KnownCluster
from grid.errors import PlacementError
from grid.kernel.state import START, WAIT
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

    Attributes
    ----------
    cluster : ClusterAgent
        The cluster that it serves.
    """

    plans: ClassVar[bool] = False
    """Jobs start only as a plan says."""

    def __init__(self, model: GridModel, cluster: ClusterAgent) -> None:
        super().__init__(model)
        self.cluster = cluster
        kind = type(self).__name__.removesuffix("Scheduler").upper()
        self.name = f"{kind} {cluster.name}"

    def priority(self, job: Job) -> float:
        """Return the rank of a job that landed on the cluster: the lowest is served first.

        The job at the head of the queue starts when it fits and holds back those behind it; equal
        ranks are served in order of landing.
        """
        raise PlacementError(f"{type(self).__name__}: no method `priority`")


class PlanningScheduler(LocalScheduler):
    """Orders all the waiting jobs of one cluster at once, whenever jobs land or processors change.

    The jobs start in the order of the plan, each as soon as enough processors are free.
    """

    plans = True

    def plan(self, jobs: Sequence[Job], release: np.ndarray[Any, Any]) -> Sequence[Job]:
        """Return the order in which the waiting jobs shall start.

        Parameters
        ----------
        jobs : sequence of Job
            The waiting jobs: those of the plan so far in its order, then the new ones.
        release : array, shape (processors,)
            When each processor will be free, seconds from now, in increasing order.
        """
        raise PlacementError(f"{type(self).__name__}: no method `plan`")

    def replan(self) -> None:
        """Make a new plan and hand it to the cluster."""
        world = self.model.world
        jobs = [Job(world, slot) for slot in world.queue(self.cluster.index).tolist()]
        order = self.plan(jobs, self.cluster.release_times())
        world.plan(self.cluster.index, [job.slot for job in order])

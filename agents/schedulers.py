"""The two kinds of scheduler, and how to write one.

A **global scheduler** says where each job goes. Subclass `GlobalScheduler` and give it `place`,
either a method in plain Python::

    class LeastLoaded(GlobalScheduler):
        def place(self, job):
            fitting = [cluster for cluster in self.clusters if cluster.up >= job.size]
            return min(fitting, key=lambda cluster: cluster.load, default=None)

or a compiled function of the signature that `grid.kernel.policies.decisions` documents. What it
may read of jobs and clusters is in `grid.kernel.policies.fields`.

A **local scheduler** orders the jobs of one cluster. Subclass `LocalScheduler` and give it
`priority` (lowest first), likewise; or `PlanningScheduler` and `plan`, which sees all jobs at once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numba.core.dispatcher import Dispatcher

from agents.a4.broker import A4Broker
from agents.decoded_decisions import Answer, compiled_method, queue_of, rank_of, slots_of, start_of
from agents.messages import Message
from agents.muscle.reports import Reports
from agents.protocols import Cluster, Grid, NamedAgent
from agents.selection import FpfsSettings, JobSelection, as_number
from agents.view import Job, KnownCluster, KnownQueues
from grid.errors import GridError, PlacementError, blaming
from grid.foreign import quoted
from grid.kernel.state import LOCAL, QUEUES, REJECT, WAIT
from grid.names import lack_of
from grid.settings import check_flags
from grid.streams import Stream, stream
from grid.world.policies import GlobalRules

__all__ = "REJECT", "Answer", "GlobalScheduler", "LocalScheduler", "PlanningScheduler", "Scheduler"


class Scheduler(NamedAgent):
    """What both kinds have."""

    name: str
    label: ClassVar[str] = ""
    """What messages call it; without one, the name of its class."""
    paper: ClassVar[str] = ""
    """Key of the paper that describes it."""
    uses_deadlines: ClassVar[bool | None] = None
    """Whether deadlines, which are drawn for it then, matter; None: see `agents.reads`."""
    reads_predictions: ClassVar[bool] = True
    """Whether predictions may matter; `agents.reads` tells of which subclasses."""
    settings_type: ClassVar[type | None] = None
    """A frozen dataclass of what it can be set to, parameters of scenarios (`grid.settings`)."""

    def __init__(self, model: Grid) -> None:
        super().__init__(model)
        check_flags(type(self))

    @cached_property
    def settings(self) -> Any:
        """What it is set to, an object of `settings_type`; None without one."""
        return None if self.settings_type is None else self.model.settings(self.settings_type)

    @classmethod
    def settings_kinds(cls) -> tuple[Any, ...]:
        """Return what it can be set to."""
        return () if cls.settings_type is None else (cls.settings_type,)

    @classmethod
    def called(cls) -> str:
        """Return what messages call schedulers of this class."""
        return cls.label or cls.__name__.removesuffix("Scheduler").upper()

    def compiled(self, method: str) -> Dispatcher | None:
        """Return the class's compiled version of a decision, if it has one."""
        return compiled_method(type(self), method)

    def receive(self, message: Message) -> None:
        """Take a message that a broker delivers."""

    def act(self) -> None:
        """Act on the messages of this instant, once all are delivered."""


class GlobalScheduler(Scheduler, GlobalRules):
    """Decides where each job goes.

    How jobs are offered to it, and what it may do with them, is said by the attributes of
    `grid.world.policies.GlobalRules`, such as `max_jumps`.

    Attributes
    ----------
    clusters : list of KnownCluster
        The clusters, as the broker knows them.
    stream : array of uint64, shape (4,)
        The scheduler's own random numbers (`grid.streams`).
    """

    broker_class: ClassVar[type[A4Broker]] = A4Broker
    """Of which all brokers are: its own, those of the clusters and those between."""

    selection: str = ""
    """Which waiting jobs are tried, if they are offered one by one, a choice of `JobSelection`; by
    default as the parameter of this name says."""

    only_chooses: ClassVar[bool] = False
    """It sends each job on at once: given a single cluster, it decides nothing."""

    splits: ClassVar[bool | None] = None
    """Whether it may split a job; None: unless it `only_chooses`. Told alone, as the next three."""

    reads_components: ClassVar[bool | None] = None
    """Whether it goes by the components of a job, not by its size alone; None: if its `place` is
    compiled, or they decide on the queue that a job is in."""

    orders_components: ClassVar[bool | None] = None
    """Whether it goes by the cluster that each component names; None: if `place` is compiled."""

    stays_home: ClassVar[bool] = False
    """No job runs elsewhere than where it was submitted, so that none is moved."""

    homeless: ClassVar[str] = "go to clusters that it chooses"
    """What jobs submitted through no cluster do where others stay home, in words."""

    starts_jobs: ClassVar[bool] = False
    """It starts each job itself and sends none to a cluster, so that no local scheduler decides."""

    goes_by: ClassVar[str] = ""
    """What it decides by beside what its broker knows, in words; it changes what is told alone."""

    def __init__(self, model: Grid) -> None:
        super().__init__(model)
        if not isinstance(self.queues, str) or self.queues not in QUEUES:
            raise GridError(
                f"{type(self).__name__}: queues: found {quoted(self.queues)}; accepted: "
                f"{', '.join(filter(None, QUEUES))}"
            )
        self.name = self.called()
        self._world = model.world
        self.clusters = [KnownCluster(model.world, i) for i in range(model.world.clusters)]
        self.stream: Stream = stream(model.seed, "global scheduler")

    @cached_property
    def job_selection(self) -> JobSelection:
        """Which waiting jobs are tried: as the parameters say, or the class by `selection`."""
        as_set: JobSelection = self.model.settings(JobSelection)
        if not self.selection:
            return as_set
        with blaming(type(self).__name__):
            return replace(as_set, selection=self.selection)

    @cached_property
    def max_jumps(self) -> float:  # type: ignore[override]
        """How often a waiting job may be overtaken: as `job_selection` says, or the class."""
        own_way = self.collects or self.queues or self.only_chooses
        return math.inf if own_way else self.job_selection.jumps

    @classmethod
    def may_split(cls) -> bool:
        """Tell whether it may start a job on several clusters, as far as is known."""
        return not cls.only_chooses if cls.splits is None else cls.splits

    @classmethod
    def may_read_components(cls) -> tuple[bool, bool]:
        """Tell whether it may go by the components of jobs, and by the cluster of each.

        Examples
        --------
        >>> from agents.registry import global_scheduler
        >>> [global_scheduler(name).may_read_components() for name in ("dll", "gs", "ordered")]
        [(False, False), (True, False), (True, True)]
        """
        compiled = compiled_method(cls, "place") is not None
        reads, in_order = cls.reads_components, cls.orders_components
        reads = compiled or bool(cls.queues) if reads is None else reads
        return reads, reads and (compiled if in_order is None else in_order)

    def place(self, job: Job) -> Answer:
        """Decide about one job.

        Parameters
        ----------
        job : Job

        Returns
        -------
        KnownCluster, mapping of str to int, None or REJECT
            The cluster to send the job to; or how many processors on which clusters (by name) it
            shall run on from now; or None to let it wait; or `REJECT` if it can never start, even
            if all processors were there and free.

        Notes
        -----
        Clusters start the jobs sent to them after all decisions of an instant: two jobs of one
        instant see the same free processors. What was sent is in `KnownCluster.load` at once.
        """
        raise PlacementError(lack_of(type(self), "place"))

    def visit(self, queues: KnownQueues) -> int | None:
        """Say whose head shall be placed next: the way of a policy that has `queues`.

        Called after each departure and each arrival, and again after each head that was tried,
        until it says that there is none.

        Parameters
        ----------
        queues : KnownQueues
            The queues, and what has happened.

        Returns
        -------
        int or None
            A queue with jobs: the index of a cluster, or the number of clusters for the global
            queue. None: no other head is to be tried.
        """
        raise PlacementError(lack_of(type(self), "visit"))

    largest: ClassVar[Dispatcher | None] = None
    """Compiled function that bounds the size of jobs that need not wait, for a compiled `place`
    (`grid.kernel.policies.decisions`)."""

    def delegates(self) -> dict[str, Scheduler]:
        """Make the schedulers of brokers between it and clusters; return them by their names."""
        return {}

    def withdrawn(self, cluster: int) -> None:
        """Take note that a job leaves which has waited at a cluster, by index, and has not run.

        Nothing leaves so but real jobs (`experiments.service`). Brokers are told in their own time.
        """

    def largest_job(self) -> int:
        """Return the most processors of a job that can ever start; larger ones are rejected."""
        sizes = self.model.world.platform.sizes
        return int(sizes.sum() if self.spans else sizes.max())

    def memory(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return the array that a compiled `place` gets as its memory."""
        return np.zeros(1)

    def chosen(self) -> float:
        """Have `visit` decide and put its answer as the kernel understands it."""
        return queue_of(self.visit(KnownQueues(self.model.world)), len(self.clusters))

    def answer(self, slot: int) -> int:
        """Have `place` decide and put its answer as the kernel understands it."""
        answer = self.place(Job(self._world, slot))
        if type(answer) is KnownCluster and answer.is_of(self._world):
            return answer.index
        return WAIT if answer is None else start_of(self._world, slot, answer)


class LocalScheduler(Scheduler):
    """Orders the jobs of one cluster.

    Attributes
    ----------
    cluster : Cluster
        The cluster that it serves.
    reports : Reports
        What it tells a global scheduler that works in rounds, and the seed schedules that came.
    cp : float or None
        Comprehensive performance that it expects of its present schedule, s after the last
        dispatch; None for a scheduler that does not say.
    """

    cp: float | None = None
    preempts: bool = False  # whether it may stop running jobs for others (`World.jobs.preempt`)

    @classmethod
    def tracks(cls, model: Grid) -> bool:
        """Tell whether it must know which processors are free, not only how many."""
        return False

    service: ClassVar[str] = "head"
    """Which jobs of its queue start: "head", from the head while they fit; "fpfs", all that fit;
    "easy", those too that do not delay the head; "conservative", by reservations; "timed", each
    at the time that is its rank, s (`agents.disciplines`)."""

    half_life: float = 0.0
    """Jobs of users who have used less go first, whatever `priority` says; use halves after this
    time, s (`grid.kernel.queueing.fair_share`). 0: `priority` gives the order."""

    shares: Mapping[int, float] = MappingProxyType({})
    """Shares of users, by number, that what they have used is divided by; of all others: 1."""

    def __init__(self, model: Grid, cluster: Cluster) -> None:
        super().__init__(model)
        self.cluster = cluster
        self.name = f"{self.called()} {cluster.name}"
        self.reports = Reports(cluster)

    @cached_property
    def max_jumps(self) -> float:
        """How often a waiting job may be overtaken: as `local_max_jumps` says, or the class."""
        limit = self.model.settings(FpfsSettings).local_max_jumps
        return as_number(limit) if self.service == "fpfs" else math.inf

    @classmethod
    def settings_kinds(cls) -> tuple[Any, ...]:
        """Return what it can be set to."""
        limited = cls.service == "fpfs" and cls.max_jumps is LocalScheduler.max_jumps
        return (*super().settings_kinds(), *([FpfsSettings] if limited else []))

    def priority(self, job: Job) -> float:
        """Return the rank of a job that landed on the cluster: the lowest is served first.

        The job at the head of the queue starts when it fits and holds back those behind it, unless
        `service` lets them go before; equal ranks are served in order of landing.
        """
        raise PlacementError(lack_of(type(self), "priority"))

    def rank(self, slot: int) -> float:
        """Have `priority` decide and put its answer as the kernel understands it."""
        return rank_of(world := self.model.world, slot, self.priority(Job(world, slot)))

    def hindrance(self, slot: int) -> str:
        """Return why a job that waits here cannot start however long it waits; "" if it can."""
        return ""

    def receive(self, message: Message) -> None:
        """Take a seed schedule, or the reminder that the cluster is about to run dry."""
        self.reports.receive(message)

    def act(self) -> None:
        """Report how far the cluster is booked, if a seed schedule has come."""
        self.reports.tell()


class PlanningScheduler(LocalScheduler):
    """Orders all the waiting jobs of one cluster at once, whenever jobs land or processors change.

    The jobs start in the order of the plan, each as soon as enough processors are free: an end that
    is early or late moves starts, and is a reason for another plan only if it `plans_at_ends`.
    """

    plans_at_ends: ClassVar[bool] = False

    def plan(self, jobs: Sequence[Job], release: np.ndarray[Any, Any]) -> Sequence[Job]:
        """Return the order in which the waiting jobs shall start.

        Parameters
        ----------
        jobs : sequence of Job
            The waiting jobs: of the plan so far in its order, of new seed schedules in theirs,
            then others in order of landing.
        release : array, shape (processors,)
            When each processor will be free, seconds from now, in increasing order.
        """
        raise PlacementError(lack_of(type(self), "plan"))

    def processors_of(self, order: Sequence[int]) -> Sequence[Sequence[int]] | None:
        """Return the processors on which jobs (slots) of the last plan shall run; None: any."""
        return None

    def act(self) -> None:
        """Plan, if a seed schedule has come and its jobs are there."""
        if self.reports.seeds:
            self.replan()

    def replan(self) -> None:
        """Make a new plan and hand it to the cluster.

        The jobs of a seed schedule are left out until all of them, and of those before, are there.
        """
        world, index, reports = self.model.world, self.cluster.index, self.reports
        ready, late = reports.complete()
        held = set(reports.announced(late, (LOCAL,)))
        waiting = reports.able([slot for slot in reports.queue() if slot not in held])
        able = set(waiting)
        planned = world.jobs.planned(np.array(waiting, np.int64)).tolist()
        seeded = [slot for slot in reports.announced(ready, (LOCAL,)) if slot in able]
        slots = list(dict.fromkeys([*planned, *seeded, *waiting]))
        release = self.cluster.release_times()
        same = len(slots) == len(planned) and len(release) == len(reports.booked.release)
        reports.seeds = ready
        if ready or not (late and same):
            order = self._planned(slots, release)
            world.plan(index, order, self.processors_of(order))
            reports.book(order, ready, self.cp if ready else None)
        reports.seeds = late

    def _planned(self, slots: Sequence[int], release: np.ndarray[Any, Any]) -> list[int]:
        """Return the slots in the order of a plan of them all."""
        if not slots:
            return []
        jobs = [Job(self.model.world, slot) for slot in slots]
        return slots_of(jobs, self.plan(jobs, release))

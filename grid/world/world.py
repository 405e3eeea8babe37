"""The world: a multicluster's state, its clock and the kernel that moves it, as one object."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from grid.errors import PlacementError
from grid.jobs import JobArray
from grid.kernel import access
from grid.kernel import state as k
from grid.kernel.loop import loop
from grid.kernel.placing import IMPOSSIBLE
from grid.kernel.policies.message_hook import LISTENER
from grid.kernel.processors import set_plan
from grid.kernel.state import State
from grid.kernel.tables import Tables
from grid.platform.brokers import Advertising
from grid.platform.changes import Failures
from grid.platform.distance import DistanceCosts
from grid.platform.multicluster import Platform
from grid.streams import stream
from grid.world.arrivals import Arrivals
from grid.world.job_log import JobLog
from grid.world.jobs import Jobs
from grid.world.policies import LATER, Policies
from grid.world.resources import Resources
from grid.world.statistics import Statistics
from grid.world.storage import Storage
from grid.world.validation import (
    broken_answer,
    check_plan,
    check_sending,
    check_waits,
)
from grid.world.watcher import Watcher

Indices = npt.NDArray[np.int64]
UNANSWERED = {k.PLACE: "place", k.RANK: "rank", k.VISIT: "visit", k.PREDICT: "predict"}
"""Reasons to stop for a decision, and who takes it in Python."""


class World:
    """A multicluster in motion.

    Parameters
    ----------
    platform : Platform
        Clusters and links.
    latency : float
        Time that a message takes from one broker to the next, beside the latency of the links
        between a cluster and the centre, s.
    tracked : bool
        Keep the identity of every processor, which plans with processor sets and failures need.
    place : callable, optional
        Python decision of the global scheduler: takes the slot of a job, returns the index of a
        cluster, ``WAIT``, ``REJECT``, or ``START`` after filling `take`.
    rank : callable, optional
        Python decision of a local scheduler: takes the slot of a job that landed on its cluster,
        returns its priority (lowest first).
    advertising : Advertising, optional
        How brokers tell what they know; by default at each change, and nothing is lost.
    failures : Failures, optional
        How processors fail, beside the platform's changes.
    seed : int
        Of the messages that are lost, and of failures.
    visit : callable, optional
        Python decision of a global scheduler that visits queues: returns the one whose head is
        placed next, or ``NONE``.

    Attributes
    ----------
    state : State
        What there is at an instant: counts, and columns over clusters and links.
    arrivals : Arrivals
        Where jobs come from.
    jobs : Jobs
        The jobs that are there.
    log : JobLog
        The jobs that left.
    policies : Policies
        Whom the world asks, and how.
    resources : Resources
        Processors that fail, go and come back.
    storage : Storage
        The kernel's tables.
    clusters, links : int
        How many there are.
    capacity : int
        How many of either the kernel has room for.
    known : dict of str to array
        What the global scheduler knows of each cluster and link
        (`grid.kernel.policies.policy_view.known_dtype`).
    take : array of int64, shape (capacity,)
        Where a decision says how many processors a job shall hold on each cluster.
    """

    def __init__(
        self,
        platform: Platform,
        latency: float = 0.0,
        tracked: bool = False,
        place: Callable[[int], int] | None = None,
        rank: Callable[[int], float] | None = None,
        advertising: Advertising | None = None,
        failures: Failures | None = None,
        seed: int = 0,
        visit: Callable[[], float] | None = None,
    ) -> None:
        self.platform = platform
        self.tracked = tracked or bool(platform.changes) or failures is not None
        self.advertising = advertising or Advertising()
        self.storage = storage = Storage(platform, latency, self.tracked, self.advertising)
        self.state: State = storage.state
        self.clusters, self.links = self.state.clusters, self.state.links
        self.capacity, self.known = storage.capacity, storage.known
        self.take: Indices = self.state.known["take"]
        self.state.loss_stream = stream(seed, "loss")
        self.arrivals = Arrivals(storage)
        self.jobs = Jobs(storage)
        self.log = JobLog(storage)
        self.policies = Policies(storage, place, rank, visit)
        self.resources = Resources(storage, failures, seed)
        asking = State.job, State.answer, State.answered, State.fed
        self._asking = [field.cell(self.state) for field in asking]
        self._until = self._end = np.inf
        self._watcher: Watcher | None = None
        self._listener: Any = None

    @property
    def watcher(self) -> Watcher | None:
        """Who watches; that changes nothing but the time it takes."""
        return self._watcher

    @watcher.setter
    def watcher(self, watcher: Watcher | None) -> None:
        self._watcher = watcher
        self.log.watched = watcher is not None
        self._listener = None if watcher is None else LISTENER(watcher.carried)
        self.state.listener_at = ctypes.cast(self._listener, ctypes.c_void_p).value or 0

    def __getstate__(self) -> dict[str, Any]:
        """Return all but what is of one process: who listens.

        Addresses of compiled decisions are of one process too (`Policies.set_addresses`,
        `Policies.set_local`). Views of tables have to stay views (`grid.world.pickling`).
        """
        return {**self.__dict__, "_listener": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take what `__getstate__` returned; a `TypeError` if views have become copies."""
        self.__dict__.update(state)
        if not np.may_share_memory(self._asking[0], self.storage.tables.box):
            raise TypeError("a World is copied by grid.world.pickling.Pickler alone")

    @property
    def now(self) -> float:
        """Simulated time, s."""
        return self.state.now

    @property
    def tables(self) -> Tables:
        """The kernel's tables, until one of them grows."""
        return self.storage.tables

    @property
    def messages(self) -> dict[str, int]:
        """Messages about jobs and resources so far, by kind."""
        return dict(zip(k.MESSAGE_KINDS, self.state.messages.tolist(), strict=True))

    def busy_area(self) -> npt.NDArray[np.float64]:
        """Return the processor-seconds that each cluster was held until now."""
        state = self.state
        area: npt.NDArray[np.float64] = state.area + (state.up - state.free) * (
            state.now - state.changed
        )
        return area

    @property
    def statistics(self) -> Statistics:
        """What has been summed up by now of the jobs that completed, and of the queue."""
        return Statistics.of(self.state)

    def count_after(self, warmup: int) -> None:
        """Leave so many jobs that arrive first out of `statistics`: a warm-up.

        To be called before any of them arrives.
        """
        self.state.statistics.warmup = warmup

    def set_distance(self, costs: DistanceCosts) -> None:
        """Say what it costs jobs to run far from their data, or far from themselves."""
        state = self.state
        state.message_rate = costs.message_rate
        state.stages = int(costs.staging_time > 0 or costs.staging_data > 0)
        state.staging_time = costs.staging_time
        state.staging_data = 8 * costs.staging_data

    def submit(self, jobs: JobArray) -> None:
        """Let these jobs come, in order of arrival, after all earlier ones."""
        self.arrivals.feed(iter((jobs,)))

    # Time ---------------------------------------------------------------------------------------

    def compile(self) -> Callable[..., int]:
        """Return the loop, compiled if it is not yet, without what this world has no use for."""
        return loop(self.capacity, self.storage.kind)

    def advance(self, until: float, awaited: bool = False, between: bool = False) -> int:
        """Let everything happen up to and including `until`.

        Parameters
        ----------
        until : float
            Simulated time, s.
        awaited : bool
            Somebody outside acts later, so that failures matter even if nothing else is left.
        between : bool
            Stop between rounds: once all jobs have left, whatever else is still to happen.

        Returns
        -------
        int
            Why it stopped (`grid.kernel.state`): ``TIME``, ``OVER`` (nothing is left to wait for),
            ``COLLECTED`` (jobs wait for a round), ``LANDED`` (planners are wanted),
            ``MISPREDICTED`` (jobs ended unexpectedly) or ``PLACE`` (a decision comes `LATER`).

        Raises
        ------
        PlacementError
            If a decision cannot be carried out, or nobody takes it.
        """
        self._end = until
        self._until = until if self.watcher is None else min(until, self.now)
        state, storage, policies = self.state, self.storage, self.policies
        state.awaited, state.between = int(awaited), int(between)
        place, rank = policies.place, policies.rank
        visit, predict = policies.visit, policies.predict
        answer: Any = self._asking[1]  # an array, which takes whatever can be a number
        job, _, answered, fed = (cell.data for cell in self._asking)  # quicker
        k_place, k_rank, tables = k.PLACE, k.RANK, None
        while True:
            # Tables are replaced here, and in decisions in Python too.
            if storage.tables is not tables:
                tables, run, arguments = storage.tables, self.compile(), storage.arguments()
            reason = run(arguments, self._until)
            if reason == k_place and place is not None:
                if (decided := place(job[0])) is LATER:
                    return reason
                answer[0], answered[0] = decided, 1
            elif reason == k_rank and rank is not None:
                answer[0] = rank(job[0])
                answered[0] = 1
            elif reason == k.VISIT and visit is not None:
                answer[0] = visit()
                answered[0] = 1
            elif reason == k.PREDICT and predict is not None:
                answer[0] = predict(tables.chunk[fed[0]])
                answered[0] = 1
            elif reason == k.FEED:
                self.arrivals.take_chunk()
            elif reason == k.DRAIN:
                self.log.flush()
            elif reason == k.FULL:
                storage.grow()
            elif reason == k.BROKEN:
                raise PlacementError(broken_answer(storage, job[0], answer.item()))
            elif reason in UNANSWERED:
                who = UNANSWERED[reason]
                raise PlacementError(f"{who}: found None; accepted: a decision, for one is needed")
            elif self.watcher is None:
                return reason
            else:
                self.watcher.look()
                self.log.forget()
                if reason != k.TIME:
                    return reason
                if state.coming > self._end:
                    self.wait(self._end)
                    return reason
                self._until = state.coming

    def hasten(self, time: float) -> None:
        """Have `advance`, if it is on its way, stop at `time` (s) already, to act then."""
        self.state.awaited, self.state.between = 1, 0
        self._until = min(self._until, time)
        self._end = min(self._end, time)

    def wait(self, until: float) -> None:
        """Let time pass in which nothing happens, after `advance` said ``OVER``."""
        self.state.now = max(self.now, until)

    # Jobs and queues ----------------------------------------------------------------------------

    def collected(self) -> Indices:
        """Return the slots of the collected jobs, and forget that there are new ones."""
        self.state.collected = 0
        return self.jobs.waiting()

    def send(self, jobs: Indices, clusters: Indices, after: float = 0.0) -> None:
        """Send jobs of the global queue to clusters, in the order given.

        The global broker is told to do so `after` s from now.

        Raises
        ------
        PlacementError
            If a job does not wait there, or its cluster cannot hold it.
        """
        storage = self.storage
        check_sending(storage, jobs, clusters)
        tables = storage.tables
        access.send_all(tables.box, tables.slots, tables.events, jobs, clusters, after)

    def start(self, job: int, take: Sequence[int] | Indices) -> bool:
        """Start a job of the global queue now, on processors of several clusters or of one.

        For a global scheduler that collects jobs, and `spans`.

        Parameters
        ----------
        job : int
            Its slot.
        take : sequence of int, shape (clusters,)
            Processors on each cluster.

        Returns
        -------
        bool
            Whether it started: clusters refuse if they are not as free as that.

        Raises
        ------
        PlacementError
            If the job does not wait there, or the processors are not as many as it needs, or a
            cluster never has as many.
        """
        storage = self.storage
        check_waits(storage, job)
        storage.make_room_for_split()
        self.take[: self.clusters] = take
        t = storage.tables
        taken = access.start_split(t.box, t.slots, t.events, t.processors, t.turns, t.sliding, job)
        if taken == IMPOSSIBLE:
            raise PlacementError(broken_answer(storage, job, k.START))
        return taken > 0

    def wanting_plans(self) -> Indices:
        """Return the clusters whose planners are wanted, and forget that they are."""
        wanting = np.flatnonzero(self.state.replan)
        self.state.replan = self.state.replan_any = 0
        return wanting

    def mispredicted(self) -> Indices:
        """Return the clusters where jobs ended unexpectedly, and forget that they did."""
        clusters = np.flatnonzero(self.state.mispredicted)
        self.state.mispredicted = self.state.mispredicted_any = 0
        return clusters

    def plan(
        self,
        cluster: int,
        order: Sequence[int] | Indices,
        resources: Sequence[Sequence[int]] | None = None,
    ) -> None:
        """Replace the plan by which a cluster serves its queue.

        Waiting jobs that the plan does not name wait for another plan.

        Parameters
        ----------
        cluster : int
            Index of the cluster.
        order : sequence of int
            Slots of waiting jobs, in the order in which they shall start.
        resources : sequence of sequences of int, optional
            For each job the processors that it shall run on, 0-based within the cluster. Each
            processor then serves its jobs in this order, and a job starts when all of its
            processors have come to it.

        Raises
        ------
        PlacementError
            If the plan names a job twice or one that does not wait there, or wrong processors.
        """
        storage = self.storage
        jobs, sets = check_plan(storage, cluster, order, resources)
        storage.make_room_for_turns(len(sets))
        t = storage.tables
        set_plan(t.box, t.slots, t.processors, t.turns, cluster, jobs, sets)
        self.state.replan[cluster] = 0
        if self.watcher is not None:
            self.watcher.planned(cluster, jobs)

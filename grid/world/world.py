"""The world: a multicluster's state, its clock and the kernel that moves it, as one object."""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Callable, Iterator, Sequence
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
from grid.platform.brokers import Advertising
from grid.platform.changes import Failures
from grid.platform.multicluster import Platform
from grid.streams import stream
from grid.world.policies import Deciders
from grid.world.resource_events import plan_changes, plan_failures
from grid.world.validation import (
    broken_answer,
    check_jobs,
    check_waits,
    checked_failure,
    checked_plan,
    checked_sending,
)
from grid.world.watcher import Watcher

Indices = npt.NDArray[np.int64]


class World(Deciders):
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

    The attributes are those of `Tables`; what can be asked of jobs is in `Contents`.
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
        tracked = tracked or bool(platform.changes) or failures is not None
        super().__init__(
            platform, latency, tracked, advertising or Advertising(), place, rank, visit
        )
        self._box["loss_stream"] = stream(seed, "loss")
        plan_changes(self, self.schedule)
        if failures is not None:
            self._events = plan_failures(self, failures, seed)
        self._sources: deque[Iterator[JobArray]] = deque()
        self._until = self._end = np.inf
        self._listener: Any = None

    @property
    def watcher(self) -> Watcher | None:
        """Who watches; that changes nothing but the time it takes."""
        return self._watcher

    @watcher.setter
    def watcher(self, watcher: Watcher | None) -> None:
        self._watcher = watcher
        self._listener = None if watcher is None else LISTENER(watcher.carried)
        self._box["listener_at"] = ctypes.cast(self._listener, ctypes.c_void_p).value or 0

    def __getstate__(self) -> dict[str, Any]:
        """Return all but what is of one process: arguments of the loop, and who listens.

        Addresses of compiled decisions are of one process too (`set_addresses`, `set_local`).
        Views of tables have to stay views (`grid.world.pickling`).
        """
        return {**self.__dict__, "_arguments": None, "_listener": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self._usage is not None:
            self._box["usage_at"] = self._usage.ctypes.data

    # Jobs in ------------------------------------------------------------------------------------

    def feed(self, source: Iterator[JobArray]) -> None:
        """Let jobs come chunk by chunk, in order of arrival, after all earlier ones."""
        self._sources.append(source)
        self._box["exhausted"] = 0

    def keep_waiting(self, jobs: int) -> None:
        """Let jobs come when fewer than so many wait globally, whatever their arrivals.

        To be called before any comes; 0: each at its arrival.
        """
        self._box["backlog"] = jobs

    def submit(self, jobs: JobArray) -> None:
        """Let these jobs come, in order of arrival, after all earlier ones."""
        self.feed(iter((jobs,)))

    def _next_chunk(self) -> None:
        while self._sources and (chunk := next(self._sources[0], None)) is None:
            self._sources.popleft()
        if not self._sources:
            self._box["exhausted"] = 1
            return
        assert chunk is not None
        self._chunk = chunk = np.ascontiguousarray(chunk)
        check_jobs(chunk, self.clusters)
        self._box["fed"], self._box["chunk_length"] = 0, len(chunk)
        self._arguments = None

    @property
    def coming(self) -> float:
        """When more happens, s, as known when `advance` last said ``TIME`` or ``OVER``."""
        return float(self._box["coming"][0])

    @property
    def in_flight(self) -> int:
        """Messages about jobs and resources that are on their way."""
        return self.count("in_flight")

    # Time ---------------------------------------------------------------------------------------

    def compile(self) -> Callable[..., int]:
        """Return the loop, compiled if it is not yet, without what this world has no use for."""
        return loop(
            self.capacity,
            self.tracked,
            self._offering,
            self._profile is not None,
            self._foresight is not None,
        )

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
            ``COLLECTED`` (jobs wait for a round), ``LANDED`` (planners are wanted) or
            ``MISPREDICTED`` (jobs ended unexpectedly).

        Raises
        ------
        PlacementError
            If a decision cannot be carried out.
        """
        self._end = until
        self._box["awaited"], self._box["between"] = int(awaited), int(between)
        self._until = until if self.watcher is None else min(until, self.now)
        box, k_place, k_rank = self._box, k.PLACE, k.RANK
        job, answer, answered = box["job"], box["answer"], box["answered"]
        place, rank, visit, run = self._place, self._rank, self._visit, self.compile()
        fed, predict = box["fed"], self._predict
        while True:
            # Whoever replaces a table forgets the arguments, a decision in Python included.
            if self._arguments is None:
                run, self._arguments = self.compile(), self._in_order()
            reason = run(*self._arguments, self._until)
            if reason == k_place and place is not None:
                answer[0] = place(job.item())
                answered[0] = 1
            elif reason == k_rank and rank is not None:
                answer[0] = rank(job.item())
                answered[0] = 1
            elif reason == k.VISIT and visit is not None:
                answer[0] = visit()
                answered[0] = 1
            elif reason == k.PREDICT and predict is not None:
                answer[0] = predict(self._chunk[fed[0]])
                answered[0] = 1
            elif reason == k.FEED:
                self._next_chunk()
            elif reason == k.DRAIN:
                self._drain()
            elif reason == k.FULL:
                self._grow()
            elif reason == k.BROKEN:
                raise PlacementError(broken_answer(self, job.item(), answer.item()))
            elif self.watcher is None:
                return reason
            else:
                self.watcher.look()
                self._forget()
                if reason != k.TIME:
                    return reason
                if self.coming > self._end:
                    self.wait(self._end)
                    return reason
                self._until = self.coming

    def hasten(self, time: float) -> None:
        """Have `advance`, if it is on its way, stop at `time` (s) already, to act then."""
        self._box["awaited"], self._box["between"] = 1, 0
        self._until = min(self._until, time)
        self._end = min(self._end, time)

    def wait(self, until: float) -> None:
        """Let time pass in which nothing happens, after `advance` said ``OVER``."""
        self._box["now"] = max(self.now, until)

    # Jobs and queues ----------------------------------------------------------------------------

    def collected(self) -> Indices:
        """Return the slots of the collected jobs, and forget that there are new ones."""
        self._box["collected"] = 0
        return self.queue()

    def send(self, jobs: Indices, clusters: Indices) -> None:
        """Send jobs of the global queue to clusters, in the order given.

        Raises
        ------
        PlacementError
            If a job does not wait there, or its cluster cannot hold it.
        """
        checked_sending(self, jobs, clusters)
        access.send_all(self._box, self.slots, self._events, jobs, clusters)

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
        check_waits(self, job)
        if self.count("sliding") == len(self._sliding):
            self._grow()
        self.take[: self.clusters] = take
        taken = access.start_split(
            self._box, self.slots, self._events, self._processors, self._turns, self._sliding, job
        )
        if taken == IMPOSSIBLE:
            raise PlacementError(broken_answer(self, job, k.START))
        return taken > 0

    def wanting_plans(self) -> Indices:
        """Return the clusters whose planners are wanted, and forget that they are."""
        wanting = np.flatnonzero(self.columns["replan"])
        self.columns["replan"][:] = 0
        self._box["replan_any"] = 0
        return wanting

    def mispredicted(self) -> Indices:
        """Return the clusters where jobs ended unexpectedly, and forget that they did."""
        clusters = np.flatnonzero(self.columns["mispredicted"])
        self.columns["mispredicted"][:] = 0
        self._box["mispredicted_any"] = 0
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
        jobs, sets = checked_plan(self, cluster, order, resources)
        self._grow_turns(len(sets))
        set_plan(self._box, self.slots, self._processors, self._turns, cluster, jobs, sets)
        self.columns["replan"][cluster] = 0
        if self.watcher is not None:
            self.watcher.planned(cluster, jobs)

    # Resources that change ----------------------------------------------------------------------

    def schedule(self, kind: int, cluster: int, processor: int, time: float) -> None:
        """Have an event of a processor happen at a time (s); infinity: never."""
        if time < np.inf:
            self._grow()
            index = int(self.columns["first_processor"][cluster]) + processor
            access.add_event(self._box, self._events, time, kind, index)

    def fail(self, cluster: int, processor: int, time: float, repaired: float = np.inf) -> None:
        """Have a processor fail at a time (s), and be repaired at another.

        What the job on it has done is lost; it starts again from its queue.

        Parameters
        ----------
        cluster, processor : int
            Index of the cluster, and of the processor in it.
        time, repaired : float
            Not before now, s; infinity: never.

        Raises
        ------
        PlatformError
            If there is no such processor, the times make no sense, or the world is not `tracked`.
        """
        checked_failure(self, "failure", cluster, processor, time, repaired)
        self.schedule(k.FAIL, cluster, processor, time)
        self.schedule(k.REPAIR, cluster, processor, repaired)

    def drain(self, cluster: int, processor: int, time: float, back: float = np.inf) -> None:
        """Have a processor go at a time (s), or when its job has ended, and be back at another.

        Parameters and what is raised are as of `fail`.
        """
        checked_failure(self, "drain", cluster, processor, time, back)
        self.schedule(k.RETIRE, cluster, processor, time)
        self.schedule(k.REPAIR, cluster, processor, back)

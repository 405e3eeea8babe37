"""The Mesa model of a grid: its agents, its clock, and the messages between them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import mesa
import numpy as np
import numpy.typing as npt

from agents.a4.job_messages import announcements, transfers
from agents.cluster import ClusterAgent
from agents.error_context import made, raise_as_of
from agents.mail import Mail
from agents.messages import Discovery, Message, Reminder
from agents.muscle.moulding import moulds
from agents.numbers import Counts
from agents.pace.predicting import Pace
from agents.rounds import Round
from agents.schedulers import GlobalScheduler, LocalScheduler, PlanningScheduler, Scheduler
from agents.wiring import (
    brokers_of,
    check_arguments,
    connect_global,
    connect_local,
    receivers,
)
from grid.kernel.state import COLLECTED, LANDED, MISPREDICTED, NONE, OVER, PLACE
from grid.metrics.performance import Criteria, weights_per_cluster
from grid.platform.brokers import Advertising
from grid.platform.changes import Failures
from grid.platform.distance import DistanceCosts
from grid.platform.energy import EnergySettings, powers
from grid.platform.multicluster import Platform
from grid.settings import by_kind, chosen
from grid.streams import stream
from grid.workloads.backlog import BacklogWorkload
from grid.workloads.source import Chunks, Workload
from grid.workloads.synthetic import BatchWorkload
from grid.workloads.table import stated_by
from grid.world.world import World

S = TypeVar("S")


class GridModel(mesa.Model):  # type: ignore[misc]
    """A grid of clusters under a global scheduler and one local scheduler each.

    One `step` lets `interval` seconds pass, or several intervals at once if nothing happens before,
    but never more than `stride` seconds. What happens depends on neither: they only say how often
    agents are looked at from outside.

    Parameters
    ----------
    platform : Platform
        Clusters and links.
    workload : Workload or BatchWorkload
        Jobs that arrive by themselves, or batches that are dispatched one after the other, each
        when nothing is left of the one before.
    global_scheduler : callable
        Makes the global scheduler of a model; usually its class.
    local_scheduler : callable
        Makes the local scheduler of a model and a cluster; usually its class.
    interval : float
        Simulated time of one step, s.
    latency : float
        Time that a message takes from one broker to the next, beside the latency of the links
        between a cluster and the centre, s.
    advertising : Advertising, optional
        How brokers tell what they know; by default at each change, and nothing is lost.
    seed : int
        Of every random stream.
    round_threshold : float, optional
        A round may start when the makespan of what some cluster has left is down to this, s
        (`muscle`, Algorithm 4, step 1). By default 0 for batches; infinity for jobs that arrive by
        themselves, so that none of them waits while processors are idle.
    failures : Failures, optional
        How processors fail, beside the platform's changes.
    tracked : bool
        Keep the identity of every processor (`World`).
    settings : iterable
        What policies and the world can be set to, one object of each kind: what PACE predicts
        from (`Prediction`), by what schedules are judged (`Criteria`), how TITANs search
        (`agents.titan.settings.Settings`; weights and idle-time are of `Criteria`), thresholds and
        choices of co-allocation (`agents.coallocation.settings`), `JobSelection`, aging
        (`QueueSettings`), `DistanceCosts`, or of the `settings_type` of a policy of your own. What
        is not given has its defaults.

    Attributes
    ----------
    world : World
    scheduler : GlobalScheduler
    clusters : list of ClusterAgent
    broker : A4Broker
        The global scheduler's.
    brokers : list of A4Broker
        Those between it and the clusters' own.
    messages_posted, discovery_messages : int
        Messages that schedulers sent each other, and brokers to find clusters, so far.
    pace : Pace
    rounds : list of Round
        Those that MUSCLE has dispatched so far.
    said : deque of Message
        The last messages that agents exchanged.
    listeners : list of callable
        Each is called with every message: of a scheduler when it sends it, of users and of jobs'
        metadata when the global scheduler gets it, of transfers when they are ordered.
    """

    def __init__(
        self,
        platform: Platform,
        workload: Workload | BatchWorkload,
        global_scheduler: Callable[[GridModel], GlobalScheduler],
        local_scheduler: Callable[[GridModel, ClusterAgent], LocalScheduler],
        *,
        interval: float = 60.0,
        latency: float = 0.0,
        advertising: Advertising | None = None,
        seed: int = 0,
        round_threshold: float | None = None,
        failures: Failures | None = None,
        tracked: bool = False,
        settings: Iterable[Any] = (),
    ) -> None:
        makers, seconds = (global_scheduler, local_scheduler), (interval, latency, round_threshold)
        check_arguments(platform, workload, makers, seed, seconds)
        super().__init__(rng=seed)
        if round_threshold is None:
            round_threshold = 0.0 if isinstance(workload, BatchWorkload) else np.inf
        self.seed, self.interval = seed, interval
        self.workload: Workload | BatchWorkload = workload
        self._settings = by_kind(settings)
        criteria = self.settings(Criteria)
        self.weights = weights_per_cluster(criteria.weights, platform.names)
        self.idle = criteria.idle
        self.round_threshold = round_threshold
        self.rounds: list[Round] = []
        self.messages_posted = self.discovery_messages = self.lost_between = 0
        self._mail = Mail()
        self.said, self.listeners = self._mail.said, self._mail.listeners
        self._collected_serial, self._told = -1, 0
        self._looked, self._stopping, self.stride = 0.0, False, float("inf")
        tracks = getattr(local_scheduler, "tracks", None)  # which is usually a class
        self.world = World(
            platform,
            latency,
            tracked or (tracks is not None and tracks(self)),
            rank=self._rank,
            advertising=advertising,
            failures=failures,
            seed=seed,
        )
        self.world.set_distance(self.settings(DistanceCosts))
        start = stated_by(workload).start
        self.energy = powers(self.settings(EnergySettings), platform.names, start)
        times = getattr(workload, "times", None)
        if times is not None:
            sizes = times.sizes if any(map(moulds, self._settings.values())) else None
            self.world.arrivals.take_times(times.on(platform.names), sizes)
        self.loss_stream = stream(seed, "loss between schedulers")
        self.pace = Pace(self)
        self.clusters: list[ClusterAgent] = []
        self.scheduler: GlobalScheduler = made(global_scheduler, self)
        self.broker, own, self.brokers = brokers_of(self, self.scheduler)
        connect_global(self, self.scheduler)
        for index, broker in enumerate(own):
            cluster = ClusterAgent(self, index, broker)
            cluster.scheduler = made(local_scheduler, self, cluster)
            connect_local(self, index, cluster.scheduler)
            self.clusters.append(cluster)
        self._receivers = receivers(self.scheduler, self.clusters)
        if isinstance(workload, BatchWorkload):
            self.workload = replace(workload)  # whose draws begin anew
            self._next_batch()
        else:
            if isinstance(workload, BacklogWorkload):
                self.world.arrivals.keep_waiting(workload.waiting)
            self.world.arrivals.feed(Chunks(workload))
        self.datacollector = mesa.DataCollector(
            model_reporters={
                name: name for name in ("now", "completed", "busy", "waiting", "queued", "messages")
            }
        )

    def __repr__(self) -> str:
        what = f"{self.scheduler.name}, clusters: {len(self.clusters)}, completed: {self.completed}"
        return f"<{type(self).__name__} at {self.now:,.15g} s: {what}>"

    def settings(self, kind: type[S]) -> S:
        """Return the settings of a kind that the model was given, or that kind's defaults."""
        return chosen(kind, self._settings)

    @property
    def now(self) -> float:
        """Simulated time, s; where `place` is asked about a time to come, that."""
        return self.world.policies.asked_about

    @property
    def completed(self) -> int:
        """Jobs completed so far."""
        return self.world.state.completed

    @property
    def busy(self) -> list[int]:
        """Processors of each cluster that run jobs."""
        return Counts((self.world.state.up - self.world.state.free).tolist())

    @property
    def waiting(self) -> list[int]:
        """Jobs that wait at each cluster."""
        return Counts(self.world.state.waiting[: self.world.clusters].tolist())

    @property
    def queued(self) -> int:
        """Jobs that wait globally."""
        return int(self.world.state.waiting[-1])

    @property
    def messages(self) -> int:
        """Messages sent so far, of every kind."""
        between = self.messages_posted + self.discovery_messages
        return between + sum(self.world.messages.values())

    @property
    def messages_lost(self) -> int:
        """Messages lost on a hop between brokers so far, of every kind."""
        return self.lost_between + self.world.state.lost

    @property
    def in_flight(self) -> int:
        """Messages on their way, of every kind."""
        return self._mail.in_flight + self.world.state.in_flight

    # Time ---------------------------------------------------------------------------------------

    def step(self) -> None:
        """Let time pass until the end of the interval in which more happens; look at the grid."""
        self._stopping = False
        self._looked = self._next_look()
        self._run_until(self._looked)
        instants = self.world.state.instants
        if instants != self._told or not self.running:
            self._told = instants
            self.datacollector.collect(self)

    def _next_look(self) -> float:
        """Return the end of the next interval, or of a later one in which more happens, if near."""
        look = self._looked + self.interval
        more = min(self.world.state.coming, self._mail.next_due())
        if look < more < np.inf:
            end = float(np.ceil(more / self.interval)) * self.interval
            look = end if more <= end < np.inf else more  # the product is rounded
        return min(look, self._looked + self.stride)

    def stop(self) -> None:
        """End the step under way at the next instant; the next step goes on from there."""
        self._stopping = True
        self.world.hasten(-np.inf)

    def run(self) -> None:
        """Step until nothing is left to happen."""
        while self.running:
            self.step()

    def _run_until(self, end: float) -> None:
        world = self.world
        while True:
            reason = self._advance(min(end, self._mail.next_due()))
            if self._stopping or reason == PLACE:
                return
            due = self._mail.next_due()
            if reason == COLLECTED:
                self._submissions()
            elif reason == MISPREDICTED:
                for index in world.mispredicted():
                    scheduler = self.clusters[index].scheduler
                    self.told_by(scheduler, scheduler.reports.renew)
            elif reason == LANDED:
                self._deliver([self.clusters[i].scheduler for i in world.wanting_plans()])
            elif reason == OVER and self._next_batch(due):
                continue
            elif due <= end:
                world.wait(due)
                self._deliver()
            elif reason == OVER and due == np.inf:
                self.running = False
                return
            else:
                world.wait(end)
                return

    def _advance(self, until: float) -> int:
        rounds = isinstance(self.workload, BatchWorkload) and self.workload.left > 0
        between, awaited = rounds and not self._mail.in_flight, self._mail.next_due() < np.inf
        try:
            return self.world.advance(until, awaited, between)
        except BaseException as error:
            # Of a decision, compiled or not, or the kernel's own if it cannot be carried out.
            if (scheduler := self._deciding()) is None:
                raise
            raise_as_of(scheduler, self.now, error)

    def _next_batch(self, due: float = np.inf) -> bool:
        """Dispatch the next round, if nothing is left of the one before but reminders of later."""
        jobs, left = self.workload, self._mail.in_flight + self.world.state.live
        if not isinstance(jobs, BatchWorkload) or (due < np.inf and (due <= self.now or left)):
            return False
        self.world.submit(batch := jobs.next_batch(self.now))
        return len(batch) > 0

    # Messages -----------------------------------------------------------------------------------

    def post(self, message: Message) -> None:
        """Take a message of an agent to be delivered when it is due."""
        self._mail.post(message)
        if message.due < np.inf:
            self.world.hasten(message.due)

    def remind(self, name: str, time: float, booking: int) -> None:
        """Have who is called so reminded of the last booking at a time, s; infinity: never."""
        now = self.now
        self.post(Reminder(sender=name, receiver=name, sent=now, due=time, booking=booking))

    def transfer(
        self,
        slots: npt.NDArray[np.int64],
        clusters: npt.NDArray[np.int64],
        as_of: npt.NDArray[np.float64],
        after: float = 0.0,
    ) -> None:
        """Have brokers send jobs of the global queue to clusters, in the order given.

        Parameters
        ----------
        slots, clusters : array of int, shape (jobs,)
        as_of : array, shape (jobs,)
            When what is known of each job's cluster was true, s: it gives the job back if it has
            become too small for it since.
        after : float
            When the global scheduler's broker is told so, s from now.
        """
        self.world.send(slots, clusters, after)
        self.world.jobs["news_at"][slots] = as_of
        for message in transfers(self, slots, clusters, after):
            self._mail.note(message)

    def _deliver(self, planners: Sequence[Scheduler] = ()) -> None:
        """Deliver what is due, then have those act who got something, and those plan who shall."""
        if self.world.state.collected:
            self._submissions()  # before a report of this instant begins a round with them
        acting = {}
        for message in self._mail.deliver(self.now):
            asking = isinstance(message, Discovery)  # the global scheduler has brokers ask
            scheduler = self.scheduler if asking else self._receivers[message.receiver]
            self.told_by(scheduler, scheduler.receive, message)
            acting[scheduler.name] = scheduler
        for scheduler in acting.values():
            if scheduler not in planners:
                self.told_by(scheduler, scheduler.act)
        for planner in planners:
            assert isinstance(planner, PlanningScheduler)
            self.told_by(planner, planner.replan)

    def _submissions(self) -> None:
        """Tell a global scheduler that works in rounds of the jobs that were collected."""
        jobs = self.world.jobs
        slots = self.world.collected()
        new = slots[jobs["serial"][slots] > self._collected_serial]
        self._collected_serial = max(self._collected_serial, int(jobs["serial"][slots].max()))
        for message in announcements(self, new):
            self._mail.note(message)
            self.told_by(self.scheduler, self.scheduler.receive, message)
        self.told_by(self.scheduler, self.scheduler.act)

    # Decisions ----------------------------------------------------------------------------------

    def told_by(self, scheduler: Scheduler, call: Callable[..., Any], *given: Any) -> Any:
        """Call a function of a scheduler; say in any exception whose it was, and when."""
        try:
            return call(*given)
        except BaseException as error:
            raise_as_of(scheduler, self.now, error)

    def _rank(self, slot: int) -> float:
        return self._local(slot).rank(slot)

    def _deciding(self) -> Scheduler | None:
        """Return whose decision the kernel has come to, if any's."""
        if self.world.state.mid_instant:
            return None  # the workload was asked for more
        if self.world.state.cursor != NONE or self.world.state.offering_all:
            return self.scheduler
        landing = self.world.state.landing_first
        return None if landing == NONE else self._local(landing)

    def _local(self, slot: int) -> LocalScheduler:
        return self.clusters[self.world.jobs.columns["cluster"].item(slot)].scheduler

"""A4 brokers: they carry jobs, metadata and schedules between the schedulers (`muscle`, section 1).

Jobs, their metadata and resource advertisements travel inside the kernel, with the latency that
the brokers' links have there; what schedulers say to each other travels in `agents.mail`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from agents.messages import Message, ScheduleReport
from agents.protocols import Grid, NamedAgent
from grid.errors import GridError
from grid.foreign import quoted
from grid.kernel.state import NONE
from grid.streams import uniform

FRESH = 2
"""Periods of advertisements for which what a broker has noted of clusters not below it counts."""

ROUNDED = 1e-3
"""Sums of work may be so much less than none by rounding, processor-seconds."""


class Belief(NamedTuple):
    """What a broker believes of a cluster.

    Attributes
    ----------
    cluster : int
        Index.
    free, up : int
        Processors that are free, and that remain: neither failed, nor going when their jobs end.
    waiting : int
        Jobs.
    left : float
        Work of the jobs that are there, processor-seconds.
    at : float
        When that was true, s.
    until : float
        When the jobs that were sent there since are expected to be done, s; 0: it knows of none.
    """

    cluster: int
    free: int
    up: int
    waiting: int
    left: float
    at: float
    until: float = 0.0

    def possible(self, clusters: int) -> bool:
        """Tell whether that can be true where there are so many clusters."""
        counts = (self.cluster, self.free, self.up, self.waiting)
        return (
            all(isinstance(count, Integral) and count >= 0 for count in counts)
            and self.cluster < clusters
            and all(isinstance(each, Real) and math.isfinite(each) for each in self[4:])
            and self.left >= -ROUNDED
        )


TOLD = Belief._fields[:-1]
"""What advertisements tell."""


class A4Broker(NamedAgent):
    """The broker of a cluster, of the global scheduler, or one between them.

    Attributes
    ----------
    name : str
        Name of the cluster or of the global scheduler that it speaks for, or its own.
    cluster : int
        Index of the cluster that it speaks for, or -1.
    parent : A4Broker or None
        The broker above; None for the global scheduler's.
    hops : int
        Messages on the way from it to the global scheduler's.
    latency : float
        Time that a message takes between this broker and the global scheduler's, s.
    delay : float
        Time that a message takes between this broker and the one above, s.
    sent, received : int
        Messages of schedulers, and of discovery, that it sent so far, and that were sent to it.
    below : int
        Clusters below it, or 1: its own.
    first : int
        Index of the first of these.
    noted : dict of int to Belief
        What messages of discovery have told it of clusters, the newest of each.
    """

    def __init__(
        self,
        model: Grid,
        name: str,
        parent: A4Broker | None = None,
        latency: float = 0.0,
        delay: float = 0.0,
        cluster: int = NONE,
    ) -> None:
        super().__init__(model)
        self.name = name
        self.parent = parent
        self.cluster = cluster
        # The global scheduler's stands in no list of the platform's.
        names = [broker.name for broker in model.world.platform.brokers]
        index = NONE if parent is None or cluster != NONE else names.index(name)
        self._rows = np.flatnonzero(model.world.tables.beliefs["broker"] == index)
        self.below = len(self._rows) if cluster == NONE else 1
        below = model.world.tables.beliefs["cluster"][self._rows]
        self.first: int = (
            int(below.min(initial=model.world.clusters)) if cluster == NONE else cluster
        )
        self.hops: int = 0 if parent is None else parent.hops + 1
        self.latency = latency
        self.delay = delay
        self.sent = 0
        self.received = 0
        self.noted: dict[int, Belief] = {}

    @property
    def above(self) -> Iterator[A4Broker]:
        """The brokers above it, the lowest first."""
        broker = self.parent
        while broker is not None:
            yield broker
            broker = broker.parent

    def believes(self) -> list[Belief]:
        """Return what it believes of the clusters below it; of its own cluster, the truth."""
        world = self.model.world
        if self.cluster != NONE:
            return [self._truth(self.cluster)]
        rows = world.tables.beliefs[self._rows]
        beliefs = [Belief(*row) for row in rows[[*TOLD]].tolist()]
        if self.parent is not None and not world.advertising.truth:
            return beliefs
        at_once = world.state.at_once
        return [self._truth(each.cluster) if at_once[each.cluster] else each for each in beliefs]

    def note(self, told: Iterable[Belief]) -> None:
        """Take note of what is told of clusters other than its own, where that is newer.

        Of what is as new, that which knows of more jobs sent since.
        """
        for belief in told:
            if belief.cluster != self.cluster and _is_newer(belief, self.noted):
                self.noted[belief.cluster] = belief

    @property
    def noted_age(self) -> float | None:
        """How old what it has noted is now, s, mean over clusters; None: nothing."""
        ages = [self.model.now - belief.at for belief in self.noted.values()]
        return math.fsum(ages) / len(ages) if ages else None

    @property
    def news(self) -> int:
        """Advertisements that it heard so far, each of which it passed on if there is one above."""
        return int(self.model.world.tables.beliefs["heard"][self._rows].sum())

    @property
    def mean_age(self) -> float | None:
        """How old what it believes of the clusters below it was, s: mean over them and time so far.

        News is as old as it is long ago that it was true; 0 where the present state is known. None:
        no cluster is below it.
        """
        world = self.model.world
        if self.below == 0:
            return None
        if self.cluster != NONE or world.now == 0.0:
            return 0.0
        rows, now = world.tables.beliefs[self._rows], world.now
        lasting = (now - rows["heard_at"]) * (0.5 * (now + rows["heard_at"]) - rows["at"])
        ages = np.where(world.state.at_once[rows["cluster"]], 0.0, rows["age"] + lasting)
        return float(ages.mean()) / now

    def _truth(self, cluster: int) -> Belief:
        world = self.model.world
        there = world.state.free, world.state.remaining, world.state.waiting
        free, up, waiting = (int(each[cluster]) for each in there)
        return Belief(cluster, free, up, waiting, world.state.left.item(cluster), world.now)

    def send(self, kind: type[Message], to: A4Broker, **content: Any) -> Message:
        """Send a message to the scheduler of another broker; return it.

        It goes straight up or down, and else through the global one. What is lost on a hop is sent
        again when its acknowledgement is overdue.
        """
        model, world = self.model, self.model.world
        way = self._way(to)
        if kind is ScheduleReport and world.advertising.truth:
            delay, lost = 0.0, 0
        else:
            delay = self.latency + to.latency
            if all(broker.parent is not None for broker in way):
                hops = pairwise(way)
                delay = sum((one if one.parent is other else other).delay for one, other in hops)
            lost, later = self._lost(kind, way, slots=content.get("slots", ()))
            delay += later
        message = self._message(kind, to, delay, content)
        model.messages_posted += 1 + lost
        self.sent += 1
        to.received += 1
        model.post(message)
        return message

    def _way(self, to: A4Broker) -> list[A4Broker]:
        """Return the brokers between which a message to another goes, both ends included."""
        up, down = [self, *self.above], [to, *to.above]
        if to in up:
            return up[: up.index(to) + 1]
        if self in down:
            return down[: down.index(self) + 1][::-1]
        return [*up, *down[-2::-1]]

    def pass_on(self, kind: type[Message], to: A4Broker, **content: Any) -> bool:
        """Send a message of discovery to the broker above or below; tell whether it is there.

        If not, it is delivered when it is due.
        """
        model = self.model
        delay = self.delay if to is self.parent else to.delay
        model.discovery_messages += 1
        lost, later = self._lost(kind, (self, to), content.get("slot"))
        model.discovery_messages += lost
        delay += later
        to.received += 1
        self.sent += 1
        if delay > 0.0:
            model.post(self._message(kind, to, delay, content))
        elif (watcher := model.world.watcher) is not None:
            facts = self._message(kind, to, delay, content).facts()
            watcher.told("message", content.get("slot"), **facts)
        return delay == 0.0

    def _message(
        self, kind: type[Message], to: A4Broker, delay: float, content: dict[str, Any]
    ) -> Message:
        now = self.model.now
        return kind(sender=self.name, receiver=to.name, sent=now, due=now + delay, **content)

    def _lost(
        self,
        kind: type[Message],
        way: Sequence[A4Broker],
        slot: int | None = None,
        slots: Sequence[int] = (),
    ) -> tuple[int, float]:
        """Draw, and count, how often a message is lost before each hop of its way has carried it.

        It is about the job in a slot, or those in several.

        Each time it is sent again when its acknowledgement is overdue: after twice the time of
        that hop. Return how often, and the time that this takes, s.
        """
        model, world = self.model, self.model.world
        loss = world.advertising.loss
        if loss == 0.0:
            return 0, 0.0
        lost, later, sent = 0, 0.0, model.now
        for one, other in pairwise(way):
            one_way = (one if one.parent is other else other).delay
            while uniform(model.loss_stream) < loss:
                if world.watcher is not None:
                    world.watcher.told(
                        "lost",
                        slot,
                        kind=kind.__name__,
                        sender=self.name,
                        receiver=way[-1].name,
                        sent=sent,
                        hop=[one.name, other.name],
                        **({"slots": slots} if slots else {}),
                    )
                lost += 1
                later += 2.0 * one_way
                sent += 2.0 * one_way
            sent += one_way
        self.sent += lost
        model.lost_between += lost
        return lost, later


def path(one: A4Broker, other: A4Broker) -> list[A4Broker]:
    """Return the brokers on the shortest way from one to another, both included."""
    up, down = [one, *one.above], [other, *other.above]
    top = next(broker for broker in up if broker in down)
    return [*up[: up.index(top) + 1], *down[: down.index(top)][::-1]]


def beliefs_of(broker: A4Broker) -> list[Belief]:
    """Return what a broker says that it believes.

    Raises
    ------
    GridError
        If it is of a user's class, and says what cannot be true.
    """
    told: Any = broker.believes()
    if type(broker).believes is A4Broker.believes:
        return told
    clusters = len(broker.model.world.platform.clusters)
    beliefs = [*told] if isinstance(told, Iterable) else [told]
    for found in beliefs:
        if not (isinstance(found, Belief) and found.possible(clusters)):
            raise GridError(
                f"{type(broker).__name__} of {broker.name}: believes: found {quoted(found)}; "
                f"accepted: a list of Belief, of clusters 0 to {clusters - 1}, with whole numbers "
                "from 0, finite work from 0, and a finite time"
            )
    return beliefs


def _is_newer(belief: Belief, than: Mapping[int, Belief]) -> bool:
    known = than.get(belief.cluster)
    return known is None or (belief.at, belief.until) > (known.at, known.until)


def table_of(broker: A4Broker, told: Iterable[Belief] = ()) -> list[Belief]:
    """Return a broker's capability table: what it believes of each cluster that it knows of.

    Where several say something, that is the newest: what it says that it `believes`, of clusters
    below it; what it has noted of these, and in the last `FRESH` periods of others; and what is
    `told` now, of any.
    """
    beliefs = beliefs_of(broker)
    if not (broker.noted or told):
        return beliefs
    table = {belief.cluster: belief for belief in beliefs}
    since = broker.model.now - FRESH * broker.model.world.advertising.period
    own = {*table}  # of which there would be news if they had changed
    noted = (each for each in broker.noted.values() if each.at >= since or each.cluster in own)
    for belief in (*noted, *told):
        if _is_newer(belief, table):
            table[belief.cluster] = belief
    return [table[cluster] for cluster in sorted(table)]


def passed_on(broker: A4Broker, kind: type[Message], to: A4Broker, /, **content: Any) -> bool:
    """Have a broker pass on a message of discovery; tell whether it is there.

    Raises
    ------
    GridError
        If the broker, of a user's class, does not tell.
    """
    there: Any = broker.pass_on(kind, to, **content)
    if not isinstance(there, bool | np.bool_):
        raise GridError(
            f"{type(broker).__name__} of {broker.name}: pass_on: found {quoted(there)}; accepted: "
            "true if the message arrives at once, else false, as super().pass_on returns it"
        )
    return bool(there)


def hierarchy(
    model: Grid, kind: Callable[..., A4Broker]
) -> tuple[A4Broker, list[A4Broker], list[A4Broker]]:
    """Make the brokers of a model: the global scheduler's, those of clusters, those between."""
    platform = model.world.platform
    root = kind(model, model.scheduler.name)
    between: dict[str, A4Broker] = {}

    def broker_of(name: str) -> A4Broker:
        if name == "":
            return root
        if name not in between:
            (broker,) = (each for each in platform.brokers if each.name == name)
            parent = broker_of(broker.parent)
            latency = model.world.state.hop_latency * (parent.hops + 1)
            between[name] = kind(model, name, parent, latency, model.world.state.hop_latency)
        return between[name]

    latencies = model.world.state.latency.tolist()
    delays = model.world.tables.beliefs["delay"][model.world.state.first_belief].tolist()
    own = [
        kind(model, cluster.name, broker_of(cluster.broker), latencies[i], delays[i], i)
        for i, cluster in enumerate(platform.clusters)
    ]
    return root, own, [broker_of(broker.name) for broker in platform.brokers]

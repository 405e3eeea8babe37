"""MUSCLE over MUSCLE: brokers below the global one that schedule the clusters below them (ours).

To the MUSCLE above, a domain is a cluster with all the processors of its clusters. It sends the
domain jobs with a seed schedule, which the domain's MUSCLE takes as jobs to allocate anew to its
own clusters, or domains. It answers when it has done so, and tells again whenever it hears from
below.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from agents.a4.broker import A4Broker, beliefs_of
from agents.messages import JobsReturned, Message, ScheduleReport, SeedSchedule, TransferOrder
from agents.muscle.muscle import Ints, Member, Muscle
from agents.muscle.packing import Floats
from grid.errors import GridError
from grid.foreign import quoted
from grid.kernel.state import GLOBAL, NONE
from grid.platform.multicluster import Platform
from grid.streams import stream

if TYPE_CHECKING:
    from agents.model import GridModel


def domain_brokers(platform: Platform, levels: int, named: Collection[str] = ()) -> dict[int, int]:
    """Return the brokers (index) that are MUSCLEs, and of each the one above (-1: the global one).

    Parameters
    ----------
    platform : Platform
    levels : int
        Levels of brokers that are MUSCLEs, that of the global scheduler included.
    named : collection of str
        Others that are.

    Raises
    ------
    GridError
        If there are not so many levels, no such broker, or no cluster below one.
    """
    index = {broker.name: i for i, broker in enumerate(platform.brokers)}
    above = [index[broker.parent] if broker.parent else NONE for broker in platform.brokers]

    def depth(broker: int) -> int:
        return 0 if broker == NONE else 1 + depth(above[broker])

    depths = [*map(depth, range(len(above)))]
    most = 1 + max(depths, default=0)
    if levels > most:
        accepted = (
            f"1 to {most}, as many as there are above the clusters"
            if most > 1
            else "1, for no broker stands between the clusters and the global scheduler"
        )
        raise GridError(f"levels: found {levels}; accepted: {accepted}")
    for i, name in enumerate(named):
        if name in [*named][:i]:
            raise GridError(f"domains: found {quoted(name)} twice; accepted: each broker once")
        if name not in index:
            known = ", ".join(index) or "none, for the platform has no brokers"
            raise GridError(f"domains: found {quoted(name)}; accepted: {known}")
    chosen = {
        i for i in range(len(above)) if depths[i] < levels or platform.brokers[i].name in named
    }
    busy = {broker for chain in platform.chains for broker in chain}
    for broker in sorted(chosen - busy):
        name = platform.brokers[broker].name
        key = "domains" if name in named else "levels"
        raise GridError(
            f"{key}: broker {name}: found no cluster below it; accepted: a broker with one, where "
            "it schedules"
        )

    def next_above(broker: int) -> int:
        parent = above[broker]
        return parent if parent == NONE or parent in chosen else next_above(parent)

    return {broker: next_above(broker) for broker in sorted(chosen, key=depths.__getitem__)}


def members_of(platform: Platform, domains: Mapping[int, int], at: int = NONE) -> list[Member]:
    """Return what the MUSCLE at a broker (index; -1: the global one) allocates jobs to.

    Examples
    --------
    >>> import networkx as nx
    >>> from grid.platform.brokers import Broker
    >>> from grid.platform.multicluster import Cluster
    >>> clusters = Cluster("A", 4, broker="x"), Cluster("B", 4, broker="y")
    >>> more = Cluster("C", 4, broker="y"), Cluster("D", 4, broker="x")
    >>> graph = Platform.star([4] * 4).graph
    >>> graph = nx.relabel_nodes(graph, dict(zip(("C1", "C2", "C3", "C4"), "ABCD", strict=True)))
    >>> platform = Platform((*clusters, *more), graph, (Broker("x"), Broker("y", "x")))
    >>> [member.clusters.tolist() for member in members_of(platform, {0: -1, 1: 0})]
    [[0, 1, 2, 3]]
    >>> [member.clusters.tolist() for member in members_of(platform, {0: -1, 1: 0}, 0)]
    [[0], [1, 2], [3]]
    """
    found: dict[tuple[int, int], list[int]] = {}
    for cluster, chain in enumerate(platform.chains):
        way = [*(broker for broker in chain if broker in domains), NONE]
        if at in way:
            place = way.index(at)
            member = (way[place - 1], NONE) if place else (NONE, cluster)
            found.setdefault(member, []).append(cluster)
    return [Member(np.array(clusters), broker) for (broker, _), clusters in found.items()]


class Domain(Muscle):
    """The MUSCLE of a broker below the global one.

    Jobs that no cluster below it can hold, since processors went, it gives back.

    Attributes
    ----------
    above : A4Broker
        Of the MUSCLE above.
    waiting : dict of int to int
        Numbers of the jobs that it has yet to allocate, by their slots.
    """

    label = "MUSCLE"

    def __init__(
        self,
        model: GridModel,
        below: dict[int, int],
        broker: A4Broker,
        above: A4Broker,
        members: Sequence[Member],
    ) -> None:
        super().__init__(model)
        self.name = f"{self.called()} {broker.name}"
        self.broker, self.above = broker, above
        self.stream = stream(model.seed, f"domain {broker.name}")
        self.take_members(members, model.world.platform.sizes)
        self.waiting: dict[int, int] = {}
        self._below = below  # of the global one: jobs that have yet to be sent to clusters
        self._asked, self._heard_news = 0, False  # last round of the one above

    def receive(self, message: Message) -> None:
        """Take jobs from above, and what members report and give back."""
        super().receive(message)
        if isinstance(message, SeedSchedule):
            self._asked = max(self._asked, message.round)
            self.waiting |= zip(message.slots, message.jobs, strict=True)
        elif isinstance(message, JobsReturned):
            self.waiting |= zip(message.slots, message.jobs, strict=True)
        self._heard_news = True

    def act(self) -> None:
        """Allocate the jobs that wait, if a member is about to run dry; tell the one above."""
        at = self._take_news(*self._believed())
        slots = self._waiting()
        self.mould(slots)
        if len(slots):
            too_large = self.model.world.jobs["size"][slots] > self._largest(slots, self.up)
            self._give_back(slots[too_large], at)
            slots = slots[~too_large]
        if len(slots) and self._is_due(slots):
            self.dispatch(slots)
            self.waiting = {}
        if self._heard_news and not self.waiting:
            self._heard_news = False
            self._tell()

    def send(self, slots: Ints, clusters: Ints, as_of: Floats) -> None:
        """Have jobs go to clusters, of which is known what was true then (s)."""
        model = self.model
        numbers = tuple(model.world.jobs["number"][slots].tolist())
        held = tuple(slots.tolist())
        order = self.broker.send(TransferOrder, model.broker, jobs=numbers, slots=held)
        for slot in held:
            self._below.pop(slot, None)
        model.transfer(slots, clusters, as_of, order.due - model.now)

    def _believed(self) -> tuple[Ints, Floats]:
        """Return the processors of each cluster as its broker believes, and as of when (s)."""
        clusters = self.model.world.clusters
        up, at = np.zeros(clusters, np.int64), np.zeros(clusters)
        for belief in beliefs_of(self.broker):
            up[belief.cluster], at[belief.cluster] = belief.up, belief.at
        outside = np.ones(clusters, np.bool_)
        outside[self._covered] = False
        up[outside] = 0
        return up, at

    def _waiting(self) -> Ints:
        """Return the slots of the jobs that wait, as they came to the global queue.

        A seed schedule may come so late that others have the slots of its jobs.
        """
        jobs = self.model.world.jobs
        slots = np.array([*self.waiting], np.int64)
        numbers = np.array([*self.waiting.values()], np.int64)
        there = (jobs["status"][slots] == GLOBAL) & (jobs["number"][slots] == numbers)
        return slots[there][np.argsort(jobs["serial"][slots[there]])]

    def _give_back(self, slots: Ints, at: Floats) -> None:
        """Give back jobs that no cluster can hold, and tell what each cluster is known to have."""
        if len(slots) == 0:
            return
        given = {slot: self.waiting.pop(slot) for slot in slots.tolist()}
        own = self._covered.tolist()
        self.broker.send(
            JobsReturned,
            self.above,
            jobs=tuple(given.values()),
            slots=tuple(given),
            known={cluster: (int(self.up[cluster]), float(at[cluster])) for cluster in own},
        )

    def _tell(self) -> None:
        """Tell the MUSCLE above how far the domain is booked."""
        self.broker.send(
            ScheduleReport,
            self.above,
            cluster=int(self._covered[0]),
            round=self._asked,
            makespan=min(self.left),
            cp=None,
            release=np.sort(np.concatenate([booked.release for booked in self.booked])),
            unfinished=np.concatenate([booked.unfinished for booked in self.booked]),
        )

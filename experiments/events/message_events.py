"""The messages about jobs and clusters, sent or lost, as the kernel tells of each."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from agents.model import GridModel
from experiments.events.identity import Identities, Identity
from grid.kernel.state import ADVERTISED, MESSAGE_KINDS, METADATA_SENT, NONE

Event = dict[str, Any]

MESSAGE, LOST = "message", "lost"

TRANSFER = "transfer"
"""The kind of message by which a job comes to its cluster."""

LAST = math.inf
"""Turn of what is told when all turns of an instant are over."""

_NEWS, _METADATA, _ORDERS, _AFTER = 0, 3.5, 5.5, 8
"""Their order among the events of one turn, as in `experiments.events.job_events`."""

Told = tuple[float, float, int, Event]
"""An event: its turn at this instant, its order there, the job or cluster, and what is told."""


class Sending(NamedTuple):
    """In which turn a job was sent to which cluster."""

    turn: int
    cluster: str


class Return(NamedTuple):
    """How a job went back to the global scheduler.

    Attributes
    ----------
    turn : int
        When it is known again.
    slot : int
        Where the world keeps it.
    by : str
        Cluster whose broker tells the global scheduler of it.
    given_back : bool
        Whether that cluster gave it back, else a failure threw it back.
    sent : Sending or None
        How it came there, if at this instant.
    """

    turn: int
    slot: int
    by: str
    given_back: bool
    sent: Sending | None


def kind_of(event: Event) -> str:
    """Return what an event is: of a message, its kind."""
    kind: str = event["kind"] if event["event"] == MESSAGE else event["event"]
    return kind


class CarriedMessages:
    """Keeps what the kernel tells of messages until it is asked for.

    An instant has one turn, in which jobs become known and are sent, and one more whenever clusters
    give back jobs that were sent in the last one.

    Parameters
    ----------
    model : GridModel
    identities : Identities
        Of its jobs.

    Attributes
    ----------
    returns : dict of Identity to list of Return
        Those since jobs were looked at, in order.
    sent : dict of Identity to Sending
        The last one since then of each job that has not come back from there.
    """

    def __init__(self, model: GridModel, identities: Identities) -> None:
        world, platform = model.world, model.world.platform
        self._model, self._identities = model, identities
        # The brokers from each cluster's own to the global one, and the time of each hop, s.
        self._ways = [
            [name, *(platform.brokers[broker].name for broker in chain), model.scheduler.name]
            for name, chain in zip(platform.names, platform.chains, strict=True)
        ]
        first, hops = world.state.first_belief.tolist(), world.state.hops.tolist()
        self._first = first
        self._delays = [
            world.tables.beliefs["delay"][row : row + count].tolist()
            for row, count in zip(first, hops, strict=True)
        ]
        self.returns: dict[Identity, list[Return]] = {}
        self.sent: dict[Identity, Sending] = {}
        self._turn = 0
        self._message: Event = {}
        self._told: list[Told] = []

    def take(self) -> list[Told]:
        """Return what was told since the last call."""
        told, self._told = self._told, []
        return told

    def looked(self) -> None:
        """Forget how jobs went, which were looked at."""
        self.returns, self.sent, self._turn = {}, {}, 0

    def hear(
        self, kind: int, item: int, sender: int, receiver: int, hop: int, after: float
    ) -> None:
        """Take what the kernel tells (`grid.kernel.policies.message_hook`)."""
        if kind == ADVERTISED:
            self._advertised(item, sender, receiver, lost=hop != NONE)
            return
        world = self._model.world
        names, delays = self._way(sender, receiver)
        slot = world.jobs.slots[item]
        sent, job = world.now + after, self._identities.of(slot)
        event: Event = {
            "event": MESSAGE if hop == NONE else LOST,
            "kind": MESSAGE_KINDS[kind],
            "sender": names[0],
            "receiver": names[-1],
            **job.facts(),
        }
        if hop == NONE:
            event |= {"sent": sent, "due": sent + sum(delays)}
            self._message = event
        else:
            event |= {"sent": sent + sum(delays[:hop]), "hop": names[hop : hop + 2]}
            self._message["due"] += 2.0 * delays[hop]
        if hop == NONE:
            self._follow(kind, item, names[0])
        turn, order = self._turn, _ORDERS
        if kind == METADATA_SENT:
            turn, order = self.returns[job][-1].turn if job in self.returns else 0, _METADATA
        self._told.append((turn, order, job.number, event))

    def _follow(self, kind: int, item: int, sender: str) -> None:
        """Note that a job is sent, or goes back."""
        slot = self._model.world.jobs.slots[item]
        job, given_back = self._identities.of(slot), bool(slot["given_back_by"] != NONE)
        if kind != METADATA_SENT:
            cluster = self._model.world.platform.names[slot["cluster"]]
            self.sent[job] = Sending(self._turn, cluster)
        elif given_back or slot["restarts"] > 0:
            sent = self.sent.pop(job, None)
            if sent is not None:
                self._turn = max(self._turn, sent.turn + 1)
            back = Return(self._turn, item, sender, given_back, sent)
            self.returns.setdefault(job, []).append(back)

    def _way(self, sender: int, receiver: int) -> tuple[list[str], list[float]]:
        """Return the brokers that a message goes through, and the time of each hop, s."""
        names, delays = [self._model.scheduler.name], list[float]()
        if sender != NONE:
            names, delays = [*self._ways[sender]], [*self._delays[sender]]
        if receiver != NONE:
            names += self._ways[receiver][-2::-1]
            delays += self._delays[receiver][::-1]
        return names, delays

    def _advertised(self, item: int, cluster: int, row: int, lost: bool) -> None:
        """Take an advertisement on one hop: the row of the belief that it is for says which."""
        world = self._model.world
        hop = row - self._first[cluster]
        sender, receiver = self._ways[cluster][hop : hop + 2]
        if item == NONE:
            at, free, waiting = world.now, world.state.free[cluster], world.state.waiting[cluster]
        else:
            at, free, waiting = (
                world.tables.news[name][item] for name in ("at", "free", "waiting")
            )
        delays = self._delays[cluster]
        event: Event = {
            "event": LOST if lost else MESSAGE,
            "kind": MESSAGE_KINDS[ADVERTISED],
            "sender": sender,
            "receiver": receiver,
            "cluster": self._ways[cluster][0],
            "sent": world.now,
            **({"hop": [sender, receiver]} if lost else {"due": world.now + delays[hop]}),
            "at": float(at),
            "free": int(free),
            "waiting": int(waiting),
        }
        on_its_way = any(delay > 0 for delay in delays[:hop])
        turn, order = (0, _NEWS) if on_its_way else (LAST, _AFTER)
        self._told.append((turn, order, cluster, event))

"""The messages about jobs and clusters, sent or lost, as the kernel tells of each."""

from __future__ import annotations

from typing import Any

from agents.model import GridModel
from experiments.events.identity import Identities, Identity
from grid.kernel.state import ADVERTISED, MESSAGE_KINDS, METADATA_SENT, NONE

Event = dict[str, Any]

MESSAGE, LOST = "message", "lost"

TRANSFER = "transfer"
"""The kind of message by which a job comes to its cluster."""

_NEWS, _METADATA, _ORDERS, _AFTER = 0, 3.5, 5.5, 8
"""Their order among the events of one instant, as in `experiments.events.job_events`."""


def kind_of(event: Event) -> str:
    """Return what an event is: of a message, its kind."""
    kind: str = event["kind"] if event["event"] == MESSAGE else event["event"]
    return kind


class CarriedMessages:
    """Keeps what the kernel tells of messages until it is asked for.

    Parameters
    ----------
    model : GridModel
    identities : Identities
        Of its jobs.

    Attributes
    ----------
    giving_back : dict of Identity to str
        Who has told the global scheduler of a job that is not new to it.
    back : dict of Identity to (int, bool)
        Of the jobs that went back to the global scheduler since they were looked at: the slot, and
        whether the cluster gave the job back, else a failure threw it back.
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
        self.giving_back: dict[Identity, str] = {}
        self.back: dict[Identity, tuple[int, bool]] = {}
        self._message: Event = {}
        self._told: list[tuple[float, int, Event]] = []

    def take(self) -> list[tuple[float, int, Event]]:
        """Return rows of (order at this instant, job or cluster, event) since the last call."""
        told, self._told = self._told, []
        return told

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
            self._message["due"] += 2.0 * world.state.hop_latency
        returned = bool(slot["given_back_by"] != NONE)
        if kind == METADATA_SENT and (returned or slot["restarts"] > 0):
            self.giving_back[job] = names[0]
            self.back[job] = item, returned
        order = _METADATA if kind == METADATA_SENT else _ORDERS
        self._told.append((order, job.number, event))

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
        self._told.append((_NEWS if on_its_way else _AFTER, cluster, event))

"""What brokers ask and tell each other of resources (`agents.a4.discovery`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from agents.a4.broker import A4Broker, Belief
from agents.messages import Discovery


class Offer(NamedTuple):
    """A cluster that can run a job.

    Attributes
    ----------
    cluster : int
        Its index.
    finish : float
        When the job is expected to finish there, s: at once if enough processors were free and
        nothing waited, else when all processors have done the work that was left.
    at : float
        When that was true, s.
    """

    cluster: int
    finish: float
    at: float


Offers = tuple[Offer, ...]


class Found(NamedTuple):
    """What is answered to the question which clusters can run a job.

    Attributes
    ----------
    broker : str
        Who answers.
    offers : tuple of Offer
        Of the clusters that the broker knows of, the earliest finish first.
    hops : int
        Messages that question and answer take between brokers, if none is lost.
    cluster : str or None
        Name of the cluster of the first offer.
    told : tuple of Belief
        What the offers were worked out from.
    """

    broker: str
    offers: Offers
    hops: int
    cluster: str | None
    told: tuple[Belief, ...] = ()

    def content(self) -> dict[str, Any]:
        """Return it for programs: only what JSON can hold."""
        finish = self.offers[0].finish if self.offers else None
        offers = len(self.offers)
        return {
            "answered": self.broker,
            "hops": self.hops,
            "offers": offers,
            "cluster": self.cluster,
            "finish": finish,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceQuestion(Discovery):
    """A broker asks the one above, or one below, which clusters can run a job.

    Attributes
    ----------
    job : int
        Its number.
    slot : int
        Where the world keeps the job.
    way : tuple of A4Broker
        The brokers asked so far, the first one first, the receiver last.
    told : tuple of Belief
        What those of them that passed it on have told of clusters.
    """

    job: int
    slot: int = field(repr=False)
    way: tuple[A4Broker, ...] = field(repr=False)
    told: tuple[Belief, ...] = field(default=(), repr=False)

    def content(self) -> dict[str, Any]:
        """Return what the message says, for programs: only what JSON can hold."""
        asked, to = self.way[-2:]
        return {"job": self.job, **({"down": True} if to.parent is asked else {})}

    def words(self) -> str:
        """Return what the message says, for people."""
        return f"asks where job {self.job} can run"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceAnswer(Discovery):
    """A broker tells the next on the way to the one asked first which clusters can run a job.

    Attributes
    ----------
    job : int
        Its number.
    slot : int
        Where the world keeps the job.
    way : tuple of A4Broker
        The brokers that the answer has yet to reach, the receiver last.
    found : Found
        The answer.
    """

    job: int
    slot: int = field(repr=False)
    way: tuple[A4Broker, ...] = field(repr=False)
    found: Found = field(repr=False)

    def content(self) -> dict[str, Any]:
        """Return what the message says, for programs: only what JSON can hold."""
        return {"job": self.job, **self.found.content()}

    def words(self) -> str:
        """Return what the message says, for people."""
        first = self.found.cluster
        return f"job {self.job} can run on {first}" if first else f"job {self.job} can run nowhere"


@dataclass(frozen=True, slots=True, kw_only=True)
class CapabilityTable(Discovery):
    """A broker tells one below it what it knows of clusters that are not below that one.

    Attributes
    ----------
    broker : A4Broker
        Who is told.
    beliefs : tuple of Belief
    """

    broker: A4Broker = field(repr=False)
    beliefs: tuple[Belief, ...] = field(repr=False)

    def content(self) -> dict[str, Any]:
        """Return what the message says, for programs: only what JSON can hold."""
        return {"clusters": len(self.beliefs)}

    def words(self) -> str:
        """Return what the message says, for people."""
        return f"tells what it knows of {len(self.beliefs):,} clusters"

"""Resource discovery: which clusters can run a job, asked of one broker after the other, upwards.

A broker answers from what it believes of the clusters below it when the question reaches it, a
cluster's own from the truth. If no answer is good enough, the question is passed up (`muscle`,
section 1). Each hop of question and answer takes the brokers' latency; what is lost is sent again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from agents.a4.broker import A4Broker, beliefs_of, passed_on
from agents.messages import Discovery, Message
from agents.schedulers import Answer, GlobalScheduler
from agents.view import Job
from grid.jobs import ANYWHERE

if TYPE_CHECKING:
    from agents.model import GridModel


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

ROUNDING = 1e-9
"""Relative difference of sums of work that tells nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceQuestion(Discovery):
    """A broker asks the one above which clusters can run a job.

    Attributes
    ----------
    slot : int
        Where the world keeps the job.
    way : tuple of A4Broker
        The brokers asked so far, the first one first, the receiver last.
    """

    slot: int = field(repr=False)
    way: tuple[A4Broker, ...] = field(repr=False)

    def words(self) -> str:
        """Return what the message says, for people."""
        return f"asks where job {self.job} can run"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceAnswer(Discovery):
    """A broker tells the one below, which has asked, which clusters can run a job.

    Attributes
    ----------
    slot : int
        Where the world keeps the job.
    way : tuple of A4Broker
        The brokers that the answer has yet to reach, the receiver last.
    found : Found
        The answer.
    """

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


class Found(NamedTuple):
    """What is answered to the question which clusters can run a job.

    Attributes
    ----------
    broker : str
        Who answers.
    offers : tuple of Offer
        Of the clusters below that broker, the earliest finish first.
    hops : int
        Messages that question and answer take between brokers, if none is lost.
    cluster : str or None
        Name of the cluster of the first offer.
    """

    broker: str
    offers: Offers
    hops: int
    cluster: str | None

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


def offers(broker: A4Broker, size: int, times: Sequence[float], deadline: float) -> Offers | None:
    """Return which clusters a broker offers for a job; None if it passes the question up.

    It does so if it knows of no cluster where the job is expected to meet its deadline and there
    is a broker above it. The global scheduler's own, and all if news takes no time, reckon with
    the jobs that were sent to a cluster since the news, else all that ask before the next would be
    offered the same cluster.

    Parameters
    ----------
    broker : A4Broker
    size : int
        Processors.
    times : sequence of float
        Its execution time on each cluster, s.
    deadline : float
        s; infinity: any cluster will do.

    Returns
    -------
    tuple of Offer or None
        The earliest finish first.
    """
    model = broker.model
    now, found = model.now, []
    sent, at_once = model.world.known["work"], model.world.state.at_once
    for cluster, free, up, waiting, left, at in beliefs_of(broker):
        if size <= up and times[cluster] < math.inf:
            work = left
            if broker.parent is None or at_once[cluster]:
                # Who sends all jobs knows of those that the news does not tell of yet.
                work = max(left, sent.item(cluster))
            idle = waiting == 0 and work <= left * (1.0 + ROUNDING)
            wait = 0.0 if size <= free and idle else max(0.0, at + work / up - now)
            finish = now + wait + times[cluster]
            found.append(Offer(cluster, finish, at))
    if len(found) > 1:
        found.sort(key=lambda offer: (offer.finish, offer.cluster))
    enough = broker.parent is None or (found and found[0].finish <= deadline)
    return tuple(found) if enough else None


class DiscoveryScheduler(GlobalScheduler):
    """A4: each job asks the broker it was submitted through, then those above, for a cluster.

    It goes to the cluster of earliest expected finish that the answer offers, as soon as the answer
    is there. If it offers none, the job asks again when there is news of clusters.
    """

    uses_deadlines = True
    splits = False
    max_jumps = math.inf  # jobs that wait for an answer hold back nobody
    label = "A4"
    paper = "muscle"

    def __init__(self, model: GridModel) -> None:
        super().__init__(model)
        self._news: dict[int, bool] = {}  # of each job (slot) that asks, if there was news since
        self._found: list[tuple[Job, Found]] = []

    def place(self, job: Job) -> Answer:
        """Choose the first offer, if it is known without delay."""
        if job.slot in self._news:
            self._news[job.slot] = True
            return None
        found = self._asked(job, (self._first(job),))
        if found is None:
            self._news[job.slot] = False
            return None
        return self.clusters[found.offers[0].cluster] if found.offers else None

    def receive(self, message: Message) -> None:
        """Have a broker answer a question or pass it up, or pass an answer down."""
        if not isinstance(message, ResourceQuestion | ResourceAnswer):
            return
        job = Job(self.model.world, message.slot)
        if isinstance(message, ResourceQuestion):
            found = self._asked(job, message.way)
        else:
            found = self._answered(job, message.way, message.found)
        if found is not None:
            self._found.append((job, found))

    def act(self) -> None:
        """Send the jobs whose answers are there; those without an offer may have to ask again."""
        while self._found:
            job, found = self._found.pop(0)
            news = self._news.pop(job.slot)
            if found.offers:
                first = found.offers[0]
                self.model.transfer(
                    np.array([job.slot]), np.array([first.cluster]), np.array([first.at])
                )
            elif news:
                again = self._asked(job, (self._first(job),))
                self._news[job.slot] = False
                if again is not None:
                    self._found.append((job, again))

    def _first(self, job: Job) -> A4Broker:
        model = self.model
        broker: A4Broker = (
            model.broker if job.origin == ANYWHERE else model.clusters[job.origin].broker
        )
        return broker

    def _asked(self, job: Job, way: tuple[A4Broker, ...]) -> Found | None:
        """Have the last broker of a way answer or pass the question up; None: that takes time."""
        times = self.model.pace.predict([job.slot])[0].tolist()
        while (answer := offers(way[-1], job.size, times, job.deadline)) is None:
            asked, above = way[-1], way[-1].parent
            assert above is not None
            way = (*way, above)
            if not passed_on(asked, ResourceQuestion, above, job, way=way):
                return None
        cluster = self.clusters[answer[0].cluster].name if answer else None
        return self._answered(job, way, Found(way[-1].name, answer, 2 * len(way) - 2, cluster))

    def _answered(self, job: Job, way: Sequence[A4Broker], found: Found) -> Found | None:
        """Have the last broker of a way pass an answer down; None: that takes time."""
        while len(way) > 1:
            *down, above = way
            way = tuple(down)
            if not passed_on(above, ResourceAnswer, way[-1], job, way=way, found=found):
                return None
        watcher = self.model.world.watcher
        if watcher is not None:
            content = found.content()
            watcher.told("discovered", job.slot, job=job.number, sender=way[0].name, **content)
        return found

"""Resource discovery: which clusters can run a job, asked of one broker after the other, upwards.

A broker answers from what it believes of the clusters below it, a cluster's own from the truth. If
no answer is good enough, the question is passed up (`muscle`, section 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agents.broker import A4Broker
from agents.schedulers import Answer, GlobalScheduler
from agents.view import Job
from grid.jobs import ANYWHERE

if TYPE_CHECKING:
    from agents.model import GridModel


@dataclass(frozen=True)
class Offer:
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


@dataclass(frozen=True)
class Discovery:
    """An answer to the question which clusters can run a job.

    Attributes
    ----------
    broker : str
        Who answers.
    offers : tuple of Offer
        Of the clusters below that broker, the earliest finish first.
    hops : int
        Messages that question and answer took between brokers.
    """

    broker: str
    offers: tuple[Offer, ...]
    hops: int


def discover(
    model: GridModel, broker: A4Broker, size: int, runtime: float, deadline: float
) -> Discovery:
    """Ask a broker, and those above it, which clusters can run a job.

    The first broker that knows of a cluster where the job is expected to meet its deadline answers;
    if none does, the highest, whatever it knows.

    Parameters
    ----------
    model : GridModel
    broker : A4Broker
        Who is asked first.
    size : int
        Processors.
    runtime : float
        On a cluster of rate 1, s.
    deadline : float
        s; infinity: any cluster will do.
    """
    hops = 0
    for asked in (broker, *broker.above):
        offers = _offers(model, asked, size, runtime)
        if asked.parent is None or (offers and offers[0].finish <= deadline):
            break
        hops += 2
    model.discovery_messages += hops
    return Discovery(asked.name, offers, hops)


def _offers(model: GridModel, broker: A4Broker, size: int, runtime: float) -> tuple[Offer, ...]:
    """Return what a broker can offer, the earliest finish first."""
    now, found = model.now, []
    for cluster, free, up, waiting, left, at in broker.believes():
        if size <= up:
            wait = 0.0 if size <= free and waiting == 0 else max(0.0, at + left / up - now)
            finish = now + wait + model.pace.predict_one(runtime, cluster)
            found.append(Offer(cluster, finish, at))
    return tuple(sorted(found, key=lambda offer: (offer.finish, offer.cluster)))


class DiscoveryScheduler(GlobalScheduler):
    """A4: each job asks the broker it was submitted through, then those above, for a cluster.

    It goes to the cluster of earliest expected finish that the answer offers.
    """

    label = "A4"
    paper = "muscle"

    def place(self, job: Job) -> Answer:
        """Choose the first offer."""
        model = self.model
        broker = model.broker if job.origin == ANYWHERE else model.clusters[job.origin].broker
        found = discover(model, broker, job.size, job.runtime, job.deadline)
        return self.clusters[found.offers[0].cluster] if found.offers else None

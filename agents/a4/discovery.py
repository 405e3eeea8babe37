"""Resource discovery: which clusters can run a job, asked of one broker after the other.

A broker answers from its capability table (`agents.a4.broker.table_of`) when the question reaches
it, a cluster's own from the truth. If no answer is good enough, the question is passed up
(`muscle`, section 1); one that is may be passed down to whom it is about, who knows better. Each
hop of question and answer takes the brokers' latency; what is lost is sent again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from agents.a4.broker import A4Broker, Belief, passed_on, path, table_of
from agents.a4.questions import (
    CapabilityTable,
    Found,
    Offer,
    Offers,
    ResourceAnswer,
    ResourceQuestion,
)
from agents.messages import Message
from agents.schedulers import Answer, GlobalScheduler
from agents.view import Job
from grid.jobs import ANYWHERE
from grid.platform.brokers import CHANGE
from grid.settings import Checked, setting

if TYPE_CHECKING:
    from agents.model import GridModel


ROUNDING = 1e-9
"""Relative difference of sums of work that tells nothing."""


@dataclass(frozen=True)
class DiscoverySettings(Checked):
    """Of A4."""

    group = "A4"

    discovery: str = setting(
        "up",
        "Who answers where a job can run: the first broker upwards that knows; or, once one knows, "
        "whom it is about, asked downwards (down).",
        choices=("up", "down"),
    )
    capability_tables: str = setting(
        "below",
        "What a broker knows of clusters that are not below it: nothing; what the one above tells "
        "it (push), what answers tell that pass it (pull), or both.",
        choices=("below", "push", "pull", "both"),
    )


def offers(
    broker: A4Broker,
    size: int,
    times: Sequence[float],
    deadline: float,
    table: Sequence[Belief] | None = None,
) -> Offers | None:
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
    table : sequence of Belief, optional
        Its capability table, if that is at hand.

    Returns
    -------
    tuple of Offer or None
        The earliest finish first.
    """
    model = broker.model
    now, found = model.now, []
    sent, at_once = model.world.known["work"], model.world.state.at_once
    for belief in table_of(broker) if table is None else table:
        cluster, free, up, waiting, left, at, until = belief
        if size <= up and times[cluster] < math.inf:
            added = 0.0
            if broker.parent is None or at_once[cluster]:
                # Who sends all jobs knows of those that the news does not tell of yet.
                added = max(0.0, sent.item(cluster) - left)
            # What was there runs since the news, and what was sent later has yet to run.
            begins = max(until, max(now, at + left / up) + added / up)
            idle = waiting == 0 and added <= left * ROUNDING
            wait = 0.0 if size <= free and idle else max(0.0, begins - now)
            finish = now + wait + times[cluster]
            found.append(Offer(cluster, finish, at))
    if len(found) > 1:
        # Of equals those from its own on, else all brokers would choose the same.
        clusters = model.world.clusters
        found.sort(key=lambda offer: (offer.finish, (offer.cluster - broker.first) % clusters))
    enough = broker.parent is None or (found and found[0].finish <= deadline)
    return tuple(found) if enough else None


class DiscoveryScheduler(GlobalScheduler):
    """A4: each job asks the broker it was submitted through, then those above, for a cluster.

    It goes to the cluster of earliest expected finish that the answer offers, as soon as the answer
    is there. If it offers none, the job asks again when there is news of clusters.
    """

    uses_deadlines = True
    settings_type = DiscoverySettings
    splits = False
    max_jumps = math.inf  # jobs that wait for an answer hold back nobody
    selection = "fpfs"
    label = "A4"
    paper = "muscle"

    def __init__(self, model: GridModel) -> None:
        super().__init__(model)
        self._news: dict[int, bool] = {}  # of each job (slot) that asks, if there was news since
        self._found: list[tuple[Job, Found]] = []
        self._goes_down = self.settings.discovery == "down"
        self._pulls = self.settings.capability_tables in ("pull", "both")
        self._pushes = self.settings.capability_tables in ("push", "both")
        self._next_push = 0.0  # s

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
        """Have a broker answer or pass on a question, pass on an answer, or note what is told."""
        if isinstance(message, CapabilityTable):
            message.broker.note(message.beliefs)
        if not isinstance(message, ResourceQuestion | ResourceAnswer):
            return
        job = Job(self.model.world, message.slot)
        if isinstance(message, ResourceQuestion):
            found = self._asked(job, message.way, message.told)
        else:
            if self._pulls:
                message.way[-1].note(message.found.told)
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

    def _asked(
        self, job: Job, way: tuple[A4Broker, ...], told: tuple[Belief, ...] = ()
    ) -> Found | None:
        """Have the last broker of a way answer or pass the question on; None: that takes time."""
        if len(way) == 1:
            self._push()
        times = self.model.pace.predict([job.slot])[0].tolist()
        while True:
            asked = way[-1]
            table = table_of(asked, told)
            answer = offers(asked, job.size, times, job.deadline, table)
            to = asked.parent if answer is None else self._lower(way, answer, job.deadline)
            if to is None:
                break
            way = (*way, to)
            if self._goes_down:  # else nobody needs it
                told = tuple(table)
            facts = {"job": job.number, "slot": job.slot, "way": way, "told": told}
            if not passed_on(asked, ResourceQuestion, to, **facts):
                return None
        assert answer is not None
        cluster = self.clusters[answer[0].cluster].name if answer else None
        back = path(way[0], asked)
        known = self._reckoned(table, answer, job.size, times)
        asked.note(known[:1])
        hops = len(way) + len(back) - 2
        told = known if self._pulls else ()
        return self._answered(job, back, Found(asked.name, answer, hops, cluster, told))

    def _reckoned(
        self, table: Sequence[Belief], answer: Offers, size: int, times: Sequence[float]
    ) -> tuple[Belief, ...]:
        """Return what was believed of the clusters of an answer, in its order.

        The job is reckoned to be on the first, else all that ask before there is news of it would
        be offered the same cluster. Nothing if tables are of clusters below only.
        """
        if not (self._pulls or self._pushes) or not answer:
            return ()
        believed = {belief.cluster: belief for belief in table}
        first, *rest = (believed[offer.cluster] for offer in answer)
        begins = max(self.model.now, first.until, first.at + first.left / first.up)
        with_job = first._replace(
            free=max(0, first.free - size),
            waiting=first.waiting + (size > first.free),
            until=begins + size * times[first.cluster] / first.up,
        )
        return with_job, *rest

    def _lower(self, way: tuple[A4Broker, ...], answer: Offers, deadline: float) -> A4Broker | None:
        """Return whom the last broker of a way asks that knows better; None: it answers itself.

        That is who is next on the way to the cluster that it would answer. It asks nobody twice: if
        there is nobody left, it passes the question up.
        """
        if not self._goes_down or not answer or answer[0].finish > deadline:
            return None
        asked = way[-1]
        for offer in answer:
            if offer.finish > deadline:
                break
            cluster = self.model.clusters[offer.cluster].broker
            if cluster in way:
                return None  # it has said so itself
            to = path(asked, cluster)[1]
            if to not in way:
                return to
        return asked.parent

    def _push(self) -> None:
        """Have brokers tell those below them what else they know, if it is time to."""
        model = self.model
        if not self._pushes or model.now < self._next_push:
            return
        advertising = model.world.advertising
        self._next_push = model.now + (0.0 if advertising.when == CHANGE else advertising.period)
        own = [cluster.broker for cluster in model.clusters]
        for broker in (*sorted(model.brokers, key=lambda each: each.hops), *own):
            above = broker.parent
            assert above is not None
            below = {belief.cluster for belief in broker.believes()}
            beliefs = tuple(each for each in table_of(above) if each.cluster not in below)
            facts = {"broker": broker, "beliefs": beliefs}
            if beliefs and passed_on(above, CapabilityTable, broker, **facts):
                broker.note(beliefs)

    def _answered(self, job: Job, way: Sequence[A4Broker], found: Found) -> Found | None:
        """Have the last broker of a way pass an answer down; None: that takes time."""
        while len(way) > 1:
            *down, above = way
            way = tuple(down)
            facts = {"job": job.number, "slot": job.slot, "way": way, "found": found}
            if not passed_on(above, ResourceAnswer, way[-1], **facts):
                return None
            if self._pulls:
                way[-1].note(found.told)
        watcher = self.model.world.watcher
        if watcher is not None:
            content = found.content()
            watcher.told("discovered", job.slot, job=job.number, sender=way[0].name, **content)
        return found

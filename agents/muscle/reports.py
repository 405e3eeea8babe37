"""What a cluster's scheduler tells MUSCLE: how far it is booked (`muscle`, Algorithm 4)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

import numpy as np

from agents.messages import Message, Reminder, ScheduleReport, SeedSchedule
from agents.muscle.booking import Booked
from agents.protocols import Cluster
from grid.kernel.state import LANDING, TRANSIT

COMING = TRANSIT, LANDING
"""Where jobs are before they are in the cluster's queue."""


class Reports:
    """The seed schedules that came to a cluster, and how far it is booked.

    That is told to a global scheduler that works in rounds when a seed schedule comes, again when
    what is left falls to the threshold at which the next round may start, and whenever jobs end at
    another time than predicted.

    Parameters
    ----------
    cluster : Cluster

    Attributes
    ----------
    seeds : list of SeedSchedule
        Those that are not yet in what was told.
    booked : Booked
        What was told last.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.seeds: list[SeedSchedule] = []
        self.booked = Booked.nothing(cluster.size)
        self._cluster = cluster

    def receive(self, message: Message) -> None:
        """Take a seed schedule, or the reminder that the cluster is about to run dry."""
        if isinstance(message, SeedSchedule):
            self.seeds.append(message)
        elif isinstance(message, Reminder) and message.booking == self.booked.serial:
            self.renew()

    def renew(self) -> None:
        """Tell how far the cluster is booked by now: jobs ended at other times than predicted."""
        self.book(self.able(self.queue()))

    def tell(self) -> None:
        """Tell how far the cluster is booked, if a seed schedule has come."""
        if self.seeds:
            coming = self.announced(self.seeds, COMING)
            self.book(self.able(self.queue() + coming), self.seeds)
            self.seeds = []

    def complete(self) -> tuple[list[SeedSchedule], list[SeedSchedule]]:
        """Return the seed schedules all of whose jobs are there, and of those before; the rest."""
        ready = [*takewhile(lambda seed: not self.announced([seed], COMING), self.seeds)]
        return ready, self.seeds[len(ready) :]

    def announced(self, seeds: Sequence[SeedSchedule], where: Sequence[int]) -> list[int]:
        """Return the slots of the jobs of seed schedules that are where they are asked for.

        A seed schedule may come so late that others have the slots of its jobs.
        """
        jobs, cluster = self._cluster.model.world.jobs, self._cluster.index
        number, status, sent_to = jobs["number"], jobs["status"], jobs["cluster"]
        return [
            slot
            for seed in seeds
            for slot, job in zip(seed.slots, seed.jobs, strict=True)
            if status[slot] in where and number[slot] == job and sent_to[slot] == cluster
        ]

    def able(self, slots: Sequence[int]) -> list[int]:
        """Return the jobs that can run: one larger than what remains waits for repairs."""
        world = self._cluster.model.world
        remaining = world.state.remaining[self._cluster.index]
        return [slot for slot in slots if world.jobs["size"][slot] <= remaining]

    def book(
        self, order: Sequence[int], seeds: Sequence[SeedSchedule] = (), cp: float | None = None
    ) -> None:
        """Tell how far these jobs, new seed schedules among them, and the running ones book it.

        So again as soon as that is down to the threshold of the next round; while a job is overdue,
        nobody can tell when that is, and its end is waited for.
        """
        cluster, model = self._cluster, self._cluster.model
        if not model.scheduler.collects:
            return
        # A seed schedule that was lost and sent again comes after one of a later round.
        new = max((seed.round for seed in seeds), default=0)
        round = max(self.booked.round, new)
        self.booked = booked = Booked.by(cluster, order, self.booked.serial + 1, round)
        dry = booked.down_to(model.round_threshold)
        wanted = dry > model.now and not booked.overdue
        model.remind(cluster.name, dry if wanted else np.inf, booked.serial)
        cluster.broker.send(
            ScheduleReport,
            cluster.reports_to,
            cluster=cluster.index,
            round=booked.round,
            makespan=booked.makespan(model.now),
            cp=cp if round == new else None,
            release=booked.release,
            unfinished=booked.unfinished,
        )

    def queue(self) -> list[int]:
        """Return the slots of the waiting jobs: those of a plan in its order, then the rest."""
        jobs = self._cluster.model.world.jobs
        waiting = jobs.waiting(self._cluster.index)
        return [*dict.fromkeys([*jobs.planned(waiting).tolist(), *waiting.tolist()])]

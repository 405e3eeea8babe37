"""EASY and conservative backfilling of meta-schedulers, slow and literal, from their definition.

What is foreseen is worked out again for each question.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from .plain_beosim import TIE, PlainBeosim, PlainJob


@dataclass(eq=False)
class Reservation:
    job: PlainJob
    begin: float
    end: float
    take: list[int]
    bandwidth: list[float]

    def holds(self, time):
        return self.begin <= time < self.end


class PlainReservations(PlainBeosim):
    """`expected` are the run times that the scheduler expects, by number; exact ones by default."""

    def __init__(self, policy, sizes, rates, links, *, most, expected=None, **settings):
        super().__init__(policy, sizes, rates, links, **settings)
        self.most, self.expected = most, expected or {}
        self.reserved = []
        self.first_begin = {}  # of each job, when its first reservation began
        self.imagined = None
        self.saturated_from = math.inf  # when some link was so first
        self.waiting = [[] for _ in self.clusters]  # in the queues of clusters

    def demand(self, link):
        return super().demand(link) if self.imagined is None else self.imagined[link]

    # What is foreseen

    def off(self, job):
        """How much longer a job is expected to run than it does."""
        runtime = self.expected.get(job.number, job.runtime)
        return (runtime - job.runtime) * job.dedicated / job.runtime if job.runtime else 0.0

    def expected_end(self, job):
        return max(job.finish + self.off(job), self.soon)

    @property
    def soon(self):
        return math.nextafter(self.now, math.inf)

    def foreseen_free(self, time, reserved):
        free = list(self.free)
        for cluster in self.clusters:
            for job in self.running:
                free[cluster] += job.take[cluster] * (self.expected_end(job) <= time)
            for each in reserved:
                free[cluster] -= each.take[cluster] * each.holds(time)
        return free

    def foreseen_demand(self, time, reserved):
        running = [job for job in self.running if job.split and self.expected_end(job) > time]
        return [
            math.fsum(job.bandwidth[link] for job in running)
            + math.fsum(each.bandwidth[link] for each in reserved if each.holds(time))
            for link in range(len(self.links))
        ]

    def moments(self, reserved):
        times = {self.now} | {self.expected_end(job) for job in self.running}
        times |= {time for each in reserved for time in (each.begin, each.end)}
        return sorted(time for time in times if time >= self.now)

    def would_start(self, job, time, reserved):
        """Ask the policy as if it were then."""
        free, self.free = self.free, self.foreseen_free(time, reserved)
        self.imagined = self.foreseen_demand(time, reserved)
        take = None
        if sum(self.free) >= job.size:
            take = self.local(job) or self.migrate(job) or self.coallocate(job)
        self.free, self.imagined = free, None
        return take

    def reservation(self, job, begin, take):
        """How long it is expected to take, if no link that it uses is saturated."""
        plain = PlainJob(
            job.number,
            job.arrival,
            job.size,
            job.runtime,
            job.home,
            job.computation_fraction,
            job.ppbw,
            take,
        )
        slowest = min(self.rates[cluster] for cluster, count in enumerate(take) if count)
        plain.dedicated = time = job.runtime / slowest
        bandwidth, lag = [0.0 for _ in self.links], 0.0
        computation, communication = job.computation_fraction, 1 - job.computation_fraction
        if plain.split and self.penalty is not None:
            time *= self.penalty
        elif plain.split:
            bandwidth = [self.equation_1(job, take, i) for i in range(len(self.links))]
            lag = communication * self.lag(plain)
        left = time * (computation + lag), time * communication
        at = self.now if begin <= self.soon else begin
        end = at + self.staging(plain) + sum(left) + self.off(plain)
        return Reservation(job, begin, end, take, bandwidth)

    def fits(self, new, reserved, slows_nobody):
        for time in self.moments(reserved):
            if new.begin <= time < new.end:
                free = self.foreseen_free(time, reserved)
                if any(new.take[cluster] > free[cluster] for cluster in self.clusters):
                    return False
                demand = self.foreseen_demand(time, reserved)
                for link, (capacity, _) in enumerate(self.links):
                    if slows_nobody and new.bandwidth[link] > 0:
                        over = (demand[link] + new.bandwidth[link]) * (1 - TIE) > capacity
                        if over:
                            return False
        return True

    def still_fit(self):
        return all(
            count >= 0
            for time in self.moments(self.reserved)
            for count in self.foreseen_free(time, self.reserved)
        )

    # A pass over the queue

    def beginnings(self):
        """When reservations begin, if no job runs, and when jobs run for longer than expected."""
        overdue = [(job.finish + self.off(job), job.finish) for job in self.running]
        begin = [
            each.begin for each in self.reserved if each.begin > self.soon and not self.running
        ]
        return begin + [time for time, end in overdue if self.now < time < end]

    def traverse_queue(self, jobs):
        if len(jobs) < len(self.queue) and self.reserved and self.as_foreseen():
            if self.pass_over(jobs, len(self.reserved)) == "done":
                return
            self.reserved = []
        overdue = any(self.expected_end(job) <= self.soon for job in self.running)
        due = self.soon if overdue else self.now
        self.reserved = [
            self.reservation(each.job, due if each.begin <= self.now else each.begin, each.take)
            for each in self.reserved
        ]
        if not self.still_fit():
            self.reserved = []
        while self.pass_over(self.queue, 0) == "anew":
            self.reserved = []

    def sends(self, job):
        """Tell to which cluster's queue a job goes instead of starting; None: to none."""

    def as_foreseen(self):
        return all(job.finish + self.off(job) > self.now for job in self.running)

    def pass_over(self, jobs, before):
        for job in list(jobs):
            if before == 0 and (cluster := self.sends(job)) is not None:
                self.queue.remove(job)
                self.waiting[cluster].append(job)
                continue
            own = next((each for each in self.reserved if each.job is job), None)
            others = [each for each in self.reserved if each is not own]
            last = job is self.queue[-1]
            reserves = before < self.most and not (last and not self.reserved)
            new = own
            if not (own and own.begin <= self.soon and self.is_there(own.take)):
                new = self.find(job, others, before, reserves, own.begin if own else math.inf)
            if new is None and own is None:
                if not self.could_start(job):
                    self.queue.remove(job)
                    self.rejected.append(job)
                continue
            if new is not None and (new is own or new.begin == self.now):
                self.reserved = others
                self.queue.remove(job)
                self.begin(job, new.take)
                if not self.still_fit():
                    return "anew"
                continue
            self.reserved = others
            self.reserved.insert(before, new or own)
            self.first_begin.setdefault(job.number, self.reserved[before].begin)
            before += 1
            if len(self.reserved) > self.most:
                self.reserved.pop()
        return "done"

    def is_there(self, take):
        return all(take[cluster] <= self.free[cluster] for cluster in self.clusters)

    def find(self, job, others, before, reserves, until):
        """The earliest reservation that begins before a time; else None."""
        for time in self.moments(others) if reserves else [self.now]:
            if time < until:
                take = self.would_start(job, time, others)
                if take:
                    new = self.reservation(job, time, take)
                    if self.fits(new, others, before > 0):
                        return new
        return None

    def share_links(self):
        """An end that does not slide is not rounded anew either: reservations may begin there."""
        before = [(job, job.ratio, job.finish) for job in self.running]
        super().share_links()
        for job, ratio, finish in before:
            if job.ratio == ratio:
                job.finish = finish
        if any(
            self.demand(link) > capacity * (1 - TIE)
            for link, (capacity, _) in enumerate(self.links)
        ):
            self.saturated_from = min(self.saturated_from, self.now)


class PlainMixed(PlainReservations):
    """Jobs of up to three processors wait at the cluster with the fewest; its head starts there."""

    started_there = False

    def sends(self, job):
        if job.size > 3:
            return None
        if self.most == 1:
            self.reserved = []  # a job behind the head has none before the head was asked about

        def unfinished(cluster):
            held = sum(job.take[cluster] > 0 for job in self.running)
            return len(self.waiting[cluster]) + held

        return min(self.clusters, key=unfinished)

    def would_start(self, job, time, reserved):
        return super().would_start(job, time, reserved) if job.size > 3 else None

    def could_start(self, job):
        return job.size <= 3 or super().could_start(job)

    def as_foreseen(self):
        return super().as_foreseen() and not self.started_there

    def traverse_queue(self, jobs):
        super().traverse_queue(jobs)
        self.started_there = False
        for cluster, waiting in enumerate(self.waiting):
            while waiting and waiting[0].size <= self.free[cluster]:
                self.begin(waiting[0], self.only(cluster, waiting.pop(0).size))
                self.started_there = True

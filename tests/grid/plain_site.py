"""One cluster that serves its queue, simulated plainly, to hold the compiled disciplines against.

Written from their definitions, for reading; nothing here is fast. At each instant: completions,
arrivals, then scheduling.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(eq=False)
class Job:
    """A job, and what becomes of it."""

    number: int
    arrival: float
    size: int
    time: float
    expected: float
    start: float = math.nan
    reserved: float = math.inf
    first_reserved: float = math.inf
    overtaken: int = 0
    shadow: float = math.inf  # least shadow time that it had as the head of an EASY queue


class PlainSite:
    """A cluster under ``"head"``, ``"fpfs"``, ``"easy"`` or ``"conservative"``.

    `rank` tells the order of the queue; jobs of equal rank are served as they arrived.
    """

    def __init__(self, processors, service, rank=lambda job: 0.0, max_jumps=math.inf):
        self.processors, self.rank, self.max_jumps = processors, rank, max_jumps
        self.schedule = getattr(self, service)
        self.relies_on_ends = service in ("easy", "conservative")
        self.now, self.running, self.queue = 0.0, [], []

    @property
    def free(self):
        return self.processors - sum(job.size for job in self.running)

    def run(self, jobs):
        coming = [job for job in jobs if job.size <= self.processors]
        while coming or self.running:
            ends = [job.start + job.time for job in self.running]
            overdue = [job.start + job.expected for job in self.running if self.relies_on_ends]
            overdue = [time for time in overdue if time > self.now]
            self.now = min(ends + overdue + [job.arrival for job in coming[:1]])
            going = [job for job in self.running if job.start + job.time == self.now]
            self.running = [job for job in self.running if job not in going]
            while coming and coming[0].arrival == self.now:
                self.queue.append(coming.pop(0))
            self.queue.sort(key=self.rank)  # which keeps the order of equal ones
            self.ended = bool(going)
            self.schedule()
            assert 0 <= self.free <= self.processors
        assert not self.queue
        return jobs

    def begin(self, job):
        assert job.size <= self.free
        self.queue.remove(job)
        self.running.append(job)
        job.start = self.now

    def head(self):
        while self.queue and self.queue[0].size <= self.free:
            self.begin(self.queue[0])

    def fpfs(self):
        for job in list(self.queue):
            before = self.queue[: self.queue.index(job)]
            if job.size <= self.free and all(each.overtaken < self.max_jumps for each in before):
                self.begin(job)
                for each in before:
                    each.overtaken += 1

    def expected_end(self, job):
        return max(job.start + job.expected, self.now)

    def easy(self):
        self.head()
        if not self.queue:
            return
        head = self.queue[0]
        for shadow in sorted({self.expected_end(job) for job in self.running}):
            released = [job.size for job in self.running if self.expected_end(job) <= shadow]
            extra = self.free + sum(released) - head.size
            if extra >= 0:
                break
        head.shadow = min(head.shadow, shadow)
        for job in self.queue[1:]:
            in_time = self.now + job.expected <= shadow
            if job.size <= self.free and (in_time or job.size <= extra):
                extra -= 0 if in_time else job.size
                self.begin(job)

    def used(self, time, claims):
        return sum(size for begin, end, size in claims if begin <= time < end)

    def claims(self, jobs):
        return [(job.reserved, job.reserved + job.expected, job.size) for job in jobs]

    def earliest(self, job, claims):
        times = sorted({self.now, *(end for _, end, _ in claims if end >= self.now)})
        for time in times:
            within = [b for b, _, _ in claims if time < b < time + job.expected]
            if all(self.used(t, claims) + job.size <= self.processors for t in [time, *within]):
                return time
        raise AssertionError("a job fits when nothing is claimed any more")

    def conservative(self):
        held = [(self.now, self.expected_end(job), job.size) for job in self.running]
        known = [job for job in self.queue if job.reserved < math.inf]
        for job in known:
            job.reserved = max(job.reserved, self.now)
        claims = held + self.claims(known)
        if any(self.used(begin, claims) > self.processors for begin, _, _ in claims):
            for job in self.queue:
                job.reserved = math.inf
        late = any(job.start + job.expected <= self.now for job in self.running)
        for job in list(self.queue):
            if self.ended or late or job.reserved == math.inf:
                others = [each for each in self.queue if each is not job]
                others = [each for each in others if each.reserved < math.inf]
                running = [(self.now, self.expected_end(each), each.size) for each in self.running]
                earliest = self.earliest(job, running + self.claims(others))
                assert earliest <= job.reserved or job.expected == 0.0
                job.reserved = min(job.reserved, earliest)
                job.first_reserved = min(job.first_reserved, job.reserved)
            if job.reserved <= self.now and job.size <= self.free:
                self.begin(job)

"""The policies of `queues`, slow and literal, from the paper and its clarifications alone.

Nothing here knows the kernel. At each instant come departures one by one in order of start, each
with a visit of the queues, then arrivals in the order given.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field


@dataclass(eq=False)
class PlainJob:
    number: int
    arrival: float
    runtime: float
    origin: int
    components: list[int]
    parts: list[tuple[int, int]] = field(default_factory=list)
    start: float = math.nan
    finish: float = math.nan

    @property
    def single(self):
        return len(self.components) == 1


class PlainQueues:
    """One run; `draw` returns a random cluster or, for 2, which of two comes first."""

    def __init__(self, policy, sizes, draw=None, aging=0.0):
        self.policy, self.version = [*policy.split("-"), ""][:2]
        self.idle = list(sizes)
        self.clusters = range(len(sizes))
        self.everywhere = len(sizes)
        self.queues = [[] for _ in range(len(sizes) + 1)]
        self.disabled = []
        self.running, self.done = [], []
        self.draw = draw
        self.aging = aging
        self.now = 0.0

    def run(self, jobs):
        coming = sorted(jobs, key=lambda job: job.arrival)
        while coming or self.running:
            times = [job.arrival for job in coming[:1]] + [job.finish for job in self.running]
            self.now = min(times)
            # A start within the instant may end within it, too.
            while any(job.finish <= self.now for job in self.running):
                leaving = next(job for job in self.running if job.finish <= self.now)
                self.running.remove(leaving)
                self.done.append(leaving)
                for cluster, count in leaving.parts:
                    self.idle[cluster] += count
                self.departed(leaving)
            if coming and coming[0].arrival == self.now:
                self.arrived(coming.pop(0))
        return self.done

    def queue_of(self, job):
        nowhere = job.origin < 0
        if nowhere or self.policy == "gs" or (self.policy != "ls" and not job.single):
            return self.everywhere
        return job.origin

    def place(self, job):
        """Return [(cluster, processors)] in the order of placing, or None."""
        if job.single and self.policy != "gs" and job.origin >= 0:
            fits = job.components[0] <= self.idle[job.origin]
            return [(job.origin, job.components[0])] if fits else None
        idle = sorted(self.clusters, key=lambda cluster: (-self.idle[cluster], cluster))
        parts = list(zip(idle, sorted(job.components, reverse=True), strict=False))
        fits = len(parts) == len(job.components)
        return parts if fits and all(self.idle[c] >= n for c, n in parts) else None

    def try_head(self, queue):
        job = self.queues[queue][0]
        parts = self.place(job)
        if parts is None:
            return False
        self.queues[queue].pop(0)
        job.parts, job.start, job.finish = parts, self.now, self.now + job.runtime
        for cluster, count in parts:
            self.idle[cluster] -= count
        self.running.append(job)
        return True

    def some_local_is_empty(self):
        return any(not self.queues[cluster] for cluster in self.clusters)

    def aged(self):
        """Return the queue of the oldest head, if it has waited too long."""
        heads = [(queue[0].arrival, index) for index, queue in enumerate(self.queues) if queue]
        if not heads or self.aging == 0.0:
            return None
        arrival, index = min(heads)
        return index if self.now - arrival > self.aging else None

    def arrived(self, job):
        queue = self.queue_of(job)
        self.queues[queue].append(job)
        if self.aged() is not None:
            return
        if self.policy == "lq":
            self.longest()
            return
        local = queue != self.everywhere
        if self.policy == "gp" and local and self.queues[self.everywhere]:
            return
        if self.policy == "lp" and not local and not self.some_local_is_empty():
            return
        if len(self.queues[queue]) == 1 and not self.try_head(queue):
            self.disable(queue)

    def disable(self, queue):
        if queue in self.disabled:
            self.disabled.remove(queue)
        self.disabled.append(queue)

    def departed(self, job):
        while self.aged() is not None:
            queue = self.aged()
            if not self.try_head(queue):
                self.disable(queue)
                return
        local = list(self.clusters)
        if self.policy == "gs":
            self.rounds([self.everywhere])
        elif self.policy == "ls":
            order = self.order(job)
            # A queue that was empty, or that nobody tried since an aged head went first.
            others = [queue for queue in (*local, self.everywhere) if queue not in order]
            self.rounds(order + others)
        elif self.policy == "gp":
            self.rounds([self.everywhere])
            if not self.queues[self.everywhere]:
                self.rounds(local)
        elif self.policy == "lp" and not self.some_local_is_empty():
            self.rounds(local, joins=True)
        elif self.policy in ("lp", "eq"):
            first = self.version == "gf" or (self.version == "rd" and self.draw(2) == 0)
            both = [self.everywhere, *local] if first else [*local, self.everywhere]
            self.rounds(both)
        else:
            self.longest()

    def order(self, job):
        local = list(self.clusters)
        if self.version == "or":
            return local
        if self.version == "rd":
            first = self.draw(len(local))
            return local[first:] + local[:first]
        if self.version == "ro":
            held = [cluster for cluster, _ in job.parts]
            return held + [cluster for cluster in local if cluster not in held]
        order, self.disabled = self.disabled, []
        return order

    def rounds(self, enabled, joins=False):
        enabled = list(enabled)
        while enabled:
            at = 0
            while at < len(enabled):
                queue = enabled[at]
                if not self.queues[queue]:
                    enabled.remove(queue)
                    continue
                if not self.try_head(queue):
                    self.disable(queue)
                    enabled.remove(queue)
                    continue
                if joins and not self.queues[queue]:
                    joins = False
                    enabled.append(self.everywhere)
                at += 1

    def longest(self):
        turn = 0
        while True:
            lengths = [len(queue) for queue in self.queues]
            if lengths[-1] > max(lengths[:-1]):
                if not self.try_head(self.everywhere):
                    return
                continue
            for step in self.clusters:
                queue = (turn + step) % self.everywhere
                if self.queues[queue] and self.try_head(queue):
                    turn = queue + 1
                    break
            else:
                return

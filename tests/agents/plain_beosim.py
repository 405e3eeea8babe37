"""The meta-schedulers and the simulator of `beosim`, slow and literal, from the paper alone.

Time goes from event to event; at each instant come completions, then arrivals, then one pass over
the global queue. A link is its capacity and the clusters beyond it: one cluster each in a star.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from grid.platform.distance import DistanceCosts

TIE = 1e-9


@dataclass(eq=False)
class PlainJob:
    number: int
    arrival: float
    size: int
    runtime: float
    home: int
    computation_fraction: float
    ppbw: float
    take: list[int] = field(default_factory=list)
    start: float = math.nan
    finish: float = math.nan
    dedicated: float = math.nan
    ratio: float = 1.0
    left: tuple[float, float] = (0.0, 0.0)
    begun: float = math.nan
    bandwidth: list[float] = field(default_factory=list)

    @property
    def split(self):
        return sum(count > 0 for count in self.take) > 1


class PlainBeosim:
    """One run. `links` are pairs (capacity, set of clusters beyond)."""

    def __init__(self, policy, sizes, rates, links, **settings):
        self.policy = policy
        self.settings = settings
        self.free = list(sizes)
        self.rates = rates
        self.links = links
        self.lslt = settings.get("lslt", 100.0) / 100
        self.chunk = settings.get("chunk", 85)
        self.penalty = {"ideal": 1.0, "fixed-penalty": settings.get("penalty", 1.2)}.get(policy)
        self.least = settings.get("solution") == "least-demand"
        self.fcfs = settings.get("selection") == "fcfs"
        self.latencies = settings.get("latencies", [0.0] * len(links))
        self.costs = settings.get("costs", DistanceCosts())
        self.now = 0.0
        self.queue, self.running, self.done, self.rejected = [], [], [], []
        self.most_demand = [0.0] * len(links)
        self.clusters = range(len(sizes))
        self.sizes = list(sizes)
        self.watched = None
        self.seen = {}

    def run(self, jobs):
        coming = sorted(jobs, key=lambda job: job.arrival)
        while coming or self.running or self.beginnings():
            ends = [job.finish for job in self.running]
            begin = self.beginnings()
            time = min([job.arrival for job in coming[:1]] + ends + begin)
            self.pass_time(time)
            self.now = time
            ended = [job for job in self.running if job.finish <= time]
            for job in ended:
                self.running.remove(job)
                self.done.append(job)
                for cluster, count in enumerate(job.take):
                    self.free[cluster] += count
            if any(job.split for job in ended):
                self.share_links()
            before = len(self.queue)
            while coming and coming[0].arrival == time:
                self.queue.append(coming.pop(0))
            # A policy that learns may have room for a job that had none; that is no occasion.
            known = len(self.queue) if self.fcfs and before else before
            if ended or time in begin:
                known = 0
            self.traverse_queue(self.queue[known:])
        return self.done

    def beginnings(self):
        """When jobs are to begin though nothing else happens: never."""
        return []

    def traverse_queue(self, jobs):
        for job in jobs:
            self.learn()
            take = self.local(job) or self.migrate(job) or self.coallocate(job)
            if take:
                assert sum(take) == job.size
                self.queue.remove(job)
                self.begin(job, take)
            elif not self.could_start(job):
                self.queue.remove(job)
                self.rejected.append(job)
            elif self.fcfs:
                break

    def could_start(self, job):
        """Tell whether the policy would start a job if nothing else were there."""
        idle = PlainBeosim(self.policy, self.sizes, self.rates, self.links, **self.settings)
        return bool(idle.local(job) or idle.migrate(job) or idle.coallocate(job))

    def only(self, cluster, count):
        return [count if each == cluster else 0 for each in self.clusters]

    def local(self, job):
        if job.home >= 0 and job.size <= self.free[job.home]:
            return self.only(job.home, job.size)
        return None

    def migrate(self, job):
        if self.policy == "no-share" and job.home >= 0:
            return None
        fitting = [cluster for cluster in self.clusters if job.size <= self.free[cluster]]
        if not fitting:
            return None
        return self.only(min(fitting, key=lambda c: (self.free[c], c)), job.size)

    # Links

    def demand(self, link):
        return math.fsum(job.bandwidth[link] for job in self.running if job.split)

    def equation_1(self, job, take, link):
        there = sum(take[cluster] for cluster in self.links[link][1])
        return there * job.ppbw * (job.size - there) / (job.size - 1)

    def saturation(self, link):
        return self.demand(link) / self.links[link][0]

    def ways(self, cluster):
        return [link for link, (_, beyond) in enumerate(self.links) if cluster in beyond]

    def candidates(self):
        """Clusters with free nodes of which no link is oversaturated."""
        if self.policy in ("first-fit", "ideal", "fixed-penalty"):
            return [cluster for cluster in self.clusters if self.free[cluster]]
        over = [
            link
            for link, (capacity, _) in enumerate(self.links)
            if self.demand(link) > self.lslt * capacity * (1 + TIE)
        ]
        return [
            cluster
            for cluster in self.clusters
            if self.free[cluster] and not set(self.ways(cluster)) & set(over)
        ]

    # Co-allocation

    def coallocate(self, job):
        if self.policy in ("no-share", "migration-only"):
            return None
        if self.policy == "a1":
            return self.satisfy(job)
        if self.policy == "adaptive":
            return self.adapt(job)
        candidates = self.candidates()
        if sum(self.free[cluster] for cluster in candidates) < job.size:
            return None
        by_free = sorted(candidates, key=lambda c: (-self.free[c], c))
        if self.policy == "b4":
            return self.round_robin(job, candidates)
        if self.policy == "b3" and self.free[by_free[0]] * 100 < self.chunk * job.size:
            return None
        order = self.by_saturation(candidates) if self.policy == "b2" else by_free
        take, left = [0 for _ in self.clusters], job.size
        for cluster in order:
            take[cluster] = min(left, self.free[cluster])
            left -= take[cluster]
        return take

    def by_saturation(self, candidates):
        """The least saturated first; those that differ by less than a tie by index."""
        left, order = sorted(candidates), []
        most = {c: max(self.saturation(link) for link in self.ways(c)) for c in left}
        while left:
            least = min(most[cluster] for cluster in left)
            order.append(next(cluster for cluster in left if most[cluster] < least + TIE))
            left.remove(order[-1])
        return order

    def round_robin(self, job, candidates):
        take, left = [0 for _ in self.clusters], job.size
        while left:
            for cluster in sorted(candidates):
                if left and take[cluster] < self.free[cluster]:
                    take[cluster] += 1
                    left -= 1
        return take

    def satisfy(self, job):
        """Try all mappings, in nested loops over the clusters, each count ascending."""
        solutions = self.mappings(job, [])
        if not self.least:
            return next(solutions, None)
        return min(solutions, key=lambda take: self.objective(job, take), default=None)

    def objective(self, job, take):
        """Total demand (in units that are whole numbers), then nodes on the last clusters."""
        sides = [sum(take[cluster] for cluster in beyond) for _, beyond in self.links]
        return sum(side * (job.size - side) for side in sides), take[::-1]

    def mappings(self, job, begun):
        cluster, left = len(begun), job.size - sum(begun)
        if left > sum(self.free[cluster:]):
            return
        if cluster == len(self.free):
            if all(self.bears(job, begun, link) for link in range(len(self.links))):
                yield begun
            return
        for count in range(min(left, self.free[cluster]) + 1):
            yield from self.mappings(job, [*begun, count])

    def bears(self, job, take, link):
        more = self.equation_1(job, take, link)
        capacity = self.links[link][0]
        return more == 0 or self.demand(link) + more <= self.lslt * capacity * (1 + TIE)

    # What jobs were seen to need

    def pairs(self, size, take):
        """Pairs of a job's nodes that links part, added over links."""
        sides = [sum(take[cluster] for cluster in beyond) for _, beyond in self.links]
        return sum(side * (size - side) for side in sides)

    def demands(self):
        return math.fsum(self.demand(link) for link in range(len(self.links)))

    def learn(self):
        """From the job split last, if none has ended since."""
        if self.watched is None:
            return
        size, take, before, free = self.watched
        self.watched = None
        if sum(self.free) != free:
            return
        bandwidth = (self.demands() - before) / (4 * self.pairs(size, take) / size**2)
        for kind in ("all", size.bit_length()):
            count, mean, variance = self.seen.get(kind, (0, 0.0, 0.0))
            weight = 1 / min(count + 1, 100)
            error = bandwidth - mean
            variance = (1 - weight) * (variance + weight * error**2)
            self.seen[kind] = count + 1, mean + weight * error, variance

    def expected_bandwidth(self, size):
        _, mean, variance = self.seen.get(size.bit_length(), self.seen.get("all", (0, 0.0, 0.0)))
        expected = mean + math.sqrt(variance)
        if size > max(self.sizes):
            expected = min(expected, *(self.lslt * capacity for capacity, _ in self.links))
        return expected

    def adapt(self, job):
        """Around each possible chunk, with the rest where it fits best; the least demand wins."""
        if sum(self.free[cluster] for cluster in self.candidates()) < job.size:
            return None
        size = job.size
        bounds, half = self.bounds(size), size // 2
        part, chunk = {}, {}
        for cluster in self.clusters:
            free = self.free[cluster]
            most = [bounds[link] for link in self.ways(cluster) if bounds[link] < half]
            part[cluster] = min([free, *most])
            chunk[cluster] = free if all(size - free <= each for each in most) else part[cluster]
        best = None
        for main in self.clusters:
            take = self.around(main, chunk[main], part, size)
            sides = [sum(take[cluster] for cluster in beyond) for _, beyond in self.links]
            borne = (
                bound >= half or min(side, size - side) <= bound
                for side, bound in zip(sides, bounds, strict=True)
            )
            least = best is None or self.pairs(size, take) < self.pairs(size, best)
            if sum(take) == size and all(borne) and least:
                best = take
        if best is not None:
            self.watched = size, best, self.demands(), sum(self.free) - size
        return best

    def bounds(self, size):
        """The most nodes, up to half of a job, on one side of each link that it should bear."""
        ppbw = self.expected_bandwidth(size) * 4 * (size - 1) / size**2
        bounds = []
        for link, (capacity, _) in enumerate(self.links):
            left = self.lslt * capacity * (1 + TIE) - self.demand(link)
            sides = range(size // 2 + 1)
            borne = [side for side in sides if side * (size - side) / (size - 1) * ppbw <= left]
            bounds.append(max(borne, default=0))
        return bounds

    def around(self, main, chunk, part, size):
        take = self.only(main, chunk)
        while sum(take) < size:
            left = size - sum(take)
            others = [cluster for cluster in self.clusters if part[cluster] and not take[cluster]]
            if not others:
                break
            holding = [cluster for cluster in others if part[cluster] >= left]
            if holding:
                best = min(holding, key=lambda c: (self.free[c], c))
            else:
                best = max(others, key=lambda c: (part[c], -c))
            take[best] = min(left, part[best])
        return take

    # Running

    def begin(self, job, take):
        job.take, job.start = take, self.now
        slowest = min(self.rates[cluster] for cluster, count in enumerate(take) if count)
        job.dedicated = job.runtime / slowest
        self.running.append(job)
        for cluster, count in enumerate(take):
            self.free[cluster] -= count
        job.begun = self.now + self.staging(job)
        time = job.dedicated
        if job.split:
            time *= self.penalty or 1.0
        computation, communication = job.computation_fraction, 1 - job.computation_fraction
        lag = communication * self.lag(job) if job.split and self.penalty is None else 0.0
        job.left = time * (computation + lag), time * communication
        job.finish = job.begun + sum(job.left)
        if job.split and self.penalty is None:
            job.bandwidth = [self.equation_1(job, take, i) for i in range(len(self.links))]
            self.share_links()
        elif job.split:
            job.bandwidth = [0.0 for _ in self.links]

    def path(self, a, b):
        """The links that part two clusters."""
        return [
            link for link, (_, beyond) in enumerate(self.links) if (a in beyond) ^ (b in beyond)
        ]

    def staging(self, job):
        """Until the data from home are on all clusters."""
        times = [0.0]
        for cluster in self.clusters:
            if job.take[cluster] and job.home not in (-1, cluster):
                narrowest = min(self.links[link][0] for link in self.path(job.home, cluster))
                data = self.costs.staging_data * 8 / narrowest
                times.append(self.costs.staging_time + data)
        return max(times)

    def lag(self, job):
        """What a second of communication waits for messages over the longest path."""
        used = [cluster for cluster in self.clusters if job.take[cluster]]
        paths = [self.path(a, b) for a in used for b in used]
        return self.costs.message_rate * max(
            math.fsum(self.latencies[link] for link in path) for path in paths
        )

    def pass_time(self, time):
        """Equations 6 and 7: both parts shrink in proportion, once the job has begun."""
        for job in self.running:
            if job.split:
                passed = max(time, job.begun) - max(self.now, job.begun)
                computation, communication = job.left
                rest = computation + communication
                share = passed / rest if rest else 0.0
                job.left = (1 - share) * computation, (1 - share) * communication

    def share_links(self):
        """The saturation algorithm, then the stretched communication that is left."""
        jobs = [job for job in self.running if job.split]
        ratio = dict.fromkeys(jobs, 1.0)
        unconstrained, bound = set(jobs), set()
        while True:
            saturation = {}
            for link, (capacity, _) in enumerate(self.links):
                needed = math.fsum(job.bandwidth[link] for job in unconstrained)
                taken = math.fsum(job.bandwidth[link] * ratio[job] for job in bound)
                if needed > 0:
                    saturation[link] = max(capacity - taken, 0.0) / needed
            if not saturation or min(saturation.values()) >= 1 - TIE:
                break
            worst = min(saturation, key=saturation.__getitem__)
            for job in [job for job in unconstrained if job.bandwidth[worst] > 0]:
                ratio[job] = saturation[worst]
                unconstrained.remove(job)
                bound.add(job)
        for link, (capacity, _) in enumerate(self.links):
            used = math.fsum(job.bandwidth[link] * ratio[job] for job in jobs)
            assert used <= capacity * (1 + TIE)
            self.most_demand[link] = max(self.most_demand[link], self.demand(link))
        for job in jobs:
            computation, communication = job.left
            job.left = computation, communication * job.ratio / ratio[job]
            job.ratio = ratio[job]
            job.finish = max(self.now, job.begun) + sum(job.left)

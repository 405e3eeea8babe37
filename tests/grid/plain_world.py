"""A multicluster simulated plainly: lists, dicts and one loop, to hold the compiled kernel against.

Written from what the framework documents, for reading; nothing here is fast. At each instant, in
this order: completions; repairs, failures, deliveries of brokers; arrivals; decisions about the
global queue; ranks of landed jobs; plans; starts; advertisements. A job is a dict.
"""

from __future__ import annotations

import heapq
import itertools
import math

import numpy as np

from grid.bandwidth import bandwidth_shares, link_demand, residual_times
from grid.kernel import state as k
from grid.platform import topology

from .plain_broker import ADVERTISEMENT, PlainBroker

WAIT = -1
REPAIR, FAIL, RETIRE = range(1, ADVERTISEMENT)
METADATA, TRANSFER = ADVERTISEMENT + 1, ADVERTISEMENT + 2
DOWN = "down"


class PlainWorld(PlainBroker):
    """The documented semantics.

    `place` takes this world and a job, and returns WAIT, the index of a cluster, or a list of
    processors to take from each cluster. `rank` takes a job and the index of its cluster.
    `planner` takes a cluster and its waiting jobs and returns (job, processors or None) pairs.
    """

    def __init__(self, platform, latency, place, rank, planner, planned, in_order, spans):
        super().__init__(platform, latency)
        self.rate = platform.rates.tolist()
        self.side = topology.sides(platform.graph)
        self.capacity = topology.capacities(platform.graph)
        self.place, self.rank, self.planner = place, rank, planner
        self.planned, self.in_order = planned, in_order
        self.largest = sum(self.size) if spans else max(self.size)
        self.now = 0.0
        self.ambiguous = False  # rounding may order two events either way
        self.counter = itertools.count()
        self.holder = [[None] * size for size in self.size]
        self.shrunk, self.shrunk_at = set(), [-math.inf for _ in self.size]
        self.causes = [[0] * size for size in self.size]
        self.events, self.arrivals = [], []
        self.queue, self.landing, self.running, self.records = [], [], [], []
        self.waiting = [[] for _ in self.clusters]
        self.plan = [[] for _ in self.clusters]
        self.touched, self.replan = set(), set()
        self.offer_all, self.fresh = False, []
        self.area = [0.0 for _ in self.clusters]
        self.messages = dict.fromkeys(k.MESSAGE_KINDS, 0)

    def free(self, cluster):
        return self.holder[cluster].count(None)

    def at(self, time, kind, *subject):
        heapq.heappush(self.events, (time, kind, next(self.counter), subject))

    # Time

    def advance(self, until=math.inf):
        """Return True when nothing is left to happen."""
        while True:
            self.settle()
            ends = [job["end"] for job in self.running]
            due = [event[0] for event in self.events[:1]] + [j["arrival"] for j in self.arrivals]
            time = min(ends + due, default=math.inf)
            if time == math.inf or self.all_left():
                return True
            if time > until:
                self.wait(until)
                return False
            self.wait(time)
            close = [t for t in ends + due if t < time + 1e-6]
            slides = any(job["slides"] and job["end"] == time for job in self.running)
            self.ambiguous |= len(close) > (1 if slides else close.count(time))
            self.happen()

    def all_left(self):
        """Return whether all jobs have left, and only changes of processors are to come."""
        gone = len(self.records) == self.messages["submission"] > 0 and not self.arrivals
        return gone and all(kind in (REPAIR, FAIL, RETIRE) for _, kind, *_ in self.events)

    def wait(self, until):
        """Let time pass."""
        passed = max(self.now, until) - self.now
        for cluster in self.clusters:
            busy = sum(isinstance(job, dict) for job in self.holder[cluster])
            self.area[cluster] += busy * passed
        self.now = max(self.now, until)

    def happen(self):
        for slides in (False, True):
            while True:
                over = [j for j in self.running if j["slides"] == slides and j["end"] <= self.now]
                if not over:
                    break
                self.complete(min(over, key=lambda job: (job["end"], job["begun"])))
        while self.events and self.events[0][0] <= self.now:
            _, kind, _, subject = heapq.heappop(self.events)
            if kind == REPAIR:
                self.repair(*subject)
            elif kind == FAIL:
                self.fail(*subject)
            elif kind == RETIRE:
                self.drain(*subject)
            elif kind == ADVERTISEMENT:
                self.learn(*subject)
                self.offer_all = True
            elif kind == METADATA:
                self.become_known(*subject)
            else:
                self.landing.append(*subject)
        while self.arrivals and self.arrivals[0]["arrival"] <= self.now:
            self.submit(self.arrivals.pop(0))

    def settle(self):
        for job in list(self.landing):
            cluster = job["cluster"]
            if job["size"] > self.remaining(cluster) and self.shrunk_at[cluster] > job["news_at"]:
                self.landing.remove(job)
                self.hand_back(job)
        for cluster in sorted(self.shrunk):
            for job in list(self.waiting[cluster]):
                if job["size"] > self.remaining(cluster):
                    self.waiting[cluster].remove(job)
                    self.hand_back(job)
        self.shrunk = set()
        for job in self.to_offer():
            answer = self.place(self, job)
            if isinstance(answer, list) and self.refuses(answer):
                answer = WAIT
            if isinstance(answer, list):
                self.queue.remove(job)
                self.start_split(job, answer)
            elif answer != WAIT:
                self.send(job, answer)
            elif self.in_order:
                break
        for job in self.landing:
            cluster = job["cluster"]
            job["rank"] = self.rank(job, cluster) if cluster not in self.planned else 0.0
            job.setdefault("landed", next(self.counter))
            self.waiting[cluster].append(job)
            self.waiting[cluster].sort(key=lambda job: (job["rank"], job["landed"]))
            self.touch(cluster, replan=True)
        self.landing = []
        for cluster in sorted(self.replan):
            self.set_plan(cluster, self.planner(cluster, self.waiting[cluster]))
        self.replan = set()
        for cluster in sorted(self.touched):
            self.start_local(cluster)
        for cluster in sorted(self.touched):
            self.advertise(cluster)
        self.touched = set()

    def remaining(self, cluster):
        """Return how many processors do not go, now or when their jobs end."""
        return self.causes[cluster].count(0)

    def doom(self, cluster, processor):
        self.causes[cluster][processor] += 1
        if self.causes[cluster][processor] == 1:
            self.shrunk.add(cluster)
            self.shrunk_at[cluster] = self.now
            self.touch(cluster, replan=True)

    def down(self, cluster, processor):
        self.holder[cluster][processor] = DOWN
        self.touch(cluster, replan=True)

    def hand_back(self, job):
        cluster = job["cluster"]
        self.plan[cluster] = [entry for entry in self.plan[cluster] if entry[0] is not job]
        job.update(cluster=-1, given_back_by=cluster, news_at=self.now)
        job.pop("landed", None)
        job.pop("known", None)
        self.untold[cluster].append(job["execution"] * job["size"])
        if not self.latency[cluster]:
            self.tell(cluster, self.untold[cluster])
            self.untold[cluster] = []
        self.touch(cluster)
        self.announce(job, cluster)

    def touch(self, cluster, replan=False):
        self.touched.add(cluster)
        if replan and cluster in self.planned:
            self.replan.add(cluster)

    # The global scheduler

    def submit(self, job):
        self.messages["submission"] += 1
        if job["size"] > self.largest:
            self.record(job, math.nan, math.nan)
        elif job["origin"] < 0:
            self.become_known(job)
        else:
            self.announce(job, job["origin"])

    def announce(self, job, cluster):
        self.messages["metadata"] += 1
        if self.latency[cluster]:
            self.at(self.now + self.latency[cluster], METADATA, job)
        else:
            self.become_known(job)

    def become_known(self, job):
        cluster = job.pop("given_back_by", None)
        if cluster is not None:
            self.learn_returned(cluster, job["news_at"], job["size"])
        job.setdefault("known", next(self.counter))
        self.queue.append(job)
        self.queue.sort(key=lambda job: job["known"])
        if job["restarts"]:
            self.offer_all = True
        self.fresh.append(job)

    def to_offer(self):
        """All that waits after a change of processors, else what is new."""
        fresh, everything = self.fresh, self.offer_all
        self.fresh, self.offer_all = [], False
        if everything:
            return list(self.queue)
        blocked = self.in_order and len(self.queue) > len(fresh)
        return [] if blocked else fresh

    def send(self, job, cluster):
        self.queue.remove(job)
        job.update(
            cluster=cluster,
            placed=False,
            news_at=self.news_of(cluster, job["size"]),
            execution=job["runtime"] / self.rate[cluster],
        )
        job.pop("landed", None)
        self.work[cluster] += job["execution"] * job["size"]
        self.unfinished[cluster] += 1
        delay = self.latency[cluster]
        if job["origin"] >= 0:
            self.messages["order"] += 1
        if job["origin"] != cluster:
            self.messages["transfer"] += 1
            if job["origin"] >= 0:  # the order goes to the origin, the data from there
                delay += 2 * self.latency[job["origin"]]
        if delay:
            self.at(self.now + delay, TRANSFER, job)
        else:
            self.landing.append(job)

    # Clusters

    def start_local(self, cluster):
        waiting = self.waiting[cluster]
        if cluster not in self.planned:
            while waiting and waiting[0]["size"] <= self.free(cluster):
                self.start_here(waiting[0], cluster, None)
            return
        claimed = set()
        for job, processors in list(self.plan[cluster]):
            if processors is None:
                if job["size"] > self.free(cluster):
                    break
                ready = True
            else:
                free = all(self.holder[cluster][p] is None for p in processors)
                ready = free and not claimed & set(processors)
                claimed |= set(processors)
            if ready:
                self.plan[cluster].remove((job, processors))
                self.start_here(job, cluster, processors)

    def set_plan(self, cluster, plan):
        self.plan[cluster] = plan
        self.touch(cluster)

    def start_here(self, job, cluster, processors):
        self.waiting[cluster].remove(job)
        self.hold(job, cluster, job["size"], processors)
        self.begin(job, slides=False)

    def start_split(self, job, take):
        rate = min(self.rate[c] for c, count in enumerate(take) if count)
        job.update(placed=True, take=take, execution=job["runtime"] / rate)
        for cluster, count in enumerate(take):
            if count:
                self.work[cluster] += job["execution"] * count
                self.unfinished[cluster] += 1
                self.hold(job, cluster, count, None)
        parts = [cluster for cluster, count in enumerate(take) if count]
        job["cluster"] = parts[0] if len(parts) == 1 else -1
        self.begin(job, slides=len(parts) > 1)

    def hold(self, job, cluster, count, processors):
        holder = self.holder[cluster]
        lowest = [p for p, on in enumerate(holder) if on is None][:count]
        assert len(lowest) == count
        for processor in lowest if processors is None else processors:
            assert holder[processor] is None
            holder[processor] = job
        self.touch(cluster)

    def begin(self, job, slides):
        job.update(start=self.now, slides=slides, begun=next(self.counter))
        job["end"] = self.now + job["execution"]
        self.running.append(job)
        if slides:
            computing = job["execution"] * job["computation_fraction"]
            job["left"] = (computing, job["execution"] - computing)
            job["ratio"], job["since"] = 1.0, self.now
            job["demand"] = link_demand(job["take"], job["ppbw"], self.side)
            self.share()

    def share(self):
        """Share the links among the co-allocated jobs and move their ends."""
        jobs = [job for job in self.running if job["slides"]]
        if not jobs:
            return
        ratios = bandwidth_shares([job["demand"] for job in jobs], self.capacity).tolist()
        for job, ratio in zip(jobs, ratios, strict=True):
            elapsed = self.now - job["since"]
            left = residual_times(*job["left"], elapsed, job["ratio"], ratio)
            job["left"], job["ratio"], job["since"] = tuple(map(float, left)), ratio, self.now
            job["end"] = self.now + sum(job["left"])

    def demand(self):
        zero = np.zeros(len(self.capacity))
        return sum((job["demand"] for job in self.running if job["slides"]), zero)

    def take_off(self, job, keeps):
        self.running.remove(job)
        for cluster in self.clusters:
            holder = self.holder[cluster]
            count = sum(on is job for on in holder)
            for processor, on in enumerate(holder):
                if on is job:
                    drained = self.causes[cluster][processor] > 0
                    holder[processor] = None
                    if drained:
                        self.down(cluster, processor)
            if count:
                self.touch(cluster)
                if not keeps:
                    self.untold[cluster].append(job["execution"] * count)
                    if not self.latency[cluster]:
                        self.tell(cluster, self.untold[cluster])
                        self.untold[cluster] = []
        if job["slides"]:
            self.share()

    def complete(self, job):
        self.take_off(job, keeps=False)
        self.record(job, job["start"], self.now)
        alone = [cluster == job["cluster"] for cluster in self.clusters]
        for cluster, used in enumerate(job["take"] if job["slides"] else alone):
            if used:
                self.known_at_once(cluster)

    def known_at_once(self, cluster):
        if self.latency[cluster] == 0.0:
            self.offer_all = True

    def drain(self, cluster, processor):
        self.doom(cluster, processor)
        if self.holder[cluster][processor] is None:
            self.down(cluster, processor)
        if self.causes[cluster][processor] == 1:
            self.known_at_once(cluster)

    def fail(self, cluster, processor):
        self.doom(cluster, processor)
        job = self.holder[cluster][processor]
        if job == DOWN:
            return
        if job is not None:
            self.take_off(job, keeps=not job["placed"])
            job["restarts"] += 1
            if job["placed"]:
                self.announce(job, cluster)
            else:
                self.landing.append(job)
        self.down(cluster, processor)
        self.known_at_once(cluster)

    def repair(self, cluster, processor):
        self.causes[cluster][processor] -= 1
        if self.causes[cluster][processor] == 0:
            if self.holder[cluster][processor] == DOWN:
                self.holder[cluster][processor] = None
            self.touch(cluster, replan=True)
            self.known_at_once(cluster)

    def record(self, job, start, finish):
        single = start == start and not job["slides"]
        split = start == start and job["slides"]
        take = tuple(job["take"]) if split else (0,) * len(self.size)
        cluster = job["cluster"] if single else -1
        self.records.append((job["number"], cluster, take, job["restarts"], start, finish))

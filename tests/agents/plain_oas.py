"""The ordering and allocation model told plainly: every order and every distribution is tried."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction


def fraction(number):
    return Fraction(str(number))


def takes(clusters, job, nodes, slot=None):
    slowest = min(fraction(c["effective_power"]) for c, n in zip(clusters, nodes, strict=True) if n)
    sigma = fraction(job["sigma"])
    seconds = fraction(job["base_time"]) * (sigma / slowest + 1 - sigma)
    return seconds if slot is None else math.ceil(seconds / fraction(slot)) * fraction(slot)


def demands(job, nodes):
    tasks = job["tasks"]
    return [
        n * fraction(job["bandwidth"]) * Fraction(tasks - n, tasks - 1)
        if tasks > 1
        else Fraction(0)
        for n in nodes
    ]


def fits(clusters, running):
    """Whether jobs, with their nodes, can run at the same time."""
    for k, cluster in enumerate(clusters):
        if sum(nodes[k] for _, nodes in running) > cluster["nodes"]:
            return False
        if sum(demands(job, nodes)[k] for job, nodes in running) > fraction(cluster["link_mbps"]):
            return False
    return True


def distributions(clusters, job):
    """All ways to run a job alone."""
    counts = [range(min(c["nodes"], job["tasks"]) + 1) for c in clusters]
    return [
        nodes
        for nodes in itertools.product(*counts)
        if sum(nodes) == job["tasks"] and fits(clusters, [(job, nodes)])
    ]


def optimum(instance, slot=None, running=(), ways=None, releases=None):
    """The lowest makespan: jobs in every order, each as early as it fits beside those before.

    `running` are jobs that do already, as (start, end, job, nodes); `ways` the distributions of
    each job, if not all are allowed; `releases` when each can start on each cluster, if not at 0.
    """
    clusters, jobs = instance["clusters"], instance["jobs"]
    ways = ways or [distributions(clusters, job) for job in jobs]
    if not all(ways):
        return None
    releases = releases or [[Fraction(0)] * len(clusters) for _ in jobs]
    best = [math.inf]

    def place(left, placed, longest):
        if longest >= best[0]:
            return
        if not left:
            best[0] = longest
            return
        for index in left:
            for nodes in ways[index]:
                length = takes(clusters, jobs[index], nodes, slot)
                after = max(r for r, n in zip(releases[index], nodes, strict=True) if n)
                start = earliest(clusters, jobs[index], nodes, length, placed, after)
                run = (start, start + length, jobs[index], nodes)
                place(left - {index}, [*placed, run], max(longest, start + length))

    place(frozenset(range(len(jobs))), [*running], Fraction(0))
    return best[0]


def earliest(clusters, job, nodes, length, placed, after=Fraction(0)):
    for start in sorted({after, *(end for _, end, _, _ in placed if end > after)}):
        moments = [start, *(s for s, _, _, _ in placed if start < s < start + length)]
        if all(
            fits(clusters, [(job, nodes), *((j, n) for s, e, j, n in placed if s <= t < e)])
            for t in moments
        ):
            return start
    raise AssertionError

"""MUSCLE written from the paper with lists and sets: slow, literal, to compare with.

Section 4 of `muscle`, with the repairs its algorithms need. Jobs are numbered from 0; a
composition is a tuple of jobs; `table[r]` is row r and `table[0]` stays empty.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field


def table_of(sizes, max_size):
    """Algorithm 1; step 8 takes the first composition that shares no job with the row or job."""
    table = [[] for _ in range(max_size + 1)]
    for job, size in enumerate(sizes):
        for j in range(1, max_size + 1):
            if size == j:
                table[j].append((job,))
            if size < j:
                in_row = {other for composition in table[j] for other in composition} | {job}
                for composition in table[j - size]:
                    if in_row.isdisjoint(composition):
                        table[j].append((job, *composition))
                        break
    return table


@dataclass
class Search:
    """Algorithms 2 and 3 over one table."""

    sizes: list[int]
    table: list[list[tuple[int, ...]]]
    allocated: set[int] = field(default_factory=set)
    deepest: int = 0  # longest recursion met, so that a test can tell whether it was exercised

    def fewest(self, compositions, busy):
        return min(compositions, key=lambda composition: len(busy.intersection(composition)))

    def alternatives(self, composition, q, claimed, path):
        """Algorithm 2; `claimed` are the jobs of the compositions that this one stands in for."""
        self.deepest = max(self.deepest, len(path))
        for job in composition:
            if job not in self.allocated | claimed | set(q):
                q.append(job)
                continue
            busy = self.allocated | claimed | set(composition) | set(q)
            skipped = {(job,)} | {p for p in path if len(p) == 1}
            row = [c for c in self.table[self.sizes[job]] if c not in skipped]
            if not row:
                return False
            found = self.fewest(row, busy)
            if busy.isdisjoint(found):
                q.extend(found)
            elif not self.alternatives(found, q, claimed | set(composition), [*path, found]):
                return False
        return True

    def pack(self, space):
        """Algorithm 3 without step 11: the jobs for the space, in order."""
        for r in range(space, 0, -1):
            if not self.table[r]:
                continue
            q = []
            found = self.fewest(self.table[r], self.allocated)
            if self.allocated.isdisjoint(found):
                q.extend(found)
            elif not self.alternatives(found, q, set(), [found]):
                continue
            self.allocated.update(q)
            return q
        raise AssertionError("the smallest job always fits")


class Chance:
    """xoshiro256++ on whole numbers, and integers below n by the upper 53 of its 64 bits."""

    def __init__(self, state):
        self.state = [int(word) for word in state]

    def below(self, n):
        def rotated(word, k):
            return (word << k | word >> 64 - k) % 2**64

        a, b, c, d = self.state
        result = (rotated((a + d) % 2**64, 23) + a) % 2**64
        c, d = c ^ a, d ^ b
        b, a = b ^ c, a ^ d
        self.state = [a, b, c ^ self.state[1] << 17 & 2**64 - 1, rotated(d, 45)]
        return (result >> 11) * n // 2**53


def level(attributes, m):
    """Eq. 3."""
    p, times, sizes, slacks = attributes
    if p * times * sizes == 0:
        return 0.0
    return p * times * sizes / (slacks * m) if slacks > 0 else math.inf


def space_of(release, smallest):
    """The first run that holds the smallest job, at the first release time that has one."""
    for time in sorted(set(release)):
        run = []
        for resource in range(len(release) + 1):
            if resource < len(release) and release[resource] <= time:
                run.append(resource)
                continue
            if len(run) >= smallest:
                return time, run
            run = []
    raise AssertionError("the cluster is smaller than the job")


def rounds(sizes, execution_times, deadlines, cluster_sizes, release, backlog, random):
    """Algorithm 4, steps 3 to 10: (job, cluster, start, resources), in order of allocation.

    `random` is a `Chance`. Also returns the deepest recursion of Algorithm 2.
    """
    search = Search(list(sizes), table_of(sizes, max(cluster_sizes)))
    release = [list(times) for times in release]
    attributes = [list(sums) for sums in backlog]
    placed = []
    while len(placed) < len(sizes):
        smallest = min(s for job, s in enumerate(sizes) if job not in search.allocated)
        ranked = sorted(
            (level(attributes[c], m), -m) for c, m in enumerate(cluster_sizes) if m >= smallest
        )
        ties = [
            c
            for c, m in enumerate(cluster_sizes)
            if m >= smallest and (level(attributes[c], m), -m) == ranked[0]
        ]
        c = ties[random.below(len(ties))] if len(ties) > 1 else ties[0]
        time, run = space_of(release[c], smallest)
        for job in search.pack(len(run)):
            resources = [run.pop(0) for _ in range(sizes[job])]
            placed.append((job, c, time, tuple(resources)))
            for resource in resources:
                release[c][resource] = time + execution_times[job][c]
            gains = (1, execution_times[job][c], sizes[job])
            gains += (deadlines[job] - execution_times[job][c],)
            attributes[c] = [a + gain for a, gain in zip(attributes[c], gains, strict=True)]
    return placed, search.deepest

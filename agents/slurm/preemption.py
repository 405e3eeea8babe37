"""Which running jobs are preempted for one that waits, as the page "Preemption" of Slurm tells.

Candidates are taken away in order, one after the other, until the job fits. Since that may be more
than it takes, it is done again with those in front that mattered.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cmp_to_key
from typing import NamedTuple

import numpy as np

from agents.slurm.conf import Preemption
from agents.slurm.nodes import Counts, Mask, Occupied, chosen
from agents.slurm.qos import InUse
from agents.slurm.waiting import Entry, Waiting


class Candidate(NamedTuple):
    """A job that runs, and since when, s."""

    job: Waiting
    start: float

    def exempt_until(self, settings: Preemption) -> float:
        """Return until when it cannot be preempted, s."""
        own = self.job.qos.exempt_time
        return self.start + (settings.exempt_time if own is None else own)


def may_preempt(job: Waiting, other: Waiting, settings: Preemption | None) -> bool:
    """Tell whether a job may have another stopped."""
    if settings is None:
        return False
    if settings.by_qos:
        return other.qos.name in job.qos.preempts
    lower = other.partition.tier < job.partition.tier
    return lower and other.partition.preempt_mode != "off"


def in_order(entries: Iterable[Entry], settings: Preemption | None) -> list[Entry]:
    """Return jobs in order, each after those that may preempt it."""
    if settings is None or not settings.by_qos:  # tiers come first anyway
        return sorted(entries, key=lambda entry: entry.order)

    def compared(one: Entry, other: Entry) -> int:
        if may_preempt(one.job, other.job, settings):
            return -1
        if may_preempt(other.job, one.job, settings):
            return 1
        return (one.order > other.order) - (one.order < other.order)

    return sorted(entries, key=cmp_to_key(compared))


class Room:
    """What jobs can have by preempting others, at an instant.

    Parameters
    ----------
    settings : Preemption or None
        None: nothing.
    running : iterable of Candidate
        In order of submission.
    there : Occupied
        Jobs that are preempted leave it.
    in_use : InUse
        And this.

    Attributes
    ----------
    preempted : dict of int to int
        The jobs that have been preempted, and each for which one: slots.
    """

    def __init__(
        self,
        settings: Preemption | None,
        running: Iterable[Candidate],
        there: Occupied,
        in_use: InUse,
    ) -> None:
        self.preempted: dict[int, int] = {}
        self._settings, self._there, self._in_use = settings, there, in_use
        self._candidates = [
            each
            for each in running
            if settings is not None and each.exempt_until(settings) <= there.now
        ]

    def candidates(self, job: Waiting) -> list[int]:
        """Return the slots of those that a job may preempt, in the order in which they go."""
        found = [
            (each, held)
            for each in self._candidates
            if may_preempt(job, each.job, self._settings)
            and ((held := self._there.held_by(each.job.slot))[job.mask] > 0).any()
        ]
        return [each.job.slot for each, _ in sorted(found, key=lambda one: self._order(*one))]

    def _order(self, each: Candidate, held: Counts) -> tuple[float, ...]:
        assert self._settings is not None
        if self._settings.youngest_first:
            return (-each.start,)
        first = each.job.qos.priority if self._settings.by_qos else each.job.partition.tier
        return first, int(np.count_nonzero(held))

    def make(self, job: Waiting, mask: Mask) -> Counts | None:
        """Preempt jobs so that one starts on some nodes; return what it gets, None if it cannot."""
        order = self.candidates(job)
        settings, there = self._settings, self._there
        if settings is None or not order:
            return None
        attempts = 0
        while True:
            found = self._fits_without(job, mask, order)
            if found is None:
                return None
            last, alloc = found
            if attempts > settings.reorder_count or len(order) <= attempts + 1:
                break
            attempts += 1
            order = self._reordered(order, last, alloc)
        gone = [slot for slot in order[: last + 1] if (there.held_by(slot)[alloc > 0] > 0).any()]
        self.preempted |= dict.fromkeys(gone, job.slot)
        there.stop(gone)
        for each in self._candidates:
            if each.job.slot in gone:
                self._in_use.take(each.job.counted, -1)
        self._candidates = [each for each in self._candidates if each.job.slot not in gone]
        return alloc

    def _fits_without(
        self, job: Waiting, mask: Mask, order: list[int]
    ) -> tuple[int, Counts] | None:
        """Return up to which place jobs have to go for a job to fit, and what it then gets."""
        free = self._there.free
        for place, slot in enumerate(order):
            held = self._there.held_by(slot)
            if not (held[mask] > 0).any():
                continue
            free = free + held
            alloc = chosen(np.where(mask, free, 0), self._there.weights, job.size, *job.nodes)
            if alloc is not None:
                return place, alloc
        return None

    def _reordered(self, order: list[int], last: int, alloc: Counts) -> list[int]:
        """Return candidates with the last one that had to go first, then those in the way most."""
        assert self._settings is not None
        first, before, after = order[last], order[:last], order[last + 1 :]
        if not self._settings.strict_order:
            nodes = {
                slot: np.count_nonzero(self._there.held_by(slot)[alloc > 0]) for slot in before
            }
            before = sorted(before, key=lambda slot: -nodes[slot])
        return [first, *before, *after]

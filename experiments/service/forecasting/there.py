"""The jobs that are there as a forecast is made: who holds processors, and who waits."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from experiments.service.store import STARTING, WAITING, LiveJob


class There(NamedTuple):
    """The jobs that are there, in the order in which futures take them in.

    Attributes
    ----------
    begun : list of LiveJob
        Those that run, and those that sites were given, which begin now or, if `stuck`, never.
    early : list of LiveJob
        Sites were given them, where others hold what they need: they wait there first.
    waiting : list of LiveJob
    stuck : set of int
        Jobs that sites were given which have too few processors for them now, or another reason.
    """

    begun: list[LiveJob]
    early: list[LiveJob]
    waiting: list[LiveJob]
    stuck: set[int]

    @classmethod
    def of(
        cls, jobs: Iterable[LiveJob], up: Mapping[str, int], drained: Collection[str], now: float
    ) -> There:
        """Return those of some jobs that have not ended.

        Parameters
        ----------
        jobs : iterable of LiveJob
        up : mapping of str to int
            Processors that sites have for jobs.
        drained : collection of str
            Sites that start what they were given, and no other job.
        now : float
            By the clock, s.
        """
        live = [job for job in jobs if job.goes_on]
        given = [job for job in live if job.state != WAITING]
        given.sort(key=lambda job: job.started or now)
        waiting = [job for job in live if job.state == WAITING]
        waiting.sort(key=lambda job: min(job.submitted, now))
        unbegun = [job for job in given if job.state == STARTING]
        stuck = {job.job for job in unbegun if job.why or up[str(job.site)] < job.size}
        counted = [job for job in given if job.job not in stuck and job.site not in drained]
        later = _too_early(counted, up)
        begun = [job for job in given if job.job not in later]
        return cls(begun, [job for job in given if job.job in later], waiting, stuck)

    @property
    def all(self) -> list[LiveJob]:
        """All of them, those that hold processors first."""
        return [*self.begun, *self.early, *self.waiting]

    @property
    def in_queues(self) -> list[LiveJob]:
        """Those that wait; what sites were given comes first there."""
        first = -len(self.early)
        given = [
            replace(job, state=WAITING, only=job.site, waits_at=job.site, landed=first + at)
            for at, job in enumerate(self.early)
        ]
        return [*given, *self.waiting]


def _too_early(jobs: Sequence[LiveJob], up: Mapping[str, int]) -> set[int]:
    """Return which jobs that sites were given wait there, for others hold what they need."""
    free, found = {**up}, set()
    for job in sorted(jobs, key=lambda each: each.state == STARTING):
        site = str(job.site)
        if job.state == STARTING and free[site] < job.size:
            found.add(job.job)
        else:
            free[site] -= job.size
    return found

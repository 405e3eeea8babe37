"""Heavy traffic: there is always another job waiting (`maxutil`, section 5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from grid.errors import require_whole
from grid.jobs import JobArray
from grid.workloads.source import CHUNK
from grid.workloads.synthetic import JobDraws, JobMix


@dataclass(frozen=True, kw_only=True)
class BacklogWorkload(JobMix):
    """Jobs of which one arrives as soon as fewer than so many wait globally.

    Parameters
    ----------
    waiting : int
        Jobs that always wait, from 1. Under FCFS one is as good as many.

    Examples
    --------
    >>> from grid.distributions import Exponential, UniformSizes
    >>> workload = BacklogWorkload(count=3, sizes=UniformSizes(1, 8), runtimes=Exponential(60))
    >>> [len(jobs) for jobs in workload.chunks()]
    [3]
    """

    waiting: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        require_whole("jobs that wait", self.waiting, 1)

    def chunks(self) -> Iterator[JobArray]:
        """Yield the jobs, at most `CHUNK` rows at once; when they arrive is the kernel's to say."""
        draws = JobDraws(self)
        while draws.given < self.count:
            jobs = draws.following(min(CHUNK, self.count - draws.given))
            draws.fill(jobs)
            yield jobs

"""The mirror: a model of real clusters, which time and sites move on, and not it itself."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from agents.model import GridModel
from experiments.service.store import LiveJob
from grid.jobs import JobArray, job_table
from grid.kernel.dtypes import FINISHED
from grid.kernel.state import COALLOCATED, GLOBAL, LOCAL, NONE, RUNNING
from grid.platform.multicluster import Platform
from grid.workloads.execution_times import ExecutionTimes
from grid.workloads.source import Cleaning
from grid.world.finished import Records

FOREVER = 1e12
"""When all is over, s."""

REMEMBERED = 2000
"""Jobs that a predictor is told of, of those that ended before, the last."""


class Submissions:
    """The workload of a service: none that is known before somebody submits it.

    Its execution times are for jobs that can run at one site only, a row for each site.

    Attributes
    ----------
    endless : float
        Run time of those jobs, s, which has to be finite, also at the slowest site.
    """

    count, drawn_deadlines, cleaning = 0, None, Cleaning()

    def __init__(self, platform: Platform) -> None:
        alone = np.full((len(platform.rates), len(platform.rates)), np.inf)
        self.endless = 0.5 * FOREVER * min(1.0, float(platform.rates.min()))  # and rounding
        np.fill_diagonal(alone, self.endless / platform.rates)
        self.times = ExecutionTimes(platform.names, alone)

    def chunks(self) -> Iterator[JobArray]:
        """Yield nothing."""
        return iter(())


class Landing(NamedTuple):
    """The number of a job, the index of the cluster where it came to wait, and its place in line.

    It is higher than those of all that came before, wherever; None if it has gone back since.
    """

    job: int
    cluster: int
    place: int | None


class JobAt(NamedTuple):
    """The number of a job that is to start, and the index of its cluster."""

    job: int
    cluster: int


class Mirror(GridModel):
    """A model whose clock is that of the world outside, where jobs end when their sites say so.

    All that it is asked to do happens at its present time, to which `advance` brings it. Its jobs
    have infinite run times, or `Submissions.endless` ones: what is expected of them is what
    `agents.pace` predicts.
    """

    def __init__(self, *given: Any, **options: Any) -> None:
        platform, _, *makers = given
        submissions = Submissions(platform)
        self.endless = submissions.endless
        super().__init__(platform, submissions, *makers, **{**options, "tracked": True})
        self._slots: dict[int, int] = {}  # of jobs that run, by number
        self._started = 0
        self._shrunk, self._placed = False, set[int]()  # jobs that came to wait at clusters
        self._landed = 0  # serial number of the last job that came to wait at a cluster
        self._gone: list[set[int]] = [set() for _ in self.world.platform.clusters]
        self._rejected: list[int] = []
        self._leaving: set[int] = set()  # jobs to withdraw that are on their way
        self._withdrawn: list[int] = []
        self.world.log.stream(self._left)

    @property
    def due(self) -> float:
        """When something happens in it next, s, unless somebody outside acts before."""
        return float(min(self.world.state.coming, self._mail.next_due()))

    def advance(self, time: float) -> None:
        """Let everything happen up to a time, s, which is the present one then."""
        self._run_until(time)
        if self._leaving:
            self._let_leave()
            self._run_until(time)
        self.world.wait(time)
        self.running = True  # more may come

    def learn(self, jobs: Sequence[LiveJob], began: float) -> None:
        """Have the predictor know of jobs that ended before, the last `REMEMBERED` of them.

        Parameters
        ----------
        jobs : sequence of LiveJob
            Which have run; of sites that are not there any more nothing is learned.
        began : float
            When the first service of the folder began, by the clock, s.
        """
        names = list(self.world.platform.names)
        ran = [job for job in jobs if job.site in names and None not in (job.started, job.ended)]
        ran = sorted(ran, key=lambda job: job.ended or 0.0)[-REMEMBERED:]
        given, rows = rows_of(ran, began, math.inf), np.zeros(len(ran), FINISHED)
        for name in {*(FINISHED.names or ())} & {*(given.dtype.names or ())}:
            rows[name] = given[name]
        rows["cluster"] = [names.index(str(job.site)) for job in ran]
        rows["start"] = np.array([job.started for job in ran], float) - began
        rows["finish"] = np.array([job.ended for job in ran], float) - began
        rows["execution_time"] = np.maximum(rows["finish"] - rows["start"], 0.0)
        rows["runtime"] = rows["execution_time"] * [job.rate or 1.0 for job in ran]
        self.pace.learn(rows)

    def submit(self, rows: JobArray) -> None:
        """Take in jobs, in order of their arrival."""
        self.world.submit(rows)

    def adopt(self, row: JobArray, cluster: int) -> None:
        """Take in a job that its cluster has just started, whoever decided that."""
        slot = self.world.jobs.adopt(row, cluster, self.pace.runtime)
        self._slots[row["number"].item()] = slot
        self._started = self.world.state.started
        scheduler = self.clusters[cluster].scheduler
        self.told_by(scheduler, scheduler.reports.renew)  # else nobody knows how far it is booked

    def end(self, job: int) -> None:
        """Have a job that runs end now."""
        self.world.jobs.end(self._slots.pop(job))

    def withdraw(self, job: int) -> None:
        """Have a job that waits leave, or one that is on its way as soon as that is over.

        One that starts before does not.
        """
        self._leaving.add(job)
        self._let_leave()

    def _let_leave(self) -> None:
        jobs = self.world.jobs
        there = jobs.there
        for slot, job in zip(there.tolist(), jobs["number"][there].tolist(), strict=True):
            if job in self._leaving and jobs["status"][slot] in (GLOBAL, LOCAL):
                cluster = jobs["cluster"].item(slot)
                jobs.withdraw(slot)
                if cluster != NONE:
                    self.scheduler.withdrawn(cluster)
                self._leaving.remove(job)
            elif job in self._leaving and jobs["status"][slot] in (RUNNING, COALLOCATED):
                self._leaving.remove(job)
        self._leaving.intersection_update(jobs["number"][there].tolist())

    def limit(self, cluster: int, most: int) -> None:
        """Have jobs hold at most so many processors of a cluster from now on; those there run on.

        Free ones go first, and come back last: more are free than `most` allows only while jobs
        that run hold more than that.
        """
        resources, now, gone = self.world.resources, self.now, self._gone[cluster]
        held = resources.held(cluster)
        surplus = len(held) - most - len(gone)
        if surplus > 0:
            self._shrunk = True
            leaving = [
                each for each in np.argsort(held, kind="stable").tolist() if each not in gone
            ]
            for processor in leaving[:surplus]:
                resources.drain(cluster, processor, now)
                gone.add(processor)
        elif surplus < 0:
            for processor in sorted(gone, key=lambda each: not held[each])[:-surplus]:
                resources.restore(cluster, processor, now)
                gone.remove(processor)

    def finish(self) -> None:
        """Let everything happen that will, if nobody outside does anything more."""
        self._run_until(self.now + FOREVER)
        self.world.log.flush()

    def starts(self) -> list[JobAt]:
        """Return the jobs that have started since this was asked last."""
        state, jobs = self.world.state, self.world.jobs
        if state.started == self._started:
            return []
        self._started = state.started
        running = np.flatnonzero(jobs["status"] == RUNNING)
        found = []
        for slot, number in zip(running.tolist(), jobs["number"][running].tolist(), strict=True):
            if number not in self._slots:
                self._slots[number] = slot
                self._placed.discard(number)
                found.append(JobAt(number, jobs["cluster"].item(slot)))
        return found

    def landings(self) -> list[Landing]:
        """Return the jobs that have come to wait at a cluster, or gone back from one, since."""
        jobs = self.world.jobs
        new = np.flatnonzero((jobs["status"] == LOCAL) & (jobs["serial"] > self._landed))
        self._landed = self.world.state.serial
        columns = (jobs[name][new].tolist() for name in ("number", "cluster", "serial"))
        found = [*map(Landing, *columns)]
        if self._shrunk:
            back = jobs["number"][jobs["status"] == GLOBAL].tolist()
            found += [Landing(job, NONE, None) for job in back if job in self._placed]
            self._placed.difference_update(back)
        self._placed.update(each.job for each in found if each.place is not None)
        return found

    def waiting_at(self, cluster: int) -> list[int]:
        """Return the jobs that wait at a cluster, in order of their numbers."""
        jobs = self.world.jobs
        there = (jobs["status"] == LOCAL) & (jobs["cluster"] == cluster)
        return sorted(jobs["number"][there].tolist())

    def rejections(self) -> list[int]:
        """Return the jobs that no cluster can ever run, since this was asked last."""
        self.world.log.flush()
        found, self._rejected = self._rejected, []
        return found

    def withdrawals(self) -> list[int]:
        """Return the jobs that left since this was asked last, for somebody withdrew them."""
        self.world.log.flush()
        found, self._withdrawn = self._withdrawn, []
        return found

    def _left(self, records: Records) -> None:
        never, at_all = np.isnan(records["start"]), np.isnan(records["finish"])
        self._rejected += records["number"][never & at_all].tolist()
        self._withdrawn += records["number"][never & ~at_all].tolist()


def rows_of(jobs: Sequence[LiveJob], began: float, now: float) -> JobArray:
    """Return jobs as the mirror of a service has them that began at a time by the clock, s.

    What is later than now has arrived now; run times are infinite. They are in order of arrival.
    """
    rows = job_table(len(jobs))
    for row, job in zip(rows, jobs, strict=True):
        row["number"], row["size"] = job.job, job.size
        row["arrival"] = min(job.submitted, now) - began
        row["application"] = crc32(job.name.encode())  # which predictors go by
        row["requested_time"] = np.inf if job.time is None else job.time
        row["deadline"] = np.inf if job.deadline is None else job.deadline - began
    rows["runtime"] = np.inf
    return rows

"""The service: it keeps the mirror, the sites and the file of all jobs in step."""

from __future__ import annotations

import errno
import math
import os
import secrets
import selectors
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from experiments.events import log
from experiments.service.at_sites.site import (
    HELD,
    Began,
    End,
    Site,
    Told,
    began_at,
    claimant,
    end_of,
    ending,
    is_back,
    may_run,
)
from experiments.service.attempts import runs_again
from experiments.service.early import Early
from experiments.service.forecasting.answering import Answers
from experiments.service.grid_file import LiveGrid
from experiments.service.history.audit import MAY_BEGIN, TAKEN_UP, Audit
from experiments.service.limits import Limits
from experiments.service.mirror import REMEMBERED, Mirror, rows_of
from experiments.service.presence import bell, locked
from experiments.service.store import (
    BELL,
    CANCELLED,
    FAILED,
    LIVE,
    RUNNING,
    STARTING,
    WAITING,
    LiveJob,
    Store,
)
from experiments.service.watching import Watchers
from grid.errors import GridError, PlacementError
from grid.jobs import JobArray

PASSING = {errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM, errno.ENOSPC, errno.EDQUOT}
"""Errors of the system for which a job is started later, and has not failed."""
UNBEGUN = {"state": WAITING, "site": None, "started": None, "why": ""}
"""What is known of a job that is to start anew."""
LONGEST = 1.0
"""Longest time between two looks at what was submitted, s, if nobody rings."""


class Service:
    """Serves a grid: takes jobs in, has the agents decide, and sites carry that out.

    Each step is one of the present instant: what ended is told to the mirror, then what was
    submitted; the agents decide; what they start is noted in the file, and only then started.

    Parameters
    ----------
    grid : LiveGrid
    store : Store
    seed : int
    say : callable
        Is told in a line what happens to jobs.

    Raises
    ------
    GridError
        If another service is there already, or its sites are others than those of its jobs.
    """

    def __init__(
        self, grid: LiveGrid, store: Store, seed: int = 0, say: Callable[[str], None] = print
    ) -> None:
        self.grid, self.store, self._say = grid, store, say
        with ExitStack() as opened:
            opened.enter_context(locked(store.folder))
            self._bell = opened.enter_context(bell(store.folder / BELL))
            self._ear = opened.enter_context(selectors.DefaultSelector())
            self._ear.register(self._bell, selectors.EVENT_READ)
            if (mark := store.note("mark")) is None:
                mark = store.note("mark", secrets.token_hex(4))
            folder, names = store.folder.resolve(), grid.scenario.platform.names
            self.sites: list[Site] = [
                opened.enter_context(closing(driver.open(name, folder, mark, store.ring)))
                for name, driver in zip(names, grid.drivers, strict=True)
            ]
            self._begin(seed, opened)
            self._watchers = Watchers(self.model, grid.title, store.folder, self._ear, say)
            opened.callback(self._watchers.close)
            opened.enter_context(closing(Answers(grid, store.folder, self._ear)))
            self._opened = opened.pop_all()

    def _begin(self, seed: int, opened: ExitStack) -> None:
        """Make the mirror, and take up what is there."""
        store, scenario = self.store, self.grid.scenario
        there = store.jobs("site IS NOT NULL AND ended IS NULL")
        self.grid.check_room([job for job in there if may_run(job.job, store.folder_of(job))])
        self._began = float(store.note("began") or store.note("began", time.time()))
        self.model: Any = scenario.model(seed, made=Mirror)
        self.grid.note_in(store)  # which it can serve
        self._early = Early(self.model, self.sites, store)
        self._early.begin(self.grid.drivers, store.note("mark"), self._say)
        audit = Audit(self.model, store.folder, scenario, self._began)
        self._audit = opened.enter_context(closing(audit))
        self._stopping = self._credited = False
        self._held = {*(store.note("told_held") or ())}  # jobs not to start, as far as told
        self._known: dict[int, LiveJob] = {}  # those that it knows and that have not ended
        self._limits = Limits(self.model, self.sites, store, self._tell)
        self._stops: dict[int, int] = {}  # how often a site was told to stop a job
        self._again: list[LiveJob] = []  # jobs that could not be started for now
        self._again_at, self._last = 0.0, 0  # when; number of the last job that was taken in
        self.model.learn(store.ran_lately(REMEMBERED), self._began)
        self._take_up()

    @property
    def now(self) -> float:
        """Time since the first service of the folder began, s: that of the mirror."""
        return max(time.time() - self._began, self.model.now)

    def close(self) -> None:
        """Leave the folder to another service; jobs run on."""
        self._opened.close()

    def stop(self, *_: Any) -> None:
        """Have `run` end after the step under way; jobs run on."""
        self._stopping = True
        self.store.ring()

    def run(self, once: bool = False) -> None:
        """Serve until it is stopped, or once: until all jobs have ended."""
        while not self._stopping:
            self.step()
            if once and not self.store.left():
                return
            self._watchers.update()
            for key, _ in self._ear.select(min(LONGEST, max(0.0, self.model.due - self.now))):
                if key.data is not None:
                    key.data()
            with suppress(BlockingIOError):
                os.read(self._bell, 65536)

    def step(self) -> None:
        """Have the mirror, the sites and the file agree on the present instant."""
        news = [each for site in self.sites for each in site.news()]
        self.model.advance(self.now)
        with self.store.at_once():
            self._limits.update()  # else jobs that end with their processors would make room
            for each in news:
                self._take_note(each)
            self._take_in()
            self.model.advance(self.model.now)
            starts = list(self._decided())
            if starts and not self._credited:
                self.grid.credit(self.store)
                self._credited = True
        self._audit.write()
        if time.monotonic() >= self._again_at:
            starts, self._again = starts + self._again, []
        if starts:
            self._start(starts)
        self._early.update(self._known)

    def _take_note(self, news: Began | End | Told) -> None:
        """Note what a site has told."""
        if isinstance(news, Told):
            job = self._known.get(news.job or 0)
            if job is not None and job.why != news.why:
                self.store.update(job.job, why=news.why)
                self._known[job.job] = replace(job, why=news.why)
            self._tell(log.SAID, news.line, job)
        elif isinstance(news, Began):
            job = self._known[news.job]
            known: dict[str, Any] = {"state": RUNNING, "started": news.time, "why": ""}
            self.store.update(job.job, **known)
            self._known[job.job] = replace(job, **known)
            self._tell(
                log.BEGAN, f"runs at {job.site}", job, site=job.site, at=self._since(news.time)
            )
        elif news.begun or news.back or self._known[news.job].cancelled:
            self._end(news)
        else:
            self._again.append(self._known[news.job])
            self._again_at = time.monotonic() + LONGEST

    def _end(self, end: End) -> None:
        """Note the end of a job, and tell the mirror of it."""
        job = self._known.pop(end.job)
        self._stops.pop(end.job, None)
        self.model.end(end.job)
        self._note(job, end)
        if (again := self.store.job(job.job)).state == WAITING:
            self.model.advance(self.model.now)  # the end of the attempt comes first
            self._submit(again)

    def _since(self, time: float) -> float:
        """Return a time by the clock as one since the first service began, s."""
        return max(0.0, time - self._began)

    def _tell(self, kind: str, words: str, job: LiveJob | None = None, **facts: Any) -> None:
        """Tell who looks on, and the audit log, what happens to a job, or else."""
        self._say(words if job is None else f"{job}: {words}")
        self._audit.told_of(kind, words, job, **facts)

    def _note(self, job: LiveJob, end: End, when: str = "") -> None:
        """Note and tell the end of a job, or of an attempt."""
        folder = self.store.folder_of(job)
        state, why = ending(job, end, folder)
        began = None if end.back else began_at(folder) or job.started
        ended = max(end.time, began or 0.0)
        ran = None if began is None else ended - began
        facts = {"site": job.site, "at": self._since(ended), "exit_status": end.exit_status}
        facts |= {"lost": True} if end.lost else {}  # then `at` is its last sign of life
        again, why = runs_again(job, end, state, why, ran)
        if again:
            attempt = job.attempt + 1
            self.store.update(job.job, **UNBEGUN, attempt=attempt)
            waits = "waits again" if end.back else "waits to run again"
            told = f"{why} at {job.site}{when}; {waits}"
            self._tell(log.EXITED, told, job, state=WAITING, ran=ran, **facts)
            return
        known = {"started": began, "ended": ended, "exit_status": end.exit_status, "why": why}
        self.store.update(job.job, state=state, **known)
        told = f", exit status {end.exit_status}" if end.exit_status else ""
        told = f"{state} at {job.site}{told}{f': {why}' if why else ''}{when}"
        self._tell(log.EXITED, told, job, state=state, ran=ran, **facts)

    def _take_in(self) -> None:
        """Tell the mirror of what was submitted, and sites of what was cancelled."""
        for job in self.store.jobs("job > ?", self._last):
            self._last = job.job
            if job.state == WAITING:
                self._submit(job)
        for job in self._heed_holds():
            if job.held:
                self.store.update(job.job, waits_at=None, landed=None)
                self.model.withdraw(job.job)
            elif job.job not in self._known:
                self._submit(job)
        # The sign has SQLite look at what was cancelled, and not at all that has not ended.
        for job in self.store.jobs("cancelled AND +state IN (?, ?, ?)", *LIVE):
            if job.state == WAITING:
                self.model.withdraw(job.job)
                self.store.update(job.job, state=CANCELLED, ended=time.time())
                self._tell(log.CANCELLED, CANCELLED, job)
            elif self._stops.get(job.job, 0) < job.cancelled:
                self._known[job.job], self._stops[job.job] = job, job.cancelled
                how = "is to be killed" if job.cancelled > 1 else "is to be asked to end"
                self._audit.told_of(log.CANCELLED, how, job)
                self._site(job).stop(job.job, at_once=job.cancelled > 1)

    def _heed_holds(self) -> list[LiveJob]:
        """Return the jobs that wait and were held or released, which is noted."""
        held = self.store.held()
        if changed := held ^ self._held:
            self._held = {*self.store.note("told_held", sorted(held))}
        found = [job for job in map(self.store.job, sorted(changed)) if job.state == WAITING]
        for job in found:
            kind, words = (log.HELD, "held") if job.held else (log.RELEASED, "released")
            self._audit.told_of(kind, words, job)
        return found

    def _decided(self) -> Iterator[LiveJob]:
        """Yield the jobs that are to start, which is noted; end what is never to run."""
        for number in self.model.rejections():
            job = self._known.pop(number)
            if self.store.job(number).state == WAITING:  # else it was cancelled
                self._fail(job, f"no site {'for it ' if job.only else ''}has {job.size} processors")
        for number in self.model.withdrawals():
            del self._known[number]
            if (job := self.store.job(number)).state == WAITING:
                self._submit(job)  # it was released before it had left
        while starts := self.model.starts():
            for number, cluster in starts:
                if (job := self.store.job(number)).state != WAITING or job.held:  # since just now
                    self._known.pop(number)
                    self.model.end(number)
                    continue
                site, rates = self.sites[cluster].name, self.model.world.platform.rates
                self.store.update(number, state=STARTING, site=site, rate=float(rates[cluster]))
                yield self.store.job(number)
            self.model.advance(self.model.now)  # at once, what was held or cancelled makes room
        for number, cluster, place in self.model.landings():
            site = None if place is None else self.sites[cluster].name
            self.store.update(number, waits_at=site, landed=place)

    def _start(self, jobs: Sequence[LiveJob]) -> None:
        """Have sites start jobs of which it is noted that they are to."""
        failed = {}
        for job in jobs:
            self._known[job.job] = job
            try:
                folder = self.store.make_folder(job)
                (folder / HELD).unlink(missing_ok=True)
                self._site(job).start(job, folder)
            except (OSError, ValueError) as error:
                why = f"cannot be started: {error}"
                if getattr(error, "errno", None) not in PASSING:
                    failed[job.job] = why
                    continue
                if not self._again:
                    self._tell(log.SAID, f"{why}; it is tried again", job)
                self._again.append(job)
                self._again_at = time.monotonic() + LONGEST
        if failed:
            with self.store.at_once():
                for number, why in failed.items():
                    self._end(End(number, None, time.time(), why=why))

    def _take_up(self) -> None:
        """Take up what a service before had left: what ran on, ended meanwhile, or never began."""
        live = self.store.jobs("state IN (?, ?)", STARTING, RUNNING)
        names = [site.name for site in self.sites]
        self.model.advance(0.0)
        for job in sorted(live, key=lambda each: each.started or math.inf):
            folder = self.store.folder_of(job)
            runs, there = end_of(job.job, folder) is None, job.site in names
            if runs and there and self._site(job).find(job, folder):
                self._adopt(job, folder)
            elif claimant(folder) is None:  # it never began
                attempt = job.attempt + is_back(folder)
                self.store.update(job.job, **UNBEGUN, attempt=attempt)
            else:
                end = end_of(job.job, folder) or End(job.job, None, time.time())
                self._note(job, end, ", before this service began")
        self._last = max((job.job for job in self.store.jobs("state != ?", WAITING)), default=0)
        self.model.advance(self.now)
        self._limits.update()
        self._heed_holds()  # those released are among those that wait
        for job in self.store.take_up_waiting():
            self._last = max(self._last, job.job)
            self._submit(job)

    def _adopt(self, job: LiveJob, folder: Path) -> None:
        """Have the mirror take in a job that runs on."""
        began = began_at(folder)
        started = began or job.started or time.time()
        state = RUNNING if claimant(folder) else STARTING
        why = "" if state == RUNNING else job.why
        self.store.update(job.job, state=state, started=began, why=why)
        self._known[job.job] = self.store.job(job.job)
        self.model.advance(max(self.model.now, min(started - self._began, self.now)))
        cluster = [site.name for site in self.sites].index(str(job.site))
        try:
            self.model.adopt(self._row(job), cluster)
        except PlacementError as error:
            raise GridError(f"job {job.job}, which runs at {job.site}: {error}") from None
        self._audit.look()
        if began is None:
            self._tell(log.SAID, f"{MAY_BEGIN} {job.site}", job, site=job.site)
        else:
            at = self._since(began)
            self._tell(log.BEGAN, f"{TAKEN_UP} {job.site}", job, site=job.site, at=at)

    def _site(self, job: LiveJob) -> Site:
        return next(site for site in self.sites if site.name == job.site)

    def _fail(self, job: LiveJob, why: str) -> None:
        """End a job that waits, and is never to run."""
        self.store.update(job.job, state=FAILED, ended=time.time(), why=why)
        self._tell(log.FAILED, f"{FAILED}: {why}", job)

    def _submit(self, job: LiveJob) -> None:
        """Tell the mirror of a job that waits, unless it is cancelled or held."""
        if not (job.cancelled or job.held):
            row = self._row(job)
            if job.only is not None:
                names = [site.name for site in self.sites]
                if job.only not in names:
                    self._fail(job, f"no site {job.only}")
                    return
                row["runtime"], row["times_row"] = self.model.endless, names.index(job.only)
            self._known[job.job] = job
            self.model.submit(row)

    def _row(self, job: LiveJob) -> JobArray:
        """Return a job as the mirror is told of it."""
        self._audit.arrived(job)
        return rows_of([job], self._began, self._began + self.model.now)

"""A site that is a batch system, asked and told in a thread of its own."""

from __future__ import annotations

import os
import queue
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.service.at_sites.asking import keep_asking
from experiments.service.at_sites.batch_system import (
    BatchSystem,
    LaterError,
    Listed,
    Look,
    RefusedError,
    SilentError,
)
from experiments.service.at_sites.site import (
    ANSWERS,
    CLAIM,
    EXIT_STATUS,
    OUTPUT,
    PLACE,
    RUN_ONCE,
    SILENT,
    STARTED,
    Began,
    End,
    Told,
    began_at,
    end_of,
    have_end,
    is_back,
    last_sign,
    lives,
    placed,
    send,
    take_back,
)
from experiments.service.database import PATIENCE
from experiments.service.store import LiveJob

LOOK, IDLE = 1.0, 5.0
"""Time between two looks at a site that has jobs of ours, and at one that has none, s."""
LONGEST = 60.0
"""Longest time after which a site is asked again that does not answer, s."""
SILENCE, SIGN = 60.0, 25.0
"""How long without a sign of life a job has ended that its site forgot, or calls ended, s."""
AGREEING = 2
"""How many looks in succession have to say the same of what may change between two questions."""
MOST = 20
"""Submissions to a site in a second, at most, where its administrator has not said otherwise."""
TRIES = 10
"""How often a job is submitted whose site says that it ended before it began."""
STALLED = 120.0
"""How long a job may hold processors until it has claimed itself, s; it is killed then."""
LEFT = 10.0
"""How long a site may list a job that has ended until it is told, s."""

GUILTY = "TIMEOUT", "OUT_OF_MEMORY", "DEADLINE", "CANCEL"
"""How states of jobs begin that ended for what they did, or somebody wanted."""
NOT_GUILTY = "NODE_FAIL", "BOOT_FAIL", "PREEMPTED", "REVOKED"
"""States of jobs that their site has ended for what they did not do."""
OF_COMMANDS = "COMPLETED", "FAILED"
"""States of jobs whose commands have ended by themselves, as far as their site knows."""
SIGNALLED, SETTLED = (128 + signal.SIGTERM, 128 + signal.SIGKILL), 60.0
"""Exit statuses of commands that got a signal; the time in which their site says why, s."""
BACK = "has not begun"
"""Why a job goes elsewhere that waits at a site which has too few processors for it now."""
TOO_LONG = 30.0
"""After so long, it is told that a job still waits at its site, s."""


@dataclass
class _Job:
    """What is known of a job that is to run at a site, or runs."""

    token: str
    folder: Path
    job: LiveJob
    submitted: bool  # it may be there
    since: float = 0.0  # when it was submitted, or tried to be
    began: bool = False
    stalled: float | None = None  # since when it holds processors and has not claimed itself
    missed: int = 0  # looks in succession in which it was not there
    gone: float = 0.0  # when the first of them was
    hindrance: str | None = None  # why it does not begin, as was told; None: nothing was
    tries: int = 0
    why: str = ""  # it was not taken in
    asked: int = 0  # how often it was to be stopped
    told: int = 0  # how often its site was told so
    sent: int = 0  # how often it was sent a signal, for its site does not know it


class BatchSite:
    """Jobs of a batch system, each by a name that no other has.

    Whether a job has run is told by its folder alone, for a batch system may lose what it has taken
    in, or start it twice. What it knows nothing of and was never claimed is submitted again.

    Parameters
    ----------
    name : str
    size : int
        Most processors that jobs of ours may ever hold.
    system : BatchSystem
    prefix : str
        Tokens are that and the `place` of a job.
    tell : callable
        Is called, in another thread, when there is news.
    answered : bool
        It has answered lately.
    most : int
        Submissions in a second, at most; others wait for the next.
    """

    def __init__(
        self,
        name: str,
        size: int,
        system: BatchSystem,
        prefix: str,
        tell: Callable[[], object],
        answered: bool = True,
        most: int = MOST,
    ) -> None:
        self.name = name
        self.capacity = 0
        self._size, self._system, self._prefix, self._tell = size, system, prefix, tell
        self._news: queue.SimpleQueue[Began | End | Told] = queue.SimpleQueue()
        self._jobs: dict[int, _Job] = {}
        self._over: dict[str, float] = {}  # since when jobs are there that shall not be
        if answered:
            with suppress(SilentError):
                self.capacity = max(0, min(size, system.look().capacity))
                if self.capacity < size:
                    self._news.put(self._has())
        self._seen = (self.capacity, 1)  # what the last looks said of it, and how many did
        self.silent = self._grown = False
        self._most = self._left = most
        self._second = 0.0  # in which so many submissions are left
        self._changed = threading.Condition()
        self._woken = self._closed = False
        self._thread = threading.Thread(target=self._watch, daemon=True, name=f"site {name}")

    def start(self, job: LiveJob, folder: Path) -> None:
        """Have a job submitted; it begins when its site says so."""
        self._start(job, folder, submitted=False)

    def _start(self, job: LiveJob, folder: Path, submitted: bool) -> None:
        with (folder / OUTPUT).open("ab"):
            pass  # it is there before the job is
        place = folder / PLACE
        new = place.with_suffix(".new")
        new.touch(mode=0o600)
        new.write_bytes(placed(job, self.name, folder))
        os.replace(new, place)
        self._take(job, folder, submitted, since=time.time())

    def find(self, job: LiveJob, folder: Path) -> bool:
        """Watch a job that may be there; if it is not, and has not run, it is submitted again."""
        if not (folder / PLACE).exists():
            return False  # nobody has ever been told of it
        self._system.take_up(self._token(job), folder)
        began = began_at(folder) is not None
        self._take(job, folder, submitted=True, since=time.time(), began=began)
        return True

    def stop(self, job: int, at_once: bool = False) -> None:
        """Have its site ask it to end, or kill it."""
        with self._changed:
            if found := self._jobs.get(job):
                found.asked = max(found.asked, 1 + at_once)
        self._wake()

    def news(self) -> Iterator[Began | End | Told]:
        """Yield what has happened since this was asked last; first, begin to ask the site."""
        if self._thread.ident is None:
            self._thread.start()  # all jobs that may be there are known by now
        with suppress(queue.Empty):
            while True:
                yield self._news.get_nowait()

    def close(self) -> None:
        """Ask the site nothing any longer; jobs there go on."""
        self._closed = True
        self._wake()
        if self._thread.ident is not None:
            self._thread.join(PATIENCE)  # it may wait for an answer

    def _token(self, job: LiveJob) -> str:
        return f"{self._prefix}{job.place}"

    def _take(self, job: LiveJob, folder: Path, submitted: bool, **known: Any) -> None:
        with self._changed:
            self._jobs[job.job] = _Job(self._token(job), folder, job, submitted, **known)
        self._wake()

    def _wake(self) -> None:
        with self._changed:
            self._woken = True
            self._changed.notify()

    def _watch(self) -> None:
        """Look at the site, and tell it what it is to do, until this is closed."""
        if not self._closed:
            keep_asking(self._ask, self._is_silent, self._wait, LOOK, LONGEST)

    def _ask(self) -> float:
        self._woken = False
        self._round()
        return LOOK if self._jobs or self._over else IDLE

    def _wait(self, pause: float) -> bool:
        with self._changed:
            self._changed.wait_for(self._is_wanted, pause)
        return not self._closed

    def _is_wanted(self) -> bool:
        """Tell whether the next look is to be now: what is new waits for one that answers."""
        return self._closed or (self._woken and not self.silent)

    def _round(self) -> None:
        """Submit what is new, look, and find out what became of what was submitted before."""
        with self._changed:
            jobs = dict(self._jobs)
        for number, job in jobs.items():
            new = not job.submitted and job.tries == 0
            if new and not self._closed and (job.asked or self._may_submit()):
                self._submit(number, job)
        asked = time.time()
        look = self._system.look()
        self._answers()
        self._note_capacity(look.capacity)
        for number, job in jobs.items():
            if number in self._jobs and not self._closed:
                self._follow(number, job, look.jobs.get(job.token), asked)
        self._clean(look, {job.token for job in jobs.values()}, asked)

    def _clean(self, look: Look, live: set[str], asked: float) -> None:
        """Cancel what is there and shall not be, as after a restart from an old state."""
        there = {token for token, listed in look.jobs.items() if not listed.ended} - live
        self._over = {token: self._over.get(token, asked) for token in there}
        for token, since in self._over.items():
            if asked - since > LEFT:
                self._system.cancel(token, at_once=True)

    def _may_submit(self) -> bool:
        if (now := time.monotonic()) - self._second >= 1.0:
            self._second, self._left = now, self._most
        self._left -= 1
        return self._left >= 0

    def _submit(self, number: int, job: _Job) -> None:
        if job.asked:
            self._end(number, End(number, None, time.time(), begun=False))
            return
        job.tries += 1
        job.since = time.time()
        job.submitted = True  # whatever comes of it: the next look will tell
        job.why = ""
        script = [RUN_ONCE, str(job.folder), *job.job.command]
        try:
            self._system.submit(job.token, job.job, script, job.folder / OUTPUT)
        except LaterError as error:
            job.why = str(error)
        except RefusedError as error:
            self._end(number, End(number, None, time.time(), why=f"cannot be started: {error}"))
            return
        job.since, job.missed = time.time(), 0

    def _follow(self, number: int, job: _Job, listed: Listed | None, asked: float) -> None:
        """Find out what became of a job."""
        try:
            files = {*os.listdir(job.folder)}  # which makes a network's file system look, too
            end = end_of(number, job.folder) if EXIT_STATUS in files else None
        except OSError:
            return  # another time
        if CLAIM in files and is_back(job.folder):
            if listed is not None and not listed.ended:
                self._system.cancel(job.token, at_once=True)
            self._end(number, End(number, None, time.time(), begun=False, why=BACK, back=True))
            return
        if not job.began and STARTED in files:
            job.began = True
            self._tell_of(Began(number, began_at(job.folder) or asked))
        if end is not None:
            if (known := self._by_site(end, job, listed)) is not None:
                self._end(number, known)
            return
        if not job.submitted or job.since >= asked:
            return  # it was not there then
        if listed is not None and not listed.ended:
            job.missed = 0
            if listed.waits and asked - job.since > TOO_LONG:
                self._has_waited(number, job, listed)
            holds = not (listed.waits or CLAIM in files)
            job.stalled = (job.stalled or asked) if holds else None
            if job.stalled is not None and asked - job.stalled > STALLED:
                self._system.cancel(job.token, at_once=True)
            if job.told < job.asked:
                have_end(job.folder)
                self._system.cancel(job.token, at_once=job.asked > 1)
                job.told = job.asked
            return
        job.gone = job.gone if job.missed else asked
        job.missed += 1
        if job.missed < AGREEING:
            return
        state = "" if listed is None else listed.state
        if CLAIM in files:
            if not lives(job.folder, SIGN if state else SILENCE):
                why = f"its processes were killed: {state}" if state else "not known there any more"
                again = not state.startswith(GUILTY)
                at = max(last_sign(job.folder), job.gone if state else 0.0)
                end = End(number, None, at, why=why, again=again, lost=not state)
                self._end(number, end)
            elif job.sent < job.asked:
                send(job.folder, "KILL" if job.asked > 1 else "TERM")
                job.sent = job.asked
        elif job.asked:
            self._end(number, End(number, None, time.time(), begun=False))
        elif asked - job.since >= min(LONGEST, 2.0 ** (job.tries - 1)):
            why = job.why or (f"{state}, never began" if state else "not known there")
            if state and job.tries >= TRIES:
                self._end(number, End(number, None, time.time(), why=why))
                return
            if self._may_submit():
                self._tell_of(Told(f"{why}; submitted to {self.name} again", number))
                self._submit(number, job)

    def _has_waited(self, number: int, job: _Job, listed: Listed) -> None:
        """Tell that a job still waits, and why; take it back if it can only go elsewhere."""
        why = listed.state if listed.blocked else ""
        if why != job.hindrance:
            job.hindrance = why
            self._tell_of(Told(f"{listed.state} at {self.name}", number, why))
        if self.capacity < job.job.size and not job.job.only:
            take_back(job.folder)  # which the next look finds, or that it has begun

    def _by_site(self, end: End, job: _Job, listed: Listed | None) -> End | None:
        """Return how a job ended whose command got a signal, as its site says; None: not yet.

        If the site ended it for no fault of its, what that came to is no answer of the job.
        """
        if job.asked or listed is None or end.exit_status not in SIGNALLED:
            return end
        if listed.ended and listed.state in NOT_GUILTY:
            return End(end.job, None, end.time, why=f"its processes were killed: {listed.state}")
        if listed.ended:
            return end._replace(why="" if listed.state in OF_COMMANDS else listed.state)
        return end if time.time() - end.time > SETTLED else None

    def _end(self, number: int, end: End) -> None:
        with self._changed:
            self._jobs.pop(number, None)
        self._tell_of(end)

    def _note_capacity(self, capacity: int) -> None:
        """Take over what several looks agree on, for jobs come and go between two questions."""
        if capacity > self._size and not self._grown:
            self._grown = True
            more = f"{capacity} processors, of which this service uses {self._size} at most"
            self._tell_of(Told(f"{self.name}: {more}"))
        capacity = max(0, min(capacity, self._size))
        value, times = self._seen
        self._seen = (capacity, times + 1 if value == capacity else 1)
        if self._seen[1] >= AGREEING and capacity != self.capacity and not self.silent:
            if capacity > self.capacity:
                for job in [*self._jobs.values()]:  # what it would not take in, it may now
                    job.tries = min(job.tries, 1)
            self.capacity = capacity
            self._tell_of(self._has())

    def _is_silent(self, why: str) -> None:
        if not self.silent:
            self.silent = True
            self.capacity = 0
            self._tell_of(Told(f"{self.name}: {why}; {SILENT}"))

    def _answers(self) -> None:
        if self.silent:
            self.silent = False
            self.capacity = self._seen[0]
            self._tell_of(self._has(f"{ANSWERS}, "))

    def _has(self, before: str = "") -> Told:
        told = f"{self.capacity} of {self._size} processors for our jobs"
        return Told(f"{self.name}: {before}{told}")

    def _tell_of(self, news: Began | End | Told) -> None:
        self._news.put(news)
        self._tell()

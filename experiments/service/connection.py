"""What users say to a service, by commands or from Python: submit, cancel, hold and others."""

from __future__ import annotations

import copy
import logging
import os
import time as clock
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from experiments.service import given
from experiments.service.at_sites.site import OUTPUT
from experiments.service.given import Time, Words
from experiments.service.script import read_script
from experiments.service.store import DONE, WAITING, LiveJob, Store
from grid.errors import GridError
from grid.foreign import quoted

if TYPE_CHECKING:
    from experiments.service.forecasting.forecast import Forecast, Progress

NEXT = "the next one does what is asked"  # said while no service is there
_LOOK = 0.1
"""Time between two looks at jobs that are waited for, s."""


class Job:
    """A job of a service; what is asked of it is read anew each time.

    Parameters
    ----------
    connection : Connection
    number : int

    Attributes
    ----------
    number : int
        By which the service and its commands know it.
    """

    def __init__(self, connection: Connection, number: int) -> None:
        self._connection, self.number = connection, number

    def __repr__(self) -> str:
        return f"<Job {self.number}>"

    def read(self) -> LiveJob:
        """Return all that is known of it now."""
        return self._connection.store.job(self.number)

    @property
    def name(self) -> str:
        """Its name: by default its program's."""
        return self.read().name

    @property
    def state(self) -> str:
        """``waiting``, ``running`` or others (`metasched.live.LiveJob`)."""
        return self.read().state

    @property
    def site(self) -> str | None:
        """Where it runs, or has; None: not known yet."""
        return self.read().site

    @property
    def started(self) -> float | None:
        """When it started, by the clock (Unix time, s)."""
        return self.read().started

    @property
    def ended(self) -> float | None:
        """When it ended, by the clock (Unix time, s)."""
        return self.read().ended

    @property
    def exit_status(self) -> int | None:
        """Of its command, if that has ended by itself."""
        return self.read().exit_status

    def wait(self, timeout: given.Time | None = None) -> str:
        """Wait until it has ended, and return its state.

        Raises
        ------
        TimeoutError
            If that takes longer than a time, s.
        """
        self._connection.wait(self, timeout=timeout)
        return self.state

    def cancel(self) -> None:
        """Have it end, or not begin; see `Connection.cancel`."""
        self._connection.cancel(self)

    def output(self) -> str:
        """Return what it has written so far, to standard output and standard error."""
        file = self.output_file()
        return "" if file is None else file.read_text(encoding="utf-8", errors="replace")

    def output_file(self) -> Path | None:
        """Return the file of what it writes; None if it is gone with a task that wrote nothing.

        Raises
        ------
        GridError
            If it has not begun.
        """
        for folder in self.folders():
            if (folder / OUTPUT).is_file():
                return folder / OUTPUT
        if (job := self.read()).started is not None:
            return None
        raise GridError(f"job {job.job}: {job.state}, no output; accepted: a job that has begun")

    def folders(self) -> list[Path]:
        """Return its folder in that of the service, for each time that it was started, last first.

        They may not be there yet.
        """
        job = self.read()
        attempts = [replace(job, attempt=number) for number in range(job.attempt, 0, -1)]
        return [self._connection.store.folder_of(each) for each in attempts]


class Connection:
    """A connection to a service, or to its folder while no service is there.

    It is closed at the end of a ``with`` block. Threads may share it.

    Parameters
    ----------
    state : str or path
        Folder of the service.
    tell : callable, optional
        Is told, in a line, what users should know; by default, Python's logging is.

    Attributes
    ----------
    store : Store
        All jobs.

    Raises
    ------
    GridError
        If no service has ever been there.
    """

    def __init__(
        self, state: str | os.PathLike[str], tell: Callable[[str], object] | None = None
    ) -> None:
        if not isinstance(state, str | os.PathLike):
            raise GridError(f"state: found {quoted(state)}; accepted: the folder of a service")
        self.store = Store(Path(state))
        self._tell = tell or logging.getLogger("metasched").warning
        self._served = True  # as far as its user was told

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *of_error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Connection {str(self.store.folder)!r}>"

    def close(self) -> None:
        """Close it; jobs go on."""
        self.store.close()

    def trial(self) -> Connection:
        """Return a connection to a copy in memory: what is submitted there can be forecast only."""
        other = copy.copy(self)
        other.store = self.store.copy()
        return other

    def submit(
        self,
        command: Words,
        *,
        size: int | None = None,
        time: Time | None = None,
        deadline: Time | None = None,
        name: str | None = None,
        site: str | None = None,
        hold: bool = False,
        requeue: bool = False,
        folder: str | os.PathLike[str] | None = None,
        environment: Mapping[str, str] | None = None,
        prepare: Callable[[int], object] | None = None,
    ) -> Job:
        """Submit a job, also while no service is there.

        Parameters
        ----------
        command : sequence of str or path
            A program and its arguments, as they are; or a script with lines of ``#SBATCH``.
        size : int, optional
            Processors; by default 1.
        time : float, str or timedelta, optional
            It will take so long: seconds, or text such as ``"10m"``.
        deadline : float, str or timedelta, optional
            It shall have ended so long from now.
        name : str, optional
            By default the program's.
        site : str, optional
            The only one for it.
        hold : bool
            It does not start until it is released.
        requeue : bool
            It may run again if it is killed with its node.
        folder : str or path, optional
            Where it runs; by default here.
        environment : mapping of str to str, optional
            All of it; by default that of this process.
        prepare : callable, optional
            Is given its number before any service can know of it, as to write files for it.

        Raises
        ------
        GridError
            If it is none that the service can run.
        """
        words = given.words_of(command)
        script, asks = read_script(words), ""
        if script is not None:
            asks, size = (script.asks, script.size) if size is None else ("", size)
            words = script.command
            time, name = script.time if time is None else time, name or script.name
            hold, requeue = hold or script.hold, requeue or script.requeue
            folder = script.folder if folder is None else folder
            if script.unread:
                self._tell(f"{quoted(script.unread)} of #SBATCH lines is without meaning here")
        here, variables = given.folder_of(folder), given.variables_of(environment)
        given.check_program(words[0], here, variables)
        number = self.store.add(
            words,
            given.size_of(1 if size is None else size, site, self.store.note("sites") or {}, asks),
            given.seconds_of(time, "time"),
            given.seconds_of(deadline, "deadline"),
            given.text_of(name, "name"),
            here,
            variables,
            only=site,
            held=bool(hold),
            requeue=bool(requeue),
            prepare=prepare,
        )
        self.wake()
        return Job(self, number)

    def wake(self, else_: str = "jobs wait") -> None:
        """Wake the service; tell if none is there, once until one is, and what happens then."""
        served = self.store.ring()
        if self._served and not served:
            self._tell(f"{self.store.folder}: no service is there now: {else_}")
        self._served = served

    def job(self, number: int) -> Job:
        """Return a job by its number.

        Raises
        ------
        GridError
            If there is none.
        """
        return Job(self, self._known(number).job)

    def _known(self, job: int | Job) -> LiveJob:
        number = given.whole(job.number if isinstance(job, Job) else job)
        if number is None:
            raise GridError(f"job: found {quoted(job)}; accepted: its number")
        return self.store.job(number)

    def _live(self, job: int | Job) -> LiveJob:
        """Return what is known of a job that has not ended."""
        found = self._known(job)
        if found.ended is not None:
            raise GridError(f"job {found.job}: {found.state}; accepted: a job that has not ended")
        return found

    def queue(self, every: bool = False) -> list[LiveJob]:
        """Return the jobs that have not ended, or all, as they are now."""
        return self.store.jobs() if every else self.store.jobs("ended IS NULL")

    def cancel(self, job: int | Job) -> None:
        """Have a job end (SIGTERM to its processes), or not begin; a second time, kill it.

        Raises
        ------
        GridError
            If it has ended.
        """
        if not self.cancel_each([self._known(job).job]):
            self._live(job)  # says how it has ended

    def cancel_each(self, jobs: Iterable[int], begun: bool = True) -> list[int]:
        """Cancel those of some jobs that have not ended, or not begun; return their numbers."""
        with self.store.at_once():
            found = [job for number in jobs if (job := self.store.job(number)).ended is None]
            found = [job for job in found if begun or job.state == WAITING]
            for job in found:
                self.store.update(job.job, cancelled=job.cancelled + 1)
        self.wake(NEXT)
        return [job.job for job in found]

    def hold(self, job: int | Job) -> None:
        """Have a job that waits not start until it is released."""
        self._set_held(job, True)

    def release(self, job: int | Job) -> None:
        """Have a job that is held start when its turn comes."""
        self._set_held(job, False)

    def _set_held(self, job: int | Job, held: bool) -> None:
        with self.store.at_once():
            found = self._known(job)
            if found.state != WAITING or found.cancelled or bool(found.held) == held:
                what = "held already" if held and found.held else found.state
                what = "cancelled" if found.cancelled else what
                accepted = "a job that waits" if held else "a job that is held"
                raise GridError(f"job {found.job}: {what}; accepted: {accepted}")
            self.store.update(found.job, held=held)
        self.wake(NEXT)

    def drain(self, site: str, undo: bool = False) -> None:
        """Have a site start no job any more, or have it take part again.

        Raises
        ------
        GridError
            If there is no such site, or it is so already.
        """
        with self.store.at_once():
            sites, drained = self.store.note("sites") or {}, {*(self.store.note("drained") or ())}
            given.check_site(site, {*sites, *drained} if undo else sites)
            if (site in drained) != undo:
                how = "not drained" if undo else "drained already"
                other = "one that is" if undo else "another"
                raise GridError(f"site {site}: {how}; accepted: {other}")
            self.store.note("drained", sorted(drained - {site} if undo else drained | {site}))
        self.wake(NEXT)

    def wait(self, *jobs: int | Job, timeout: given.Time | None = None) -> list[LiveJob]:
        """Wait until jobs have ended, or all that have not; return those that did not succeed.

        A `TimeoutError` if that takes longer than a time, a `GridError` if that is none.
        """
        within = given.seconds_of(timeout, "timeout") if timeout else 0.0
        numbers = {self._known(job).job for job in jobs} if jobs else {*self.store.states()}
        first, until = min(numbers, default=1), clock.monotonic() + (within or 0.0)
        version, left = self.store.version(), numbers & self.store.states(first).keys()
        if left:
            self.wake()
        while left:
            if timeout is not None and clock.monotonic() >= until:
                raise TimeoutError(f"job {min(left)} has not ended after {within:g} s")
            clock.sleep(_LOOK)
            if version != (version := self.store.version()):
                left &= self.store.states(first).keys()
        return [job for job in map(self.store.job, sorted(numbers)) if job.state != DONE]

    def forecast(
        self,
        *jobs: int | Job,
        futures: int = 100,
        seed: int = 0,
        progress: Progress | None = None,
        workers: int | None = 1,
    ) -> Forecast:
        """Return when jobs that wait or run will start and end, and where.

        The present is run to its end many times: by the service, else here, with its grid's code.

        Parameters
        ----------
        *jobs : int or Job
            Which have to be there, and not to have ended; the forecast is of all.
        futures, seed : int
        progress : Progress, optional
            Is told how far that is.
        workers : int, optional
            Processes for long futures, if a script's main part has a guard; None: for each core.

        Raises
        ------
        GridError
            If a job has ended, the grid cannot be read, or a number is not accepted.
        """
        from experiments.service.forecasting.asking import foretold

        futures, seed = given.least(futures, "futures", 1), given.least(seed, "seed", 0)
        for job in jobs:
            if (found := self._live(job)).held:
                raise GridError(f"job {found.job}: held; accepted: a job that may start")
        return foretold(self.store, futures, seed, workers, progress)

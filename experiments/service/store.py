"""All that is known of the jobs of a service, in one file: what is to be done is there first."""

from __future__ import annotations

import copy
import json
import os
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.service.database import Database
from grid.errors import GridError
from grid.foreign import plain

VERSION = 4
FILE, BELL, LOCK = "jobs.db", "bell", "lock"
"""Names in a folder of a service: its jobs, what wakes it, and what says that it is there."""
WAITING, STARTING, RUNNING = "waiting", "starting", "running"
DONE, FAILED, CANCELLED, LOST = "done", "failed", "cancelled", "lost"
"""States of a job: it is to be started before it is, and has run unless it was cancelled before.

It is lost if it had begun, and neither it nor its site has told what became of it.
"""
ENDED = DONE, FAILED, CANCELLED, LOST
LIVE = (WAITING, STARTING, RUNNING)
_MOST = 2**63 - 1  # of the integers of SQLite

_TABLES = f"""
CREATE TABLE jobs (
    job INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    command TEXT NOT NULL,
    folder TEXT NOT NULL,
    environment TEXT NOT NULL,
    size INTEGER NOT NULL,
    time REAL,
    deadline REAL,
    submitted REAL NOT NULL,
    state TEXT NOT NULL DEFAULT '{WAITING}',
    site TEXT,
    started REAL,
    ended REAL,
    exit_status INTEGER,
    why TEXT NOT NULL DEFAULT '',
    cancelled INTEGER NOT NULL DEFAULT 0,
    only TEXT,
    held INTEGER NOT NULL DEFAULT 0,
    requeue INTEGER NOT NULL DEFAULT 0,
    attempt INTEGER NOT NULL DEFAULT 1,
    rate REAL,
    waits_at TEXT,
    landed INTEGER
);
CREATE INDEX of_state ON jobs (state);
CREATE INDEX which_held ON jobs (job) WHERE held;
CREATE INDEX to_end ON jobs (job) WHERE cancelled;
"""


@dataclass(frozen=True)
class LiveJob:
    """A job of a service; times are those of the clock (Unix time, s).

    Attributes
    ----------
    job : int
        Its number.
    name : str
    command : tuple of str
        The program and its arguments.
    folder : str
        Where it runs.
    environment : dict of str to str
        All of it.
    size : int
        Processors that it needs.
    time : float or None
        That was requested, s.
    deadline, submitted, started, ended : float or None
    state : str
        ``waiting``, ``starting``, ``running``, ``done``, ``failed``, ``cancelled`` or ``lost``.
    site : str or None
        Where it is to run, or has.
    exit_status : int or None
        Of its command; None too if that is not known.
    why : str
        Why it failed, if that is no matter of its command, or does not begin at its site.
    cancelled : int
        How often somebody has said that it is to end.
    only : str or None
        The one site that is for it.
    held : int
        1: it is not to start until it is released.
    requeue : int
        1: it may run again if its processes are killed.
    attempt : int
        How often it has been started, with the next or the present time.
    rate : float or None
        Of its site as it was when it was last to start.
    waits_at : str or None
        The site in whose queue the agents had it last, while it waits.
    landed : int or None
        Those that came to wait at sites before have lower ones, as far as a service had both.
    """

    job: int
    name: str
    command: tuple[str, ...]
    folder: str
    environment: Mapping[str, str] = field(repr=False)
    size: int
    time: float | None
    deadline: float | None
    submitted: float
    state: str
    site: str | None
    started: float | None
    ended: float | None
    exit_status: int | None
    why: str
    cancelled: int
    only: str | None
    held: int
    requeue: int
    attempt: int
    rate: float | None = None
    waits_at: str | None = None
    landed: int | None = None

    def __str__(self) -> str:
        """Return what messages call it."""
        return f"job {self.job} ({plain(self.name, 40)})"

    @property
    def place(self) -> str:
        """What its folder and its name at a site end with: each attempt has its own."""
        return f"{self.job}" if self.attempt == 1 else f"{self.job}.{self.attempt}"

    @property
    def goes_on(self) -> bool:
        """Whether it runs, or waits and may start."""
        if self.state == WAITING:
            return not (self.held or self.cancelled)
        return self.state == RUNNING or (self.state == STARTING and not self.cancelled)

    @property
    def queued_at(self) -> str | None:
        """The site in whose queue it waits, as far as is known."""
        return self.waits_at if self.state == WAITING and not self.held else None

    @property
    def limit(self) -> float | None:
        """Time after which its site may end it, s."""
        return limit_of(self.time, self.rate or 1.0)

    def told(self) -> dict[str, Any]:
        """Return what `metasched queue --json` says of it."""
        keys = "job", "name", "state", "site", "size", "submitted", "started", "ended"
        return {key: getattr(self, key) for key in (*keys, "exit_status")}


def limit_of(time: float | None, rate: float) -> float | None:
    """Return after how long a site may end a job, s: what was requested, longer on a slow one."""
    return None if time is None else time / min(1.0, rate)


class Store(Database):
    """The jobs of a service, in a folder that is its user's alone; threads may share it.

    Parameters
    ----------
    folder : Path
    make : bool
        Make it if it is not there.

    Raises
    ------
    GridError
        If it cannot be used.
    """

    file, tables, number, whose = FILE, _TABLES, VERSION, "service"

    def __init__(self, folder: Path, make: bool = False) -> None:
        super().__init__(folder, make)
        self._bell: Path | None = folder / BELL

    def copy(self) -> Store:
        """Return a copy in memory, of which nothing is kept, and which wakes nobody."""
        if self._closed:
            raise self._over()
        other = copy.copy(self)
        other._bell = None
        other._open(":memory:")
        self._file.backup(other._file)
        return other

    def add(
        self,
        command: Sequence[str],
        size: int,
        time_s: float | None = None,
        deadline: float | None = None,
        name: str = "",
        folder: str | None = None,
        environment: Mapping[str, str] | None = None,
        only: str | None = None,
        held: bool = False,
        requeue: bool = False,
        prepare: Callable[[int], object] | None = None,
    ) -> int:
        """Take in a job that is submitted now, and return its number.

        Whatever `prepare` is to do, it is told the number before anybody else knows of the job.

        Raises
        ------
        GridError
            If no program can be started with such arguments, or the file cannot be written.
        """
        now = time.time()
        for text in (*command, name):
            if "\0" in text:
                raise GridError(f"command: found {text!r}; accepted: arguments without NUL")
        given = {
            "name": _text(name or Path(command[0]).name),
            "command": json.dumps([*command]),
            "folder": json.dumps(folder or _here()),
            "environment": json.dumps(dict(os.environ if environment is None else environment)),
            "size": size,
            "time": time_s,
            "deadline": None if deadline is None else now + deadline,
            "submitted": now,
            "only": only,
            "held": held,
            "requeue": requeue,
        }
        names = ", ".join(given)
        marks = ", ".join("?" * len(given))
        with self.at_once():
            done = self._file.execute(
                f"INSERT INTO jobs ({names}) VALUES ({marks})", [*given.values()]
            )
            assert done.lastrowid is not None
            if prepare is not None:
                prepare(done.lastrowid)
        return done.lastrowid

    def update(self, job: int, **columns: Any) -> None:
        """Change what is known of a job."""
        sets = ", ".join(f"{name} = ?" for name in columns)
        with self.at_once():
            self._file.execute(f"UPDATE jobs SET {sets} WHERE job = ?", [*columns.values(), job])

    def jobs(self, where: str = "1", *values: Any) -> list[LiveJob]:
        """Return the jobs of which a condition holds, by number."""
        rows = self._asked(f"SELECT * FROM jobs WHERE {where} ORDER BY job", values, again=True)
        return [_job(row) for row in rows]

    def take_up_waiting(self) -> list[LiveJob]:
        """Return the jobs that wait, as they came to the queues of sites, and the others behind.

        That they are in these queues is forgotten.
        """
        order = "ORDER BY landed IS NULL, landed, job"
        rows = self._asked(f"SELECT * FROM jobs WHERE state = ? {order}", (WAITING,))
        self._asked("UPDATE jobs SET waits_at = NULL WHERE state = ?", (WAITING,))
        return [_job(row) for row in rows]

    def ran_lately(self, most: int) -> list[LiveJob]:
        """Return those of the jobs that ended last whose commands have ended."""
        lately = "job IN (SELECT job FROM jobs ORDER BY ended DESC LIMIT ?)"
        return self.jobs(f"exit_status IS NOT NULL AND {lately}", most)

    def job(self, number: int) -> LiveJob:
        """Return a job.

        Raises
        ------
        GridError
            If there is none of that number.
        """
        found = self.jobs("job = ?", min(number, _MOST))
        if not found:
            raise GridError(
                f"job: found {number}; accepted: one that `metasched queue --all` lists"
            )
        return found[0]

    def lacking(self) -> dict[str, str]:
        """Return what sites have for jobs that have not all of their processors, in words."""
        sizes, up = self.note("sites") or {}, self.note("up") or {}
        lack = {name: size for name, size in sizes.items() if up.get(name, size) < size}
        silent = self.note("silent") or ()
        return {
            name: "does not answer"
            if name in silent
            else f"{up[name]} of {size} processors for jobs now"
            for name, size in lack.items()
        }

    def held(self) -> set[int]:
        """Return the numbers of the jobs that are held."""
        return {row["job"] for row in self._asked("SELECT job FROM jobs WHERE held", ())}

    def folder_of(self, job: LiveJob) -> Path:
        """Return the folder of a job's present attempt, or of its next."""
        return (self.folder / "jobs" / job.place).resolve()

    def make_folder(self, job: LiveJob) -> Path:
        """Make the folder of a job's next attempt, and return it."""
        folder = self.folder_of(job)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder

    def left(self) -> int:
        """Return how many jobs have not ended."""
        ((found,),) = self._asked("SELECT count(*) FROM jobs WHERE state IN (?, ?, ?)", LIVE)
        return int(found)

    def ended(self) -> int:
        """Return how many jobs have ended."""
        ((found,),) = self._asked("SELECT count(*) FROM jobs WHERE state IN (?, ?, ?, ?)", ENDED)
        return int(found)

    def states(self, first: int = 1) -> dict[int, str]:
        """Return the states of the jobs that have not ended, by number, from one on."""
        of_index = "SELECT job, state FROM jobs WHERE state IN (?, ?, ?) AND job >= ?"
        return {row["job"]: row["state"] for row in self._asked(of_index, (*LIVE, first))}

    def version(self) -> int:
        """Return a number that is another one after any other connection has written."""
        ((found,),) = self._asked("PRAGMA data_version", ())
        return int(found)

    def ring(self) -> bool:
        """Wake the service, if it is there, and tell whether it is: it looks each second, too."""
        if self._bell is None:
            return True
        try:
            bell = os.open(self._bell, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:  # nobody hears it
            return False
        try:
            os.write(bell, b"!")
        except BlockingIOError:  # it rings already
            pass
        except BrokenPipeError:  # the service ended in this very moment
            return False
        finally:
            os.close(bell)
        return True


def _text(name: str) -> str:
    """Return a name that may be of a file, of any bytes, as text."""
    return name.encode("utf-8", "backslashreplace").decode()


def _here() -> str:
    """Return the present folder.

    Raises
    ------
    GridError
        If it is gone.
    """
    try:
        return os.getcwd()
    except OSError as error:
        raise GridError(f"present folder: {error}; accepted: one that is there") from None


def _job(row: sqlite3.Row) -> LiveJob:
    found = dict(row)
    found["command"] = tuple(json.loads(found["command"]))
    found["folder"] = json.loads(found["folder"])
    found["environment"] = json.loads(found["environment"])
    return LiveJob(**found)

"""Sites, which carry out what the agents decide, and the first of them: this machine."""

from __future__ import annotations

import os
import queue
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import NamedTuple, Protocol

from experiments.service.store import LiveJob

RUN_ONCE = str(resources.files("experiments") / "service" / "run_once.sh")
CLAIM, STARTED, EXIT_STATUS, OUTPUT = "claim", "started", "ended", "output"
"""What a job's folder has: the first three are of `RUN_ONCE`."""
OF_JOB = "METASCHED_"
"""How the names of variables begin that a job finds in its environment."""
LOOK = 0.1
"""Time between two looks at processes where the system does not tell of their ends, s."""


class End(NamedTuple):
    """How a job ended."""

    job: int
    exit_status: int | None
    """None: its processes are gone, and nobody has said how they ended."""
    time: float
    """When, by the clock, s."""


class Site(Protocol):
    """A site: so many processors, on which jobs run that it is told to start."""

    name: str

    def start(self, job: LiveJob, folder: Path) -> None:
        """Start a job that has not run, or that it is not known of; its claim has it run once.

        Raises
        ------
        OSError
            If that cannot be done.
        """

    def find(self, job: int, folder: Path) -> bool:
        """Look for a job of before this process began; return whether it runs."""

    def stop(self, job: int) -> None:
        """Have a job that runs end."""

    def ends(self) -> Iterator[End]:
        """Yield the jobs that have ended since this was asked last."""

    def close(self) -> None:
        """Be told of nothing any longer; jobs run on."""


def end_of(job: int, folder: Path) -> End | None:
    """Return how a job ended, if its folder tells."""
    with suppress(OSError, ValueError):
        file = folder / EXIT_STATUS
        return End(job, int(file.read_text()), file.stat().st_mtime)
    return None


class LocalSite:
    """Processes of this machine.

    Parameters
    ----------
    name : str
    tell : callable
        Is called, in another thread, when a job has ended.
    """

    def __init__(self, name: str, tell: Callable[[], None]) -> None:
        self.name = name
        self._tell = tell
        self._ended: queue.SimpleQueue[End] = queue.SimpleQueue()
        self._processes: dict[int, int] = {}  # of jobs that run; they lead groups of that number
        self._own: dict[int, subprocess.Popen[bytes]] = {}
        self._folders: dict[int, Path] = {}
        self._new: list[int] = []
        self._selector = selectors.DefaultSelector()
        self._lock = threading.Lock()
        self._changed, ear = os.pipe()[::-1]
        self._selector.register(ear, selectors.EVENT_READ)
        self._closed = False
        self._thread = threading.Thread(target=self._watch, daemon=True, name=f"site {name}")
        self._thread.start()

    def start(self, job: LiveJob, folder: Path) -> None:
        """Start its command, in a session of its own."""
        with (folder / OUTPUT).open("ab") as output:
            process = subprocess.Popen(
                ["/bin/sh", RUN_ONCE, str(folder), *job.command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=job.folder,
                env=_environment(job, self.name, folder),
                start_new_session=True,
            )
        self._own[job.job] = process
        self._take(job.job, process.pid, folder)

    def find(self, job: int, folder: Path) -> bool:
        """Look for the process that has claimed it; what that one alone has left is killed."""
        number = claimant(folder)
        if number is None:
            return False
        if os.fsencode(str(folder)) in _told(number, "cmdline"):
            self._take(job, number, folder)
            return True
        _kill_rest(number, folder)
        return False

    def stop(self, job: int) -> None:
        """Ask its processes to end."""
        with suppress(ProcessLookupError, KeyError):
            os.killpg(self._processes[job], signal.SIGTERM)

    def ends(self) -> Iterator[End]:
        """Yield the jobs that have ended since this was asked last."""
        with suppress(queue.Empty):
            while True:
                yield self._ended.get_nowait()

    def close(self) -> None:
        """Watch no job any longer; those that run go on."""
        self._closed = True
        os.write(self._changed, b"!")
        self._thread.join()
        os.close(self._changed)
        for process in self._own.values():
            process.returncode = process.poll() or 0  # whose end is no matter of ours

    def _take(self, job: int, number: int, folder: Path) -> None:
        with self._lock:
            self._processes[job], self._folders[job] = number, folder
            self._new.append(job)
            with suppress(OSError, AttributeError):  # where the system has no such descriptors
                self._selector.register(os.pidfd_open(number), selectors.EVENT_READ, job)
        os.write(self._changed, b"!")

    def _watch(self) -> None:
        """Look for ends, until it is closed."""
        told = hasattr(os, "pidfd_open")
        while True:
            looked_at = []
            for key, _ in self._selector.select(None if told else LOOK):
                if self._closed:
                    continue
                if key.data is None:  # some are new, and may have ended before they were watched
                    os.read(key.fd, 4096)
                    with self._lock:
                        looked_at += self._new
                        self._new = []
                else:
                    self._selector.unregister(key.fd)
                    os.close(key.fd)
                    looked_at.append(key.data)
            if self._closed:
                break
            if not told:
                with self._lock:
                    looked_at = [*self._processes]
            gone = [job for job in dict.fromkeys(looked_at) if self._is_gone(job)]
            for job in gone:
                self._note_end(job)
            if gone:
                self._tell()
        for key in [*self._selector.get_map().values()]:
            os.close(key.fd)
        self._selector.close()

    def _is_gone(self, job: int) -> bool:
        if job not in self._processes:
            return False
        own = self._own.get(job)
        if own is not None:
            return own.poll() is not None
        try:
            os.kill(self._processes[job], 0)
        except ProcessLookupError:
            return True
        return _is_zombie(self._processes[job])

    def _note_end(self, job: int) -> None:
        """Take note that the process of a job is gone; nothing of it is left to run."""
        with self._lock:
            number, folder = self._processes.pop(job), self._folders.pop(job)
            self._own.pop(job, None)
        if (end := end_of(job, folder)) is not None:
            self._ended.put(end)
        elif claimant(folder) in (number, None) or not self.find(job, folder):
            _kill_rest(number, folder)
            self._ended.put(End(job, None, time.time()))


def claimant(folder: Path) -> int | None:
    """Return the number of the process that has claimed a job; None: none has."""
    with suppress(OSError, ValueError):
        return int(os.readlink(folder / CLAIM))
    return None


def _told(number: int, what: str) -> list[bytes]:
    """Return what the system tells of a process, piece by piece; nothing if it is gone."""
    with suppress(OSError):
        return Path(f"/proc/{number}/{what}").read_bytes().split(b"\0")
    return []


def _kill_rest(number: int, folder: Path) -> None:
    """Kill what is left of the group of a process that has ended, and nothing else.

    Another group may have its number by now: processes of the job have its folder in their
    environment.
    """
    mark = os.fsencode(f"{OF_JOB}FOLDER={folder}")
    for each in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if os.getpgid(int(each.name)) == number and mark in _told(int(each.name), "environ"):
                os.kill(int(each.name), signal.SIGKILL)


def _is_zombie(number: int) -> bool:
    """Tell whether a process that is not ours to wait for has ended, and nobody has noticed."""
    with suppress(OSError):
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return False


def _environment(job: LiveJob, site: str, folder: Path) -> Mapping[str, str]:
    told = {"JOB": job.job, "NAME": job.name, "SIZE": job.size, "SITE": site, "FOLDER": folder}
    return {**job.environment, **{f"{OF_JOB}{key}": str(value) for key, value in told.items()}}

"""A site whose jobs are processes of this machine."""

from __future__ import annotations

import os
import queue
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from experiments.service.at_sites.site import (
    OF_JOB,
    OUTPUT,
    RUN_ONCE,
    Began,
    End,
    Told,
    claimant,
    end_of,
    environment,
    have_end,
)
from experiments.service.store import LiveJob

LOOK = 0.1
"""Time between two looks at processes where the system does not tell of their ends, s."""
ROUNDS = 20
"""How often a session is looked at, at most, until all of it is killed."""


class LocalSite:
    """Processes of this machine.

    Parameters
    ----------
    name : str
    capacity : int
        Processors that jobs may hold together.
    tell : callable
        Is called, in any thread, when there is news.
    """

    def __init__(self, name: str, capacity: int, tell: Callable[[], object]) -> None:
        self.name, self.capacity, self.silent = name, capacity, False
        self._tell = tell
        self._news: queue.SimpleQueue[Began | End] = queue.SimpleQueue()
        self._processes: dict[int, int] = {}  # of jobs that run; they lead groups of that number
        self._own: dict[int, subprocess.Popen[bytes]] = {}
        self._folders: dict[int, Path] = {}
        self._looked_at: set[int] = set()  # of whose ends the system does not tell
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
                env=environment(job, self.name, folder),
                start_new_session=True,
            )
        self._own[job.job] = process
        self._news.put(Began(job.job, time.time()))
        self._take(job.job, process.pid, folder)
        self._tell()

    def find(self, job: LiveJob, folder: Path) -> bool:
        """Look for the process that has claimed it; what that one alone has left is killed."""
        return self._find(job.job, folder)

    def stop(self, job: int, at_once: bool = False) -> None:
        """Ask its processes to end, or kill them all."""
        with self._lock:
            number, folder = self._processes.get(job), self._folders.get(job)
        if number is None or folder is None:
            return
        have_end(folder)
        if at_once:
            _kill_session(number, but=number)  # whose script tells of the end
        else:
            with suppress(ProcessLookupError):
                os.killpg(number, signal.SIGTERM)

    def news(self) -> Iterator[Began | End | Told]:
        """Yield what has happened since this was asked last."""
        with suppress(queue.Empty):
            while True:
                yield self._news.get_nowait()

    def close(self) -> None:
        """Watch no job any longer; those that run go on."""
        self._closed = True
        os.write(self._changed, b"!")
        self._thread.join()
        os.close(self._changed)
        for process in self._own.values():
            process.returncode = process.poll() or 0  # whose end is no matter of ours

    def _find(self, job: int, folder: Path) -> bool:
        number = claimant(folder)
        if number is None:
            return False
        if _runs(number, folder):
            self._take(job, number, folder)
            return True
        _kill_rest(number, folder)
        return False

    def _take(self, job: int, number: int, folder: Path) -> None:
        with self._lock:
            self._processes[job], self._folders[job] = number, folder
            try:
                process = os.pidfd_open(number)
            except (OSError, AttributeError):  # it is gone, or the system has none to give
                self._looked_at.add(job)
            else:
                if job in self._own or _runs(number, folder):
                    self._selector.register(process, selectors.EVENT_READ, job)
                else:  # it has ended since, and another has its number
                    os.close(process)
                    self._looked_at.add(job)
        os.write(self._changed, b"!")

    def _watch(self) -> None:
        """Look for ends, until it is closed."""
        while not self._closed:
            told = set()
            for key, _ in self._selector.select(LOOK if self._looked_at else None):
                if key.data is None:
                    os.read(key.fd, 4096)
                    continue
                told.add(key.data)
                self._selector.unregister(key.fd)
                os.close(key.fd)
            with self._lock:
                gone = {job for job in told | self._looked_at if self._is_gone(job)}
                self._looked_at -= gone
            if [job for job in gone if self._note_end(job)]:
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
        return not _runs(self._processes[job], self._folders[job])

    def _note_end(self, job: int) -> bool:
        """Take note that the process of a job is gone; tell whether all is known of that."""
        folder = self._folders[job]
        try:
            end = end_of(job, folder)
        except OSError:  # as for want of descriptors
            with self._lock:
                self._looked_at.add(job)
            return False
        with self._lock:
            number, own = self._processes.pop(job), self._own.pop(job, None)
            del self._folders[job]
        if end is None and (by := claimant(folder)) is None:
            end = End(job, None, time.time(), begun=False)
        elif end is None:
            if by != number and self._find(job, folder):
                return False  # another one had claimed it, and runs on
            if own is not None:  # so that no other session can have its number yet
                _kill_session(number)
            end = End(job, None, time.time())
        self._news.put(end)
        return True


def _environment(number: int) -> list[bytes]:
    """Return the variables of a process; none if it is gone."""
    with suppress(OSError):
        return Path(f"/proc/{number}/environ").read_bytes().split(b"\0")
    return []


def _runs(number: int, folder: Path) -> bool:
    """Tell whether a process is the script of a job: another may have its number by now."""
    try:
        words = Path(f"/proc/{number}/cmdline").read_bytes().split(b"\0")
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return False
    except OSError:  # as for want of descriptors: so it seems, until that is known
        return True
    return os.fsencode(str(folder)) in words


def _kill_rest(number: int, folder: Path) -> None:
    """Kill what is left of the session of a process that has ended, and nothing else.

    Another session may have its number by now: in that of the job, some process has its folder in
    the environment.
    """
    mark = os.fsencode(f"{OF_JOB}FOLDER={folder}")
    if any(mark in _environment(each) for each in _session(number)):
        _kill_session(number)


def _session(number: int) -> set[int]:
    """Return the processes of a session that have not ended."""
    found = set()
    with suppress(OSError):
        for each in os.listdir("/proc"):
            with suppress(OSError, ValueError):
                if os.getsid(int(each)) == number and not _is_zombie(int(each)):
                    found.add(int(each))
    return found


def _kill_session(number: int, but: int | None = None) -> None:
    """Kill the processes of a session, also those that they start meanwhile, but perhaps one."""
    for _ in range(ROUNDS):
        if not (left := _session(number) - {but}):
            return
        for each in left:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(each, signal.SIGKILL)
        time.sleep(LOOK / ROUNDS)


def _is_zombie(number: int) -> bool:
    """Tell whether a process that is not ours to wait for has ended, and nobody has noticed."""
    with suppress(OSError):
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return False

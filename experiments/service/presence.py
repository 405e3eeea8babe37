"""What says that a service is there, wakes it, and lets others in."""

from __future__ import annotations

import os
import selectors
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from experiments.run.files import lock
from experiments.service.store import FILE, LOCK
from grid.errors import GridError

PATIENCE = 2.0
"""How long a lock of one that has just been killed may outlive it, s: what it was about to start
has its files until the system has begun the program."""


def locked(folder: Path, what: str = "service") -> IO[bytes]:
    """Return a file that says that a service, or something else, is there while it is open.

    Raises
    ------
    GridError
        If another one is.
    """
    file = (folder / LOCK).open("ab")
    until = time.monotonic() + PATIENCE
    while not _has_locked(file):
        if time.monotonic() >= until:
            file.close()
            raise GridError(f"{folder}: another {what} is there already; accepted: another --state")
        time.sleep(0.05)
    return file


def _has_locked(file: IO[bytes]) -> bool:
    try:
        lock(file)
    except OSError:
        return False
    return True


@contextmanager
def bell(path: Path) -> Iterator[int]:
    """Give a pipe, by a name, that wakes a service."""
    path.unlink(missing_ok=True)
    os.mkfifo(path, 0o600)
    pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK)  # as one who writes, too, it has no end
    try:
        yield pipe
    finally:
        os.close(pipe)
        path.unlink(missing_ok=True)


class Door:
    """A socket in the folder of a service, by which others come in.

    Parameters
    ----------
    folder : Path
    name : str
    ear : selector
        Wakes the service; what is registered with a callable is to be called.
    enter : callable
        Is given the socket of each who comes.

    Raises
    ------
    OSError
        If the file system has no sockets.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        ear: selectors.BaseSelector,
        enter: Callable[[socket.socket], object],
    ) -> None:
        self._place, self._ear, self._enter = folder / name, ear, enter
        self._place.unlink(missing_ok=True)
        self._open = socket.socket(socket.AF_UNIX)
        try:
            with _reachable(folder, name) as place:
                self._open.bind(place)
            self._open.listen()
        except OSError:
            self._open.close()
            raise
        self._open.setblocking(False)
        ear.register(self._open, selectors.EVENT_READ, self._let_in)

    def _let_in(self) -> None:
        with suppress(OSError):
            self._enter(self._open.accept()[0])

    def close(self) -> None:
        """Let nobody in any longer."""
        self._ear.unregister(self._open)
        self._open.close()
        self._place.unlink(missing_ok=True)


def knock(folder: Path, name: str) -> socket.socket:
    """Return a socket by which one has come in to a service.

    Raises
    ------
    OSError
        If none is there.
    """
    inside = socket.socket(socket.AF_UNIX)
    try:
        with _reachable(folder, name) as place:
            inside.connect(place)
    except OSError:
        inside.close()
        raise
    return inside


@contextmanager
def _reachable(folder: Path, name: str) -> Iterator[str]:
    """Give a name of a socket that is short enough for the system, wherever the folder is."""
    there = os.open(folder, os.O_RDONLY)
    try:
        short = Path(f"/proc/self/fd/{there}")
        yield str((short if short.exists() else folder) / name)
    finally:
        os.close(there)


def is_service(folder: str | os.PathLike[str]) -> bool:
    """Tell whether a folder is that of a service."""
    return os.path.isfile(os.path.join(folder, FILE))

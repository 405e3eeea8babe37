"""What says that a service is there, and wakes it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from experiments.run.files import lock
from experiments.service.store import LOCK
from grid.errors import GridError


def locked(folder: Path, what: str = "service") -> Any:
    """Return a file that says that a service, or something else, is there while it is open.

    Raises
    ------
    GridError
        If another one is.
    """
    file = (folder / LOCK).open("ab")
    try:
        lock(file)
    except OSError:
        file.close()
        raise GridError(
            f"{folder}: another {what} is there already; accepted: another --state"
        ) from None
    return file


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

"""What says that a service is there, and wakes it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from experiments.run.files import lock
from experiments.service.store import FILE, LOCK, Store
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


def is_service(folder: str | os.PathLike[str]) -> bool:
    """Tell whether a folder is that of a service."""
    return os.path.isfile(os.path.join(folder, FILE))


def sizes_before(folder: Path) -> dict[str, int]:
    """Return the sizes of sites that a service in a folder had; nothing if there was none."""
    if not (folder / FILE).is_file():
        return {}
    with closing(Store(folder)) as store:
        return store.note("sites") or {}

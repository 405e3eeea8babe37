"""Files that a run writes: whether they can be, before it, and all or nothing, after it."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from experiments.run.replacing import scratch, sync
from grid.errors import GridError

JOBS, TIMELINE, SUMMARY, USERS, ELECTRICITY = RESULT = (
    "jobs.csv",
    "timeline.csv",
    "summary.json",
    "users.csv",
    "electricity.csv",
)
"""Files of a result; the last two if jobs name their users, and if watts are given."""
REPLICATIONS = ("replications.json", "replications.csv")
"""Of replications the object that ``--json`` prints, and a row for each run."""


def check_file(path: str | os.PathLike[str], what: str, folder: str | None = None) -> None:
    """Raise `GridError` if `what` cannot be written to a file, before any work is done.

    Nor if it is one of those that results are written to in `folder`.
    """
    given = os.fspath(path)
    if folder is not None and Path(given).resolve() in {
        (Path(folder) / name).resolve() for name in RESULT
    }:
        raise GridError(f"{given}: found a file of the results too; accepted: another file")
    with writing(given, what, "file"):
        place = true_place(given)
        _try(given, place.parent, (place.name,))


def check_not_read(path: str | os.PathLike[str], sources: Iterable[str]) -> None:
    """Raise `GridError` if a file to write is one of those that are read, also by a link."""
    for source in sources:  # `Path.exists` raises where a name is too long
        if os.path.exists(path) and os.path.exists(source) and os.path.samefile(path, source):
            raise GridError(f"{path}: found a file that is read; accepted: another file")


def check_files(
    files: Iterable[tuple[str | None, str]], folder: str | None, sources: Sequence[str] = ()
) -> None:
    """Raise `GridError` as `check_file` does, or if two files are one; None: not to be written.

    Nor may one, or a result in the folder, be a source, which is read.
    """
    for name in () if folder is None else RESULT:
        check_not_read(Path(folder or "", name), sources)
    there: dict[Path, str] = {}
    for path, what in files:
        if path is not None:
            check_file(path, what, folder)
            check_not_read(path, sources)
            other = there.setdefault(Path(path).resolve(), what)
            if other != what:
                raise GridError(f"{path}: found for {other} and {what}; accepted: a file for each")


def check_folder(folder: str | os.PathLike[str]) -> None:
    """Raise `GridError` if results cannot be written to a folder, before any work is done."""
    given = os.fspath(folder)
    with writing(given, "results", "folder"):
        _try(given, Path(given), RESULT)


def true_place(path: str | os.PathLike[str]) -> Path:
    """Return where a file lies, of a link the file that it leads to, which stays a link.

    An `OSError` if it leads to none, such as to a pipe or to a file that has no name any more.
    """
    if not os.path.islink(path):
        return Path(path)
    place = Path(os.path.realpath(path))
    if os.path.exists(path) and not place.is_file():
        raise FileExistsError(errno.EEXIST, f"{Path(path).name} is no file")
    return place


def _try(given: str, folder: Path, names: Sequence[str]) -> None:
    """Raise `OSError` if files of these names cannot be put into a folder; leave nothing there."""
    if not given:
        raise FileNotFoundError(errno.ENOENT, "found ''")
    with made(folder):
        tempfile.TemporaryFile(dir=folder).close()
        for name in names:
            with suppress(FileNotFoundError):
                if not stat.S_ISREG((folder / name).stat().st_mode):
                    raise FileExistsError(errno.EEXIST, f"{name or folder} is no file")


@contextmanager
def made(folder: Path) -> Iterator[None]:
    """Make a folder if it is not there, and remove it again unless something is put there."""
    missing = [each for each in (folder, *folder.parents) if not os.path.lexists(each)]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    finally:
        for each in missing:
            with suppress(OSError):
                each.rmdir()


@contextmanager
def writing(path: str | os.PathLike[str], what: str, place: str) -> Iterator[None]:
    """Tell a user why something cannot be written to a path, which is a file or a folder."""
    try:
        yield
    except OSError as error:
        raise GridError(
            f"{path}: cannot write {what}: {error.strerror or error}; "
            f"accepted: a {place} that can be written to"
        ) from None


@contextmanager
def new_file(path: str | os.PathLike[str], what: str) -> Iterator[Path]:
    """Give where to write a file, which goes to its place when all is well; else nothing changes.

    Its folder is made if it is not there, and a file there is replaced, also one that a link leads
    to.

    Raises
    ------
    GridError
        If `what` cannot be written there.
    """
    with writing(path, what, "file"):
        place = true_place(path)
        with made(place.parent), scratch(place.parent) as folder:
            new = folder / Path(path).name
            yield new
            sync(new)
            new.replace(place)
            sync(place.parent)


def lock(file: IO[bytes]) -> None:
    """Lock a file for this process, where there are such locks; an `OSError` if another has."""
    try:
        import fcntl
    except ImportError:
        return
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

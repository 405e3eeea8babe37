"""Files that a run writes: whether they can be, before it, and all or nothing, after it."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from grid.errors import GridError

JOBS, TIMELINE, SUMMARY, USERS = RESULT = (
    "jobs.csv",
    "timeline.csv",
    "summary.json",
    "users.csv",
)
"""Files of a result; the last one if jobs name their users."""


def check_file(path: str | os.PathLike[str], what: str, folder: str | None = None) -> None:
    """Raise `GridError` if `what` cannot be written to a file, before any work is done.

    Nor if it is one of those that results are written to in `folder`.
    """
    given = os.fspath(path)
    if folder is not None and Path(given).resolve() in {
        (Path(folder) / name).resolve() for name in RESULT
    }:
        raise GridError(f"{given}: found a file of the results too; accepted: another file")
    try:
        _try(given, Path(given).parent, (Path(given).name,))
    except OSError as error:
        raise unwritable(given, what, "file", error) from None


def check_files(files: Iterable[tuple[str | None, str]], folder: str | None) -> None:
    """Raise `GridError` as `check_file` does, or if two files are one; None: not to be written."""
    there: dict[Path, str] = {}
    for path, what in files:
        if path is not None:
            check_file(path, what, folder)
            other = there.setdefault(Path(path).resolve(), what)
            if other != what:
                raise GridError(f"{path}: found for {other} and {what}; accepted: a file for each")


def check_folder(folder: str | os.PathLike[str]) -> None:
    """Raise `GridError` if results cannot be written to a folder, before any work is done."""
    given = os.fspath(folder)
    try:
        _try(given, Path(given), RESULT)
    except OSError as error:
        raise unwritable(given, "results", "folder", error) from None


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


def unwritable(path: str | os.PathLike[str], what: str, place: str, error: OSError) -> GridError:
    """Return the error that tells a user why something cannot be written there."""
    return GridError(
        f"{path}: cannot write {what}: {error.strerror or error}; "
        f"accepted: a {place} that can be written to"
    )


@contextmanager
def new_file(path: str | os.PathLike[str], what: str) -> Iterator[Path]:
    """Give where to write a file, which goes to its place when all is well; else nothing changes.

    Its folder is made if it is not there, and a file there is replaced.

    Raises
    ------
    GridError
        If `what` cannot be written there.
    """
    place = Path(path)
    try:
        with (
            made(place.parent),
            tempfile.TemporaryDirectory(
                prefix=".metasched-", dir=place.parent, ignore_cleanup_errors=True
            ) as scratch,
        ):
            new = Path(scratch) / place.name
            yield new
            new.replace(place)
    except OSError as error:
        raise unwritable(path, what, "file", error) from None


@contextmanager
def synced(path: Path) -> Iterator[TextIO]:
    """Open a new file, and have all of it on the disk when it is closed."""
    with path.open("x", encoding="utf-8", newline="") as file:
        yield file
        sync(file)


def sync(file: TextIO) -> None:
    """Have all that was written to a file on the disk."""
    file.flush()
    os.fsync(file.fileno())


def replace_all(new: Path, folder: Path) -> None:
    """Put the files of a result in `new` into a folder: all, or, whatever goes wrong, none."""
    standing = [name for name in RESULT if (folder / name).exists()]
    old = new / "old"
    old.mkdir()
    for name in standing:
        shutil.copy2(folder / name, old)
    try:
        for name in RESULT:
            if (new / name).exists():
                (new / name).replace(folder / name)
            else:
                (folder / name).unlink(missing_ok=True)
    except BaseException:
        for name in RESULT:
            if name in standing:
                (old / name).replace(folder / name)
            else:
                (folder / name).unlink(missing_ok=True)
        raise

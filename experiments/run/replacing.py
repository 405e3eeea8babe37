"""Putting new files in the place of old ones, all as one: also if the process is killed meanwhile.

A folder is exchanged for one with the new files and links to all others that were in it. Where that
cannot be done, new files are moved one by one once all of them are there, and whoever reads or
writes the folder next goes on with that.
"""

from __future__ import annotations

import ctypes
import errno
import os
import re
import shutil
import socket
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = ".metasched-"
"""Of the names of folders for files that are not whole yet."""

COMPLETE = f"{PREFIX}complete"
"""Folder of new files that count, though some may not be in their place yet."""

_KEPT = "checkpoint"
_GONE = ".gone"
_ODD = re.compile(r"[^\w.]")
_EXCHANGE, _HERE = 2, -100  # RENAME_EXCHANGE, AT_FDCWD


# Folders for files that are not whole yet ---------------------------------------------------------


def scratch_in(folder: Path, kept: bool = False) -> Path:
    """Return a new folder in another one, where nothing is left of processes that were killed.

    Parameters
    ----------
    folder : Path
    kept : bool
        It is not to be removed when this process has been killed: a checkpoint goes on with it.
    """
    clean(folder)
    owner = _KEPT if kept else f"{_host()}-{os.getpid()}"
    return Path(tempfile.mkdtemp(prefix=f"{PREFIX}{owner}-", dir=folder))


def is_kept(new: Path) -> bool:
    """Tell whether a checkpoint may go on with a folder that `scratch_in` made."""
    return new.name.startswith(f"{PREFIX}{_KEPT}-")


@contextmanager
def scratch(folder: Path) -> Iterator[Path]:
    """Give a new folder in another one, and remove it in the end."""
    new = scratch_in(folder)
    try:
        yield new
    finally:
        shutil.rmtree(new, ignore_errors=True)


def clean(folder: Path) -> None:
    """Remove what processes of this machine that are no more left in a folder."""
    with suppress(OSError):
        for name in os.listdir(folder):
            if name.startswith(PREFIX) and _is_left(name):
                shutil.rmtree(folder / name, ignore_errors=True)


def _host() -> str:
    return _ODD.sub("_", socket.gethostname())[:64]


def _is_left(name: str) -> bool:
    """Tell whether a name is that of a folder whose process is no more."""
    parts = name.removeprefix(PREFIX).rsplit("-", 2)
    if len(parts) != 3 or parts[0] != _host() or not parts[1].isdecimal() or os.name == "nt":
        return False
    try:
        os.kill(int(parts[1]), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        pass
    return False


# Replacing files ----------------------------------------------------------------------------------


def replace_all(new: Path, folder: Path, gone: Collection[str] = ()) -> None:
    """Put all files of a scratch folder into the folder that it is in, as one.

    Parameters
    ----------
    new : Path
        Made by `scratch_in`; it may not be there afterwards.
    folder : Path
        All other files in it stay.
    gone : collection of str
        Names of files that are not to be in the folder, unless they are new.

    Raises
    ------
    OSError
        If that cannot be done; then nothing has changed.
    """
    names = {each.name for each in new.iterdir()}
    for name in names:
        sync(new / name)
    gone = {*gone} - names
    for name in names | gone:
        if (place := folder / name).is_dir() and not place.is_symlink():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(place))
    if not _exchanged(new, folder, names, gone):
        recover(folder)
        for name in gone:
            (new / f"{name}{_GONE}").touch()
        sync(new)
        new.rename(folder / COMPLETE)
        sync(folder)
        recover(folder)


def recover(folder: Path) -> None:
    """Go on with moving new files to their places, if a process was killed while it did so.

    Raises
    ------
    OSError
        If that cannot be done.
    """
    complete = folder / COMPLETE
    if not os.path.lexists(complete):
        return
    names: list[str] = []
    with suppress(FileNotFoundError):  # somebody else goes on with it, and has just ended
        names = os.listdir(complete)
    for name in names:
        with suppress(FileNotFoundError):  # somebody else does so too
            if name.endswith(_GONE):
                (folder / name.removesuffix(_GONE)).unlink(missing_ok=True)
                (complete / name).unlink()
            else:
                (complete / name).replace(folder / name)
    sync(folder)
    with suppress(FileNotFoundError):
        complete.rmdir()


def _exchanged(new: Path, folder: Path, names: Collection[str], gone: Collection[str]) -> bool:
    """Exchange a folder for one with the new files and links to the others; tell whether it is."""
    folder = folder.resolve()
    try:
        if os.path.samefile(folder, os.curdir):  # who is in it would be in a folder that is gone
            return False
        others = [
            each
            for each in os.scandir(folder)
            if each.name not in names and each.name not in gone and each.name != new.name
        ]
        if any(each.is_dir(follow_symlinks=False) for each in others):
            return False
        clean(folder.parent)
        beside = scratch_in(folder.parent)
    except OSError:
        return False
    try:
        for each in others:
            os.link(each, beside / each.name, follow_symlinks=False)
        for name in names:
            os.link(new / name, beside / name)
        _copy_status(folder, beside)
        sync(beside)
        exchange(beside, folder)
    except OSError:
        shutil.rmtree(beside, ignore_errors=True)
        return False
    with suppress(OSError):
        sync(folder.parent)
        for left in beside.iterdir():  # what others put there just now
            if left.name not in {*names, *gone, new.name} and not os.path.lexists(
                folder / left.name
            ):
                left.replace(folder / left.name)
    shutil.rmtree(beside, ignore_errors=True)
    return True


def _copy_status(old: Path, new: Path) -> None:
    """Give a folder the owner, the mode and the attributes of another one."""
    status = os.stat(old)
    if (status.st_uid, status.st_gid) != (os.geteuid(), os.stat(new).st_gid):
        os.chown(new, status.st_uid, status.st_gid)
    shutil.copystat(old, new)
    os.utime(new)


def exchange(one: Path, other: Path) -> None:
    """Exchange two folders, at once.

    Raises
    ------
    OSError
        If the system or the file system cannot do that.
    """
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    if rename(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(one), None, str(other))


def sync(path: Path) -> None:
    """Have a file, or the names in a folder, on the disk."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    except OSError as error:  # some file systems cannot do that for folders
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(file)

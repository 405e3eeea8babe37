"""Files that runs read: known by what is in them, and read once by each process."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping

from agents.importing import own_files
from experiments.scenario.jobs import READ, Source, paths_of, read_source
from experiments.scenario.parameters import Parameters
from experiments.sweeps.run_store import code_digest
from grid.errors import GridError
from grid.platform.multicluster import Platform
from grid.workloads.table import Table

_tables: dict[tuple[object, ...], Table] = {}
_lock = threading.Lock()


def digest(path: str) -> str:
    """Return the SHA-256 of a file.

    Raises
    ------
    GridError
        If it cannot be read.
    """
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise GridError(
            f"{path}: cannot be read ({error.strerror}); accepted: a readable file"
        ) from None


def digest_of_files(source: Source | None) -> str:
    """Return what tells runs from those of other logs, or of other code of the user's: a digest.

    That is of the logs, and of the user's modules that are loaded.

    Raises
    ------
    GridError
        If a file cannot be read.
    """
    logs = [] if source is None else paths_of(source)
    files = {path: path for path in logs} | own_files()
    told = sorted((name, digest(file)) for name, file in files.items())
    return hashlib.sha256(repr(told).encode()).hexdigest() if told else ""


def check_digests(digests: Mapping[str, str]) -> None:
    """Raise `GridError` for a file that is not there, or not what it was, by its SHA-256."""
    for path, known in digests.items():
        if digest(path) != known:
            raise GridError(f"{path}: found another content; accepted: that of the study's begin")


def unfit(code: str, digests: Mapping[str, str]) -> str:
    """Return in words why this process cannot do the runs of a study, or "" if it can.

    Parameters
    ----------
    code : str
        `code_digest` of the study.
    digests : mapping of str to str
        SHA-256 of each file that runs read.
    """
    if code_digest() != code:
        return "another version of metasched; accepted: the same as here"
    try:
        check_digests(digests)
    except GridError as error:
        return str(error)
    return ""


def read_once(
    digests: Mapping[str, str], source: Source, platform: Platform, parameters: Parameters
) -> Table:
    """Read logs as `read_source` does, once in a process for each content.

    Parameters
    ----------
    digests : mapping of str to str
        SHA-256 of each file, which is checked before it is read.
    source, platform, parameters
        As for `read_source`.

    Raises
    ------
    GridError
        If a file is not what it was.
    """
    known = {path: digests[path] for path in paths_of(source)}
    how = [repr(getattr(parameters, name)) for name in READ]
    key = (*known.items(), str(source), *platform.names, platform.speed, *how)
    with _lock:  # threads of a worker wait for the first one's
        if key not in _tables:
            check_digests(known)
            _tables[key] = read_source(source, platform, parameters)
        return _tables[key]

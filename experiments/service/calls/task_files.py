"""Calls of functions in the folders of jobs: written for them, and what comes of it, read."""

from __future__ import annotations

import os
import pickle
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from experiments.service.at_sites.site import OUTPUT
from experiments.service.calls.task import (
    CALL,
    LOST,
    RESULT,
    RETURNED,
    Result,
    in_a_line,
    write_call,
)
from experiments.service.connection import Job
from experiments.service.store import DONE, LiveJob
from grid.errors import GridError

_TOLD = 10
"""Last lines of output that an exception tells."""


class JobError(RuntimeError):
    """A job that was to carry out a task has ended without a result that can be taken.

    Attributes
    ----------
    job : LiveJob
        All that is known of it.
    """

    job: LiveJob


def failed(job: LiveJob, why: str, note: str = "") -> JobError:
    """Return the exception that tells of a job without a result."""
    error = JobError(f"{job}: {why}")
    error.job = job
    if note:
        error.add_note(note)
    return error


def written(folder: Path, name: str, call: tuple[Callable[..., Any], Any, Any]) -> Path:
    """Return a new file with a call, in the folder of all jobs' folders.

    Raises
    ------
    GridError
        If it cannot be pickled.
    """
    folder.mkdir(mode=0o700, exist_ok=True)
    number, path = tempfile.mkstemp(prefix=CALL, dir=folder)
    try:
        with os.fdopen(number, "wb") as file:
            write_call(file, call)
    except BaseException as error:
        os.unlink(path)
        if not isinstance(error, Exception) or isinstance(error, OSError):
            raise
        raise GridError(
            f"call of {name}: {in_a_line(error)}; accepted: what can be pickled"
        ) from error
    return Path(path)


def hand_over(call: Path, number: int) -> None:
    """Put a file with a call into the folder of a job."""
    folder = call.with_name(str(number))
    folder.mkdir(mode=0o700, exist_ok=True)
    os.replace(call, folder / CALL)


def taken(handle: Job) -> Any:
    """Return what the call of a job, which has ended, has returned, or raise what it has raised.

    Raises
    ------
    JobError
        If it has done neither.
    """
    job, folders = handle.read(), handle.folders()
    try:
        file = (folders[-1] / RESULT).open("rb")
    except FileNotFoundError:
        status = f"exit status {job.exit_status}" if job.exit_status else job.why
        without = "without a result" if job.state == DONE else ""
        told = ", ".join(filter(None, (job.state, status, without)))
        raise failed(job, told, _end_of(folders[0] / OUTPUT)) from None
    with file:
        result = Result(*pickle.load(file))
        try:
            found = pickle.load(file)
        except Exception as error:
            why = f"{result.line or 'its result'} cannot be read here: {in_a_line(error)}"
            raise failed(job, why, result.trace) from error
    if result.kind == RETURNED:
        return found
    if result.kind == LOST:
        raise failed(job, result.line, result.trace)
    found.add_note(f"{job} at {job.site}:\n{result.trace.rstrip()}")
    raise found


def _end_of(output: Path) -> str:
    """Return the last lines of what a job has written."""
    with suppress(OSError), output.open("rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - 4096))
        return "\n".join(file.read().decode(errors="replace").splitlines()[-_TOLD:])
    return ""


def clear(job: Job) -> None:
    """Remove what nobody needs of a job that has ended: all, unless it has written something.

    Where its folder is gone, nobody can claim it, and so none runs it again.
    """
    folders = job.folders()
    forget(folders[-1])
    for folder in folders:
        output = folder / OUTPUT
        if not (output.is_file() and output.stat().st_size):
            shutil.rmtree(folder, ignore_errors=True)


def forget(folder: Path) -> None:
    """Remove a call and its result: a job that has begun does not keep its result then."""
    for file in (folder / CALL, *folder.glob(f"{RESULT}*")):
        file.unlink(missing_ok=True)
    with suppress(OSError):  # it has begun
        folder.rmdir()

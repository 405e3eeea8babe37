"""Writing the files of a result: all of them, or nothing is changed."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TextIO

import numpy as np

from experiments.files import JOBS, SUMMARY, TIMELINE, made, replace_all, sync, synced, unwritable
from experiments.result_files import COLUMNS
from experiments.results import Result
from grid.finished import Records
from grid.kernel.state import FINISHED
from grid.platform import Platform
from grid.records import jobs_table


class NewResult:
    """The files of a result that is still to come: jobs are written as they are handed over.

    Until `finish` they are in a folder of their own, of which nothing is left if that never comes.

    Parameters
    ----------
    folder : Path
        Where they go.
    scratch : Path
        Where they are, in that folder.
    jobs : file
        The jobs, in the scratch folder.
    platform : Platform
    """

    def __init__(self, folder: Path, scratch: Path, jobs: TextIO, platform: Platform) -> None:
        self._folder, self._scratch = folder, scratch
        self._jobs, self._platform = jobs, platform
        self._write(Records(np.zeros(0, FINISHED), np.zeros((0, 0), np.int32)), header=True)

    def add(self, records: Records) -> None:
        """Write jobs that left, which arrived after all that were written before.

        Raises
        ------
        GridError
            If they cannot be written.
        """
        with _telling(self._folder):
            self._write(records)

    def finish(self, result: Result) -> None:
        """Write all else, and put the files into the folder.

        Raises
        ------
        GridError
            If that cannot be done; then nothing has changed there.
        """
        summary = json.dumps(result.summary(), indent=2, allow_nan=False)
        with _telling(self._folder):
            sync(self._jobs)
            self._jobs.close()
            with synced(self._scratch / TIMELINE) as file:
                result.timeline.to_csv(file, index=False, lineterminator="\n")
            with synced(self._scratch / SUMMARY) as file:
                file.write(summary + "\n")
            replace_all(self._scratch, self._folder)

    def _write(self, records: Records, header: bool = False) -> None:
        table = jobs_table(records, self._platform)
        table.to_csv(
            self._jobs, columns=[*COLUMNS], header=header, index=False, lineterminator="\n"
        )


@contextmanager
def new_result(folder: str | os.PathLike[str], platform: Platform) -> Iterator[NewResult]:
    """Give what takes the jobs of a run, and its result in the end.

    Parameters
    ----------
    folder : path
        Made if it is not there; results in it are replaced once the new ones are complete.
    platform : Platform
        Where the run is.

    Raises
    ------
    GridError
        If the files cannot be written.
    """
    folder = Path(folder)
    with ExitStack() as stack:
        with _telling(folder):
            stack.enter_context(made(folder))
            scratch = tempfile.TemporaryDirectory(
                prefix=".metasched-", dir=folder, ignore_cleanup_errors=True
            )
            path = stack.enter_context(scratch)
            jobs = (Path(path) / JOBS).open("x", encoding="utf-8", newline="")
        try:
            with _telling(folder):
                new = NewResult(folder, Path(path), jobs, platform)
            yield new
        finally:
            with suppress(OSError):  # of a full disk, which was told before
                jobs.close()


def write_rounds(result: Result, path: str | os.PathLike[str]) -> None:
    """Write `Result.rounds_table` as CSV: all of it, or nothing is changed.

    Parameters
    ----------
    result : Result
    path : path
        Its folder is made if it is not there; a file there is replaced.

    Raises
    ------
    GridError
        If the file cannot be written.
    """
    path = Path(path)
    with _telling(path, "rounds", "file"):
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(
            prefix=".metasched-", dir=path.parent, ignore_cleanup_errors=True
        ) as scratch:
            new = Path(scratch) / "rounds.csv"
            with synced(new) as file:
                result.rounds_table().to_csv(file, index=False, lineterminator="\n")
            new.replace(path)


@contextmanager
def _telling(path: Path, what: str = "results", place: str = "folder") -> Iterator[None]:
    """Tell a user why something cannot be written."""
    try:
        yield
    except OSError as error:
        raise unwritable(path, what, place, error) from None

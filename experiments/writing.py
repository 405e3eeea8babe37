"""Writing the files of a result: all of them, or nothing is changed."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.files import (
    JOBS,
    SUMMARY,
    TIMELINE,
    USERS,
    made,
    new_file,
    replace_all,
    synced,
    unwritable,
)
from experiments.growing import Growing
from experiments.result_files import COLUMNS
from experiments.results import Result
from grid.finished import Records
from grid.kernel.rows import FINISHED
from grid.platform import Platform
from grid.records import jobs_table


class NewResult:
    """The files of a result that is still to come: jobs are written as they are handed over.

    Until `finish` they are in a folder of their own. A pickle goes on where it was, once
    `resumed_result` has opened its files.

    Parameters
    ----------
    folder : Path
        Where they go.
    scratch : Path
        Where they are, in that folder.
    platform : Platform

    Attributes
    ----------
    folder : Path
    jobs : Growing
        The jobs, in the scratch folder.
    """

    def __init__(self, folder: Path, scratch: Path, platform: Platform) -> None:
        self.folder, self._scratch = folder, scratch
        self._platform = platform
        self.jobs = Growing(scratch / JOBS)
        self._write(Records(np.zeros(0, FINISHED), np.zeros((0, 0), np.int32)), header=True)

    def add(self, records: Records) -> None:
        """Write jobs that left, which arrived after all that were written before.

        Raises
        ------
        GridError
            If they cannot be written.
        """
        with _telling(self.folder):
            self._write(records)

    def finish(self, result: Result) -> None:
        """Write all else, and put the files into the folder.

        Raises
        ------
        GridError
            If that cannot be done; then nothing has changed there.
        """
        summary = json.dumps(result.summary(), indent=2, allow_nan=False)
        with _telling(self.folder):
            self.jobs.sync()
            self.jobs.close()
            with synced(self._scratch / TIMELINE) as file:
                result.timeline.to_csv(file, index=False, lineterminator="\n")
            if users := result.tally.users.table():
                with synced(self._scratch / USERS) as file:
                    pd.DataFrame(users).to_csv(file, index=False, lineterminator="\n")
            with synced(self._scratch / SUMMARY) as file:
                file.write(summary + "\n")
            replace_all(self._scratch, self.folder)
            shutil.rmtree(self._scratch, ignore_errors=True)

    def __getstate__(self) -> dict[str, Any]:
        places = {"folder": self.folder.absolute(), "_scratch": self._scratch.absolute()}
        return self.__dict__ | places

    def go_on(self) -> None:
        """Open the files as they were when this was pickled.

        If the run has ended since, in order or not, jobs are taken from the folder itself.
        """
        if not (self._scratch / JOBS).is_file():
            self._scratch = _scratch_in(self.folder)
            shutil.copyfile(self.folder / JOBS, self._scratch / JOBS)
        self.jobs.go_on(self._scratch / JOBS)

    def close(self, keep: bool) -> None:
        """Write no more; leave nothing that is not in the folder itself, unless it is kept."""
        with suppress(OSError):  # of a full disk, which was told before
            self.jobs.close()
        if not keep:
            shutil.rmtree(self._scratch, ignore_errors=True)

    def _write(self, records: Records, header: bool = False) -> None:
        table = jobs_table(records, self._platform)
        table.to_csv(self.jobs, columns=[*COLUMNS], header=header, index=False, lineterminator="\n")


@contextmanager
def new_result(
    folder: str | os.PathLike[str], platform: Platform, keep: bool = False
) -> Iterator[NewResult]:
    """Give what takes the jobs of a run, and its result in the end.

    Parameters
    ----------
    folder : path
        Made if it is not there; results in it are replaced once the new ones are complete.
    platform : Platform
        Where the run is.
    keep : bool
        Leave what was written of a result that is not finished: a checkpoint goes on with it.

    Raises
    ------
    GridError
        If the files cannot be written.
    """
    folder = Path(folder)
    with ExitStack() as stack:
        with _telling(folder):
            stack.enter_context(made(folder))
            new = NewResult(folder, _scratch_in(folder), platform)
        try:
            yield new
        finally:
            new.close(keep)


@contextmanager
def resumed_result(new: NewResult) -> Iterator[None]:
    """Have the files of a result that was pickled written on.

    Raises
    ------
    GridError
        If they are no longer there, or not as they were.
    """
    with _telling(new.folder):
        new.go_on()
    try:
        yield
    finally:
        new.close(keep=True)


def _scratch_in(folder: Path) -> Path:
    return Path(tempfile.mkdtemp(prefix=".metasched-", dir=folder))


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
    with new_file(path, "rounds") as new, synced(new) as file:
        result.rounds_table().to_csv(file, index=False, lineterminator="\n")


@contextmanager
def _telling(path: Path) -> Iterator[None]:
    """Tell a user why something cannot be written."""
    try:
        yield
    except OSError as error:
        raise unwritable(path, "results", "folder", error) from None

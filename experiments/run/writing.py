"""Writing the files of a result: all of them, or nothing is changed."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from experiments.run.append_file import Growing
from experiments.run.files import (
    ELECTRICITY,
    JOBS,
    REPLICATIONS,
    SUMMARY,
    TIMELINE,
    USERS,
    made,
    new_file,
    writing,
)
from experiments.run.replacing import clean, recover, replace_all, scratch_in
from experiments.run.result_files import COLUMNS, OF_USERS, STEP_OF_ELECTRICITY
from experiments.run.results import Result
from experiments.run.whose import Whose
from experiments.studies.outputs import write_csv
from grid.errors import GridError
from grid.platform.multicluster import Platform
from grid.workloads.source import Workload
from grid.workloads.synthetic import BatchWorkload
from grid.world.finished import Records, in_order
from grid.world.records import placements

_BEGINS = {
    JOBS: ",".join(COLUMNS),
    TIMELINE: "from,to,waiting",
    SUMMARY: '{\n  "scenario": ',
    USERS: ",".join(OF_USERS),
    ELECTRICITY: ",".join(STEP_OF_ELECTRICITY),
    REPLICATIONS[0]: '{"scenario": ',
    REPLICATIONS[1]: "seed,completed,rejected,",
}
"""How files of results begin, of one run or of replications."""


class NewResult:
    """The files of a result that is still to come: jobs are written as they are handed over.

    Until `finish` they are in a folder of their own, in that where they go. A pickle goes on where
    it was, once `resumed_result` has opened its files.

    Parameters
    ----------
    folder : Path
        Where they go.
    scratch : Path
        Where they are, in that folder.
    platform : Platform
    whose : Whose

    Attributes
    ----------
    folder : Path
    jobs : Growing
        The jobs, in the scratch folder.
    """

    def __init__(self, folder: Path, scratch: Path, platform: Platform, whose: Whose) -> None:
        self.folder, self._scratch = folder, scratch
        self._platform, self._whose = platform, whose
        self.jobs = Growing(scratch / JOBS)
        self.jobs.write(",".join((*COLUMNS, *whose.columns)) + "\n")

    def add(self, records: Records) -> None:
        """Write jobs that left, which arrived after all that were written before.

        Raises
        ------
        GridError
            If they cannot be written.
        """
        from experiments.run.csv_rows import csv_rows  # by Arrow, which runs do without

        records = records[in_order(records)]
        numbers = (records[name] for name in ("number", "arrival", "size", "start", "finish"))
        with writing(self.folder, "results", "folder"):
            whose = self._whose.of(records["submission"] - 1)
            self.jobs.write(csv_rows([*numbers, placements(records, self._platform), *whose]))

    def finish(self, result: Result) -> None:
        """Write all else, and put the files into the folder.

        Raises
        ------
        GridError
            If that cannot be done; then nothing has changed there.
        """
        import pandas as pd

        summary = json.dumps(result.summary(), indent=2, allow_nan=False)
        with writing(self.folder, "results", "folder"):
            self.jobs.close()
            write_csv(result.timeline, self._scratch / TIMELINE)
            also = {
                USERS: pd.DataFrame(result.tally.users.table()),
                ELECTRICITY: result.electricity,
            }
            for name, table in also.items():
                if len(table):
                    write_csv(table, self._scratch / name)
            (self._scratch / SUMMARY).write_text(summary + "\n", encoding="utf-8")
            gone = ours(self.folder, (*also, *REPLICATIONS))
            replace_all(self._scratch, self.folder, gone=gone)
            shutil.rmtree(self._scratch, ignore_errors=True)

    def __getstate__(self) -> dict[str, Any]:
        places = {"folder": self.folder.absolute(), "_scratch": self._scratch.absolute()}
        return self.__dict__ | places

    def go_on(self) -> None:
        """Open the files as they were when this was pickled.

        If the run has ended since, in order or not, jobs are taken from the folder itself.
        """
        recover(self.folder)
        source = self._scratch / JOBS
        if not source.is_file():
            source = self.folder / JOBS
            self._scratch = scratch_in(self.folder, kept=True)
        try:
            self.jobs.go_on(self._scratch / JOBS, source)
        except (GridError, OSError):
            if source.parent != self._scratch:
                shutil.rmtree(self._scratch, ignore_errors=True)
            raise

    def close(self, keep: bool) -> None:
        """Write no more; leave nothing that is not in the folder itself, unless it is kept."""
        with suppress(OSError):  # of a full disk, which was told before
            self.jobs.close()
        if not keep:
            shutil.rmtree(self._scratch, ignore_errors=True)


@contextmanager
def new_result(
    folder: str | os.PathLike[str],
    platform: Platform,
    workload: Workload | BatchWorkload | None = None,
    keep: bool = False,
) -> Iterator[NewResult]:
    """Give what takes the jobs of a run, and its result in the end.

    Parameters
    ----------
    folder : path
        Made if it is not there; results in it are replaced once the new ones are complete.
    platform : Platform
        Where the run is.
    workload : Workload or BatchWorkload, optional
        Whose jobs may say of whom they are.
    keep : bool
        Leave what was written of a result that is not finished: a checkpoint goes on with it.

    Raises
    ------
    GridError
        If the files cannot be written.
    """
    folder = Path(folder)
    with ExitStack() as stack:
        with writing(folder, "results", "folder"):
            stack.enter_context(made(folder))
            recover(folder)
            clean(folder.resolve().parent)
            new = NewResult(folder, scratch_in(folder, keep), platform, Whose(workload))
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
    with writing(new.folder, "results", "folder"):
        new.go_on()
    try:
        yield
    finally:
        new.close(keep=True)


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
    with new_file(path, "rounds") as new:
        write_csv(result.rounds_table(), new)


def ours(folder: Path, names: Iterable[str]) -> list[str]:
    """Return which of these files of results in a folder are there, and not the user's own."""
    found = []
    for name in names:
        with suppress(OSError, ValueError), (folder / name).open(encoding="utf-8") as file:
            if file.read(len(_BEGINS[name])) == _BEGINS[name]:
                found.append(name)
    return found

"""The one file of a study: what is to be run, what runs came to, and where it comes from."""

from __future__ import annotations

import fcntl
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from experiments.files import unwritable
from experiments.studies.kept import TABLES, Kept
from grid.errors import GridError


class Task(NamedTuple):
    """A run that a study needs.

    Attributes
    ----------
    policy, workload : str
        Their names in the study.
    setting : str
        Values of the parameters that vary, in JSON.
    replication : int
        From 0.
    seed : int
    key : str
        What tells the run from all others; two tasks may be the same run.
    """

    policy: str
    workload: str
    setting: str
    replication: int
    seed: int
    key: str


class StudyDatabase(Kept):
    """A study's tasks and results, each on the disk once it is there.

    Parameters
    ----------
    path : path
        A file, made if it is not there.
    parameters : mapping of str to value
        What all runs of the study have in common, and another study has not.
    notes : mapping of str to value
        What may be another when the study goes on.

    Raises
    ------
    GridError
        If the file cannot be used, or is that of another study.
    """

    tables = (
        *TABLES,
        "notes (name TEXT PRIMARY KEY, value TEXT)",
        "tasks (policy TEXT, workload TEXT, setting TEXT, replication INTEGER, seed INTEGER, "
        "key TEXT, PRIMARY KEY (policy, workload, setting, replication))",
    )
    place = "file"

    def __init__(self, path: Path, parameters: Mapping[str, Any], notes: Mapping[str, Any]) -> None:
        self._path = path
        self._open(path, parameters)
        self.note(notes)

    def note(self, notes: Mapping[str, Any]) -> None:
        """Keep what is told of the study, by name, in the place of what was told before."""
        rows = [(name, json.dumps(value)) for name, value in notes.items()]
        with self._transaction() as database:
            database.executemany("INSERT OR REPLACE INTO notes VALUES (?, ?)", rows)

    def plan(self, tasks: Iterable[Task]) -> None:
        """Keep what is to be run; what is planned already stays as it is."""
        with self._transaction() as database:
            database.executemany("INSERT OR IGNORE INTO tasks VALUES (?, ?, ?, ?, ?, ?)", tasks)


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Have no other process write to the file of a study meanwhile; it and its folder are made.

    Raises
    ------
    GridError
        If one does, or if the file cannot be written to.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        opened = path.open("ab")
    except OSError as error:
        raise unwritable(path, "results", "file", error) from None
    with opened as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise GridError(
                f"{path}: another metasched is at work on it; accepted: one at a time"
            ) from None
        yield


class Contents(NamedTuple):
    """What the file of a study holds.

    Attributes
    ----------
    told : dict
        Parameters and notes, by name.
    tasks : list of Task
        In order of replication.
    results : dict of str to Observation
        Of finished runs, by key.
    cpu_s : dict of str to float
        What they took.
    """

    told: dict[str, Any]
    tasks: list[Task]
    results: dict[str, Any]
    cpu_s: dict[str, float]


def contents(path: Path) -> Contents:
    """Read the file of a study, also while the study goes on; nothing is written.

    Raises
    ------
    GridError
        If it is none.
    """
    try:
        if not path.is_file():
            raise GridError(f"{path}: no such file; accepted: what `metasched study` wrote")
        with closing(
            sqlite3.connect(f"{path.resolve().as_uri()}?mode=rw", timeout=60, uri=True)
        ) as file:
            file.execute("BEGIN")
            told = [*file.execute("SELECT * FROM parameters"), *file.execute("SELECT * FROM notes")]
            tasks = file.execute("SELECT * FROM tasks ORDER BY replication, rowid").fetchall()
            runs = file.execute("SELECT key, result, cpu_s FROM runs").fetchall()
    except (sqlite3.Error, OSError) as error:
        raise GridError(f"{path}: {error}; accepted: what `metasched study` wrote") from None
    return Contents(
        {name: json.loads(value) for name, value in told},
        [Task(*task) for task in tasks],
        {key: json.loads(result) for key, result, _ in runs},
        {key: seconds for key, _, seconds in runs},
    )

"""Finished runs, kept in a database, so that a sweep can be taken up where it stopped."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from grid.errors import GridError
from grid.sources import sources_digest

RUNS = "runs.sqlite"
"""The file in the folder of a sweep."""
TABLES = (
    "runs (key TEXT PRIMARY KEY, result TEXT, cpu_s REAL)",
    "parameters (name TEXT PRIMARY KEY, value TEXT)",
)


class Kept:
    """What finished runs came to, by the key of the run; each is on the disk once it is added.

    Parameters are kept with the first run, so that a folder without runs takes any.

    Parameters
    ----------
    folder : path
        Made if it is not there.
    parameters : mapping of str to value
        What all runs of the folder have in common; values that JSON can hold.
    lasting : bool
        It is there when the command has ended, so that it can go on.

    Raises
    ------
    GridError
        If the folder cannot be used, or holds runs of other parameters.
    """

    tables: tuple[str, ...] = TABLES
    place = "folder"
    at_once = False
    """Parameters are kept before there is a run."""

    lasting = True

    def __init__(self, folder: Path, parameters: Mapping[str, Any], lasting: bool = True) -> None:
        self._path = folder / RUNS
        self.lasting = lasting
        self._open(folder, parameters)

    def _open(self, place: Path, parameters: Mapping[str, Any]) -> None:
        """Open the database at a place that users know, or make it as a whole."""
        self._place = place
        self._given = {name: json.dumps(value) for name, value in parameters.items()}
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._unusable(error.strerror or str(error)) from None
        with self._transaction() as database:
            database.execute("BEGIN IMMEDIATE")
            for table in self.tables:
                database.execute(f"CREATE TABLE IF NOT EXISTS {table}")
            self._agree(database, self.at_once)

    def _agree(self, database: sqlite3.Connection, keep: bool) -> None:
        """Refuse a database of other parameters; keep ours in one that has none, if asked to."""
        there = dict(database.execute("SELECT name, value FROM parameters"))
        if not self.at_once and not database.execute("SELECT 1 FROM runs LIMIT 1").fetchone():
            there = {}
        for name, value in self._given.items():
            if there and there.get(name) != value:
                raise GridError(f"{self._place}: {self._other(name, there.get(name), value)}")
        if keep and not there:
            database.execute("DELETE FROM parameters")
            database.executemany("INSERT INTO parameters VALUES (?, ?)", self._given.items())

    def _other(self, name: str, known: str | None, found: str) -> str:
        """Return in words that a parameter is not what it was."""
        with suppress(ValueError, TypeError):  # of a database that somebody changed
            within, before, now = _apart(json.loads(known or ""), json.loads(found))
            name, known, found = f"{name}{within}", json.dumps(before), json.dumps(now)
        return (
            f"holds runs with {name} {known}; found {name} {found}; accepted: the same, or another "
            f"{self.place}"
        )

    def add(self, results: Mapping[str, Any], cpu_s: Mapping[str, float] | None = None) -> None:
        """Keep what runs came to, by key: values that JSON can hold, and CPU seconds they took."""
        seconds = cpu_s or {}
        rows = [(key, json.dumps(result), seconds.get(key)) for key, result in results.items()]
        with self._transaction() as database:
            database.execute("BEGIN IMMEDIATE")
            self._agree(database, keep=True)
            database.executemany("INSERT INTO runs VALUES (?, ?, ?)", rows)

    def all(self) -> dict[str, Any]:
        """Return all that is kept, by key."""
        with self._transaction() as database:
            rows = database.execute("SELECT key, result FROM runs").fetchall()
        return {key: json.loads(result) for key, result in rows}

    def cpu_s(self) -> dict[str, float]:
        """Return the CPU seconds that runs took, by key."""
        with self._transaction() as database:
            return dict(database.execute("SELECT key, cpu_s FROM runs WHERE cpu_s IS NOT NULL"))

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        try:
            database = sqlite3.connect(self._path, timeout=60)
            try:
                with database:
                    yield database
            finally:
                database.close()
        except sqlite3.Error as error:
            raise self._unusable(str(error)) from None

    def _unusable(self, why: str) -> GridError:
        return GridError(f"{self._path}: {why}; accepted: a {self.place} that can be written to")


def _apart(one: Any, other: Any) -> tuple[str, Any, Any]:
    """Return where two values first differ, as deep in tables and lists as it can be told.

    >>> _apart([{"name": "a"}, {"name": "b"}], [{"name": "a"}, {"name": "c"}])
    (': 2: name:', 'b', 'c')
    """
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        one, other = (dict(enumerate(each, 1)) for each in (one, other))
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        name = next(name for name in one if one[name] != other[name])
        within, one, other = _apart(one[name], other[name])
        return f": {name}{within or ':'}", one, other
    return "", one, other


def kept_of_paper(folder: Path, paper: str, **parameters: Any) -> Kept:
    """Return the runs of a paper's experiments in a folder, made by the code as it is now.

    Parameters are as of `Kept`; another version of the code needs another folder.
    """
    return Kept(folder, {"paper": paper, **parameters, "code digest": code_digest()})


def code_digest() -> str:
    """Return a digest of the code that runs are of."""
    return sources_digest(Path(__file__).resolve().parents[2])

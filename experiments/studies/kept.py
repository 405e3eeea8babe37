"""Finished runs, kept in a folder so that a sweep can be taken up where it stopped."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from grid.errors import GridError
from grid.kernel.compile import sources_digest

RUNS = "runs.sqlite"
"""The file in the folder."""


class Kept:
    """What finished runs came to, by the key of the run; each is on the disk once it is added.

    Parameters
    ----------
    folder : path
        Made if it is not there.
    parameters : mapping of str to value
        What all runs of the folder have in common; values that JSON can hold.

    Raises
    ------
    GridError
        If the folder cannot be used, or holds runs of other parameters.
    """

    def __init__(self, folder: Path, parameters: Mapping[str, Any]) -> None:
        self._path = folder / RUNS
        given = {name: json.dumps(value) for name, value in parameters.items()}
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._unusable(error.strerror or str(error)) from None
        with self._transaction() as database:
            database.execute("CREATE TABLE IF NOT EXISTS runs (key TEXT PRIMARY KEY, result TEXT)")
            database.execute(
                "CREATE TABLE IF NOT EXISTS parameters (name TEXT PRIMARY KEY, value TEXT)"
            )
            of_folder = dict(database.execute("SELECT name, value FROM parameters"))
            if not of_folder:
                database.executemany("INSERT INTO parameters VALUES (?, ?)", given.items())
        for name, value in given.items():
            if of_folder and of_folder.get(name) != value:
                raise GridError(
                    f"{folder}: holds runs with {name} {of_folder.get(name)}; found {name} "
                    f"{value}; accepted: the same, or another folder"
                )

    def add(self, results: Mapping[str, Any]) -> None:
        """Keep what runs came to, by key: values that JSON can hold."""
        rows = [(key, json.dumps(result)) for key, result in results.items()]
        with self._transaction() as database:
            database.executemany("INSERT OR REPLACE INTO runs VALUES (?, ?)", rows)

    def all(self) -> dict[str, Any]:
        """Return all that is kept, by key."""
        with self._transaction() as database:
            rows = database.execute("SELECT key, result FROM runs").fetchall()
        return {key: json.loads(result) for key, result in rows}

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
        return GridError(f"{self._path}: {why}; accepted: a folder that can be written to")


def kept_of_paper(folder: Path, paper: str, **parameters: Any) -> Kept:
    """Return the runs of a paper's experiments in a folder, made by the code as it is now.

    Parameters are as of `Kept`; another version of the code needs another folder.
    """
    digest = sources_digest(Path(__file__).resolve().parents[2])
    return Kept(folder, {"paper": paper, **parameters, "code digest": digest})

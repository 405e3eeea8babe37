"""A file of SQLite in a folder that is its user's alone, written by one process, read by others."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar

from grid.errors import GridError

PATIENCE = 30.0
"""Time in which another process has to be done with the file, s."""


class Database:
    """A file with notes, and the tables of those that are made from this.

    Parameters
    ----------
    folder : Path
    make : bool
        Make it if it is not there.

    Attributes
    ----------
    file, tables, number, whose : str or int
        Its name, what makes its tables, which these are, and what keeps it.

    Raises
    ------
    GridError
        If it cannot be used.
    """

    file: ClassVar[str]
    tables: ClassVar[str]
    number: ClassVar[int]
    whose: ClassVar[str]

    def __init__(self, folder: Path, make: bool = False) -> None:
        self.folder, self._closed = folder, False
        self._lock = threading.RLock()  # a transaction is all threads', unless they wait
        file = folder / self.file
        if not make and not file.is_file():
            raise GridError(
                f"{folder}: no {self.whose} has been there; accepted: the folder of one"
            )
        try:
            if make and not (file.exists() and file.stat().st_size):
                self.check_new(folder)
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                folder.chmod(0o700)
            with ExitStack() as failed:
                self._open(file)
                failed.callback(self._file.close)
                self._file.execute("PRAGMA journal_mode = WAL")
                self._file.execute("PRAGMA synchronous = FULL")
                self._check(make)
                failed.pop_all()
        except (OSError, sqlite3.Error) as error:
            raise GridError(f"{folder}: cannot be used: {error}; {self._accepted()}") from None

    @classmethod
    def check_new(cls, folder: Path) -> None:
        """Raise `GridError` unless a folder is new, or has nothing in it yet."""
        if folder.exists() and not folder.is_dir():
            raise GridError(f"{folder}: found a file; {cls._accepted()}")
        if folder.is_dir() and {*os.listdir(folder)} - {cls.file}:
            raise GridError(f"{folder}: found other files; {cls._accepted()}")

    @classmethod
    def _accepted(cls) -> str:
        return f"accepted: a new folder, or a {cls.whose}'s"

    def _open(self, file: str | Path) -> None:
        """Use a file until it is closed, or nobody has this object any more."""
        self._file = sqlite3.connect(
            file, timeout=PATIENCE, isolation_level=None, check_same_thread=False
        )
        self._file.row_factory = sqlite3.Row
        weakref.finalize(self, self._file.close).atexit = False

    def _check(self, make: bool) -> None:
        (version,) = self._file.execute("PRAGMA user_version").fetchone()
        if (
            version == 0
            and make
            and not self._file.execute("SELECT 1 FROM sqlite_schema").fetchone()
        ):
            notes = "CREATE TABLE notes (name TEXT PRIMARY KEY, value TEXT NOT NULL);"
            numbered = f"PRAGMA user_version = {self.number};"
            self._file.executescript(f"BEGIN IMMEDIATE; {self.tables} {notes} {numbered} COMMIT;")
        elif version != self.number:
            raise GridError(
                f"{self.folder / self.file}: found version {version}; accepted: {self.number}, of "
                "this metasched"
            )

    def close(self) -> None:
        """Close the file: it is written no more, and opened anew when it is read."""
        with self._lock:
            self._closed = True
            self._file.close()

    @classmethod
    def sizes_before(cls, folder: Path) -> dict[str, int]:
        """Return the sizes of sites that whoever wrote it had; nothing if it is not there."""
        if not (folder / cls.file).is_file():
            return {}
        with closing(cls(folder)) as found:
            return found.note("sites") or {}

    @contextmanager
    def _readable(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            if not self._closed:
                yield self._file
                return
        where = f"{(self.folder / self.file).resolve().as_uri()}?mode=ro"
        with closing(sqlite3.connect(where, uri=True, timeout=PATIENCE)) as file:
            file.row_factory = sqlite3.Row
            yield file

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Have all that is written meanwhile be written together, or nothing; within itself, too.

        Raises
        ------
        GridError
            If it cannot be, as where the disk is full.
        """
        with self._lock:
            if self._closed:
                raise self._over()
            if self._file.in_transaction:
                yield
                return
            try:
                self._file.execute("BEGIN IMMEDIATE")
                yield
                self._file.execute("COMMIT")
            except sqlite3.Error as error:
                raise GridError(f"{self.folder / self.file}: cannot be written: {error}") from None
            finally:  # also if Ctrl-C comes between two statements
                if self._file.in_transaction:
                    with suppress(sqlite3.Error):
                        self._file.execute("ROLLBACK")

    def _over(self) -> GridError:
        return GridError(f"{self.folder}: closed; accepted: one that is open, as within `with`")

    def note(self, name: str, value: Any = None) -> Any:
        """Keep a value by name; return that which is kept, None if there is none."""
        if value is not None:
            self._asked("REPLACE INTO notes VALUES (?, ?)", (name, json.dumps(value)))
        rows = self._asked("SELECT value FROM notes WHERE name = ?", (name,))
        return json.loads(rows[0][0]) if rows else None

    def _asked(self, what: str, values: Sequence[Any], again: bool = False) -> list[sqlite3.Row]:
        """Return the rows that answer a question, `again` if it is closed, too.

        Raises
        ------
        GridError
            If the file cannot.
        """
        if self._closed and not again:
            raise self._over()
        try:
            with self._readable() as file:
                return file.execute(what, values).fetchall()
        except sqlite3.Error as error:
            raise GridError(
                f"{self.folder / self.file}: {error}; accepted: the file of a {self.whose}, as it "
                "was written"
            ) from None

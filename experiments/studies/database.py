"""The one file of a study: what is to be run, what runs came to, and where it comes from."""

from __future__ import annotations

import json
import math
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from experiments.run.files import check_file, lock, made, writing
from experiments.run.shapes import date_of
from experiments.sweeps.run_store import TABLES, Kept
from grid.accepted import accepted
from grid.errors import GridError
from grid.foreign import plain
from grid.logs.files import PACKED
from grid.strict import json_of

OTHERS = {
    *PACKED,
    *(".csv", ".gwf", ".htm", ".html", ".json", ".jsonl", ".parquet", ".pdf", ".png", ".py"),
    *(".svg", ".swf", ".toml", ".xml"),
}
"""How names of files of other kinds end, packed or not, which are read and written elsewhere."""


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


FILES = ("inputs", "files", "own code")
"""Parameters of a study that are SHA-256 of files, by their names."""


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
    at_once = True

    def __init__(self, path: Path, parameters: Mapping[str, Any], notes: Mapping[str, Any]) -> None:
        self._path = path
        self._open(path, parameters)
        self.note(notes)

    def _other(self, name: str, known: str | None, found: str) -> str:
        if name not in FILES:
            return super()._other(name, known, found)
        with suppress(ValueError):
            before = json.loads(known or "{}")
            if isinstance(before, dict):
                return self._changed(before, json.loads(found))
        raise unreadable(self._path, f"{name}: not a table")

    def _changed(self, before: Mapping[str, str], now: Mapping[str, str]) -> str:
        """Return in words which files are not what they were, by their digests."""
        new = dict.fromkeys(now.keys() - before.keys(), " (new)")
        gone = dict.fromkeys(before.keys() - now.keys(), " (gone)")
        told = [
            each + (new | gone).get(each, "")
            for each in sorted({*before, *now})
            if before.get(each) != now.get(each)
        ]
        return (
            f"found {', '.join(told)} changed since its runs; accepted: the same contents, or "
            "another file of results"
        )

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

    They are removed again if a study that began with it fails before any run of it has ended.

    Raises
    ------
    GridError
        If one does, or if the file cannot be written to.
    """
    new = not os.path.exists(path)
    with ExitStack() as stack:
        with writing(path, "results", "file"):
            stack.enter_context(made(path.parent))
            file = path.open("ab")
        stack.callback(file.close)
        try:
            lock(file)
        except BlockingIOError:
            raise GridError(
                f"{path}: another metasched is at work on it; accepted: one at a time"
            ) from None
        try:
            yield
        except BaseException:
            file.close()  # before it is removed, which some systems demand
            if new and not _holds_runs(path):
                path.unlink(missing_ok=True)
            raise


def _holds_runs(path: Path) -> bool:
    """Return whether any run is in the file of a study, however little of it is written."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(path)) as file:
        return file.execute("SELECT key FROM runs").fetchone() is not None
    return False


class _Cleaned(BaseModel):
    """What one rule of cleaning did to a log."""

    model_config = ConfigDict(strict=True)

    workload: str
    records: int
    times: int
    rule: str
    where: str


class _Told(BaseModel):
    """What the notes of a study say at least."""

    model_config = ConfigDict(strict=True)

    study: dict[str, Any]
    ended: str | None
    title: str = ""
    text: str = ""
    version: str | None = None
    inputs: dict[str, str] = {}
    platform: dict[str, Any] | None = None
    changes: list[str] = []
    cleaning: list[_Cleaned] = []
    of_muscle: list[str] = []
    unread: dict[str, list[str]] = {}
    windows: dict[str, list[Annotated[list[float], Field(min_length=2, max_length=2)]]] = {}
    starts: dict[str, Annotated[str, AfterValidator(date_of)]] = {}


class _Also(BaseModel):
    """What else they say, and what runs have in common, in files of this version."""

    model_config = ConfigDict(strict=True)

    platforms: dict[str, dict[str, Any]] = {}
    machines: dict[str, int] = {}
    of_arrivals: list[str] = []
    parameters: dict[str, Any] = {}
    seed: int = 0
    set: dict[str, Any] = {}
    vary: dict[str, list[Any]] = {}
    workloads: dict[str, Any] = {}
    window: str | float | None = None
    files: dict[str, str] = {}
    own_code: dict[str, str] = Field({}, alias="own code")
    code_digest: str = Field("", alias="code digest")
    scenario_digest: str = Field("", alias="scenario digest")


LARGEST = 1e100
"""Numbers of runs are below it, so that sums and squares of them are numbers too."""
_NOTES, _ALSO = TypeAdapter(_Told), TypeAdapter(_Also)
_TASKS = TypeAdapter(list[Task], config=ConfigDict(strict=True))
_RESULTS = TypeAdapter(
    dict[str, dict[str, Annotated[list[float], Field(min_length=1)]]],
    config=ConfigDict(strict=True),
)


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


def check_out(path: Path, resume: bool) -> None:
    """Raise `GridError` if a file cannot be that of a study, before any run.

    It may be there only if the study is resumed, and another does not begin under a name that tells
    of another kind.
    """
    if os.path.isdir(path) or (os.path.exists(path) and not resume):
        found = "folder" if os.path.isdir(path) else "file"
        raise GridError(
            f"{path}: found a {found}; accepted: a new file, or, with --resume, "
            "that of the same study"
        )
    if not os.path.exists(path) and path.suffix.lower() in OTHERS:
        raise GridError(
            f"{path}: found the name of a file of another kind, {path.suffix}; accepted: another "
            "name, such as results.db"
        )
    check_file(path, "results")
    if os.path.exists(path) and path.stat().st_size:
        contents(path)  # a file of others stays as it is


def contents(path: Path) -> Contents:
    """Read the file of a study, also while the study goes on; nothing is written.

    Raises
    ------
    GridError
        If it is none, or if what it holds is not what `metasched study` writes.
    """
    try:
        if not os.path.isfile(path):
            found = "found no file" if os.path.exists(path) else "no such file"
            raise GridError(f"{path}: {found}; accepted: what `metasched study` wrote")
        with closing(
            sqlite3.connect(f"{path.resolve().as_uri()}?mode=rw", timeout=60, uri=True)
        ) as file:
            file.execute("BEGIN")
            told = [*file.execute("SELECT * FROM parameters"), *file.execute("SELECT * FROM notes")]
            tasks = file.execute("SELECT * FROM tasks ORDER BY replication, rowid").fetchall()
            runs = file.execute("SELECT key, result, cpu_s FROM runs").fetchall()
    except (sqlite3.Error, OSError, UnicodeDecodeError) as error:
        raise GridError(f"{path}: {error}; accepted: what `metasched study` wrote") from None
    try:
        return Contents(
            _notes(told),
            _TASKS.validate_python([Task(*task) for task in tasks]),
            _results({key: result for key, result, _ in runs}),
            {key: seconds for key, _, seconds in runs},
        )
    except ValidationError as failure:
        first = failure.errors(include_url=False)[0]
        wanted = accepted([first]).removeprefix("accepted: ")
        what = "missing" if first["type"] == "missing" else f"not {wanted}"
        why = ".".join(map(str, first["loc"])) + f": {what}"
    except (TypeError, ValueError, RecursionError) as error:
        why = str(error)
    raise unreadable(path, why)


def unreadable(path: str | os.PathLike[str], why: str) -> GridError:
    """Return the error of a file that holds something else than `metasched study` writes."""
    return GridError(
        f"{os.fspath(path)}: holds no study that this version can read ({plain(why, 100)}); "
        "accepted: what `metasched study` of the same version wrote"
    )


def _notes(rows: Iterable[tuple[Any, Any]]) -> dict[str, Any]:
    """Return parameters and notes, by name, of their rows."""
    told = {str(name): json_of(text, str(name)) for name, text in rows}
    _ALSO.validate_python(told)
    return told | _NOTES.validate_python(told).model_dump()


def _results(texts: Mapping[str, Any]) -> dict[str, Any]:
    """Return what runs came to, of JSON by key."""
    results = _RESULTS.validate_python({key: json.loads(text) for key, text in texts.items()})
    for key, result in results.items():
        for name, values in result.items():
            if not all(math.isnan(value) or abs(value) < LARGEST for value in values):
                raise ValueError(f"run {key}: {name}: found a number beyond {LARGEST:g}")
    return results

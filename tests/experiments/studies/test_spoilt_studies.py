"""Files that hold no study, or a spoilt one, are refused in a line."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from click.testing import CliRunner

from experiments.cli.app import main
from experiments.studies.database import StudyDatabase
from experiments.studies.outcome import StudyOutcome
from grid.errors import GridError
from tests.experiments.made_up_studies import made_up


@pytest.mark.parametrize("content", [None, b"", b"no database, and by no means a short one"])
def test_what_is_no_study_is_refused(tmp_path, content):
    path = tmp_path / "study.db"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(GridError, match=r"study\.db: .*accepted: what `metasched study` wrote"):
        StudyOutcome.read(path)
    assert path.exists() is (content is not None)
    assert content is None or path.read_bytes() == content
    with pytest.raises(GridError, match="found no file; accepted"):
        StudyOutcome.read(tmp_path)


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("DELETE FROM notes WHERE name = 'ended'", "ended: missing"),
        ("UPDATE notes SET value = '5' WHERE name = 'ended'", "ended: not a string"),
        ("""UPDATE notes SET value = '"a text"' WHERE name = 'study'""", "study: not a table"),
        ("UPDATE notes SET value = 'plain' WHERE name = 'text'", "Expecting value"),
        ("UPDATE notes SET value = NULL WHERE name = 'text'", "got 'NoneType'"),
        (f"UPDATE notes SET value = '{300 * '['}{300 * ']'}' WHERE name = 'text'", "64 levels"),
        ("""INSERT INTO notes VALUES ('odd', '{"x": 1e400}')""", "beyond all range"),
        ("INSERT INTO notes VALUES ('parameters', '5')", "parameters: not a table"),
        ("INSERT INTO notes VALUES ('of_arrivals', 'null')", "of_arrivals: not a list"),
        ("INSERT INTO notes VALUES ('machines', '[]')", "machines: not a table"),
        ("INSERT INTO notes VALUES ('cleaning', '[{}]')", "cleaning.0.workload: missing"),
        ("INSERT INTO parameters VALUES ('own code', '5')", "own code: not a table"),
        ("UPDATE notes SET value = '{}' WHERE name = 'study'", "holds no study that this"),
        ("UPDATE runs SET result = '{' WHERE rowid = 1", "Expecting property name"),
        ("UPDATE runs SET result = '[]' WHERE rowid = 1", ": not a table"),
        (
            """UPDATE runs SET result = '{"stable": []}' WHERE rowid = 1""",
            "not a list of at least one",
        ),
        ("""UPDATE runs SET result = '{"stable": [1]}' WHERE rowid = 1""", "has no unfinished"),
        ("""UPDATE runs SET result = '{"stable": [1e999]}' WHERE rowid = 1""", "beyond 1e"),
        ("UPDATE tasks SET setting = '{}' WHERE rowid = 1", "is none"),
        ("UPDATE tasks SET replication = 'x' WHERE rowid = 1", "replication: not a whole number"),
    ],
)
def test_a_spoilt_study_is_told_in_a_line(tmp_path, sql, found):
    path = made_up(tmp_path / "study.db", lambda *task: {"mean_turnaround": 100.0})
    with closing(sqlite3.connect(path)) as database:
        database.execute(sql)
        database.commit()
    got = CliRunner().invoke(main, ["report", str(path), "-o", str(tmp_path / "page.html")])
    assert got.exit_code == 2, got.output
    assert got.stderr.startswith(f"metasched: {path}: ")
    assert found in got.stderr
    assert got.stderr.count("\n") == 1
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize("name", ["files", "own code", "inputs"])
@pytest.mark.parametrize("value", ["5", "null", "{"])
def test_a_study_does_not_go_on_with_a_spoilt_file(name, value, tmp_path):
    path = tmp_path / "study.db"
    StudyDatabase(path, {name: {}}, {})
    with closing(sqlite3.connect(path)) as database:
        database.execute("UPDATE parameters SET value = ?", [value])
        database.commit()
    with pytest.raises(GridError, match=f"holds no study that this version can read .{name}: not"):
        StudyDatabase(path, {name: {}}, {})

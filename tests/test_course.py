"""Every page of docs/course/ can be followed from an empty folder, and comes to what it says."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from experiments.cli.app import main

PAGES = sorted((Path(__file__).resolve().parents[1] / "docs" / "course").glob("*.md"))
BLOCK = re.compile(
    r"(?:`(\w+\.(?:csv|json))`[^`]*:\n\n)?^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL
)
"""A block, and the name of its file if the text before it names one last."""
NAMED = re.compile(r"# (\w+\.(?:py|toml))\n")
"""How a block begins that is to be saved."""
GAP = "..."
"""Stands for lines of output that a page leaves out."""


def lines_of(text):
    """Return the lines that are not empty, with single spaces."""
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def position_in(told, part, first):
    """Return where some lines follow each other in others from a place on, or None."""
    places = range(first, len(told) - len(part) + 1)
    return next((at for at in places if told[at : at + len(part)] == part), None)


def assert_told(expected, told):
    """Check output against what a page shows of it."""
    at, anywhere, part = 0, False, []
    for line in [*expected, None]:
        if line not in (GAP, None):
            part.append(line)
            continue
        found = position_in(told, part, at)
        assert found is not None, (part, told)
        assert anywhere or found == at, (part, told)
        at, anywhere, part = found + len(part), True, []
    if expected and expected[-1] != GAP:
        assert at == len(told), (expected, told)


def run_console(code):
    """Run the commands of a block, each with its output below it, if that is shown."""
    command, shown = None, []
    for line in [*code.splitlines(), None]:
        if line is None or line.startswith("metasched "):
            if command:
                words, _, target = command.partition(" > ")
                result = CliRunner().invoke(main, shlex.split(words)[1:])
                if target:
                    Path(target).write_text(result.stdout, encoding="utf-8")
                assert result.exit_code == 0, (command, result.output, result.exception)
                if shown:
                    assert_told(lines_of("\n".join(shown)), lines_of(result.stdout))
            command, shown = line, []
        else:
            shown.append(line)


def run_python(code, names):
    """Run a program, which prints what its last comments say, if it prints anything."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "block.py", "exec"), names)
    if told := lines_of(printed.getvalue()):
        comments = [line[2:] for line in code.splitlines() if line.startswith("# ")]
        assert lines_of("\n".join(comments))[-len(told) :] == told


def follow(page):
    """Do what a page says in the current folder, its programs in one session of Python."""
    names = {"__name__": "__main__"}
    for name, language, code in BLOCK.findall(page.read_text(encoding="utf-8")):
        if named := NAMED.match(code):
            name = named[1]
        if name:
            Path(name).write_text(code, encoding="utf-8")
            sys.modules.pop(Path(name).stem, None)
        if language == "console":
            run_console(code)
        elif language == "python":
            run_python(code, names)
        else:
            assert name, f"a block in {language!r} without a name"


@pytest.mark.thorough
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page_comes_to_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    follow(page)


@pytest.mark.parametrize(
    ("expected", "told", "same"),
    [
        (["a", "b"], ["a", "b"], True),
        (["a"], ["a", "b"], False),
        (["b", GAP], ["a", "b"], False),
        (["a", GAP, "c"], ["a", "b", "c"], True),
        ([GAP, "b", GAP], ["a", "b", "c"], True),
        (["a", GAP, "c"], ["a", "b", "c", "d"], False),
        (["a", GAP, "d"], ["a", "b", "c"], False),
    ],
)
def test_output_is_compared(expected, told, same):
    if same:
        assert_told(expected, told)
    else:
        with pytest.raises(AssertionError):
            assert_told(expected, told)


def test_pages_are_there():
    assert len(PAGES) == 6

"""Exceptions in users' code, shown by the users' own frames."""

from __future__ import annotations

import logging
import os
import sysconfig
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeGuard

import click

from agents.error_context import blame_of
from agents.importing import CODE, OURS
from grid.errors import GridError
from grid.foreign import plain

_OURS = [CODE / package for package in OURS]
_PYTHON = [Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")]
_INSTALLED = {"site-packages", "dist-packages"}
_BETWEEN = {"click", "mesa", "numba"}
"""Libraries through which users' code is called."""

TRACEBACK = "METASCHED_TRACEBACK"
"""Environment variable: if it is set, exceptions are shown with all frames."""
LONGEST = 1000
"""Characters of a line of a user's exception that are shown, unless all frames are."""
HINT = f"other frames are left out; --traceback, or {TRACEBACK}=1, has them"


class UsersError(Exception):
    """An exception of users' code in another process, in words: what `told` returned there."""

    def __init__(self, words: str) -> None:
        super().__init__(words)


@contextmanager
def in_words(where: str = "") -> Iterator[None]:
    """Tell another process of an exception in users' code by words, for it may have no such class.

    Besides, no frames come along with an exception. In front stands where it was, if that is told.
    """
    try:
        yield
    except (InterruptedError, KeyboardInterrupt):
        raise
    except GridError as error:
        raise (GridError(f"{where}: {error}") if where else error) from None
    except BaseException as error:
        raise UsersError((f"metasched: in the {where}\n" if where else "") + told(error)) from None


def is_whole() -> bool:
    """Tell whether exceptions are shown with all frames."""
    return os.environ.get(TRACEBACK, "") not in ("", "0")


def told(error: BaseException) -> str:
    """Return an exception of users' code in lines: whose it is and when, then where.

    With the users' own frames alone, unless all are asked for or it is none of users' code.
    """
    if isinstance(error, UsersError):
        return str(error)
    shown = traceback.TracebackException.from_exception(error)
    blame = blame_of(error)
    first = [*blame] or _where(error, shown.stack)
    if not first:
        return "".join(shown.format())
    shown.__notes__ = [note for note in shown.__notes__ or () if note not in blame]
    count = len(shown.stack)
    if not is_whole():
        _cut(shown, bool(blame))
    lines = shown.format() if shown.stack else shown.format_exception_only()
    hint = [f"metasched: {HINT}\n"] if len(shown.stack) < count else []
    text = "".join([*(f"metasched: {line}\n" for line in first), *lines, *hint])
    most = len(text) if is_whole() else LONGEST
    return "".join(f"{plain(line, most)}\n" for line in text.split("\n")[:-1])


def in_a_line(error: BaseException) -> str:
    """Return an exception in one line, with where in its user's code it was raised, and when."""
    if isinstance(error, GridError):
        return str(error)
    blame, frames = blame_of(error), traceback.extract_tb(error.__traceback__)
    words = " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")
    # What is not Python says itself where that is; a call of ours that fails is none of ours.
    last = _own(frames, installed=True) or ([] if blame else frames)
    last = [] if _is_unread(error) else last[-1:]
    where = [*(f"{Path(frame.filename).name}:{frame.lineno}" for frame in last), *blame]
    return f"{words} ({', '.join(where)})" if where else words


def _where(error: BaseException, stack: traceback.StackSummary) -> list[str]:
    """Return the place in users' code that an exception is about, in words, if there is one."""
    if _is_unread(error):
        return [f"{error.filename}, line {error.lineno}: {error.msg}"]
    return [f"raised in {last.filename}, line {last.lineno}" for last in _own(stack, False)[-1:]]


def _is_unread(error: BaseException) -> TypeGuard[SyntaxError]:
    """Tell whether a file of a user's is not Python: no frame is of it, for it was never run."""
    if not (isinstance(error, SyntaxError) and error.filename and os.path.isfile(error.filename)):
        return False
    return bool(_own(traceback.StackSummary.from_list([(error.filename, 1, "", "")]), False))


def _cut(shown: traceback.TracebackException, installed: bool) -> None:
    """Leave the users' own frames; of exceptions that led to this one, those that have some."""
    shown.stack[:] = _own(shown.stack, installed)
    for each in shown.exceptions or ():
        _cut(each, installed)
    for name in ("__cause__", "__context__"):
        before = getattr(shown, name)
        if before is not None:
            _cut(before, installed=False)
            setattr(shown, name, before if before.stack or before.exceptions else None)


def _own(stack: traceback.StackSummary, installed: bool) -> traceback.StackSummary:
    """Return the frames of users' code; if there are none, those of what they may have installed.

    Parameters
    ----------
    stack : StackSummary
    installed : bool
        Without frames of users' code, give those of libraries.
    """
    made = "<string>", "__init__", "__post_init__"  # by dataclasses; else of python -c
    others = [
        frame
        for frame, called in zip(stack, [*stack[1:], None], strict=True)
        if not _is_between(Path(frame.filename))
        and (frame.filename, frame.name, getattr(called, "name", "")) != made
    ]
    users = [frame for frame in others if not _is_installed(Path(frame.filename))]
    return traceback.StackSummary.from_list(users or (others if installed else []))


def _is_installed(path: Path) -> bool:
    """Tell whether a file is that of a library; those of Cython have no paths of their own."""
    return bool(_INSTALLED & {*path.parts}) or path.suffix in (".pyx", ".pxi")


def _is_between(path: Path) -> bool:
    """Tell whether a file is of this product or Python, or of a library that calls users' code."""
    if any(path.is_relative_to(package) for package in _OURS):
        return True
    if installed := [*_INSTALLED & {*path.parts}]:
        library = path.parts[path.parts.index(installed[0]) + 1]
        return library in _BETWEEN
    return str(path).startswith("<frozen ") or any(map(path.is_relative_to, _PYTHON))


def warn(line: str) -> None:
    """Tell of what is wrong and ends nothing: a command on standard error, a program by its log."""
    if click.get_current_context(silent=True) is not None:
        click.echo(f"metasched: {line}", err=True)
    else:
        logging.getLogger("metasched").warning(line)

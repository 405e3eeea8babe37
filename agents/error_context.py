"""Attribute exceptions to the schedulers whose code raised them, and to simulated time."""

from __future__ import annotations

import functools
import inspect
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from agents.schedulers import LocalScheduler, Scheduler
from grid.errors import GridError

_RAISED = "raised by ", "raised in making "


def raise_as_of(scheduler: Scheduler, now: float, error: BaseException) -> NoReturn:
    """Raise an error again, saying whose it is and when (s).

    A `GridError` stays one line; any other exception keeps its traceback and gets a note.
    """
    if isinstance(error, KeyboardInterrupt):
        raise error
    if isinstance(error, GridError):
        what = str(error)
        if isinstance(scheduler, LocalScheduler):  # which is called by its cluster
            what = what.removeprefix(f"{scheduler.cluster.name}: ")
        raise type(error)(f"{scheduler.name} at {now:g} s: {what}") from None
    home = _home(type(scheduler), error)
    error.add_note(f"{_RAISED[0]}{scheduler.name} at simulated time {now:g} s{home}")
    raise error


def made(make: Callable[..., Any], *given: object) -> Any:
    """Return an agent that `make` makes; say in any exception whose making it was."""
    called = str(getattr(make, "__name__", make))
    if isinstance(make, type):
        _check_takes(make, len(given))
    try:
        agent = make(*given)
    except BaseException as error:
        error.add_note(f"{_RAISED[1]}{called}, before the run{_home(make, error)}")
        raise
    if not hasattr(agent, "unique_id"):
        raise GridError(f"{called}: accepted: an __init__ that calls super().__init__")
    return agent


@functools.lru_cache
def _check_takes(kind: Any, given: int) -> None:
    """Raise `GridError` unless the class is made of as much as those that it extends."""
    found, *extended = (inspect.signature(each.__init__) for each in kind.__mro__)
    if not _takes(found, given):
        accepted = next(each for each in extended if _takes(each, given))
        raise GridError(
            f"{kind.__name__}: found __init__({', '.join(found.parameters)}); "
            f"accepted: __init__({', '.join(accepted.parameters)})"
        )


def _takes(signature: inspect.Signature, given: int) -> bool:
    try:
        signature.bind(*[None] * (1 + given))
    except TypeError:
        return False
    return True


def _home(made_by: Any, error: BaseException) -> str:
    """Return where a scheduler's class is, in words, if no frame or note of an error says so."""
    try:
        file = inspect.getfile(made_by)
    except (OSError, TypeError):  # of a script that was run, or of no class
        return ""
    files = {frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__)}
    if file in files or any(file in note for note in getattr(error, "__notes__", ())):
        return ""
    return f", {made_by.__name__} of {Path(file).name}"


def compiled(function: Any, compile_: Callable[..., int], *given: object) -> int:
    """Return the address of a scheduler's function; an exception says which was compiled."""
    try:
        return compile_(function, *given)
    except Exception as error:
        code = function.py_func.__code__
        error.add_note(
            f"in compiling {code.co_name}, {code.co_filename}, line {code.co_firstlineno}"
        )
        raise


def blame_of(error: BaseException) -> list[str]:
    """Return the notes that say whose an exception is and when, none if it was not attributed."""
    notes: list[str] = getattr(error, "__notes__", [])
    return [note for note in notes if note.startswith(_RAISED)]

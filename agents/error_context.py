"""Attribute exceptions to the schedulers whose code raised them, and to simulated time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from agents.schedulers import LocalScheduler, Scheduler
from grid.errors import GridError

_RAISED = "raised by ", "raised in making "


def raise_as_of(scheduler: Scheduler, now: float, error: Exception | SystemExit) -> NoReturn:
    """Raise an error again, saying whose it is and when (s).

    A `GridError` stays one line; any other exception keeps its traceback and gets a note.
    """
    if isinstance(error, GridError):
        what = str(error)
        if isinstance(scheduler, LocalScheduler):  # which is called by its cluster
            what = what.removeprefix(f"{scheduler.cluster.name}: ")
        raise type(error)(f"{scheduler.name} at {now:g} s: {what}") from None
    error.add_note(f"{_RAISED[0]}{scheduler.name} at simulated time {now:g} s")
    raise error


def made(make: Callable[..., Any], *given: object) -> Any:
    """Return an agent that `make` makes; say in any exception whose making it was."""
    called = str(getattr(make, "__name__", make))
    try:
        agent = make(*given)
    except (Exception, SystemExit) as error:
        error.add_note(f"{_RAISED[1]}{called}, before the run")
        raise
    if not hasattr(agent, "unique_id"):
        raise GridError(f"{called}: accepted: an __init__ that calls super().__init__")
    return agent


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

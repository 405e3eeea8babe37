"""Whose fault an exception is: schedulers are users' code, and errors in it say so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from agents.schedulers import Scheduler
from grid.errors import GridError


def raise_as_of(scheduler: Scheduler, now: float, error: Exception | SystemExit) -> NoReturn:
    """Raise an error again, saying whose it is and when (s).

    A `GridError` stays one line; any other exception keeps its traceback and gets a note.
    """
    if isinstance(error, GridError):
        raise type(error)(f"{scheduler.name} at {now:g} s: {error}") from None
    error.add_note(f"raised by {scheduler.name} at simulated time {now:g} s")
    raise error


def made(make: Callable[..., Any], *given: object) -> Any:
    """Return a scheduler that `make` makes; say in any exception whose making it was."""
    called = getattr(make, "__name__", make)
    try:
        scheduler = make(*given)
    except (Exception, SystemExit) as error:
        error.add_note(f"raised in making {called}, before the run")
        raise
    if not hasattr(scheduler, "unique_id"):
        raise GridError(f"{called}: accepted: an __init__ that calls super().__init__")
    return scheduler

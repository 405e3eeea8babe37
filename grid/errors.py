"""What goes wrong in the grid, said so that a person can mend it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from numbers import Real
from typing import Any

from grid.foreign import one_line, quoted


class GridError(ValueError):
    """Base of every error caused by what a user gave to metasched.

    The message is one line that names the place (file and line, or key), what was found and what
    is accepted; whatever it cites, it has no control characters and at most
    `grid.foreign.LONGEST_LINE` others. The command line prints it and exits with status 2.
    """

    def __str__(self) -> str:
        return one_line(super().__str__())


class WorkloadError(GridError):
    """A workload file or a workload parameter that cannot be used."""


class PlatformError(GridError):
    """Clusters, switches or links that do not form a usable multicluster."""


class PlacementError(GridError):
    """A scheduler asked for processors that do not exist or are not free."""


@contextmanager
def blaming(where: object) -> Iterator[None]:
    """Have errors begin with `where`: the file and the key that are to blame.

    >>> with blaming("mine.toml: local"):
    ...     raise GridError("found 3; accepted: a name")
    Traceback (most recent call last):
    grid.errors.GridError: mine.toml: local: found 3; accepted: a name
    """
    try:
        yield
    except GridError as error:
        raise GridError(f"{where}: {error}") from None


def require(accepted: bool, parameter: str, found: Any, what: str) -> None:
    """Refuse a parameter unless `accepted`.

    Raises
    ------
    WorkloadError
        Naming the parameter, what was found and what is accepted.
    """
    if not accepted:
        raise WorkloadError(f"{parameter}: found {quoted(found)}; accepted: {what}")


def require_whole(parameter: str, found: Any, least: int) -> None:
    """Refuse a parameter unless it is a whole number from `least`, as `require` does."""
    require(
        found >= least and found == int(found), parameter, found, f"a whole number from {least}"
    )


def require_numbers(given: Any) -> None:
    """Refuse a dataclass if a field of it that is to be a number is none; before it is compared.

    Raises
    ------
    WorkloadError
        Naming the field.
    """
    for each in fields(given):
        if each.type in ("int", "float"):
            value = getattr(given, each.name)
            number = isinstance(value, Real) and not isinstance(value, bool)
            require(number, each.name.replace("_", " "), value, "a number")

"""What users give of a job, from Python or by commands, as the store takes it."""

from __future__ import annotations

import operator
import os
import shutil
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta

from grid.durations import time_of
from grid.errors import GridError
from grid.foreign import quoted
from grid.names import meant

Words = Sequence[str | os.PathLike[str]]
Time = float | str | timedelta


class OptionError(GridError):
    """An option of a job that cannot be; the message begins with its name."""


def words_of(command: Words) -> tuple[str, ...]:
    """Return a program and its arguments as text."""
    if not isinstance(command, str | bytes) and isinstance(command, Sequence) and command:
        words = [os.fspath(each) if isinstance(each, os.PathLike) else each for each in command]
        if all(isinstance(each, str) for each in words):
            return tuple(words)
    accepted = "a list of texts, a program and its arguments"
    raise GridError(f"command: found {quoted(command)}; accepted: {accepted}")


def whole(given: object) -> int | None:
    """Return a whole number of any type as one of Python's; None: it is none."""
    try:
        return None if isinstance(given, bool) else operator.index(given)  # type: ignore[arg-type]
    except TypeError:
        return None


def least(found: object, name: str, at_least: int) -> int:
    """Return a whole number that is not below another."""
    number = whole(found)
    if number is None or number < at_least:
        accepted = f"a whole number from {at_least}"
        raise GridError(f"{name}: found {quoted(found)}; accepted: {accepted}")
    return number


def folder_of(given: str | os.PathLike[str] | None) -> str | None:
    """Return the path of a folder from the root on."""
    if given is None:
        return None
    if not isinstance(given, str | os.PathLike) or "\0" in os.fspath(given):
        raise GridError(f"folder: found {quoted(given)}; accepted: a path")
    if not os.path.isdir(given):
        raise GridError(f"folder: found {quoted(os.fspath(given))}; accepted: one that is there")
    return os.path.abspath(given)


def variables_of(given: Mapping[str, str] | None) -> dict[str, str]:
    """Return variables of an environment that a process can have; None: those of this one."""
    if given is None:
        return dict(os.environ)
    if isinstance(given, Mapping):
        texts = [*given, *given.values()]
        if all(isinstance(each, str) and "\0" not in each for each in texts):
            return dict(given)
    raise GridError("environment: accepted: texts without NUL by names, as in os.environ")


def text_of(given: str | None, name: str) -> str:
    """Return a text; None is an empty one."""
    if not isinstance(given, str | None):
        raise GridError(f"{name}: found {quoted(given)}; accepted: a text")
    return given or ""


def check_program(program: str, folder: str | None, variables: Mapping[str, str]) -> None:
    """Raise `GridError` unless a program is there, as seen from a folder."""
    found = os.path.join(folder or "", program) if os.path.dirname(program) else program
    if shutil.which(found, path=variables.get("PATH")) is None:
        raise GridError(
            f"command: found {program!r}; accepted: a program that is there, and may be run"
        )


def seconds_of(given: Time | None, name: str) -> float | None:
    """Return a time that an option says, s."""
    if given is None:
        return None
    try:
        found = time_of(given.total_seconds() if isinstance(given, timedelta) else given, name)
    except GridError as error:
        raise OptionError(str(error)) from None
    from grid.jobs import LONGEST  # with numpy

    if found > LONGEST:
        raise OptionError(f"{name}: found {found:g} s; accepted: at most {LONGEST:g}")
    return found


def size_of(given: int, site: str | None, sizes: Mapping[str, int], asks: str = "") -> int:
    """Return how many processors a job needs, if a site that is for it has as many.

    Messages begin with what asks for them, if that is no option.
    """
    size = whole(given)
    if size is None or size < 1:
        raise OptionError(f"size: found {quoted(given)}; accepted: a whole number from 1")
    if site is not None and sizes:
        check_site(site, sizes)
    most = sizes.get(site or "", max(sizes.values(), default=size))
    if size > most:
        which = "the largest site" if site is None else f"those of {site}"
        told = f"size: found {size}; accepted: at most {most}, {which}"
        raise GridError(f"{asks}: {told}") if asks else OptionError(told)
    return size


def check_site(site: object, sites: Collection[str]) -> None:
    """Raise `GridError` unless a site is there."""
    if not isinstance(site, str) or site not in sites:
        known = meant(site, sites) if sites else "accepted: those of a service, once one has begun"
        raise GridError(f"site {quoted(site)}: unknown; {known}")

"""Reading text, JSON and TOML strictly: whatever is no plain data is refused, in one line."""

from __future__ import annotations

import json
import math
import os
import re
import stat
import tomllib
from collections import Counter
from os import PathLike
from typing import Any

from grid.errors import GridError
from grid.foreign import quoted
from grid.reading import LARGEST_TEXT, read_text

MOST_DIGITS = 300
"""Digits of a whole number in JSON: longer ones are no finite float either."""

DEEPEST = 64
"""Levels of tables and lists within each other that are read."""

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_WHOLE_64 = range(-(1 << 63), 1 << 63)


def text_of(
    path: str | PathLike[str],
    accepted: str,
    error: type[GridError] = GridError,
    any_length: bool = False,
) -> str:
    """Return the text of a file in UTF-8, without a byte-order mark.

    Parameters
    ----------
    path : path
    accepted : str
        What the file should be, for messages.
    error : type
        Of what is raised.
    any_length : bool
        A regular file may be longer than `grid.reading.LARGEST_TEXT`.

    Raises
    ------
    GridError
        If it cannot be read, is no text, or too long.
    """
    try:
        most = LARGEST_TEXT
        if any_length and stat.S_ISREG((status := os.stat(path)).st_mode):
            most = max(most, status.st_size)
        return read_text(path, most)
    except MemoryError:
        problem = "found more than there is memory for"
    except OSError as failure:
        problem = failure.strerror or str(failure)
    except ValueError as failure:
        problem = str(failure)
    raise error(f"{path}: {problem}; accepted: {accepted}")


def json_of(text: str, where: str, accepted: str = "JSON") -> Any:
    """Return what a text in JSON says.

    Parameters
    ----------
    text : str
    where : str
        What begins every message, such as the name of the file.
    accepted : str
        What the text should be, for messages.

    Raises
    ------
    GridError
        If it is no JSON, has a key twice in one object, a number that is none or beyond all range,
        half a character (a lone surrogate), or too many levels.

    Examples
    --------
    >>> json_of('{"a": [1, 2.5, null]}', "here")
    {'a': [1, 2.5, None]}
    >>> json_of("garbage", "events.jsonl:50")
    Traceback (most recent call last):
    grid.errors.GridError: events.jsonl:50: Expecting value at character 1; accepted: JSON
    """
    try:
        found = _DECODER.decode(text)
        if _SURROGATE.search(text):
            json.dumps(found, ensure_ascii=False).encode()
        if text.count("{") + text.count("[") > DEEPEST:
            _check_depth(found)
        return found
    except RecursionError:
        problem = f"more than {DEEPEST} levels"
    except UnicodeEncodeError:
        problem = "half a character, such as \\ud800"
    except json.JSONDecodeError as failure:
        problem = str(failure)
        if "\n" not in text.rstrip("\n"):  # a line, whose own place tells no more of it
            problem = f"{failure.msg} at character {failure.colno}"
    except ValueError as failure:
        problem = str(failure)
    raise GridError(f"{where}: {problem}; accepted: {accepted}")


def toml_of(text: str, where: str, error: type[GridError] = GridError) -> dict[str, Any]:
    """Return the tables of a text in TOML.

    Parameters
    ----------
    text : str
    where : str
        What begins every message, such as the name of the file.
    error : type
        Of what is raised.

    Raises
    ------
    GridError
        If it is no TOML, has a whole number of more than 64 bits, or too many levels.

    Examples
    --------
    >>> toml_of("a = [1, 2.5]", "here")
    {'a': [1, 2.5]}
    """
    try:
        found = tomllib.loads(text)
        _check_depth(found)
    except RecursionError:
        raise error(f"{where}: more than {DEEPEST} levels; accepted: a TOML file") from None
    except tomllib.TOMLDecodeError as failure:
        raise error(f"{where}: {failure}; accepted: a TOML file") from None
    except ValueError:  # of Python's limit on digits
        raise error(
            f"{where}: found a number of thousands of digits; accepted: a whole number of 64 bits"
        ) from None
    if place := _too_wide(found):
        raise error(f"{where}: {place}; accepted: a whole number of 64 bits")
    return found


def _check_depth(value: Any) -> None:
    """Raise `RecursionError` if tables and lists are within each other on too many levels."""
    level = [value]
    for _ in range(DEEPEST):
        level = [
            part
            for each in level
            if isinstance(each, dict | list)
            for part in (each.values() if isinstance(each, dict) else each)
        ]
        if not level:
            return
    raise RecursionError


def _too_wide(value: Any) -> str:
    """Return where a whole number is of more than 64 bits and what it is; empty if none is."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, each in items:
            if problem := _too_wide(each):
                separator = ": " if problem.startswith("found") else "."
                return f"{key}{separator}{problem}"
    elif isinstance(value, int) and value not in _WHOLE_64:
        return f"found {quoted(value)}"
    return ""


# JSON ---------------------------------------------------------------------------------------------


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object whose keys differ; of two that do not, JSON would drop one unsaid."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise ValueError(f"key {quoted(twice)} found twice in one object")
    return found


def whole(text: str) -> int:
    """Return a whole number in JSON; a `ValueError` if it has more than `MOST_DIGITS`."""
    if len(text) > MOST_DIGITS:
        raise ValueError(f"found a number of {len(text):,} digits")
    return int(text)


def _real(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"found {text[:20]}, which is beyond all range")
    return value


def _constant(text: str) -> float:
    raise ValueError(f"found {text}")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=whole, parse_float=_real, parse_constant=_constant
)

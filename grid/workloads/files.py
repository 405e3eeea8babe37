"""Reading the text of a workload file, packed or not."""

from __future__ import annotations

import gzip
import math
import re
import zlib
from pathlib import Path

from grid.errors import WorkloadError
from grid.jobs import LONGEST

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
LARGEST_WHOLE = 2**53
"""Floats hold every whole number below exactly."""


def read_lines(path: Path) -> list[str]:
    """Return the lines of a text file, unpacked if its name ends in ``.gz``.

    Bytes that are not UTF-8 do no harm in comments, so they are replaced and never refused here.

    Raises
    ------
    WorkloadError
        If the file is missing, not readable or not a whole gzip file.
    """
    opener = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8-sig", errors="replace") as file:
            return list(file)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise WorkloadError(
            f"{path}: not a whole gzip file ({error}); accepted: gzip or plain text"
        ) from error
    except OSError as error:
        raise WorkloadError(
            f"{path}: cannot be read ({error.strerror}); accepted: a readable file"
        ) from error


def number(text: str) -> float:
    """Return the finite number that a text spells in decimal digits.

    Raises
    ------
    ValueError
        If it spells none.
    """
    value = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def whole(text: str) -> int:
    """Return the whole number that a text spells, ``8`` or ``8.0``.

    Raises
    ------
    ValueError
        If it spells none, or one that a float cannot hold exactly.
    """
    value = number(text)
    if not value.is_integer() or abs(value) >= LARGEST_WHOLE:
        raise ValueError(text)
    return int(value)


def seconds(text: str) -> float:
    """Return the time that a text spells, s; a negative one is left to the reader.

    Raises
    ------
    ValueError
        If it spells none, or one beyond `LONGEST`.
    """
    value = number(text)
    if value > LONGEST:
        raise ValueError(text)
    return value


def quoted(text: str) -> str:
    """Return a text fit for one line of an error message: quoted, and cut where it is long."""
    return repr(text if len(text) <= 60 else text[:57] + "...")

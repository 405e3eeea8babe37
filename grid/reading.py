"""Reading files of any size in bounded memory."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from os import PathLike
from typing import BinaryIO, TextIO

from grid.errors import GridError, WorkloadError

LONGEST_LINE = 1_000_000
"""Characters that a line may have, where a file is read line by line."""

LARGEST_TEXT = 20_000_000
"""Characters that a file may have which is read at once, such as a platform or a scenario."""


def line_blocks(file: TextIO, path: str | PathLike[str]) -> Iterator[list[str]]:
    """Yield the lines of a text without their ends, many at once.

    Parameters
    ----------
    file : TextIO
        Where the text is read from; it translates the ends of lines.
    path : path
        Its name, for messages.

    Raises
    ------
    WorkloadError
        If a line has more than `LONGEST_LINE` characters.
    """
    rest, first = "", 1
    while text := file.read(LONGEST_LINE):
        lines = (rest + text).split("\n")
        rest = lines.pop()
        if len(lines[0] if lines else rest) > LONGEST_LINE:  # others lie within what was just read
            raise WorkloadError(
                f"{path}:{first}: found a line of more than {LONGEST_LINE:,} characters; "
                "accepted: lines of at most as many"
            )
        if lines:
            yield lines
        first += len(lines)
    if rest:
        yield [rest]


def read_text(path: str | PathLike[str], most: int | None = None) -> str:
    """Return the text of a file, UTF-8 with or without its mark.

    Raises
    ------
    OSError
        If it cannot be read.
    ValueError
        If it is no UTF-8, or has more than `most` characters, by default `LARGEST_TEXT`.
    """
    most = LARGEST_TEXT if most is None else most
    try:
        with open(path, encoding="utf-8-sig") as file:
            text = file.read(most + 1)
    except UnicodeDecodeError as error:
        raise ValueError(not_utf8(error, path)) from None
    if len(text) > most:
        raise ValueError(f"found more than {most:,} characters, the most that are read")
    return text


def not_utf8(error: UnicodeDecodeError, path: str | PathLike[str]) -> str:
    """Return which byte of a file is not UTF-8, and in which line if it can be read again."""
    if os.path.isfile(path):
        with open(path, "rb") as file:
            if (found := foreign_byte(file)) is not None:
                return f"found byte {found[1]:#04x} in line {found[0]:,}, which is not UTF-8"
    return f"found byte {error.object[error.start]:#04x}, which is not UTF-8"


def foreign_byte(file: BinaryIO, first: int = 1) -> tuple[int, int] | None:
    r"""Return the line, from 1, and the value of the first byte of a text that is not UTF-8.

    Parameters
    ----------
    file : BinaryIO
    first : int
        Only from this line on.

    Examples
    --------
    >>> from io import BytesIO
    >>> foreign_byte(BytesIO(b"a\xff\n b\xe9\n")), foreign_byte(BytesIO(b"a\xff\n b\xe9\n"), 2)
    ((1, 255), (2, 233))
    """
    for number, line in enumerate(iter(lambda: file.readline(LARGEST_TEXT), b""), 1):
        try:
            line.decode()
        except UnicodeDecodeError as error:
            if number >= first:
                return number, line[error.start]
    return None


def digest(path: str) -> str:
    """Return the SHA-256 of a file.

    Raises
    ------
    GridError
        If it cannot be read.
    """
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise GridError(
            f"{path}: cannot be read ({error.strerror}); accepted: a readable file"
        ) from None

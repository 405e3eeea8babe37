"""Reading texts of any size in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from typing import TextIO

from grid.errors import GridError, WorkloadError

LONGEST_LINE = 1_000_000
"""Characters that a line may have, where a file is read line by line."""

LARGEST_TEXT = 20_000_000
"""Characters that a file may have which is read at once, such as a platform or a scenario."""


def line_blocks(
    file: TextIO, path: str | PathLike[str], error: type[GridError] = WorkloadError
) -> Iterator[list[str]]:
    """Yield the lines of a text without their ends, many at once.

    Parameters
    ----------
    file : TextIO
        Where the text is read from; it translates the ends of lines.
    path : path
        Its name, for messages.
    error : type of GridError
        What is raised.

    Raises
    ------
    GridError
        If a line has more than `LONGEST_LINE` characters.
    """
    rest, first = "", 1
    while text := file.read(LONGEST_LINE):
        lines = (rest + text).split("\n")
        rest = lines.pop()
        if len(lines[0] if lines else rest) > LONGEST_LINE:  # others lie within what was just read
            raise error(
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
    with open(path, encoding="utf-8-sig") as file:
        text = file.read(most + 1)
    if len(text) > most:
        raise ValueError(f"found more than {most:,} characters, the most that are read")
    return text

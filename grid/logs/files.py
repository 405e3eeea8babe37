"""Reading the text of a workload file, packed or not."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import math
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from grid.errors import WorkloadError
from grid.jobs import LONGEST
from grid.reading import foreign_byte, line_blocks

_NUMBER = re.compile(r"[+-]?(\d++(\.\d*+)?|\.\d++)([eE][+-]?\d++)?", re.ASCII)
_REPLACED = "\ufffd"
"""What stands for a byte that is not UTF-8."""
LARGEST_WHOLE = 2**53
"""Floats hold every whole number below exactly."""
WHOLE_NUMBER = "a whole number below 2^53"
"""What `whole` reads, in words."""

PACKED: dict[str, tuple[bytes, Callable[..., Any], str]] = {
    ".gz": (b"\x1f\x8b", gzip.open, "gzip"),
    ".bz2": (b"BZh", bz2.open, "bzip2"),
    ".xz": (b"\xfd7zXZ\x00", lzma.open, "xz"),
}
"""Ways to pack a file, by the end of its name: its first bytes, what opens it, its own name."""


def bare_name(path: Path) -> str:
    """Return the name of a file in small letters, without the suffix that says it is packed.

    Examples
    --------
    >>> bare_name(Path("logs/KTH.SWF.gz"))
    'kth.swf'
    """
    name = path.name.lower()
    suffix = Path(name).suffix
    return name.removesuffix(suffix) if suffix in PACKED else name


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file to read its bytes, unpacked if its name or its first bytes say that it is packed.

    Raises
    ------
    WorkloadError
        If the file is missing, not readable or not a whole packed file, also while it is read.
    """
    kind = "file"
    try:
        with open(path, "rb") as raw:
            head = raw.peek(8)
            for suffix, (magic, opener, name) in PACKED.items():
                if head.startswith(magic) or path.suffix.lower() == suffix:
                    kind = name
                    with opener(raw) as file:
                        yield file
                    return
            yield raw
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
        raise _not_whole(path, kind, error) from error
    except OSError as error:
        if error.strerror is None:  # how bzip2 says that something is wrong with the data
            raise _not_whole(path, kind, error) from error
        raise WorkloadError(
            f"{path}: cannot be read ({error.strerror}); accepted: a readable file"
        ) from error


def _not_whole(path: Path, kind: str, error: Exception) -> WorkloadError:
    return WorkloadError(
        f"{path}: not a whole {kind} file ({error}); accepted: plain text, or whole gzip, bzip2 "
        "or xz"
    )


@contextmanager
def opened_text(path: Path) -> Iterator[TextIO]:
    """Open a text file to read, unpacked as by `opened`.

    Bytes that are not UTF-8 do no harm in comments, so they are replaced and never refused here.

    Raises
    ------
    WorkloadError
        As `opened`.
    """
    with (
        opened(path) as file,
        io.TextIOWrapper(file, encoding="utf-8-sig", errors="replace") as text,
    ):
        yield text


def refuse_foreign(path: Path, message: str) -> None:
    """Raise `WorkloadError` if a text was refused with a message for what `opened_text` replaced.

    The error names the byte that is not UTF-8.
    """
    if _REPLACED not in message or not path.is_file():
        return
    line = message.removeprefix(f"{path}:").partition(":")[0]  # if it tells one
    with opened(path) as file:
        found = foreign_byte(file, int(line) if line.isdecimal() else 1)
    if found is not None:
        raise WorkloadError(
            f"{path}:{found[0]}: found byte {found[1]:#04x}, which is not UTF-8; accepted: text in "
            "UTF-8"
        )


@contextmanager
def opened_lines(path: Path) -> Iterator[Iterator[str]]:
    """Open a text file as by `opened_text`, to read its lines without their ends.

    Raises
    ------
    WorkloadError
        As `opened`, and if a line is too long.
    """
    with opened_text(path) as file:
        yield chain.from_iterable(line_blocks(file, path))


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

"""Text and values that others wrote, made fit for a terminal and for one line of a message."""

from __future__ import annotations

import reprlib
from datetime import date, time

LONGEST_LINE = 289
"""Characters of a message: 300 on the terminal, where the name of the program stands before it."""

LONGEST_VALUE = 60
"""Characters of a value that a message cites."""

_MOST_DIGITS = 4000
"""Digits of an integer that Python spells without complaint."""


def plain(text: str, most: int = LONGEST_VALUE) -> str:
    r"""Return a text on one line: what cannot be printed as an escape, a long one cut, with a note.

    That holds for controls of a terminal, marks that turn the direction of text, ends of lines and
    halves of surrogate pairs.

    Examples
    --------
    >>> print(plain("two\nlines\x1b[2J"))
    two\nlines\x1b[2J
    >>> plain("9" * 30_000, most=12)
    '9999...99999 (30,000 characters)'
    """
    return _noted(_escaped(_middle(text, most)), text, most)


def quoted(value: object, most: int = LONGEST_VALUE) -> str:
    """Return a value as Python spells it, dates as TOML does, on one line, cut where it is long.

    Examples
    --------
    >>> print(quoted("a" * 5000, most=12))
    'aaaa...aaaaa' (5,000 characters)
    >>> quoted([1.5, None, "C1"]), quoted(10**5000)
    ("[1.5, None, 'C1']", 'an integer of 5,001 digits')
    """
    if isinstance(value, date | time):
        return str(value)
    if isinstance(value, str):
        return _noted(repr(_middle(value, most)), value, most)
    return _middle(_escaped(_Short(most).repr(value)), most)


def one_line(message: str, most: int = LONGEST_LINE) -> str:
    r"""Return a message on one line; of a long one, what is accepted is kept before what was found.

    Examples
    --------
    >>> one_line("size: found '" + "9" * 100 + "'; accepted: from 1 to 8", most=60)
    "size: found '9999...9999999999999999'; accepted: from 1 to 8"
    >>> one_line("first\r\nsecond")
    'first second'
    """
    if "\n" in message or "\r" in message:
        message = " ".join(message.split())
    line = _escaped(message)
    if len(line) <= most:
        return line
    found, accepted, rest = line.rpartition("; accepted")
    end = accepted + rest if accepted else ""
    if len(end) > most // 2:
        end = end[: most // 2 - 3] + "..."
    return _middle(found if accepted else line, most - len(end)) + end


class _Short(reprlib.Repr):
    """Spells values of any size and depth in bounded time and space."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.maxstring = self.maxother = self.maxlong = most
        self.maxdict = self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = 8

    def repr_int(self, x: int, level: int) -> str:
        digits = int(x.bit_length() * 0.30103) + 1
        if digits > _MOST_DIGITS:
            return f"an integer of {digits:,} digits"
        return super().repr_int(x, level)


def _escaped(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape").decode("ascii")
        for sign in text
    )


def _middle(text: str, most: int) -> str:
    """Return a text without its middle if it has more than so many characters."""
    if len(text) <= most:
        return text
    kept = max(most - 3, 2)
    return f"{text[: kept // 2]}...{text[-(kept - kept // 2) :]}"


def _noted(shown: str, text: str, most: int) -> str:
    return shown if len(text) <= most else f"{shown} ({len(text):,} characters)"

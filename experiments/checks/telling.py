"""Telling people what is being tried."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text


@contextmanager
def telling() -> Iterator[Callable[[str], None]]:
    """Give a function that shows words on standard error, in place of the last; to a person."""
    if not sys.stderr.isatty():
        yield lambda words: None
        return
    with Console(stderr=True).status("") as status:
        yield lambda words: status.update(Text(words))

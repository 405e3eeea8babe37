"""Telling people why nothing seems to happen: the kernel is being compiled."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from numba.core.event import Event, Listener, install_listener

from grid.kernel.advance import advance
from grid.kernel.compile import CACHE_FOLDER


class _Notice(Listener):  # type: ignore[misc]
    """Tells that the compilation of the kernel begins; what else is compiled takes a moment."""

    def on_start(self, event: Event) -> None:
        if event.data["dispatcher"] is advance:
            kept = "not kept: no folder for it" if CACHE_FOLDER is None else "kept for later runs"
            print(f"Compiling the kernel: some 20 s, {kept}.", file=sys.stderr, flush=True)

    def on_end(self, event: Event) -> None:
        """Say nothing."""


class _Noting(Listener):  # type: ignore[misc]
    """Notes in words when something begins to be compiled, and that this is over."""

    def __init__(self, note: Callable[[str], object]) -> None:
        self._note, self._begun = note, 0

    def on_start(self, event: Event) -> None:
        self._begun += 1
        self._note("compiling what is not compiled yet")

    def on_end(self, event: Event) -> None:
        self._begun -= 1
        if not self._begun:
            self._note("")


def noting_what_is_compiled(note: Callable[[str], object]) -> AbstractContextManager[None]:
    """Have it noted in words when something is compiled meanwhile, and "" once it is."""
    context: AbstractContextManager[None] = install_listener("numba:compile", _Noting(note))
    return context


@contextmanager
def saying_when_compiling(always: bool) -> Iterator[None]:
    """Tell on standard error when the kernel is compiled: a person, or always."""
    if not (always or sys.stderr.isatty()):
        yield
        return
    with install_listener("numba:compile", _Notice()):
        yield

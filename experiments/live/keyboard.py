"""Keys as they are pressed, on the terminal that a run is watched on."""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import suppress
from time import sleep
from types import FrameType
from typing import Any, Self

try:
    import termios
    import tty
except ImportError:  # Windows, whose console gives keys one by one as it is
    termios = tty = None  # type: ignore[assignment]

GONE = (OSError,) if termios is None else (OSError, termios.error)
"""Errors of a terminal that is no longer there."""

ESCAPE_DELAY = 0.05
"""Time in which a sequence that begins with Escape must be there, or it was that key alone, s."""

ENDING = ("SIGTERM", "SIGHUP")
"""Signals that end the process, before which the terminal is given back."""

SHOW_CURSOR = b"\x1b[?25h"


class Keyboard:
    """Gives each key as it is pressed, while it is entered; the terminal is as before afterwards.

    Only in the foreground: a run that is in the background leaves the terminal alone.
    """

    def __init__(self) -> None:
        self._missing = ""
        self._terminal: Any = None
        self._mode: list[Any] | None = None
        self._signals: dict[int, Any] = {}
        if not (sys.stdin is not None and sys.stdin.isatty()):
            self._missing = "standard input is no terminal"
        elif not sys.stdout.isatty():
            self._missing = "standard output is no terminal"

    def __enter__(self) -> Self:
        main = threading.current_thread() is threading.main_thread()
        if not self._missing and termios is not None and main:
            for name in ENDING:
                number = getattr(signal, name)
                self._signals[number] = signal.signal(number, self._end)
        self._listens()
        return self

    def __exit__(self, *of_error: object) -> None:
        self._give_back()
        while self._signals:
            signal.signal(*self._signals.popitem())

    @property
    def missing(self) -> str:
        """Why there are no keys now; empty if there are some."""
        return self._missing or ("" if in_foreground(0) else "this is in the background")

    def wait(self, seconds: float) -> str:
        """Return the next key, or "" if none is pressed within some seconds.

        Returns
        -------
        str
            A character, or a name such as ``KEY_UP``.
        """
        try:
            if self._listens():
                key = self._terminal.inkey(seconds, ESCAPE_DELAY)
                return key.name or str(key)
        except GONE:
            self._missing = "the terminal is gone"
        sleep(seconds)
        return ""

    def _listens(self) -> bool:
        """Return whether keys come one by one; have them do so if the terminal is ours (again)."""
        if self.missing:
            return False
        if self._terminal is None:
            from blessed import Terminal

            self._terminal = Terminal()
            self._mode = None if termios is None else termios.tcgetattr(0)
        if termios is not None and termios.tcgetattr(0)[3] & termios.ICANON:
            tty.setcbreak(0, termios.TCSANOW)  # at first, and after Ctrl-Z
        return True

    def _give_back(self) -> None:
        with suppress(*GONE):
            if self._mode is not None and in_foreground(0):
                termios.tcsetattr(0, termios.TCSANOW, self._mode)

    def _end(self, number: int, frame: FrameType | None) -> None:
        self._give_back()
        with suppress(OSError):
            os.write(1, SHOW_CURSOR)
        signal.signal(number, self._signals[number])
        os.kill(os.getpid(), number)


def in_foreground(descriptor: int) -> bool:
    """Return whether a terminal is ours to draw on and to read keys from, as far as is known."""
    try:
        return termios is None or os.tcgetpgrp(descriptor) == os.getpgrp()
    except OSError:  # no terminal from which we could be sent to the background
        return True

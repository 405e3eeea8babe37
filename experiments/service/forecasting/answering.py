"""Answering who asks a service for a forecast, in a process of its own that has all it has."""

from __future__ import annotations

import os
import selectors
import signal
import socket
import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TypeVar

from experiments.service.forecasting.asking import FORECASTS
from experiments.service.forecasting.forecast import Question
from experiments.service.forecasting.foretelling import forecast
from experiments.service.grid_file import LiveGrid
from experiments.service.presence import Door

T = TypeVar("T")

ASKING = 3
"""Where a child has whom it answers, beside the standard streams."""


class Answers:
    """Has a service answer who asks for a forecast, as long as it is open.

    It is forked for each of them: what is asked comes with the question, so that nothing is read
    in vain while jobs wait for the service.

    Parameters
    ----------
    grid : LiveGrid
    folder : Path
        Of the service.
    ear : selector
        Wakes the service; what is registered with a callable is to be called.
    """

    def __init__(self, grid: LiveGrid, folder: Path, ear: selectors.BaseSelector) -> None:
        self._grid = grid
        self._door: Door | None = None
        with suppress(OSError):  # without sockets, whoever asks reckons for themselves
            self._door = Door(folder, FORECASTS, ear, self._let_in)

    def close(self) -> None:
        """Let nobody ask any longer; who has asked is answered."""
        if self._door is not None:
            self._door.close()

    def _let_in(self, asking: socket.socket) -> None:
        """Have the child of a child answer, of which nobody has to take the end."""
        with asking, warnings.catch_warnings():
            # Threads of sites hold no lock that the child needs: it reads and calls none of them.
            warnings.simplefilter("ignore", DeprecationWarning)
            if child := os.fork():
                os.waitpid(child, 0)
                return
            try:
                if os.fork() == 0:
                    _alone_with(asking)
                    _answer(self._grid)
            finally:
                os._exit(0)


def _alone_with(asking: socket.socket) -> None:
    """Leave the service's files, its sockets and its lock, as if it was another program."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    os.dup2(asking.fileno(), ASKING)
    os.closerange(ASKING + 1, os.sysconf("SC_OPEN_MAX"))


def _answer(grid: LiveGrid) -> None:
    """Read a question, tell of each future but the first, and then of all."""
    asking = Connection(ASKING)
    asking.send(None)  # it is there
    question: Question = asking.recv()
    asking.send(forecast(grid, *question, progress=_Marks(asking)))


class _Marks:
    """Tells whoever asks of each future that it is done."""

    def __init__(self, asking: Connection) -> None:
        self._asking = asking

    def one_by_one(self, done: Iterable[T], count: int, unit: str) -> Iterator[T]:
        """Yield what is done as it is asked for."""
        for each in done:
            self._asking.send(None)
            yield each
